"""The stored sessions of a workspace, to list, search, name, copy, export and remove."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from codeagent.core.archive import ExportForm, Hit, SessionNamed, SessionSummary, form_of
from codeagent.core.errors import JournalError
from codeagent.core.events import NoticeGiven, TurnStarted
from codeagent.core.text import clean, storable
from codeagent.store.beside import Beside
from codeagent.store.change_log import share_changes
from codeagent.store.journal import JournalFile, folder_beside, read_past
from codeagent.store.records import Record, Redact, decode_record, encode_record, redacted_line
from codeagent.store.retention import forget_session
from codeagent.store.searching import search_record
from codeagent.store.sessions import Sessions, records
from codeagent.store.summaries import TITLE_LENGTH, summary_of
from codeagent.workspace.private import make_private_folder, open_private, write_private

_MOST_OF_A_SESSION = 5
Write = Callable[[SessionSummary, Sequence[Record], ExportForm, Redact], str]


class SessionArchive:
    """The archive of one workspace."""

    def __init__(self, sessions: Sessions, redact: Redact, write: Write, checkpoints: Path) -> None:
        """``redact`` takes secrets out of all that is written; ``write`` gives an export its form.

        ``checkpoints`` holds what is kept of the changes of all workspaces' sessions.
        """
        self._sessions = sessions
        self._redact = redact
        self._write = write
        self._checkpoints = checkpoints

    def summaries(self) -> tuple[SessionSummary, ...]:
        """All sessions, those used last first; behind them those of directories that are gone."""
        found: list[SessionSummary] = []
        for path, place in self._records():
            with suppress(OSError):  # it was removed meanwhile
                found.append(summary_of(path, place=place))
        return tuple(found)

    def search(self, words: str, is_stopped: Callable[[], bool]) -> Iterator[Hit]:
        """Where the words were said, session by session, as found; ends early once ``is_stopped``."""
        if not words.strip():
            return
        for path, _ in self._records():
            if is_stopped():
                return
            with suppress(OSError):
                yield from _hits(path, words.strip())

    def rename(self, session_id: str, title: str) -> None:
        """Gives a session a title; raises SessionBusy and JournalError."""
        path = self._sessions.locate(session_id)
        used = path.stat()
        journal, _ = JournalFile.reopen(path, redact=self._redact)
        try:
            journal.note(SessionNamed(title=" ".join(clean(title).split())[:TITLE_LENGTH]))
            journal.write()
        finally:
            journal.close()
        os.utime(path, ns=(used.st_atime_ns, used.st_mtime_ns))  # to name it is not to use it

    def delete(self, session_id: str) -> None:
        """Removes a session with all that is kept beside it; raises SessionBusy and JournalError."""
        path = self._sessions.locate(session_id)
        journal, _ = JournalFile.reopen(path, redact=self._redact)
        try:
            path.unlink()
            path.with_suffix(".seen").unlink(missing_ok=True)
            for beside in (folder_beside(path), path.with_suffix(".logs")):
                shutil.rmtree(beside, ignore_errors=True)
            forget_session(self._checkpoints / path.parent.name, path.stem)
        except OSError as error:
            raise JournalError(f"The session {path.stem} cannot be removed: {error.strerror}.") from error
        finally:
            journal.close()

    def fork(self, session_id: str, turn: int | None = None) -> str:
        """The id of a new session that shares the history, up to before ``turn`` if given; raises JournalError."""
        origin = self._sessions.locate(session_id)
        new_id = self._sessions.new_id()
        target = self._sessions.path(new_id)
        try:
            data = origin.read_bytes()
            kept = data[: _start_of(turn, data, origin.stem) if turn is not None else data.rfind(b"\n") + 1]
            read_past(kept)  # one of a newer version is refused here, before anything is written
            text = f"A copy of the session {origin.stem}" + ("." if turn is None else f", from before message {turn}.")
            note = Record(at=datetime.now(UTC).isoformat(timespec="milliseconds"), event=NoticeGiven(text=text))
            make_private_folder(target.parent)
            Beside(folder_beside(origin)).give_to(folder_beside(target))
            if turn is None and origin.with_suffix(".seen").is_file() and origin.parent == target.parent:
                write_private(self._sessions.seen(new_id), origin.with_suffix(".seen").read_bytes())
            if origin.parent == target.parent:
                share_changes(self._checkpoints / target.parent.name, origin.stem, new_id, before=turn)
            write_private(target, kept + redacted_line(encode_record(note), self._redact))
        except OSError as error:
            raise JournalError(f"The session {origin.stem} cannot be copied: {error.strerror}.") from error
        self._sessions.settle()
        return new_id

    def export(self, session_id: str, form: ExportForm) -> str:
        """The whole session as a text of its own, without secrets; raises JournalError."""
        path = self._sessions.locate(session_id)
        try:
            past = read_past(path.read_bytes(), Beside(folder_beside(path)))
            return self._write(summary_of(path), past.records, form, self._redact)
        except OSError as error:
            raise JournalError(f"The session {path.stem} cannot be read: {error.strerror}.") from error

    def export_to(self, session_id: str, path: Path, *, replaces: bool = False) -> None:
        """Writes that to a file, for its owner alone, in the form that its ending says.

        Raises JournalError, also when there is such a file already and it is not to be replaced.
        """
        text = storable(self.export(session_id, form_of(path)))
        try:
            if replaces:
                write_private(path, text.encode())
                return
            with open_private(path, os.O_EXCL) as file:
                file.write(text)
        except FileExistsError as error:
            raise JournalError(f"There is a file {path} already.", hint="Choose another name.") from error
        except OSError as error:
            raise JournalError(f"{path} cannot be written: {error.strerror}.") from error

    def _records(self) -> Iterator[tuple[Path, str]]:
        """All records, with the directory where that is another one."""
        yield from ((path, "") for path in self._sessions.paths())
        for home in self._sessions.orphans():
            yield from ((path, str(home.root)) for path in records(home.folder))


def _hits(path: Path, words: str) -> Iterator[Hit]:
    summary = None
    for count, found in enumerate(search_record(path, words)):
        if count == _MOST_OF_A_SESSION:
            return
        summary = summary or summary_of(path)
        yield Hit(
            session_id=summary.session_id,
            title=summary.title,
            updated_at=summary.updated_at,
            record=found.record,
            speaker=found.speaker,
            text=found.text,
            start=found.start,
            length=len(words),
        )


def _start_of(turn: int, data: bytes, session_id: str) -> int:
    """Where in a journal the turn begins; raises JournalError."""
    mark = b'"event":{"kind":"turn_started","turn":%d,' % turn
    at = data.find(mark)
    start = data.rfind(b"\n", 0, at) + 1
    record = decode_record(data[start : data.find(b"\n", start)]) if at >= 0 else None
    if record is None or not isinstance(record.event, TurnStarted):
        raise JournalError(f"The session {session_id} has no message {turn}.")
    return start
