"""All that is kept of one session's changes: contents, the log, and which call has begun."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from codeagent.core.errors import FileProblem
from codeagent.store.blobs import Blobs, not_kept
from codeagent.store.change_log import ChangeLog, Entry, Kind
from codeagent.store.cut_off import UnderWay, finish
from codeagent.store.file_states import (
    FileChange,
    FileState,
    folder_name,
    folder_state_of,
    from_json,
    state_of,
    to_json,
)
from codeagent.store.restoring import remove_empty
from codeagent.store.running_jobs import RunningJobs
from codeagent.store.snapshots import Look, Snapshots, index_name
from codeagent.workspace.files import decode
from codeagent.workspace.leftovers import sweep_leftovers
from codeagent.workspace.private import make_private_folder, open_private
from codeagent.workspace.private_git import PrivateGit, look_around

_MOST_ADOPTED = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """A changing call that has begun, kept on the disk until it is known what it did.

    For write and edit ``name`` is the file, ``before`` its state and ``proposal`` the
    digest of the text that is to be written; a command has none of them. ``place`` says
    where the call stands among the others.
    """

    id: str
    call_id: str
    turn: int
    what: str
    name: str = ""
    before: FileState | None = None
    proposal: str = ""
    made: tuple[str, ...] = ()
    place: int = 0


class ChangeStore:
    """Everything that is kept of one session's changes; for one thread at a time."""

    def __init__(self, root: Path, folder: Path, session: str, own: Sequence[Path] = ()) -> None:
        """``folder`` is the workspace's, shared by its sessions; ``session`` is an id.

        ``own`` are the program's folders: where they lie in the workspace nothing of them is kept or taken back.
        """
        self.root = root
        self._own = tuple(own)
        self._place = folder / "sessions" / session
        self._folder = folder
        self._git: PrivateGit | None = None
        self._snapshots: Snapshots | None = None
        self.log = ChangeLog(self._place / "changes.jsonl")
        self._blobs: Blobs | None = None
        self.jobs = RunningJobs(self._place)
        self.under_way = UnderWay(self._place)
        self._looked_at = len(self.log.entries) if self.jobs.left is None else self.jobs.left.entries

    @property
    def git(self) -> PrivateGit:
        """The private git, made when first needed; raises CheckpointError."""
        if self._git is None:
            around = look_around(self.root)
            try:
                make_private_folder(self._place)
                index = self._place / index_name(around.top)
                folder = self._folder / f"git-{around.object_format}"
                git = PrivateGit(folder=folder, root=self.root, surroundings=around, index=index, apart=self._own)
                make_private_folder(folder)
                git.prepare()
            except OSError as error:
                raise not_kept(f"Nothing can be kept in {self._folder}", error) from error
            self._git = git
        return self._git

    @property
    def blobs(self) -> Blobs:
        """The contents of files."""
        if self._blobs is None:
            self._blobs = Blobs(self.git)
        return self._blobs

    @property
    def snapshots(self) -> Snapshots:
        """The last known state of the workspace; raises CheckpointError."""
        if self._snapshots is None:
            self._snapshots = Snapshots(self.git, self.blobs)
        return self._snapshots

    def look_before(self) -> None:
        """Takes the state of all files as the one before a command; raises CheckpointError."""
        self.settle_all()
        self.git.hold()
        self.snapshots.renew()
        self._has_looked()

    def look_at_jobs(self, what: str, turn: int, *, is_sure: bool) -> Look:
        """Keeps what changed since the last look and is of no call; raises CheckpointError.

        ``what`` names the jobs. Not ``is_sure``: the person may have done it.
        """
        self.settle_all()
        return self._keep_jobs(what, turn, is_sure=is_sure)

    def note_jobs(self, names: Sequence[str], turn: int) -> None:
        """Remembers over a kill of the program which jobs run; raises CheckpointError."""
        self.jobs.note(names, turn, self._looked_at)

    def _keep_jobs(self, what: str, turn: int, *, is_sure: bool) -> Look:
        self.git.hold()
        look = self.snapshots.look()
        look = replace(look, changes=self._of_no_call(look.changes))
        if look.changes:
            self._adopt(look)
            entry = Entry(
                id=self.log.next_id(), kind=Kind.CALL, what=what, turn=turn, changes=look.changes, is_sure=is_sure
            )
            self.log.add(entry)
        self._has_looked()
        return look

    def _has_looked(self) -> None:
        """The last known state of all files is that after the last entry of the log."""
        self.snapshots.set_mark()
        self._looked_at = len(self.log.entries)
        self.jobs.looked_at(self._looked_at)

    def name_of(self, path: Path) -> str:
        """How the log calls a file."""
        return str(path.relative_to(self.root)) if path.is_relative_to(self.root) else str(path)

    def path_of(self, name: str) -> Path:
        """The file that the log calls so."""
        return self.root / name

    def state_of(self, name: str) -> FileState | None:
        """How a file or folder that the log calls so stands now; raises FileProblem and CheckpointError."""
        path = self.path_of(name)
        return folder_state_of(path) if name.endswith("/") else state_of(path, self.blobs)

    # --- what has begun

    def pending(self) -> Pending | None:
        """The call that has begun and whose end is not known, after a crash perhaps."""
        for path in sorted(self._place.glob("pending-*.json")):
            if (found := read_pending(path)) is not None:
                return found
            path.unlink(missing_ok=True)
        return None

    def begin(self, pending: Pending) -> None:
        """Notes that a call begins; raises CheckpointError."""
        change = FileChange(name=pending.name, before=pending.before, after=None)
        fields: dict[str, object] = {
            "id": pending.id,
            "call": pending.call_id,
            "turn": pending.turn,
            "what": pending.what,
            "file": to_json([change]),
            "proposal": pending.proposal,
            "made": list(pending.made),
            "place": pending.place,
        }
        path = self._pending_path(pending)
        try:
            make_private_folder(self._place)
            with open_private(path.with_suffix(".new"), os.O_TRUNC) as file:
                file.write(json.dumps(fields))
            path.with_suffix(".new").replace(path)
        except OSError as error:
            raise not_kept(f"Nothing can be kept in {self._folder}", error) from error

    def settle(self, pending: Pending, *, is_done: bool = False) -> Look:
        """Finds out what a begun call did and keeps it; raises CheckpointError.

        Of a write or edit that did not say that it ``is_done``, only the very text that
        it was to write counts: anything else is somebody else's.
        """
        if any(entry.id == pending.id for entry in self.log.entries):
            look = Look(changes=())  # a crash came between the log and this
        elif pending.name:
            look = Look(changes=self._written(pending, is_done=is_done))
        else:
            self.snapshots.go_back()
            look = self.snapshots.look()
        if look.changes:
            self._adopt(look)
            self.log.add(
                Entry(
                    id=pending.id,
                    kind=Kind.CALL,
                    what=pending.what,
                    turn=pending.turn,
                    call_id=pending.call_id,
                    changes=look.changes,
                    made=pending.made,
                    place=pending.place,
                )
            )
        elif pending.made:
            folders = [self.path_of(name) for name in pending.made]  # made for a file that was not written
            sweep_leftovers(folders[-1])
            remove_empty(folders)
        if not pending.name:
            self._has_looked()
        self._pending_path(pending).unlink(missing_ok=True)
        return look

    def _adopt(self, look: Look) -> None:
        states = [state for change in look.changes for state in (change.before, change.after) if state and state.blob]
        if len(states) <= _MOST_ADOPTED:
            self.blobs.adopt(state.blob for state in states)

    def _of_no_call(self, changes: Sequence[FileChange]) -> tuple[FileChange, ...]:
        """The changes since the last look without what calls and reversals, which are in the log, did themselves."""
        known: dict[str, FileState | None] = {}
        made: set[str] = set()
        for entry in self.log.entries[self._looked_at :]:
            known |= {change.name: change.after for change in entry.changes}
            made.update(folder_name(folder) for folder in entry.made)
        others = [replace(change, before=known.get(change.name, change.before)) for change in changes]
        for name in known.keys() - {change.name for change in changes}:
            with suppress(FileProblem):
                others.append(FileChange(name=name, before=known[name], after=self.state_of(name)))
        return tuple(one for one in others if one.before != one.after and one.name not in made)

    def settle_all(self) -> Look:
        """Finds out what calls and jobs did whose end nobody saw; raises CheckpointError.

        Returns what may be the doing of jobs that ran when the program was killed.
        """
        self.finish_reversal()
        while (pending := self.pending()) is not None:
            self.settle(pending)
        left = self.jobs.left
        if left is None:
            return Look(changes=())
        look = Look(changes=())
        if self.git.index.exists():
            self.snapshots.go_back()
            look = self._keep_jobs(left.what, left.turn, is_sure=False)
        self.jobs.forget_left(self._looked_at)
        return look

    def finish_reversal(self) -> str:
        """Carries an undo or redo that was cut off to its end, and says what it was about; raises CheckpointError."""
        left = self.under_way.left(self.log.entries)
        if left is not None:
            sweep_leftovers(self.root)
            finish(left, self.path_of, self.state_of, self.blobs)
        self.under_way.end()
        return left.what if left is not None else ""

    def _written(self, pending: Pending, *, is_done: bool) -> tuple[FileChange, ...]:
        path = self.path_of(pending.name)
        try:
            after = state_of(path, self.blobs)
            if not is_done and (after is None or digest(decode(self.blobs.read(after.blob)).text) != pending.proposal):
                return ()
        except FileProblem:
            return ()
        change = FileChange(name=pending.name, before=pending.before, after=after)
        return (change,) if change.before != change.after else ()

    def _pending_path(self, pending: Pending) -> Path:
        return self._place / f"pending-{pending.id}.json"


def digest(text: str) -> str:
    """Tells texts apart."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def read_pending(path: Path) -> Pending | None:
    """What was noted of a call when it began; None when that is damaged."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        fields = json.loads(path.read_bytes())
        (change,) = from_json(fields["file"])
        return Pending(
            id=str(fields["id"]),
            call_id=str(fields["call"]),
            turn=int(fields["turn"]),
            what=str(fields["what"]),
            name=change.name,
            before=change.before,
            proposal=str(fields["proposal"]),
            made=tuple(str(one) for one in fields["made"]),
            place=int(fields.get("place", 0)),
        )
    return None
