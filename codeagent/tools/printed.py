"""Which lines of files a command that only reads has printed, so that they count as seen."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from codeagent.core.approvals import Access
from codeagent.core.diff import split_lines
from codeagent.core.errors import CodeagentError
from codeagent.workspace.files import decode, read_bytes
from codeagent.workspace.paths import PathSandbox
from codeagent.workspace.seen import SeenFiles

_LARGEST_SHOWN = 1_000_000
_WORD = re.compile(r"'[^']*'|\"[^\"]*\"|[^\s'\"|&;<>()]+")


def note_printed(
    sandbox: PathSandbox, seen_files: SeenFiles, command: str, cwd: Path, output: str, call_id: str
) -> None:
    """Lines of files that a reading command names and that its output holds whole count as seen."""
    printed = set(output.split("\n"))
    for word in dict.fromkeys(_WORD.findall(command)):
        try:
            touch = sandbox.resolve(word.strip("'\""), Access.READ, base=cwd)
            if touch.path is None or touch.concern is not None or not touch.path.is_file():
                continue
            data = read_bytes(touch.path, limit=_LARGEST_SHOWN)
            lines = [line.rstrip("\r\n") for line in split_lines(decode(data).text)]
        except (CodeagentError, OSError):
            continue
        seen = _printed_lines(lines, printed)
        if seen:
            seen_files.shown(touch.path, data, seen, call_id=call_id)


def _printed_lines(lines: Sequence[str], printed: set[str]) -> list[int]:
    """Numbers of the lines that were printed, alone or behind their number; a blank one where its neighbours were."""
    shown = [
        bool(line.strip())
        and (line in printed or not printed.isdisjoint((f"{n}:{line}", f"{n}-{line}", f"{n:6}\t{line}")))
        for n, line in enumerate(lines, start=1)
    ]
    last_text = -1
    for index, line in enumerate(lines):
        if line.strip():
            if shown[index] and (last_text < 0 or shown[last_text]):
                shown[last_text + 1 : index] = [True] * (index - last_text - 1)
            last_text = index
    return [number for number, is_shown in enumerate(shown, start=1) if is_shown]
