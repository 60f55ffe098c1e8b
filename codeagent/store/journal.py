"""The lasting record of one session: JSON lines, only ever appended to, readable by its owner alone."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from codeagent.core.errors import JournalError, SessionBusy
from codeagent.core.events import AgentEvent, Level, NoticeGiven
from codeagent.core.long_texts import LONG, is_long
from codeagent.core.values import value
from codeagent.store.beside import Beside
from codeagent.store.records import Record, decode_record, encode_record, kept_line, lightened, redacted_line
from codeagent.workspace.private import make_private_folder, way_out

MOST_UNWRITTEN = 32 * 1024 * 1024
"""Bytes that are kept for a disk that refuses them; beyond that the session stays unrecorded."""

_TORN = "The last line of the session's record was cut off, by a crash perhaps; it was set aside."
_READ_ONLY = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})

TellTrouble = Callable[[NoticeGiven], None]


@value
class Past:
    """What a journal held when it was opened.

    ``damaged`` counts lines that could not be read, ``missing`` the large parts whose
    files are gone; ``torn`` is the notice about a last line that was cut off, when
    there was one just now.
    """

    records: tuple[Record, ...]
    damaged: int = 0
    missing: int = 0
    torn: NoticeGiven | None = None

    @property
    def events(self) -> tuple[AgentEvent, ...]:
        """The events, oldest first."""
        return tuple(record.event for record in self.records)


class JournalFile:
    """An open session record, locked against other processes until ``close``.

    A disk that refuses does not stop the session: that is told once, and what could
    not be written is kept and written as soon as the disk takes it.
    """

    def __init__(self, path: Path, redact: Callable[[str], str]) -> None:
        """A new record at ``path``; the file comes with the first event that is appended.

        So a session in which nothing was said leaves nothing. ``redact`` takes
        secrets out of a line before it is written.
        """
        self.path = path
        self.tell: TellTrouble = _tell_nobody
        self._beside = Beside(folder_beside(path))
        self._descriptor = -1
        self._refusal: OSError | None = None
        self._redact = redact
        self._noted: list[bytes | Record] = []
        self._unwritten = b""
        self._is_refused = self._is_given_up = self._is_due = False
        self._writing = asyncio.Lock()
        self._guard = threading.Lock()

    @classmethod
    def reopen(cls, path: Path, *, redact: Callable[[str], str]) -> tuple[JournalFile, Past]:
        """Opens a record to go on with it, and reads what it holds.

        A last line without an end is closed off, so that it can spoil nothing
        that follows, and a notice says so. Raises JournalError and SessionBusy,
        and then the file is as it was.
        """
        journal = cls(path, redact)
        journal._open()
        try:
            data = path.read_bytes()
            past = read_past(data, journal._beside)
        except OSError as error:
            journal._let_go()
            raise JournalError(f"The session's record {path} cannot be read: {error.strerror}.") from error
        except JournalError:
            journal._let_go()
            raise
        if data and not data.endswith(b"\n"):
            journal._unwritten = b"\n"
            if decode_record(data[data.rfind(b"\n") + 1 :]) is None:
                notice = NoticeGiven(text=_TORN, level=Level.WARNING)
                journal._unwritten += _line(notice)
                past = replace(read_past(data + journal._unwritten, Beside(journal._beside.folder)), torn=notice)
        return journal, past

    async def append(self, event: AgentEvent) -> None:
        """Returns when the event, and all that was noted before it, is in the file, or the disk has refused it."""
        self.note(event)
        async with self._writing:
            try:
                if self._has_long:
                    await asyncio.to_thread(self._flush)
                else:
                    self._flush()
            except OSError as error:
                self._tell_refusal(error)
            else:
                self._tell_recovery()
        self._write_soon()

    def note(self, event: AgentEvent) -> None:
        """Keeps an event, which goes into the file with the next append or once the event loop gets round to it.

        A record that is no file yet waits for the first append.
        """
        if self._is_given_up:
            return
        self._noted.append(_record(event) if is_long(event) else _line(event))
        self._write_soon()

    def write(self) -> None:
        """Writes what was noted; raises JournalError."""
        try:
            self._flush()
        except OSError as error:
            text = f"The session's record {self.path} cannot be written: {error.strerror}."
            raise JournalError(text, hint=way_out(error)) from error

    def _write_soon(self) -> None:
        if self._noted and not self._is_due and self._descriptor >= 0 and (loop := _running_loop()) is not None:
            self._is_due = True
            loop.call_soon(self._write_noted)

    def _write_noted(self) -> None:
        self._is_due = False
        if self._writing.locked() or self._descriptor < 0 or self._has_long:
            return  # an append is under way, which comes back to it, or the record was closed
        try:
            self._flush()
        except OSError as error:
            self._tell_refusal(error)
        else:
            self._tell_recovery()

    @property
    def _has_long(self) -> bool:
        """Whether so much is noted that it is written on a thread."""
        return sum(LONG + 1 if isinstance(noted, Record) else len(noted) for noted in self._noted) > LONG

    def close(self) -> None:
        """Writes what was noted and gives the record back."""
        if self._descriptor < 0:
            return
        try:
            self._flush()
            os.fsync(self._descriptor)
        except OSError:
            pass  # what could be kept is kept; there is nobody left to tell
        finally:
            self._let_go()

    def _flush(self) -> None:
        """Writes all that is not in the file yet, in order and each byte once; raises OSError."""
        with self._guard:
            noted, self._noted = self._noted, []
            self._unwritten += b"".join(map(self._kept, noted))
            if self._is_given_up or not self._unwritten:
                return
            try:
                self._write()
            except OSError:
                if len(self._unwritten) > MOST_UNWRITTEN:
                    self._is_given_up, self._unwritten = True, b""
                raise

    def _kept(self, noted: bytes | Record) -> bytes:
        """As it goes into the file."""
        if isinstance(noted, Record):
            return kept_line(noted, self._redact, self._beside)
        return lightened(redacted_line(noted, self._redact), self._beside)

    def _write(self) -> None:
        if self._refusal is not None:
            raise self._refusal
        if self._descriptor < 0:
            self._descriptor = _create(self.path)
        while self._unwritten:
            count = os.write(self._descriptor, self._unwritten)
            self._unwritten = self._unwritten[count:]

    def _tell_refusal(self, error: OSError) -> None:
        if not self._is_refused:
            self._is_refused = True
            self.tell(_refused(self.path, error))

    def _tell_recovery(self) -> None:
        if self._is_refused and not self._is_given_up:
            self._is_refused = False
            self.tell(NoticeGiven(text="The session is recorded again, with all that happened meanwhile."))

    def _open(self) -> None:
        """Opens and locks what is there; where it may only be read, writing is refused later."""
        flags = os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            try:
                self._descriptor = os.open(self.path, os.O_RDWR | flags)
            except OSError as error:
                if error.errno not in _READ_ONLY:
                    raise
                self._descriptor = os.open(self.path, os.O_RDONLY | flags)
                self._refusal = error
        except OSError as error:
            raise JournalError(f"The session's record {self.path} cannot be opened: {error.strerror}.") from error
        _lock(self.path, self._descriptor)

    def _let_go(self) -> None:
        os.close(self._descriptor)
        self._descriptor = -1


def folder_beside(path: Path) -> Path:
    """Where the large parts of the record at ``path`` lie."""
    return path.with_suffix(".parts")


def read_past(data: bytes, beside: Beside | None = None) -> Past:
    """All records of a journal; damaged lines are passed over and counted, those already told of are not."""
    records: list[Record] = []
    damaged = 0
    for line in data.split(b"\n"):
        if not line.strip(b"\0 \r"):
            continue
        record = decode_record(line, beside)
        if record is None:
            damaged += 1
            continue
        if isinstance(record.event, NoticeGiven) and record.event.text == _TORN:
            damaged = max(0, damaged - 1)
        records.append(record)
    return Past(records=tuple(records), damaged=damaged, missing=beside.missing if beside is not None else 0)


def _line(event: AgentEvent) -> bytes:
    """As it is noted: what must not be written is taken out later, which takes long where there is much of it."""
    return encode_record(_record(event))


def _record(event: AgentEvent) -> Record:
    return Record(at=datetime.now(UTC).isoformat(timespec="milliseconds"), event=event)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _tell_nobody(notice: NoticeGiven) -> None:
    del notice


def _refused(path: Path, error: OSError) -> NoticeGiven:
    text = (
        f"This session is not recorded at the moment: {path.parent} cannot be written ({error.strerror}). "
        f"The session goes on, and what happens is recorded as soon as that is possible again. {way_out(error)}"
    )
    return NoticeGiven(text=text, level=Level.ERROR)


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
            f"The session {path.stem} is open in another codeagent.",
            hint="Close it there, or go on with a copy of it: --fork.",
        ) from error


class NoJournal:
    """Keeps nothing: for sessions that are not to be recorded."""

    tell: TellTrouble

    async def append(self, event: AgentEvent) -> None:
        """Forgets the event."""

    def note(self, event: AgentEvent) -> None:
        """Forgets the event."""

    def close(self) -> None:
        """Has nothing to give back."""
