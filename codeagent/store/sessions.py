"""Finding sessions again: where they lie, which is the latest, what each was about."""

from __future__ import annotations

import secrets
import stat
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from codeagent.core.errors import NoSuchSession
from codeagent.store.homes import Home, home_of, homes, remember


class Sessions:
    """The stored sessions of one workspace; ``folder`` holds those of all workspaces."""

    def __init__(self, folder: Path, workspace: Path) -> None:
        self._all = folder
        self._workspace = workspace
        self.folder = home_of(folder, workspace)

    def new_id(self) -> str:
        """An id for a new session: its time in UTC and a few letters no other has."""
        return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"

    def path(self, session_id: str) -> Path:
        """Where the session's record lies or will lie."""
        return self.folder / f"{session_id}.jsonl"

    def logs(self, session_id: str) -> Path:
        """The folder for the full output of the session's commands."""
        return self.folder / f"{session_id}.logs"

    def seen(self, session_id: str) -> Path:
        """The file that says what the model has seen of the workspace's files."""
        return self.folder / f"{session_id}.seen"

    def settle(self) -> None:
        """Writes down which workspace these sessions belong to, so that they are found when it moves."""
        with suppress(OSError):
            remember(self.folder, self._workspace)

    def latest(self) -> str:
        """The id of the session that was used last; raises NoSuchSession when there is none."""
        paths = self.paths()
        if not paths:
            raise NoSuchSession("There is no session of this directory to go on with.", hint="Start one without -c.")
        return paths[0].stem

    def find(self, start: str) -> str:
        """The id of this workspace that begins with ``start``; raises NoSuchSession unless there is just one."""
        return _only([path for path in self.paths() if path.stem.startswith(start)], start).stem

    def locate(self, start: str) -> Path:
        """The record whose id begins with ``start``, of this workspace or else of any; raises as ``find``."""
        here = [path for path in self.paths() if path.stem.startswith(start)]
        if here or not start:
            return _only(here, start)
        elsewhere = [path for home in homes(self._all) for path in records(home.folder) if path.stem.startswith(start)]
        return _only(elsewhere, start)

    def paths(self) -> list[Path]:
        """The records of this workspace, the one used last first."""
        return records(self.folder)

    def orphans(self) -> Iterator[Home]:
        """Where sessions lie whose directory is no longer there."""
        for home in homes(self._all):
            if home.folder != self.folder and home.root is not None and not home.root.exists():
                yield home


def records(folder: Path) -> list[Path]:
    """The session records in a folder, the one used last first."""
    used: dict[Path, float] = {}
    for path in folder.glob("*.jsonl"):
        with suppress(OSError):  # it was removed meanwhile
            found = path.lstat()
            if stat.S_ISREG(found.st_mode):  # a pipe would never end
                used[path] = found.st_mtime
    return sorted(used, key=lambda path: (used[path], path.stem), reverse=True)


def _only(found: list[Path], start: str) -> Path:
    if not start:
        raise NoSuchSession("No session is named by an empty id.", hint="codeagent sessions list shows them all.")
    exact = [path for path in found if path.stem == start]
    match exact or found:
        case [only]:
            return only
        case []:
            problem = f"No session of this directory has the id {start}."
        case _:
            problem = f"{len(found):,} sessions have an id that begins with {start}."
    raise NoSuchSession(problem, hint="codeagent sessions list shows them all.")
