"""A list to pick one thing from, narrowed down by typing: themes, modes, earlier prompts."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.strip import Strip
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from codeagent.core.text import show_invisible
from codeagent.core.values import value
from codeagent.tui.keys import Window
from codeagent.tui.widgets.text_field import LineField, read_back

MOST_SHOWN = 200
_KEYS, _ASKING = "enter choose · esc leave", "asking the services…"

_AROUND = 8
"""Cells beside a row: margins, frame and scroll bar."""
_WIDEST = 122
"""Cells of a row and what is beside it on the widest screen: what belongs together stays together."""
_WIDEST_VALUE = 48
_NARROWEST = 20
"""Cells that a detail needs to stand beside its value; with less, or behind a wider value, it stands below."""
_INDENT, _MOST_LINES = 2, 2

_NARROWEST_BESIDE, _ROOMY, _MARGINS = 32, 110, 2
_LEAST_ROWS = 4
"""Rows of the list before a note has more than one."""
_LOW = 10
"""Lines of a screen that the window has for itself."""
_MOST_ROWS, _FRAME, _NOTE, _BELOW = 14, 3, 5, 2
"""Lines of the list, of what is above and below it, of a note, and below the window."""

_FEW = 8
"""So many are looked over faster than narrowed down: what is typed is shown once there is something."""

_REVERSED = Style(color="default", bgcolor="default", reverse=True)


@value
class Item:
    """One thing to pick: its value, or what is ``shown`` in its place, and what is shown beside it."""

    value: str
    detail: str = ""
    shown: str = ""


class OptionRows(OptionList):
    """Textual's list; where the theme has no grounds the chosen line is drawn in reverse."""

    def keep_in_view(self) -> None:
        """Brings the chosen line back into view once the list has the size that it is given now."""
        self.call_after_refresh(self.scroll_to_highlight)

    def on_resize(self) -> None:
        """The chosen line stays in view."""
        self.keep_in_view()

    def render_line(self, y: int) -> Strip:
        """One row of it."""
        strip = super().render_line(y)
        theme = self.app.current_theme  # pyright: ignore[reportUnknownMemberType] - an app of any result
        if self.highlighted is None or not theme.ansi:
            return strip
        parts = [(part.text, part.style or Style.null()) for part in strip]
        if not any(style.meta.get("option") == self.highlighted for _, style in parts):
            return strip
        return Strip([Segment(text, style + _REVERSED) for text, style in parts], strip.cell_length)


class Picker(Window[str | None]):
    """Returns the picked value, or None when Esc closed it."""

    DEFAULT_CSS = """
    Picker { align: left bottom; background: $background 0%; }
    Picker > Vertical {
        max-width: 120; height: auto; max-height: 80%;
        margin: 0 1 2 1; padding: 0 1; background: $surface; border: round $accent;
        border-title-color: $text; border-title-background: $surface;
        border-subtitle-color: $text-muted; border-subtitle-background: $surface;
    }
    Picker.-beside { align: right bottom; }
    Picker.-beside > Vertical { margin: 0 1 3 0; }
    Picker.-low > Vertical { max-height: 100%; margin: 0 1; }
    Picker Input, Picker Input:focus { border: none; height: 1; padding: 0; background: $surface; }
    Picker.-few Input, Picker.-few Input:focus { height: 0; }
    Picker OptionList, Picker OptionList:focus {
        border: none; height: auto; padding: 0; background: $surface; color: $text;
        scrollbar-size-vertical: 1;
        & > .option-list--option-highlighted {
            background: $screen-selection-background; color: $accent; text-style: bold;
        }
    }
    Picker #none { color: $text-muted; height: 1; display: none; }
    Picker #note { color: $warning; height: auto; max-height: 4; margin: 1 0 0 0; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", show=False, priority=True),  # at once: what follows is for the screen below
        Binding("down,ctrl+n", "move(1)", show=False),
        Binding("up", "move(-1)", show=False),
        Binding("pagedown", "move(10)", show=False),
        Binding("pageup", "move(-10)", show=False),
    ]

    def __init__(
        self,
        title: str,
        items: Sequence[Item],
        *,
        current: str = "",
        on_look: Callable[[str], None] | None = None,
        takes_any: bool = False,
        grows: AsyncGenerator[Sequence[Item]] | None = None,
        note: str = "",
    ) -> None:
        """``on_look`` is told of every value that the bar stands on; ``takes_any`` lets a value be typed freely.

        What ``on_look`` changes is looked at: the list leaves half of the screen's width to it, where it has no note.
        ``grows`` gives fuller lists while it is open, and is closed with it; a ``note`` stands below the list.
        """
        super().__init__()
        self._title = title
        self._items = items
        self._current = current
        self._on_look = on_look
        self._is_beside = on_look is not None and not note
        self.set_class(self._is_beside, "-beside")
        self._takes_any = takes_any
        self._grows = grows
        self._note = note
        self._shown: list[Item] = []
        self._has_moved = False
        self._filter = LineField(placeholder="type to narrow down" + (", or any other name" if takes_any else ""))
        self._filter.cursor_blink = False
        self._list = OptionRows()
        self._list.can_focus = False

    def compose(self) -> ComposeResult:
        """What is typed, and what fits it."""
        with Vertical() as box:
            box.border_title = Content(self._title)
            box.border_subtitle = Content(_KEYS if self._grows is None else f"{_ASKING} · {_KEYS}")
            yield self._filter
            yield Static("Nothing fits.", id="none", markup=False)
            yield self._list
            if self._note:
                yield Static(show_invisible(self._note), id="note", markup=False)

    def on_mount(self) -> None:
        """Shows everything, the bar on the current value; over a question its frame stands on the question's."""
        below = self.app.screen_stack[:-1]  # pyright: ignore[reportUnknownMemberType] - an app of any result
        if any(pane.display for screen in below for pane in screen.query("QuestionPane")):
            self.query_one(Vertical).styles.max_width = "100%"
        self._narrow("")
        self._stand_on(self._current)
        self._filter.focus()
        if self._grows is not None:
            self.run_worker(self._grow(self._grows), exit_on_error=False)  # what is known stays

    def _stand_on(self, value: str) -> None:
        """Puts the bar there, where it is shown."""
        values = [item.value for item in self._shown]
        if value in values:
            self._list.highlighted = values.index(value)

    async def _grow(self, lists: AsyncGenerator[Sequence[Item]]) -> None:
        """Takes fuller lists; what the bar stands on stays under it."""
        async with aclosing(lists):
            async for items in lists:
                at = self._list.highlighted
                is_chosen = self._has_moved or bool(self._filter.value)
                stood_on = self._current if at is None or not is_chosen else self._shown[at].value
                self._items = items
                self._narrow(self._filter.whole_text)
                self._stand_on(stood_on)
        self.query_one(Vertical).border_subtitle = Content(_KEYS)

    @property
    def _width(self) -> int:
        """Cells of the window with its margins."""
        width = min(self.size.width, _WIDEST)
        if not self._is_beside:
            return width
        return min(max(width // 2, _NARROWEST_BESIDE) if width < _ROOMY else width * 3 // 5, width)

    def on_resize(self) -> None:
        """Breaks the rows anew."""
        is_low = self.size.height < _LOW
        self.set_class(is_low, "-low")
        room = self.size.height if is_low else (self.size.height - _BELOW - self._is_beside) * 4 // 5
        self._share(room - _FRAME)
        if self._is_beside:
            self.query_one(Vertical).styles.width = self._width - _MARGINS
        for number, item in enumerate(self._shown):
            self._list.replace_option_prompt_at_index(number, self._row(item))
        self._list.keep_in_view()

    def _share(self, rows: int) -> None:
        """Shares the rows between the list and its note, of which less is shown where both have little room."""
        if self._note:
            note = min(_NOTE - 1, max(rows - _LEAST_ROWS - 1, 1))
            self.query_one("#note").styles.max_height = note
            rows -= note + 1
        self._list.styles.max_height = min(max(rows, 1), _MOST_ROWS)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._narrow(read_back(event.value))

    def _narrow(self, query: str) -> None:
        self.set_class(len(self._items) <= _FEW and not query and not self._takes_any, "-few")
        words = query.lower().split()
        fitting = [item for item in self._items if all(word in f"{item.value} {item.detail}".lower() for word in words)]
        best_first = sorted(fitting, key=lambda item: _distance(item.value, query))
        self._shown = best_first[:MOST_SHOWN]
        self._list.clear_options()
        self._list.add_options([Option(self._row(item)) for item in self._shown])
        self._list.highlighted = 0 if self._shown else None
        nothing = self.query_one("#none", Static)
        nothing.display = not self._shown
        if self._takes_any:
            nothing.update("Enter takes it as it is typed." if words else "None is known here: type its name.")

    def _row(self, item: Item) -> Content:
        """A row of the list; where one value is in use now, that one is marked."""
        if not self._current:
            return self._without_mark(item, 0)
        mark = Content.styled("● ", "$accent") if item.value == self._current else Content("  ")
        return Content("\n  ").join(Content.assemble(mark, self._without_mark(item, 2)).split("\n"))

    def _without_mark(self, item: Item, taken: int) -> Content:
        lengths = [_shown(one).cell_length for one in self._shown if one.detail]
        width = max((length for length in lengths if length <= _WIDEST_VALUE), default=0) + 3
        value = _shown(item)
        room = max(self._width - _AROUND - taken, 10)
        if not item.detail or (self._is_beside and room - width < _NARROWEST):
            return value.truncate(room, ellipsis=True)
        detail = Content.styled(show_invisible(item.detail), "$text-muted")
        if room - width < _NARROWEST or value.cell_length > _WIDEST_VALUE:
            return Content("\n").join([value.truncate(room, ellipsis=True), *_below(detail, room)])
        lines = detail.truncate(2 * (room - width), ellipsis=True).wrap(room - width)
        return Content.assemble(value.truncate(width, pad=True), Content("\n" + " " * width).join(lines))

    @on(OptionList.OptionHighlighted)
    def _looked(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        if self._on_look is not None and event.option_index < len(self._shown):
            self._on_look(self._shown[event.option_index].value)

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        if self._list.highlighted is not None:
            self.dismiss(self._shown[self._list.highlighted].value)
        elif self._takes_any and (typed := read_back(event.value).strip()):
            self.dismiss(typed)

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(self._shown[event.option_index].value)

    def action_move(self, by: int) -> None:
        """Moves the bar, stopping at the ends."""
        if self._shown:
            self._has_moved = True
            at = (self._list.highlighted or 0) + by
            self._list.highlighted = min(max(at, 0), len(self._shown) - 1)

    @property
    def unused(self) -> str:
        """What is typed where nothing in the list fits it: it may have been meant for elsewhere."""
        return "" if self._shown else self._filter.whole_text.strip()

    def action_close(self) -> None:
        """Leaves without a choice."""
        self.dismiss(None)


def _shown(item: Item) -> Content:
    """A value as it is drawn, in one line."""
    return Content(" ".join(show_invisible(item.shown or item.value).split()))


def _below(detail: Content, room: int) -> list[Content]:
    """A detail in two lines below its value, a little in."""
    inner = room - _INDENT
    lines = detail.truncate(_MOST_LINES * inner, ellipsis=True).wrap(inner)[:_MOST_LINES]
    return [Content.assemble(" " * _INDENT, line) for line in lines]


def _distance(value: str, query: str) -> tuple[bool, bool, bool]:
    """How far a value is from what was typed: itself, beginning so, holding it; a slash before it is none."""
    name = value.removeprefix("/") if not query.startswith("/") else value
    return name != query, not name.startswith(query), query not in name
