"""The panels of the transcript and how one gets at what they hold: pointing, opening, copying, finding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from textual.binding import BindingType
from textual.events import Blur, Click, Focus
from textual.message import Message

from codeagent.tui import keys
from codeagent.tui.themes import Palette
from codeagent.tui.widgets.blocks import Foldable, ThinkingBlock
from codeagent.tui.widgets.column import Place
from codeagent.tui.widgets.column_view import ColumnView
from codeagent.tui.widgets.finding import Stretch, blocks_with, stretches
from codeagent.tui.widgets.panel_lines import UNFOLD
from codeagent.tui.widgets.tool_panel import ToolPanel


class PanelColumn(ColumnView, can_focus=True):
    """A column some of whose blocks can be opened.

    It has the keyboard only when the person walked there; a click leaves it at the prompt.
    """

    FOCUS_ON_CLICK = False

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.Place.TRANSCRIPT)]

    @dataclass
    class LinkClicked(Message):
        """The person clicked a web or mail address."""

        address: str

    def __init__(self, palette: Palette, *, id: str | None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(palette, id=id)
        self._foldables: list[int] = []
        self._chosen: int | None = None
        self._all_open = False

    def start_over(self) -> None:
        """Takes every block out."""
        self._foldables, self._chosen = [], None
        super().start_over()

    def toggle_all(self) -> None:
        """Opens all panels, or closes them."""
        self._all_open = not self._all_open
        for index in self._foldables:
            if (block := self._foldable(index)) is not None:
                block.set_open(is_open=self._all_open)
                self.column.changed(index)
                self.column.guess(index)
        if self._foldables:
            self._touch(self._foldables[0])
            self.flush()

    def choose(self, which: Literal["previous", "next"]) -> None:
        """Points at the panel before or after the one pointed at; at first, at the last one in view."""
        panels = [index for index in self._foldables if self.column.block(index) is not None]
        if not panels:
            return
        if self._chosen in panels:
            place = min(max(panels.index(self._chosen) + (1 if which == "next" else -1), 0), len(panels) - 1)
        else:
            bottom = self.scroll_offset.y + self.size.height
            place = max(sum(self.column.top(index) < bottom for index in panels) - 1, 0)
        self._point_at(panels[place])
        self._bring_into_view(panels[place])

    def unchoose(self) -> None:
        """Points at no panel."""
        self._point_at(None)

    def toggle_chosen(self) -> None:
        """Opens or closes the panel pointed at."""
        if self._chosen is not None:
            self._toggle(self._chosen)
            self._bring_into_view(self._chosen)

    def copy_chosen(self) -> str:
        """What the panel pointed at holds, as plain text."""
        block = None if self._chosen is None else self._foldable(self._chosen)
        return "" if block is None else block.copied()

    def find(self, words: str, which: Literal["previous", "next"] = "previous") -> bool:
        """Marks the words where they next stand above or below what is marked, and goes there.

        The search begins at the end and goes round; a panel that holds the words folded
        away is opened. False when they stand nowhere.
        """
        self.flush()
        if not words or not len(self.column):
            return False
        here = self.marked[0] if self.marked is not None else Place(len(self.column), 0)
        is_down, has_left = which == "next", False
        for index in blocks_with(self.column, words, min(here.block, len(self.column) - 1), 1 if is_down else -1):
            hits = self._unfolded_hits(words, index)
            if index == here.block and not has_left:
                hits = [hit for hit in hits if (hit[0] > here if is_down else hit[0] < here)]
                has_left = True
            if hits:
                start, end = hits[0 if is_down else -1]
                self._bring_line_into_view(start)
                self.mark(start, end)
                return True
        return False

    def on_focus(self, event: Focus) -> None:
        """Points at a panel once the keyboard is here."""
        del event
        if self._chosen is None:
            self.choose("previous")

    def on_blur(self, event: Blur) -> None:
        """Points at none when the keyboard leaves."""
        del event
        self.unchoose()

    def on_click(self, event: Click) -> None:
        """Follows a link, opens what was clicked on; a second click marks a word, a third a paragraph."""
        if self.has_dragged:
            return
        row, cell = event.y + self.scroll_offset.y, event.x
        piece, found = self.column.line(row).piece_at(cell), self.column.find(row)
        link = "" if piece is None else piece.link
        if found is not None and (link == UNFOLD or (found[1] == 0 and self._foldable(found[0]) is not None)):
            self._toggle(found[0])
        elif link:
            self.post_message(self.LinkClicked(link))
        elif event.chain == 2:  # noqa: PLR2004 - a double click
            self.select_word(event.offset)
        elif event.chain == 3:  # noqa: PLR2004 - a triple click
            self.select_paragraph(event.offset)

    def flush(self) -> None:
        """Draws what changed since the last time."""
        first, self._first_dirty = self._first_dirty, None
        if first is not None:
            self._settle()
            self._refresh_from(first)

    # --- how it is done ---------------------------------------------------------------------------

    def _foldable(self, index: int) -> Foldable | None:
        block = self.column.block(index)
        return block if isinstance(block, ToolPanel | ThinkingBlock) else None

    def _toggle(self, index: int) -> None:
        if (block := self._foldable(index)) is not None:
            block.toggle()
            self._redraw(index)

    def _point_at(self, index: int | None) -> None:
        for at, is_chosen in ((self._chosen, False), (index, True)):
            if at is not None and (block := self._foldable(at)) is not None:
                block.is_chosen = is_chosen
                self._redraw(at)
        self._chosen = index

    def _redraw(self, index: int) -> None:
        """A block the person acts on changes at once; what is above it does not move."""
        self.column.changed(index)
        self._mark_dirty(index)
        self.flush()

    def _bring_into_view(self, index: int) -> None:
        top = self.column.top(index) + self.column.gap(index)
        bottom = self.column.top(index) + self.column.measure(index)
        view, height = self.scroll_offset.y, self.size.height
        if top < view:
            self.scroll_to(y=max(top - 1, 0))
        elif bottom > view + height:
            self.scroll_to(y=min(bottom - height, top))

    def _unfolded_hits(self, words: str, index: int) -> list[Stretch]:
        """Where the words stand in a block; it is opened when they are folded away in it."""
        hits = stretches(self.column, words, index)
        block = self._foldable(index)
        if not hits and block is not None:
            block.set_open(is_open=True)
            self._redraw(index)
            hits = stretches(self.column, words, index)
        return hits

    def _bring_line_into_view(self, place: Place) -> None:
        row, height = self.column.row(place.block, place.line), self.size.height
        if not 0 <= row - self.scroll_offset.y < height:
            self.scroll_to(y=row - height // 3)

    def _touch(self, index: int) -> None:
        """A block has changed and is to be drawn anew with the next frame."""
        self.column.changed(index)
        self._mark_dirty(index)
        self._wake()

    def _wake(self) -> None:
        """Sees to it that what changed is drawn."""
        self.flush()
