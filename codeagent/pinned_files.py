"""Reads the files that the person pinned, as they are when room is made."""

from __future__ import annotations

import asyncio

from codeagent.core.approvals import Access, ConcernKind
from codeagent.core.context import Pin
from codeagent.core.diff import split_lines
from codeagent.core.errors import FileProblem, PathRefused
from codeagent.core.text import counted
from codeagent.workspace.files import decode, read_bytes
from codeagent.workspace.paths import PathSandbox

_LARGEST = 1_000_000


async def read_pinned(paths: PathSandbox, pin: Pin) -> str:
    """The pinned lines; raises PathRefused for files that may hold secrets, and FileProblem."""
    return await asyncio.to_thread(_read, paths, pin)


def _read(paths: PathSandbox, pin: Pin) -> str:
    touch = paths.resolve(pin.path, Access.READ)
    if touch.concern is not None and touch.concern.kind is ConcernKind.SENSITIVE:
        raise PathRefused(f"{pin.path} may hold secrets and is not pinned.")
    if touch.path is None or not touch.path.is_file():
        raise FileProblem(f"{pin.path} does not exist.", hint="Pin a file, or FILE:10-40 for some of its lines.")
    lines = split_lines(decode(read_bytes(touch.path, limit=_LARGEST)).text)
    if pin.first is None:
        return "".join(lines)
    if pin.first > len(lines):
        raise FileProblem(f"{pin.path} has {counted(len(lines), 'line')}; there is no line {pin.first:,}.")
    return "".join(lines[pin.first - 1 : pin.last])
