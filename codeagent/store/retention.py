"""Clears away what is kept of changes when it is too old to be undone."""

from __future__ import annotations

import os
import shutil
import time
from contextlib import suppress
from pathlib import Path

from codeagent.core.errors import CheckpointError
from codeagent.store.blobs import Blobs
from codeagent.store.change_log import ChangeLog
from codeagent.workspace.held_objects import let_go
from codeagent.workspace.private_git import PrivateGit, Surroundings

DAYS_KEPT = 30
_INDEXES_KEPT = 3
_DAY = 86_400.0


def clear_old(folder: Path, *, days: float = DAYS_KEPT) -> int:
    """Removes the changes of sessions not used for ``days`` and contents nobody speaks of; returns how many contents.

    ``folder`` is a workspace's. Looks once a day; whatever fails is left for the next time.
    """
    mark = folder / "cleared"
    with suppress(OSError):
        if mark.exists() and time.time() - mark.stat().st_mtime < _DAY:
            return 0
        if not folder.is_dir():
            return 0
        mark.touch(mode=0o600)
        return _clear(folder, days)
    return 0


def _clear(folder: Path, days: float) -> int:
    limit = time.time() - days * _DAY
    sessions = [path for path in (folder / "sessions").iterdir() if path.is_dir()]
    for session in sessions:
        newest = max((path.stat().st_mtime for path in session.iterdir()), default=0.0)
        if newest < limit:
            shutil.rmtree(session, ignore_errors=True)
    kept = [session for session in sessions if session.is_dir()]
    indexes = sorted((folder / "sessions").glob("*/*.index"), key=lambda path: path.stat().st_mtime, reverse=True)
    for index in indexes[_INDEXES_KEPT:]:
        if not any(index.parent.glob("pending-*.json")):
            for path in index.parent.glob(f"{index.stem}.*"):
                path.unlink()
    names = {name for session in kept for name in ChangeLog(session / "changes.jsonl").blobs()}
    removed = 0
    for git_folder in folder.glob("git-*"):
        surroundings = Surroundings(top=folder, object_format=git_folder.name.removeprefix("git-"))
        held = set(names)
        for index in (*(folder / "sessions").glob("*/*.index"), *(folder / "sessions").glob("*/*.index.mark")):
            git = PrivateGit(folder=git_folder, root=folder, surroundings=surroundings, index=index)
            held |= _named_in(git)
        git = PrivateGit(folder=git_folder, root=folder, surroundings=surroundings, index=folder / "none")
        let_go(git.held, days=days)
        removed += Blobs(git).prune(held, older_than=_DAY)
    return removed


def _named_in(git: PrivateGit) -> set[str]:
    try:
        out = git.run("ls-files", "-s", "-z")
    except CheckpointError:
        return set()
    return {entry.split(" ", 2)[1] for entry in os.fsdecode(out).split("\0") if entry}
