"""What is kept of a session while it is open: its record, what it changed, and what the model has seen."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from codeagent.agent.record import Record
from codeagent.agent.shrinking import still_there
from codeagent.config.launch import LATEST, Launch
from codeagent.core.errors import CodeagentError
from codeagent.core.events import AgentEvent, Emit, SessionStarted, TurnEnded, TurnStarted
from codeagent.core.messages import Message
from codeagent.core.text import Redactor
from codeagent.core.values import value
from codeagent.store.journal import JournalFile, NoJournal, Past
from codeagent.store.seen_record import load_seen, save_seen
from codeagent.store.sessions import Sessions
from codeagent.workspace.private import make_private_folder
from codeagent.workspace.seen import SeenFiles

Opened = TypeVar("Opened")

Fork = Callable[[str], str]
"""Copies a session of that id; the id of the copy."""


@value
class Keeping:
    """Where a session is kept: its record, the folder of its changes, its commands' output, what the model has seen."""

    session_id: str
    journal: JournalFile | NoJournal
    logs: Path
    seen: SeenFiles
    seen_file: Path | None
    past: Past
    changes: Path
    folder: str
    redact: Callable[[str], str]
    secrets: tuple[str, ...]
    settle: Callable[[], None]
    logs_of: Callable[[str], Path]

    @property
    def readable(self) -> tuple[Path, ...]:
        """Where the output of commands lies that the conversation speaks of, of the one it is a copy of too."""
        ids = [event.session_id for event in self.past.events if isinstance(event, SessionStarted)]
        return tuple(dict.fromkeys((self.logs, *(self.logs_of(one) for one in ids if one == Path(one).name))))

    def recorder(self, emit: Emit) -> Record:
        """What writes the session down and tells it; trouble with the writing is told too."""
        record = Record(self.journal, emit)
        self.journal.tell = record.tell
        return record

    def after(self, event: AgentEvent) -> None:
        """Makes room for the output of commands with the first turn, keeps what was seen at the end of each."""
        if isinstance(event, TurnStarted):
            with suppress(OSError):
                make_private_folder(self.logs)
            self.settle()
        if isinstance(event, TurnEnded) and self.seen_file is not None:
            save_seen(self.seen_file, self.seen.snapshot())

    def on_left(self, messages: Sequence[Message]) -> None:
        """What is no longer in the conversation has to be read again before it is changed."""
        calls, results = still_there(messages)
        self.seen.keep_only(calls, results)

    def or_closed(self, work: Callable[[], Opened]) -> Opened:
        """The outcome of the next part of opening a session; where it fails, the record is given back."""
        try:
            return work()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Gives the record back; the output of an unkept session's commands is removed."""
        self.journal.close()
        if self.seen_file is None:
            shutil.rmtree(self.logs, ignore_errors=True)


def _passing_logs() -> Path:
    """A folder of its own for the output of the commands of a session that is not kept."""
    try:
        return Path(tempfile.mkdtemp(prefix="codeagent-logs-"))
    except OSError as error:
        raise CodeagentError(
            f"There is no place for temporary files: {error.strerror}.", hint="Free some room, or set TMPDIR."
        ) from error


def open_keeping(launch: Launch, stored: Sessions, fork: Fork, redactor: Redactor) -> Keeping:
    """A new record, the one to go on with, or none.

    Raises JournalError and SessionBusy, and CodeagentError without room for temporary files.
    """
    seen = SeenFiles()
    changes = launch.places.checkpoints / stored.folder.name
    if not launch.keeps_session:
        logs = _passing_logs()
        changes = logs / "checkpoints"
        session_id, journal, past, seen_file = stored.new_id(), NoJournal(), Past(records=()), None
    elif launch.resume is None:
        session_id, past = stored.new_id(), Past(records=())
        journal = JournalFile(stored.path(session_id), redactor.redact)
        logs, seen_file = stored.logs(session_id), stored.seen(session_id)
    else:
        session_id = _resumed(launch, stored, fork)
        journal, past = JournalFile.reopen(stored.path(session_id), redact=redactor.redact)
        logs, seen_file = stored.logs(session_id), stored.seen(session_id)
        seen.restore(load_seen(seen_file))
    return Keeping(
        session_id=session_id,
        journal=journal,
        logs=logs,
        seen=seen,
        seen_file=seen_file,
        past=past,
        changes=changes,
        folder=stored.folder.name,
        redact=redactor.redact,
        secrets=redactor.secrets,
        logs_of=stored.logs,
        settle=stored.settle if launch.keeps_session else lambda: None,
    )


def _resumed(launch: Launch, stored: Sessions, fork: Fork) -> str:
    """The id of the session to go on with: itself, or a copy where that is wanted or it belongs to another place."""
    wanted = launch.resume or LATEST
    found = stored.path(stored.latest()) if wanted == LATEST else stored.locate(wanted)
    if launch.forks or found.parent != stored.folder:
        return fork(found.stem)
    return found.stem
