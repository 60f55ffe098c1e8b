"""Which background jobs may be changing files, on the disk: after a kill of the program its next start knows it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from codeagent.store.blobs import not_kept
from codeagent.workspace.private import make_private_folder, read_private, write_private

RUNNING_JOBS = "running-jobs.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsLeft:
    """Jobs that ran when the program was killed, in words.

    ``turn`` is the one of that moment; ``entries`` are how many the log had at the last look at all files.
    """

    what: str
    turn: int
    entries: int


class RunningJobs:
    """The file of one session; it is there only while jobs run."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / RUNNING_JOBS
        self._names: tuple[str, ...] = ()
        self._turn = 0
        self.left = _read(self._path)

    def note(self, names: Sequence[str], turn: int, entries: int) -> None:
        """Writes down which jobs run; raises CheckpointError."""
        is_known = tuple(names) == self._names and turn == self._turn
        self._names, self._turn = tuple(names), turn
        if not is_known:
            self.looked_at(entries)

    def looked_at(self, entries: int) -> None:
        """Writes down that all files were looked at; raises CheckpointError."""
        if self.left is not None:
            return
        try:
            if self._names:
                make_private_folder(self._path.parent)
                fields = {"jobs": list(self._names), "turn": self._turn, "entries": entries}
                write_private(self._path, json.dumps(fields).encode())
            else:
                self._path.unlink(missing_ok=True)
        except OSError as error:
            raise not_kept(f"Nothing can be kept in {self._path.parent}", error) from error

    def forget_left(self, entries: int) -> None:
        """What an earlier run had left is kept by now; raises CheckpointError."""
        self.left = None
        self.looked_at(entries)


def _read(path: Path) -> JobsLeft | None:
    match read_private(path):
        case {"jobs": [*names], "turn": int(turn), "entries": int(entries)} if names:
            what = ", ".join(str(name) for name in names)
            return JobsLeft(what=f"{what}, cut off when codeagent was killed", turn=turn, entries=entries)
        case _:
            return None
