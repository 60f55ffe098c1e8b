"""Selecting text in the transcript with the mouse: across blocks, by character, word or paragraph."""

from __future__ import annotations

from textual.events import MouseDown, MouseMove, MouseUp
from textual.geometry import Offset
from textual.selection import Selection
from textual.timer import Timer

from codeagent.core.seldom import seldom
from codeagent.tui.widgets.column import Column, Place
from codeagent.tui.widgets.drawn_rows import DrawnRows

_WORD = seldom(r"[\w./~@:+-]+|\S")
_SCROLLS_PER_SECOND = 20
_LEFT = 1


class MouseSelection(DrawnRows):
    """A scrolling column whose text can be marked; Textual's own copy command finds it like any selection.

    Textual's selection counts cells of what is drawn; this one counts characters
    of blocks, so it stays where it is while text streams in, and copies the words
    without gutters and wraps.
    """

    ALLOW_SELECT = False

    def __init__(self, column: Column, *, id: str | None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self.column = column
        self.marked: tuple[Place, Place] | None = None
        self.has_dragged = False
        self._pressed: Place | None = None
        self._pointer = Offset(0, 0)
        self._drag_timer: Timer | None = None

    def selected_text(self) -> str:
        """The marked words, empty when nothing is marked."""
        return "" if self.marked is None else self.column.text(*self.marked)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The marked words, for Textual's copy command."""
        del selection
        return (self.selected_text(), "\n") if self.marked is not None else None

    def selection_updated(self, selection: Selection | None) -> None:
        """Textual cleared the selection, or repeats what it was told."""
        if selection is None:
            self.marked = None
        self.refresh()

    def select_word(self, offset: Offset) -> None:
        """Marks the word, path or address under the pointer."""
        place = self._place_at(offset)
        text = self.column.line(self.scroll_offset.y + offset.y).text
        found = next((word for word in _WORD().finditer(text) if word.start() <= place.character < word.end()), None)
        if found is not None:
            self.mark(Place(place.block, place.line, found.start()), Place(place.block, place.line, found.end()))

    def select_paragraph(self, offset: Offset) -> None:
        """Marks the line under the pointer as it was written, with all rows it is wrapped to."""
        place = self._place_at(offset)
        first = last = self.scroll_offset.y + offset.y
        while self.column.line(first).joint != "\n":
            first -= 1
        while self.column.line(last + 1).joint != "\n":
            last += 1
        start = Place(place.block, place.line - (self.scroll_offset.y + offset.y - first), 0)
        end = Place(place.block, start.line + last - first, len(self.column.line(last).text))
        self.mark(start, end)

    def on_mouse_down(self, event: MouseDown) -> None:
        """A press may begin a selection."""
        if event.button != _LEFT:
            return
        self._pressed = self._place_at(event.offset)
        self.has_dragged = False
        self.capture_mouse()

    def on_mouse_move(self, event: MouseMove) -> None:
        """Moving with the button down marks text; beyond the edge it scrolls."""
        if self._pressed is None:
            return
        self._pointer = event.offset
        self._drag()
        is_outside = not 0 <= event.y < self.size.height
        if is_outside and self._drag_timer is None:
            self._drag_timer = self.set_interval(1 / _SCROLLS_PER_SECOND, self._drag)
        elif not is_outside:
            self._stop_drag_timer()

    def on_mouse_up(self, event: MouseUp) -> None:
        """The selection stands."""
        del event
        self._pressed = None
        self._stop_drag_timer()
        self.release_mouse()

    def _drag(self) -> None:
        beyond = min(self._pointer.y, 0) + max(self._pointer.y - self.size.height + 1, 0)
        if beyond:
            self.scroll_to(y=self.scroll_offset.y + beyond, animate=False)
        place = self._place_at(Offset(self._pointer.x, min(max(self._pointer.y, 0), self.size.height - 1)))
        if self._pressed is not None and (self.has_dragged or place != self._pressed):
            self.has_dragged = True
            start, end = sorted((self._pressed, place))
            self.mark(start, end)

    def mark(self, start: Place, end: Place) -> None:
        """Marks the text from one character up to another."""
        self.marked = (start, end)
        self.screen.selections = {self: Selection(Offset(0, start.block), Offset(end.character, end.block + 1))}
        self.refresh()

    def _place_at(self, offset: Offset) -> Place:
        row = self.scroll_offset.y + offset.y
        found = self.column.find(row)
        if found is None:
            return Place(len(self.column), 0)
        return Place(found[0], found[1], self.column.line(row).index_at(offset.x))

    def _stop_drag_timer(self) -> None:
        if self._drag_timer is not None:
            self._drag_timer.stop()
            self._drag_timer = None
