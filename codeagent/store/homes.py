"""Which folder holds the sessions of a workspace; found again after the workspace was moved or renamed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

from codeagent.core.json_types import JsonObject
from codeagent.core.values import value
from codeagent.workspace.birth import born_at
from codeagent.workspace.private import change_private, read_private

_PLACE = "place.json"
_MOST_OF_ONE_NAME = 100
_MOST_TRACES = 100


@value
class Home:
    """The folder of one workspace's sessions, and the directory that the workspace is or was."""

    folder: Path
    root: Path | None


def home_of(folder: Path, workspace: Path) -> Path:
    """The folder, below ``folder``, for the sessions of a workspace; it need not be there.

    A workspace that was moved on its disk is known by what the disk knows it by; one
    that was moved to another disk by the times of its files, where its old path is free
    now or something else's. Its sessions are taken along.
    """
    usual = folder / f"{workspace.name or 'root'}-{hashlib.sha256(bytes(workspace)).hexdigest()[:12]}"
    if usual.is_dir() and _root(usual) in {workspace, None}:
        return usual
    known = list(homes(folder))
    for home in known:
        if home.root == workspace:
            return home.folder
    mark = _mark(workspace)
    for home in known:
        if home.root is None or _mark(home.root) == mark:
            continue  # never known, or the same directory by another name
        if mark and read_private(home.folder / _PLACE).get("mark") == mark:
            with suppress(OSError):
                remember(home.folder, workspace)
            return home.folder
    if (moved := _moved_here(known, workspace)) is not None:
        with suppress(OSError):
            remember(moved.folder, workspace)
        return moved.folder
    taken = {home.folder for home in known}
    others = (usual.with_name(f"{usual.name}-{number}") for number in range(2, _MOST_OF_ONE_NAME))
    return usual if usual not in taken else next(other for other in others if other not in taken)


def homes(folder: Path) -> Iterator[Home]:
    """The folders of all workspaces."""
    with suppress(OSError):
        for path in sorted(folder.iterdir()):
            if path.is_dir():
                yield Home(folder=path, root=_root(path))


def remember(home: Path, workspace: Path) -> None:
    """Writes down in the folder which directory it belongs to; raises OSError."""
    wanted: JsonObject = {"root": str(workspace), "mark": _mark(workspace), "traces": list(_traces(workspace))}
    if read_private(home / _PLACE) != wanted:
        change_private(home / _PLACE, lambda content: content.update(wanted))


def _moved_here(known: Iterable[Home], workspace: Path) -> Home | None:
    """The home of a directory that is no longer where it was, most of whose files are in ``workspace``."""
    traces = set(_traces(workspace))
    best, most = None, 0
    for home in known:
        place = read_private(home.folder / _PLACE)
        then = place.get("traces")
        if home.root is None or not isinstance(then, list) or _mark(home.root) == place.get("mark"):
            continue
        count = sum(trace in traces for trace in then)
        if count > most and 2 * count > len(then):
            best, most = home, count
    return best


def _traces(workspace: Path) -> Iterator[str]:
    """Some files of a directory, the outermost, with their sizes and times: a move keeps those, a clone does not."""
    waiting, count, looked = [workspace], 0, 0
    while waiting and looked < _MOST_TRACES:
        folder, looked = waiting.pop(0), looked + 1
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(Path(entry.path))
                elif entry.is_file(follow_symlinks=False) and count < _MOST_TRACES:
                    about, count = entry.stat(follow_symlinks=False), count + 1
                    name = quote(os.fsencode(Path(entry.path).relative_to(workspace)))
                    yield f"{name} {about.st_size} {int(about.st_mtime)}"


def _root(home: Path) -> Path | None:
    root = read_private(home / _PLACE).get("root")
    return Path(root) if isinstance(root, str) and root else None


def _mark(workspace: Path) -> str:
    """What the disk knows a directory by, wherever it is moved on it: number and time of birth; empty if unknown."""
    try:
        number = workspace.stat().st_ino
    except OSError:
        return ""
    born = born_at(workspace)
    return "" if born is None else f"{number}-{born:.6f}"
