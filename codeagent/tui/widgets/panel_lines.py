"""What a tool panel says: the words at the right of its heading, and what it holds when opened."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Literal, TypeGuard

from codeagent.core.approvals import CommandPreview, DiffPreview, Preview
from codeagent.core.diff import FileDiff
from codeagent.core.messages import (
    MADE_WAY,
    ChangeDetails,
    CommandDetails,
    Outcome,
    ReadDetails,
    SearchDetails,
    ToolResult,
)
from codeagent.core.output_colours import with_colours
from codeagent.core.text import clean, counted, show_command, show_invisible
from codeagent.tui.later import language_of
from codeagent.tui.widgets.code_lines import highlight
from codeagent.tui.widgets.command_rows import command_code, command_rows
from codeagent.tui.widgets.diff_lines import render_diff
from codeagent.tui.widgets.file_changes import change_lines, words_of_change
from codeagent.tui.widgets.inks import Inks
from codeagent.tui.widgets.lines import TAB, UNFOLD, Cut, Line, Piece, wrap
from codeagent.tui.widgets.stacks import Stack
from codeagent.tui.widgets.terminal_colours import output_pieces

TAIL_LINES = 6
Toned = list[tuple[str, Literal["muted", "faint", "warning", "error", "added", "removed"]]]
"""Words with what they are drawn as."""

_NUMBERED = re.compile(r"\s*(\d+)→(.*)")
_CHANGED = re.compile(r"\n?^\[changed files: .*\]$", re.MULTILINE)
_LABEL_KEYS = ("path", "command", "pattern", "id")
_FOUND = {"ls": ("entry", "entries"), "glob": ("file", "files")}
"""What is counted by tools that find no places inside of files."""
_EDITED = "edited by you"
_OUTCOMES = {
    Outcome.FAILED: "failed",
    Outcome.TIMED_OUT: "timed out",
    Outcome.DENIED: "denied",
    Outcome.CANCELLED: "stopped",
    Outcome.SKIPPED: "skipped",
    Outcome.DISABLED: "not run",
    Outcome.INTERNAL: "failed inside codeagent",
}


def label_of(arguments_json: str) -> str:
    """The object of a call, taken from its arguments as the model wrote them, before the tool named it."""
    try:
        arguments: object = json.loads(arguments_json)
    except (ValueError, RecursionError):
        return arguments_json
    if not _is_table(arguments):
        return arguments_json
    values = {key: value for key, value in arguments.items() if isinstance(value, str)}
    return next((values[key] for key in _LABEL_KEYS if key in values), next(iter(values.values()), ""))


def _is_table(value: object) -> TypeGuard[dict[str, object]]:
    return isinstance(value, dict)


def is_trouble(result: ToolResult) -> bool:
    """Whether the person should see at once what came of the call; what was never run only says so."""
    if result.outcome in {Outcome.SKIPPED, Outcome.CANCELLED}:
        return False
    details = result.details
    return result.outcome is not Outcome.OK or (
        isinstance(details, CommandDetails) and details.exit_code not in {0, None}
    )


def inked(said: Toned, inks: Inks) -> list[Piece]:
    """The words in colours."""
    pens = {
        "muted": inks.muted,
        "faint": inks.faint,
        "warning": inks.warning,
        "error": inks.error,
        "added": inks.added,
        "removed": inks.removed,
    }
    return [Piece(text, pens[tone]) for text, tone in said]


def details_of(name: str, result: ToolResult, seconds: float) -> Toned:
    """The words at the right: what was found, changed or went wrong."""
    said: Toned
    if result.outcome is not Outcome.OK:
        is_quiet = result.outcome in {Outcome.CANCELLED, Outcome.SKIPPED}
        said = [(_ended(result), "muted" if is_quiet else "error")]
    else:
        said = _good_details(name, result)
    if theirs := _persons_part(result):
        said.extend([(" · " if said else "", "faint"), (theirs, "muted")])
    time = seconds_text(seconds)
    if isinstance(result.details, CommandDetails) and time:
        said.extend([(" · " if said else "", "faint"), (time, "muted")])
    return said


def is_edited(result: ToolResult) -> bool:
    """Whether the person put another command or text in place of the model's."""
    match result.details:
        case CommandDetails() as command:
            return result.text.startswith(command.edited_remark)
        case ChangeDetails(is_edited=is_edited):
            return is_edited
        case _:
            return False


def words_of(preview: Preview | None, result: ToolResult | None, output: str) -> str:
    """All that a panel can show below, as plain text; ``output`` is what came so far."""
    command = preview.command if isinstance(preview, CommandPreview) else ""
    diffs: Sequence[FileDiff] = (preview.diff,) if isinstance(preview, DiffPreview) else ()
    said = output
    if result is not None:
        said = result.text
        match result.details:
            case ChangeDetails(diffs=changed):
                diffs, said = changed, "" if result.outcome is Outcome.OK else said
            case CommandDetails() as details:
                command, diffs = details.command, details.changes
            case _:
                diffs = diffs if result.outcome is not Outcome.OK else ()
    return "\n".join([show_command(command), clean(said), *map(words_of_change, diffs)])


def _persons_part(result: ToolResult) -> str:
    """What the person made of the proposal; empty when they took it as it was."""
    details = result.details
    if isinstance(details, ChangeDetails) and details.hunks_of:
        chosen = f"{details.hunks} of {counted(details.hunks_of, 'hunk')}"
        return f"{chosen}, {_EDITED}" if details.is_edited else chosen
    return _EDITED if is_edited(result) else ""


def _ended(result: ToolResult) -> str:
    """How the call ended, in words; empty when all went well."""
    details = result.details
    said = "stopped for your message" if result.code == MADE_WAY else _OUTCOMES.get(result.outcome, "")
    return clean(details.ended) if isinstance(details, CommandDetails) and details.ended else said


def _good_details(name: str, result: ToolResult) -> Toned:
    match result.details:
        case ReadDetails(first_line=first, last_line=last, total_lines=total):
            if total == 0 or last < first:
                return [("empty", "muted")]
            where = f"line {first}" if first == last else f"lines {first}–{last}"
            return [(where if last - first + 1 >= total else f"{where} of {total:,}", "muted")]
        case SearchDetails(matches=matches, files=files, truncated=truncated):
            one, many = _FOUND.get(name, ("match", "matches"))
            found = counted(matches, one, many) if matches else f"no {many}"
            found = found.replace(" ", "+ ", 1) if truncated and matches else found
            where = f" in {counted(files, 'file')}" if matches and files and name not in _FOUND else ""
            return [(found + where, "muted")]
        case ChangeDetails(diffs=diffs, level=level, is_edited=is_edited):
            forgiven: Toned = [] if level in {"", "exact"} or is_edited else [(f"{clean(level)} · ", "muted")]
            return [*forgiven, *counts(diffs)]
        case CommandDetails(exit_code=code, ended=ended) as details:
            ends: Toned = [] if code == 0 else [(clean(ended), "error" if code else "muted")]
            return [*_changed(details), *ends]
        case None:
            return []


def _changed(details: CommandDetails) -> Toned:
    """How many files a command changed, and how many lines where all of them are known."""
    if not details.changed_files:
        return []
    files = counted(details.changed_files, "file")
    after: Toned = [] if details.exit_code == 0 else [(" · ", "faint")]
    has_lines = any(diff.added or diff.removed for diff in details.changes)  # an empty file has none
    if len(details.changes) < details.changed_files or not has_lines:
        return [(files, "muted"), *after]
    return [(f"{files} ", "muted"), *counts(details.changes), *after]


def counts(diffs: Sequence[FileDiff]) -> Toned:
    """Lines that come and go."""
    added, removed = sum(diff.added for diff in diffs), sum(diff.removed for diff in diffs)
    return [(f"+{added:,}", "added"), (f" −{removed:,}", "removed")]


def seconds_text(seconds: float) -> str:
    """A time in words; empty when it is too short to matter."""
    if seconds < 0.1:  # noqa: PLR2004 - a tenth of a second is at once
        return ""
    if seconds < 60:  # noqa: PLR2004 - seconds in a minute
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s"


def tail_lines(output: str, width: int, inks: Inks, *, most: int = TAIL_LINES) -> list[Line]:
    """The last rows of a running command's output."""
    last = output_pieces("\n".join(output.rstrip("\n").split("\n")[-most:]), inks.muted, inks)
    return wrap(last, width, cut=Cut.ANYWHERE)[-most:] if last else []


def _drawn(output: str) -> str:
    """Output as it is drawn: escapes gone, what else cannot be seen written out."""
    return show_invisible(clean(output)).rstrip("\n").expandtabs(len(TAB))


def preview_lines(preview: Preview | None, width: int, inks: Inks) -> Sequence[Line]:
    """What a call that has not ended would do."""
    if isinstance(preview, DiffPreview):
        return render_diff(preview.diff, width, inks.palette)
    return _command_lines(preview.command, width, inks) if isinstance(preview, CommandPreview) else ()


def body_lines(
    name: str,
    preview: Preview | None,
    result: ToolResult,
    width: int,
    inks: Inks,
    *,
    most: int | None = None,
    is_told: bool = False,
) -> Sequence[Line]:
    """What an ended call's panel holds; ``most`` rows of its output, the last ones, None all.

    A command that the heading holds, which ``is_told`` says, is not repeated.
    """
    parts: list[Sequence[Line]] = []
    details = result.details
    if isinstance(details, ChangeDetails):
        parts = [render_diff(diff, width, inks.palette) for diff in details.diffs]
    elif isinstance(preview, DiffPreview) and result.outcome is not Outcome.OK and most is None:
        parts.append(render_diff(preview.diff, width, inks.palette))
    command = preview.command if isinstance(preview, CommandPreview) else ""
    if isinstance(details, CommandDetails):
        command = details.command
    is_cut = bool(command) and not is_told if most is None else len(command) > width
    if "\n" in command or is_cut:
        parts.append(_command_lines(command, width, inks))
    if not isinstance(details, ChangeDetails) or result.outcome is not Outcome.OK:
        parts.append(_text_lines(name, result, width, inks, most))
    if isinstance(details, CommandDetails) and most is None:
        parts.append(change_lines(details.changes, width, inks))
    return Stack(parts)


def is_cut(body: Sequence[Line]) -> bool:
    """Whether rows were left out of what a panel holds."""
    return any(piece.link == UNFOLD for line in body for piece in line.pieces)


def _command_lines(command: str, width: int, inks: Inks) -> list[Line]:
    """The whole command, as it was given to the shell."""
    lines: list[Line] = []
    for pieces in command_code(show_command(command), inks.palette):
        prompt = Piece("  " if lines else "$ ", inks.faint, "")
        lines += command_rows(pieces, width, first=prompt, mark=inks.faint)
    return lines


def _text_lines(name: str, result: ToolResult, width: int, inks: Inks, most: int | None) -> list[Line]:
    """The text that the model got, in the colours that a command gave it; a read file with its line numbers."""
    text = result.text.rstrip("\n")
    if isinstance(result.details, CommandDetails):
        text = with_colours(text, result.details.colours)
        if is_edited(result):  # which the heading tells, as it does the command
            text = text.removeprefix(result.details.edited_remark).removeprefix("\n")
        if result.details.changes:
            text = _CHANGED.sub("", text)  # shown as diffs below
        text = text.removesuffix(f"[{result.details.ended}]").rstrip("\n")
    if not text:
        return []
    if isinstance(result.details, ReadDetails) and most is None:
        return _file_lines(_drawn(text), result.details.path, width, inks)
    ink = inks.text if result.outcome in {Outcome.FAILED, Outcome.DENIED, Outcome.INTERNAL} else inks.muted
    is_output = isinstance(result.details, CommandDetails)
    pieces = output_pieces(text, ink, inks) if is_output else [Piece(_drawn(text), ink)]
    lines = wrap(pieces, width, cut=Cut.ANYWHERE if name == "bash" and is_output else Cut.WORDS)
    if most is None or len(lines) <= most:
        return lines
    more = f"… {counted(len(lines) - most, 'row')} above; {inks.opens} shows all"
    return [Line(pieces=(Piece(more, inks.faint, "", UNFOLD),), whole=""), *lines[-most:]]


def _file_lines(text: str, path: str, width: int, inks: Inks) -> list[Line]:
    rows = [(found[1], found[2]) if (found := _NUMBERED.match(row)) else ("", row) for row in text.split("\n")]
    digits = max(len(number) for number, _ in rows)
    code = highlight("\n".join(row for _, row in rows), language_of(path), inks.palette)
    lines: list[Line] = []
    for (number, _), pieces in zip(rows, code, strict=True):
        first = (Piece(f"{number:>{digits}}  ", inks.faint, ""),)
        lines += wrap(pieces, width, first=first, rest=(Piece(" " * (digits + 2), inks.faint, ""),), cut=Cut.CODE)
    return lines
