"""Shapes what the model reads: results, numbered and cut lines, names with odd characters, what commands put out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from codeagent.core.cut_texts import shortened
from codeagent.core.diff import FileDiff
from codeagent.core.messages import Details, Outcome, TextBlock, ToolResult
from codeagent.core.text import clean, counted, has_invisible, storable
from codeagent.workspace.paths import PathSandbox

LONGEST_LINE = 2_000
_DIFF_LINES = 40
_LONGEST_DIFF_LINE = 300
_MOST_NAMED = 10
_SHORTEST_BINARY = 50
_BINARY_SHARE = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line as it is shown; ``is_whole`` is false when its end was cut off."""

    number: int
    text: str
    is_whole: bool


def say(
    call_id: str, text: str, *, details: Details | None = None, outcome: Outcome = Outcome.OK, code: str = ""
) -> ToolResult:
    """A result of one text."""
    return ToolResult(
        call_id=call_id, blocks=(TextBlock(text=storable(text)),), outcome=outcome, code=code, details=details
    )


def show_line(number: int, text: str, limit: int = LONGEST_LINE) -> Line:
    """A line without its ending, cut after ``limit`` characters."""
    text = text.rstrip("\r\n")
    if len(text) <= limit:
        return Line(number=number, text=text, is_whole=True)
    kept = shortened(text, limit)
    more = counted(len(text) - len(kept), "more character")
    return Line(number=number, text=f"{kept}… [{more}]", is_whole=False)


def numbered(lines: Sequence[Line]) -> str:
    """Lines behind their numbers, as ``12→text``."""
    return "\n".join(f"{line.number}→{line.text}" for line in lines)


def show_name(path: str) -> str:
    """A path on one line; odd characters make it a JSON string."""
    return path if path.isprintable() and '"' not in path and not has_invisible(path) else json.dumps(path)


def short_diff(diff: FileDiff) -> str:
    """The changed lines with a little context, in unified form, cut when long."""
    lines: list[str] = []
    for hunk in diff.hunks:
        lines.append(f"@@ line {hunk.new_start} @@")
        lines += [f"{line.kind}{_cut(line.text)}" for line in hunk.lines]
    left_out = len(lines) - _DIFF_LINES
    if left_out > 0:
        lines = [*lines[:_DIFF_LINES], f"[… {counted(left_out, 'more line')} of the diff]"]
    return "\n".join((*lines, *(f"[{note}]" for note in diff.notes)))


def _cut(text: str) -> str:
    text = text.rstrip("\r\n")
    return text if len(text) <= _LONGEST_DIFF_LINE else f"{shortened(text, _LONGEST_DIFF_LINE)}…"


def line_ranges(ranges: Sequence[tuple[int, int]]) -> str:
    """``(3, 3), (5, 9)`` as ``line 3, lines 5-9``."""
    return ", ".join(f"line {first}" if first == last else f"lines {first}-{last}" for first, last in ranges)


def readable(text: str, total_bytes: int) -> str:
    """The output as the model reads it: no colours, no controls, and nothing of what is plainly no text."""
    odd = text.count("\ufffd") + text.count("\0")
    if odd > _SHORTEST_BINARY and odd > len(text) * _BINARY_SHARE:
        return f"[{total_bytes:,} bytes of binary output are not shown]\n"
    return clean(text)


def changed_note(sandbox: PathSandbox, changed: Sequence[Path]) -> str:
    """Names files that are no longer as the model has seen them."""
    shown = [show_name(sandbox.show(path)) for path in changed[:_MOST_NAMED]]
    more = f" and {len(changed) - _MOST_NAMED} more" if len(changed) > _MOST_NAMED else ""
    return f"[changed since you read them, read again before editing: {', '.join(shown)}{more}]"
