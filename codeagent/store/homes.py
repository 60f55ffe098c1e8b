"""Which folder holds the sessions of a workspace; found again after the workspace was moved or renamed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from codeagent.core.json_types import JsonObject
from codeagent.workspace.birth import born_at
from codeagent.workspace.private import change_private, read_private

_PLACE = "place.json"
_MOST_OF_ONE_NAME = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """The folder of one workspace's sessions, and the directory that the workspace is or was."""

    folder: Path
    root: Path | None


def home_of(folder: Path, workspace: Path) -> Path:
    """The folder, below ``folder``, for the sessions of a workspace; it need not be there.

    A workspace that was moved on its disk is known by what the disk knows it by; its
    sessions are taken along, whatever is at its old path now.
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
    wanted: JsonObject = {"root": str(workspace), "mark": _mark(workspace)}
    if read_private(home / _PLACE) != wanted:
        change_private(home / _PLACE, lambda content: content.update(wanted))


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
