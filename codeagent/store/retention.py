"""Clears away what is kept of changes when it is too old to be undone."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from codeagent.core.errors import CheckpointError
from codeagent.store.blobs import Blobs
from codeagent.store.change_log import ChangeLog
from codeagent.store.change_store import read_pending
from codeagent.store.running_jobs import RUNNING_JOBS
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
        is_needed = any(index.parent.glob("pending-*.json")) or (index.parent / RUNNING_JOBS).exists()
        if not is_needed:
            for path in index.parent.glob(f"{index.stem}.*"):
                path.unlink()
    removed = 0
    for git_folder in folder.glob("git-*"):
        git = _git_of(git_folder, folder / "none")
        let_go(git.held, days=days)
        removed += Blobs(git).prune(_spoken_of(git_folder, kept), older_than=_DAY)
    return removed


def forget_session(folder: Path, session_id: str) -> None:
    """Removes what is kept of a session's changes, and the contents that no other session of the workspace has.

    ``folder`` is the workspace's. Raises OSError.
    """
    place = folder / "sessions" / session_id
    if not place.is_dir():
        return
    others = [path for path in (folder / "sessions").iterdir() if path.is_dir() and path != place]
    for git_folder in folder.glob("git-*"):
        only_here = _spoken_of(git_folder, [place]) - _spoken_of(git_folder, others)
        Blobs(_git_of(git_folder, folder / "none")).remove(only_here)
    shutil.rmtree(place)


def _git_of(git_folder: Path, index: Path) -> PrivateGit:
    surroundings = Surroundings(top=git_folder.parent, object_format=git_folder.name.removeprefix("git-"))
    return PrivateGit(folder=git_folder, root=git_folder.parent, surroundings=surroundings, index=index)


def _spoken_of(git_folder: Path, sessions: Iterable[Path]) -> set[str]:
    """The contents that the sessions' logs and last known states name."""
    names: set[str] = set()
    for session in sessions:
        names.update(ChangeLog(session / "changes.jsonl").blobs())
        for path in session.glob("pending-*.json"):
            if (begun := read_pending(path)) is not None and begun.before is not None:
                names.add(begun.before.blob)
        for index in (*session.glob("*.index"), *session.glob("*.index.mark")):
            names |= _named_in(_git_of(git_folder, index))
    return names


def _named_in(git: PrivateGit) -> set[str]:
    try:
        out = git.run("ls-files", "-s", "-z")
    except CheckpointError:
        return set()
    return {entry.split(" ", 2)[1] for entry in os.fsdecode(out).split("\0") if entry}
