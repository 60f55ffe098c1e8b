"""The lasting record of one session: JSON lines, only ever appended to, readable by its owner alone."""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from codeagent.core.errors import JournalError, SessionBusy
from codeagent.core.events import AgentEvent, Level, NoticeGiven
from codeagent.store.records import Record, decode_record, encode_record
from codeagent.workspace.private import make_private_folder

_LONG_LINE = 256 * 1024
_TORN = "The last line of the session's record was cut off, by a crash perhaps; it was set aside."


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """What a journal held when it was opened.

    ``damaged`` counts lines that could not be read; ``torn`` is the notice about a
    last line that was cut off, when there was one just now.
    """

    records: tuple[Record, ...]
    damaged: int = 0
    torn: NoticeGiven | None = None

    @property
    def events(self) -> tuple[AgentEvent, ...]:
        """The events, oldest first."""
        return tuple(record.event for record in self.records)


class JournalFile:
    """An open session record, locked against other processes until ``close``."""

    def __init__(self, path: Path, redact: Callable[[str], str]) -> None:
        """A new record at ``path``; the file comes with the first event that is appended.

        So a session in which nothing was said leaves nothing. ``redact`` takes
        secrets out of a line before it is written.
        """
        self.path = path
        self._descriptor = -1
        self._redact = redact
        self._noted: list[bytes] = []
        self._writing = asyncio.Lock()

    @classmethod
    def reopen(cls, path: Path, *, redact: Callable[[str], str]) -> tuple[JournalFile, Past]:
        """Opens a record to go on with it, and reads what it holds.

        A last line without an end is closed off, so that it can spoil nothing
        that follows, and a notice says so. Raises JournalError and SessionBusy.
        """
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError as error:
            raise JournalError(f"The session's record {path} cannot be opened: {error.strerror}.") from error
        _lock(path, descriptor)
        journal = cls(path, redact)
        journal._descriptor = descriptor
        data = path.read_bytes()
        past = read_past(data)
        if data and not data.endswith(b"\n"):
            notice = NoticeGiven(text=_TORN, level=Level.WARNING)
            try:
                journal._write(b"\n" + journal._line(notice))
            except OSError as error:
                raise _unwritable(path, error) from error
            past = replace(read_past(path.read_bytes()), torn=notice)
        return journal, past

    async def append(self, event: AgentEvent) -> None:
        """Returns when the event, and all that was noted before it, is in the file."""
        line = self._line(event)
        async with self._writing:
            noted, self._noted = self._noted, []
            data = b"".join([*noted, line])
            try:
                if len(data) > _LONG_LINE:
                    await asyncio.to_thread(self._write, data)
                else:
                    self._write(data)
            except OSError as error:
                raise _unwritable(self.path, error) from error

    def note(self, event: AgentEvent) -> None:
        """Keeps an event for the next append."""
        self._noted.append(self._line(event))

    def close(self) -> None:
        """Writes what was noted and gives the record back."""
        if self._descriptor < 0:
            return
        try:
            self._write(b"".join(self._noted))
            os.fsync(self._descriptor)
        except OSError:
            pass  # what could be kept is kept; there is nobody left to tell
        finally:
            os.close(self._descriptor)
            self._descriptor = -1

    def _line(self, event: AgentEvent) -> bytes:
        line = encode_record(Record(at=datetime.now(UTC).isoformat(timespec="milliseconds"), event=event))
        return self._redact(line.decode()).encode()

    def _write(self, data: bytes) -> None:
        if self._descriptor < 0:
            self._descriptor = _create(self.path)
        view = memoryview(data)
        while view:
            view = view[os.write(self._descriptor, view) :]


def read_past(data: bytes) -> Past:
    """All records of a journal; damaged lines are passed over and counted, those already told of are not."""
    records: list[Record] = []
    damaged = 0
    for line in data.split(b"\n"):
        if not line:
            continue
        record = decode_record(line)
        if record is None:
            damaged += 1
            continue
        if isinstance(record.event, NoticeGiven) and record.event.text == _TORN:
            damaged = max(0, damaged - 1)
        records.append(record)
    return Past(records=tuple(records), damaged=damaged)


def _unwritable(path: Path, error: OSError) -> JournalError:
    return JournalError(
        f"The session's record {path} cannot be written: {error.strerror}.",
        hint="Free some space, or set CODEAGENT_HOME to another folder; --no-session keeps no record.",
    )


def _create(path: Path) -> int:
    """A new file for its owner alone, whatever the umask, in folders for the owner alone."""
    make_private_folder(path.parent)
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    os.fchmod(descriptor, 0o600)
    _lock(path, descriptor)
    return descriptor


def _lock(path: Path, descriptor: int) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        raise SessionBusy(
            f"The session {path.stem} is open in another codeagent.", hint="Close it there, or start a new session."
        ) from error


class NoJournal:
    """Keeps nothing: for sessions that are not to be recorded."""

    async def append(self, event: AgentEvent) -> None:
        """Forgets the event."""

    def note(self, event: AgentEvent) -> None:
        """Forgets the event."""

    def close(self) -> None:
        """Has nothing to give back."""
