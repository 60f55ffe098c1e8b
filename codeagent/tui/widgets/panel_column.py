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
from codeagent.tui.widgets.column import Anchor, Place
from codeagent.tui.widgets.column_view import ColumnView
from codeagent.tui.widgets.lines import UNFOLD
from codeagent.tui.widgets.search import Found, Search
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
        self._search: Search | None = None
        self._before_search: tuple[bool, Anchor | None] | None = None
        self._unfolded: int | None = None

    def start_over(self) -> None:
        """Takes every block out."""
        self._foldables, self._chosen = [], None
        self._search = self._before_search = self._unfolded = None
        super().start_over()

    def show_times(self, *, is_shown: bool) -> None:
        """Shows when each thing happened, or does not."""
        self.column.show_times(is_shown=is_shown)
        self.refresh()

    def toggle_all(self) -> None:
        """Opens all panels, or closes all but those that are pinned; those that opened by themselves stay so."""
        self._all_open = not self._all_open
        for index in self._foldables:
            if (block := self._foldable(index)) is not None and not block.is_pinned:
                if self._all_open:
                    block.set_open(is_open=True)
                else:
                    block.fold_back()
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

    def pin_chosen(self) -> None:
        """Keeps the panel pointed at open whatever is closed, or lets it go."""
        if self._chosen is None or (block := self._foldable(self._chosen)) is None:
            return
        block.is_pinned = not block.is_pinned
        if block.is_pinned and not block.is_open:
            block.set_open(is_open=True)
        self._redraw(self._chosen)
        self._bring_into_view(self._chosen)

    def copy_chosen(self) -> str:
        """What the panel pointed at holds, as plain text."""
        block = None if self._chosen is None else self._foldable(self._chosen)
        return "" if block is None else block.copied()

    # --- finding ------------------------------------------------------------------------------

    async def seek(self, words: str) -> Found:
        """Shows wherever the words stand, and goes to the last place in view or above, round the ends.

        A panel that holds them folded away is opened while one is there.
        """
        self.flush()
        if self._before_search is None:
            self._before_search = (self.follows, self.column.anchor(self.scroll_offset.y))
        self._search = Search(self.column, words) if words else None
        self.column.seek(self._search.pattern if self._search is not None else None)
        self.screen.clear_selection()
        self.refresh()
        return await self.find_next("previous")

    async def find_next(self, which: Literal["previous", "next"]) -> Found:
        """Goes to the next place above or below."""
        search = self._search
        if search is None:
            return Found()
        self.flush()
        in_view = self.column.find(self.scroll_offset.y + self.size.height - 1)
        start = len(self.column) if in_view is None or self.follows else in_view[0]
        is_there = await search.go(start, is_down=which == "next", unfold=self._unfold)
        if search is self._search and is_there and search.place is not None:
            if self._unfolded not in {None, search.place[0].block}:
                self._fold_again()
            self._bring_line_into_view(search.place[0])
            self.mark(*search.place)
        return search.found

    def end_search(self, *, stays: bool) -> None:
        """Shows nothing found any more; goes back to where the person was unless it ``stays``."""
        search, self._search = self._search, None
        before, self._before_search = self._before_search, None
        self.column.seek(None)
        self.screen.clear_selection()
        self.refresh()
        if stays and search is not None and search.place is not None:
            self._unfolded = None
            if self._foldable(search.place[0].block) is not None:
                self._point_at(search.place[0].block)
            return
        self._fold_again()
        if before is not None and before[0]:
            self.scroll_to_end()
        elif before is not None and before[1] is not None:
            self.scroll_to(y=self.column.row_of(before[1]))

    def _unfold(self, index: int) -> bool:
        block = self._foldable(index)
        if block is None or block.is_whole:
            return False
        self._fold_again()
        block.set_open(is_open=True)
        self._unfolded = index
        self._redraw(index)
        return True

    def _fold_again(self) -> None:
        """Closes the panel that the search opened to what it showed by itself."""
        index, self._unfolded = self._unfolded, None
        if index is not None and (block := self._foldable(index)) is not None and not block.is_pinned:
            block.fold_back()
            self._redraw(index)

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
            block.is_pinned = block.is_pinned and block.is_open
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
