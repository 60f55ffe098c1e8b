"""Finding sessions again: where they lie, which is the latest, what each was about."""

from __future__ import annotations

import hashlib
import secrets
from datetime import UTC, datetime
from pathlib import Path

from codeagent.core.desk import SessionSummary
from codeagent.core.errors import JournalError
from codeagent.core.events import SessionStarted, TurnStarted
from codeagent.store.records import decode_record

_TITLE_LENGTH = 80
_HEAD = 120  # the part of a line that names its kind


class Sessions:
    """The stored sessions of one workspace; ``folder`` holds those of all workspaces."""

    def __init__(self, folder: Path, workspace: Path) -> None:
        key = hashlib.sha256(bytes(workspace)).hexdigest()[:12]
        self.folder = folder / f"{workspace.name or 'root'}-{key}"

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

    def latest(self) -> str:
        """The id of the session that was used last; raises JournalError when there is none."""
        ids = self._ids()
        if not ids:
            raise JournalError("There is no session of this directory to go on with.", hint="Start one without -c.")
        return ids[0]

    def find(self, start: str) -> str:
        """The id that begins with ``start``; raises JournalError unless there is just one."""
        found = [session_id for session_id in self._ids() if session_id.startswith(start)]
        match found:
            case [only]:
                return only
            case []:
                problem = f"No session of this directory has the id {start}."
            case _:
                problem = f"{len(found)} sessions have an id that begins with {start}."
        raise JournalError(problem, hint="codeagent sessions list shows them all.")

    def summaries(self) -> tuple[SessionSummary, ...]:
        """What each session was about, the latest first."""
        return tuple(self._summary(session_id) for session_id in self._ids())

    def _ids(self) -> list[str]:
        used = {path.stem: path.stat().st_mtime for path in self.folder.glob("*.jsonl")}
        return sorted(used, key=lambda session_id: (used[session_id], session_id), reverse=True)

    def _summary(self, session_id: str) -> SessionSummary:
        title = model = updated_at = ""
        turns = 0
        with self.path(session_id).open("rb") as lines:
            for line in lines:
                is_start = b'"kind":"turn_started"' in line[:_HEAD]
                turns += is_start
                if (is_start and not title) or b'"kind":"session_started"' in line[:_HEAD]:
                    record = decode_record(line)
                    match record.event if record else None:
                        case TurnStarted(text=text):
                            title = " ".join(text.split())[:_TITLE_LENGTH]
                        case SessionStarted(model=name):
                            model = name
                        case _:
                            pass
        changed = datetime.fromtimestamp(self.path(session_id).stat().st_mtime, UTC)
        updated_at = changed.isoformat(timespec="seconds")
        return SessionSummary(session_id=session_id, title=title, updated_at=updated_at, turns=turns, model=model)
