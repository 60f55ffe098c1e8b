"""The stored sessions over the main screen: to choose one, to find what was said in any, to name and remove them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from enum import StrEnum
from time import monotonic
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from codeagent.core.archive import Archive, Hit, SessionSummary, Speaker, local_minute
from codeagent.core.desk import Opening
from codeagent.core.errors import CodeagentError
from codeagent.core.text import counted, show_invisible
from codeagent.tui.keys import Window
from codeagent.tui.screens.pages import first_fitting
from codeagent.tui.screens.picker import Item, OptionRows, Picker
from codeagent.tui.widgets.text_field import LineField, read_back

MOST_SHOWN = 200
_LEAST_LETTERS = 2
_QUIET_SECONDS = 0.15
_AT_A_TIME = 20
_MOMENT = 0.05
_WIDEST = 122
"""Cells of a row and what is beside it on the widest screen."""
_KEYS = (
    "enter open · ctrl+r rename · ctrl+d delete · esc leave",
    "enter open · ctrl+r rename · esc leave",
    "enter open · esc leave",
    "esc leave",
)
_RENAMING_KEYS = ("enter keep it · esc leave as it is", "enter keep it · esc", "esc")
_CORNERS = 6
_SEARCH, _RENAME = "type to search titles and all that was said", "the new title"


class _Doing(StrEnum):
    SEARCHING = "searching"
    RENAMING = "renaming"


class SessionsScreen(Window[Opening | None]):
    """Returns which session to open, and where in it, or None when Esc closed it."""

    DEFAULT_CSS = """
    SessionsScreen { align: left bottom; background: $background 0%; }
    SessionsScreen > Vertical {
        max-width: 120; height: auto; max-height: 90%;
        margin: 0 1 2 1; padding: 0 1; background: $surface; border: round $accent;
        border-title-color: $text; border-title-background: $surface;
        border-subtitle-color: $text-muted; border-subtitle-background: $surface;
    }
    SessionsScreen Input, SessionsScreen Input:focus { border: none; height: 1; padding: 0; background: $surface; }
    SessionsScreen OptionList, SessionsScreen OptionList:focus {
        border: none; height: auto; max-height: 16; padding: 0; background: $surface; color: $text;
        scrollbar-size-vertical: 1;
        & > .option-list--option-highlighted { background: $screen-selection-background; }
    }
    SessionsScreen #remark { color: $text-muted; height: auto; display: none; margin-top: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", show=False, priority=True),
        Binding("down,ctrl+n", "move(1)", show=False),
        Binding("up,ctrl+p", "move(-1)", show=False),
        Binding("pagedown", "move(5)", show=False),
        Binding("pageup", "move(-5)", show=False),
        Binding("ctrl+r", "rename", show=False, priority=True),
        Binding("ctrl+d", "delete", show=False, priority=True),
    ]

    def __init__(self, archive: Archive, sessions: tuple[SessionSummary, ...], here: str = "") -> None:
        """``here`` is the session that is open, which is not searched."""
        super().__init__()
        self._here = here
        self._archive = archive
        self._sessions = sessions
        self._shown: list[SessionSummary] = []
        self._hits: list[Hit] = []
        self._doing = _Doing.SEARCHING
        self._query = ""
        self._typed = LineField(placeholder=_SEARCH)
        self._typed.cursor_blink = False
        self._list = OptionRows()
        self._list.can_focus = False
        self._remark = Static("", id="remark", markup=False)

    def compose(self) -> ComposeResult:
        """What is typed, what fits it, and a word about it."""
        with Vertical() as box:
            box.border_title = Content("Sessions")
            yield self._typed
            yield self._list
            yield self._remark

    def on_mount(self) -> None:
        """Shows all sessions, the latest first."""
        self._show_all()
        self._typed.focus()

    # --- what is listed

    def _show_all(self) -> None:
        """The sessions whose title or last words fit, for the query as it is, above the places that were found."""
        words = self._query.lower().split()
        fitting = [one for one in self._sessions if all(word in _searched(one) for word in words)]
        self._shown, self._hits = fitting[:MOST_SHOWN], []
        self._list.clear_options()
        self._list.add_options([Option(self._session_row(one)) for one in self._shown])
        self._list.highlighted = 0 if self._shown else None
        self._say("" if self._shown or self._query else "There is no older session of this workspace.")

    def _session_row(self, session: SessionSummary) -> Content:
        turns = counted(session.turns, "turn")
        facts = [local_minute(session.updated_at), turns]
        if session.price:
            facts.append(session.price)
        if session.place:
            facts.append(f"from {show_invisible(session.place)}, which is gone")
        elif session.last_words:
            facts.append(f"“{show_invisible(session.last_words)}”")
        title = Content(show_invisible(session.title) or "(nothing was said)").truncate(self._width, ellipsis=True)
        about = Content.styled("  " + " · ".join(facts), "$text-muted").truncate(self._width, ellipsis=True)
        return Content("\n").join([title, about])

    def _hit_row(self, hit: Hit) -> Content:
        style = "$accent" if hit.speaker is Speaker.PERSON else "$text-muted"
        before, words = hit.text[: hit.start], hit.text[hit.start : hit.start + hit.length]
        after = hit.text[hit.start + hit.length :]
        line = Content.assemble(
            (f"{hit.speaker:<6}", style),
            show_invisible(before),
            (show_invisible(words), "bold $accent"),
            show_invisible(after),
        )
        about = f"      {local_minute(hit.updated_at)} · {show_invisible(hit.title)}"
        where = Content.styled(about, "$text-muted").truncate(self._width, ellipsis=True)
        return Content("\n").join([line.truncate(self._width, ellipsis=True), where])

    @property
    def _width(self) -> int:
        return max(min(self.size.width, _WIDEST) - 8, 20)

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        query = read_back(event.value).strip()
        if self._doing is _Doing.SEARCHING and query != self._query:
            self._query = query
            self._show_all()
            self._search(self._query)

    @work(exclusive=True, group="search")
    async def _search(self, words: str) -> None:
        """Looks through all that was said once the typing pauses; what is found comes as it is found."""
        if len(words) < _LEAST_LETTERS:
            return
        await asyncio.sleep(_QUIET_SECONDS)
        is_stopped = threading.Event()
        found = (hit for hit in self._archive.search(words, is_stopped.is_set) if hit.session_id != self._here)
        try:
            while len(self._hits) < MOST_SHOWN and (some := await asyncio.to_thread(_next_of, found)):
                self._hits += some
                self._list.add_options([Option(self._hit_row(hit)) for hit in some])
                if self._list.highlighted is None:
                    self._list.highlighted = 0
        finally:
            is_stopped.set()
        if not self._shown and not self._hits:
            self._say("That was said in no session.")

    def _say(self, text: str) -> None:
        self._remark.update(Content(text))
        self._remark.display = bool(text)

    # --- what is done

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        if self._doing is _Doing.RENAMING:
            self._finish_renaming(read_back(event.value))
        elif self._list.highlighted is not None:
            self._choose(self._list.highlighted)

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self._choose(event.option_index)

    def _choose(self, index: int) -> None:
        if index < len(self._shown):
            self.dismiss(Opening(resume=self._shown[index].session_id))
        elif index - len(self._shown) < len(self._hits):
            hit = self._hits[index - len(self._shown)]
            self.dismiss(Opening(resume=hit.session_id, record=hit.record, words=self._query))

    def action_move(self, by: int) -> None:
        """Moves the bar, stopping at the ends."""
        if self._list.option_count:
            self._list.highlighted = min(max((self._list.highlighted or 0) + by, 0), self._list.option_count - 1)

    def action_back(self) -> None:
        """Leaves the new title alone, or the screen."""
        if self._doing is _Doing.RENAMING:
            self._search_again()
        else:
            self.dismiss(None)

    @property
    def _pointed_at(self) -> SessionSummary | None:
        at = self._list.highlighted
        return self._shown[at] if at is not None and at < len(self._shown) else None

    def on_resize(self) -> None:
        """As many keys are named as fit."""
        self.call_after_refresh(self._name_keys, _RENAMING_KEYS if self._doing is _Doing.RENAMING else _KEYS)

    def _name_keys(self, keys: Sequence[str]) -> None:
        box = self.query_one(Vertical)
        box.border_subtitle = Content(first_fitting(keys, box.outer_size.width - _CORNERS))

    def action_rename(self) -> None:
        """Takes a new title for the session that the bar stands on."""
        session = self._pointed_at
        if session is None or self._doing is _Doing.RENAMING:
            return
        self._doing = _Doing.RENAMING
        box = self.query_one(Vertical)
        box.border_title = Content("New title")
        self._name_keys(_RENAMING_KEYS)
        self._typed.placeholder = _RENAME
        self._typed.value = session.title

    def _finish_renaming(self, title: str) -> None:
        session = self._pointed_at
        self._search_again()
        if session is not None and title.strip():
            self._change(lambda: asyncio.to_thread(self._archive.rename, session.session_id, title))

    def _search_again(self) -> None:
        box = self.query_one(Vertical)
        box.border_title = Content("Sessions")
        self._name_keys(_KEYS)
        self._typed.placeholder = _SEARCH
        self._typed.value = self._query
        self._doing = _Doing.SEARCHING

    def action_delete(self) -> None:
        """Removes the session that the bar stands on, after a question."""
        if (session := self._pointed_at) is not None and self._doing is _Doing.SEARCHING:
            self._change(lambda: self._remove(session))

    async def _remove(self, session: SessionSummary) -> None:
        items = [Item(value="keep"), Item(value="delete", detail="for good, with all that is kept of it")]
        title = f"Delete “{show_invisible(session.title)[:40] or session.session_id}”?"
        box = self.query_one(Vertical)
        box.visible = False
        answer = await self.app.push_screen_wait(Picker(title, items))  # pyright: ignore[reportUnknownMemberType] - any app
        box.visible = True
        if answer == "delete":
            await asyncio.to_thread(self._archive.delete, session.session_id)

    @work(exclusive=True, group="change")
    async def _change(self, change: Callable[[], Awaitable[None]]) -> None:
        """Carries a change out and lists anew; what cannot be done is said."""
        trouble = ""
        try:
            await change()
        except CodeagentError as error:
            trouble = str(error)
        known = {one.session_id for one in self._sessions}
        fresh = await asyncio.to_thread(self._archive.summaries)
        self._sessions = tuple(one for one in fresh if one.session_id in known)
        at = self._list.highlighted
        self._show_all()
        if at is not None and self._shown:
            self._list.highlighted = min(at, len(self._shown) - 1)
        if trouble:
            self._say(trouble)


def _next_of(found: Iterator[Hit]) -> list[Hit]:
    """What is found next: a handful, or what came within a moment of the first; nothing at the end."""
    some: list[Hit] = []
    until = 0.0
    for hit in found:
        until = until or monotonic() + _MOMENT
        some.append(hit)
        if len(some) == _AT_A_TIME or monotonic() > until:
            break
    return some


def _searched(session: SessionSummary) -> str:
    return f"{session.session_id} {session.title} {session.last_words} {session.place}".lower()
