"""The stored sessions as screens and scripts see them: to list, search, name, copy, export and remove."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Literal, Protocol

from codeagent.core.errors import JournalError
from codeagent.core.messages import Unpriced
from codeagent.core.values import value


def local_minute(moment: str) -> str:
    """A time in ISO 8601 as clocks show it here, to the minute; what is no time stays as it is."""
    try:
        return f"{datetime.fromisoformat(moment).astimezone():%Y-%m-%d %H:%M}"
    except ValueError:
        return moment


@value
class SessionSummary:
    """A stored session; ``updated_at`` is ISO 8601 in UTC.

    ``cost`` is in US dollars, None when nothing had a price; ``unpriced`` is what it does
    not hold. ``last_words`` are the end of what was said. ``place`` is the directory it
    belongs to when that is another one, which is no longer there.
    """

    session_id: str
    title: str
    updated_at: str
    turns: int
    model: str
    cost: float | None = None
    last_words: str = ""
    place: str = ""
    unpriced: tuple[Unpriced, ...] = ()

    @property
    def price(self) -> str:
        """The cost in a few characters, with a ``+`` where it was more than is known; empty when it is not known."""
        return "" if self.cost is None else f"${self.cost:.2f}{'+' if self.unpriced else ''}"


@value
class SessionNamed:
    """The person gave the session a title."""

    kind: Literal["session_named"] = "session_named"
    title: str


class Speaker(StrEnum):
    """Whose words were found."""

    PERSON = "you"
    AGENT = "agent"
    TOOL = "tool"


@value
class Hit:
    """A place in a stored session where the words that were searched for stand.

    ``record`` counts the session's events from 0. ``text`` is the line around them,
    in which they stand at ``start`` for ``length`` characters.
    """

    session_id: str
    title: str
    updated_at: str
    record: int
    speaker: Speaker
    text: str
    start: int
    length: int


class ExportForm(StrEnum):
    """What a session can be written as."""

    MARKDOWN = "md"
    HTML = "html"
    JSON = "json"


_FORMS = {
    "": ExportForm.MARKDOWN,
    ".md": ExportForm.MARKDOWN,
    ".markdown": ExportForm.MARKDOWN,
    ".txt": ExportForm.MARKDOWN,
    ".html": ExportForm.HTML,
    ".htm": ExportForm.HTML,
    ".json": ExportForm.JSON,
}


def form_of(path: Path) -> ExportForm:
    """The form that a file's ending says, Markdown where it has none; raises JournalError for any other."""
    form = _FORMS.get(path.suffix.lower())
    if form is None:
        raise JournalError(
            f"A session cannot be written as {path.suffix}.", hint="Let the name end in .md, .html or .json."
        )
    return form


class Archive(Protocol):
    """The stored sessions of one workspace. All of it reads or writes files: call it on a thread."""

    def summaries(self) -> tuple[SessionSummary, ...]:
        """All sessions, those used last first; behind them those of directories that are gone."""
        ...

    def search(self, words: str, is_stopped: Callable[[], bool]) -> Iterator[Hit]:
        """Where the words were said, session by session, as found; ends early once ``is_stopped``."""
        ...

    def rename(self, session_id: str, title: str) -> None:
        """Gives a session a title; raises SessionBusy and JournalError."""
        ...

    def delete(self, session_id: str) -> None:
        """Removes a session with all that is kept beside it; raises SessionBusy and JournalError."""
        ...

    def fork(self, session_id: str, turn: int | None = None) -> str:
        """The id of a new session that shares the history, up to before ``turn`` if given; raises JournalError."""
        ...

    def export(self, session_id: str, form: ExportForm) -> str:
        """The whole session as a text of its own, without secrets; raises JournalError."""
        ...

    def export_to(self, session_id: str, path: Path, *, replaces: bool = False) -> None:
        """Writes that to a file, for its owner alone, in the form that its ending says.

        Raises JournalError, also when there is such a file already and it is not to be replaced.
        """
        ...


OlderSessions = Callable[[], Archive]
"""Finds the stored sessions of the workspace; called on a thread."""
