"""The first lines of a file, for somebody who is about to name it."""

from __future__ import annotations

import os

from codeagent.core.approvals import Access, ConcernKind
from codeagent.core.desk import Glimpse
from codeagent.core.errors import CodeagentError
from codeagent.core.text import counted
from codeagent.workspace.files import decode
from codeagent.workspace.handles import opened_file, opened_folder, problems_of
from codeagent.workspace.paths import PathSandbox

_MOST_BYTES = 16_384
_LONGEST = 500


def glimpse(paths: PathSandbox, name: str, lines: int) -> Glimpse:
    """Its first ``lines`` lines, or in a few words why they are not shown. It may wait for the disk."""
    try:
        touch = paths.resolve(name, Access.READ)
        if touch.concern is not None:
            is_secret = touch.concern.kind is ConcernKind.SENSITIVE
            return Glimpse(said="may hold secrets, not shown" if is_secret else "outside the project, not shown")
        if touch.path is None:
            return Glimpse(said="the whole project")
        with (
            problems_of(touch.path),
            opened_folder(touch.path.parent) as folder,
            opened_file(folder, touch.path.name, touch.path) as file,
        ):
            size, start = os.fstat(file).st_size, os.pread(file, _MOST_BYTES, 0)
        return _shown(start, size, lines)
    except CodeagentError:
        return Glimpse(said="cannot be read")


def _shown(start: bytes, size: int, lines: int) -> Glimpse:
    if not start:
        return Glimpse(said="empty")
    try:
        text = decode(start).text
    except CodeagentError:
        return Glimpse(said=f"binary, {_size(size)}")
    shown = tuple(line[:_LONGEST] for line in text.splitlines()[:lines])
    return Glimpse(lines=shown, said=_size(size))


def _size(size: int) -> str:
    for unit, step in (("MB", 1_000_000), ("KB", 1_000)):
        if size >= step:
            return f"{size / step:.1f} {unit}"
    return counted(size, "byte")
