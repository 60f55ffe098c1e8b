"""The window on the column: where the person looks, and what of it must be painted.

It follows the end while the person is there and stays exactly where they scrolled
to otherwise, whatever grows, opens or is measured above or below.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from textual._animator import EasingFunction
from textual._types import AnimationLevel, CallbackType
from textual.events import Resize
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from codeagent.tui.themes import Palette
from codeagent.tui.widgets.column import Anchor, Column
from codeagent.tui.widgets.inks import Inks, inks_of
from codeagent.tui.widgets.mouse_selection import MouseSelection


class ColumnView(MouseSelection):
    """A scrolling view of a column of blocks. Scrolling is never animated: text that moves cannot be read."""

    DEFAULT_CSS = """
    ColumnView {
        background: $background;
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
        scrollbar-background: $background; scrollbar-background-hover: $background;
        scrollbar-background-active: $background;
    }
    """

    @dataclass
    class NewBelow(Message):
        """So many rows came below what the person looks at; 0 when they are at the end again."""

        count: int

    def __init__(self, palette: Palette, *, id: str | None) -> None:  # noqa: A002 - Textual's own name
        self._told: dict[int, Strip] = {}
        self._told_for = (0, Size(0, 0))
        super().__init__(Column(inks_of(palette)), id=id)
        self._palette, self._opens = palette, "enter"
        self._first_dirty: int | None = None
        self._is_placing = False
        self._follows = True
        self._top: tuple[int, int] | None = None
        self._anchor: Anchor | None = None
        self._left: tuple[int, int] = (0, 0)
        self._told_below = 0

    @property
    def follows(self) -> bool:
        """Whether the end is in view and stays there."""
        return self._follows

    def scroll_to_end(self) -> None:
        """Goes to the end and follows it."""
        self._follows, self._anchor = True, None
        self._settle()

    def start_over(self) -> None:
        """Takes every block out."""
        if self.marked is not None:
            self.screen.clear_selection()
        shows_times = self.column.shows_times
        self.column = Column(self._inks, self.column.width)
        self.column.show_times(is_shown=shows_times)
        self._first_dirty = self._top = self._anchor = None
        self._left, self._told_below = (0, 0), 0
        self.scroll_to_end()
        self.refresh()

    def set_palette(self, palette: Palette) -> None:
        """Other colours, at once."""
        self._palette = palette
        self.column.reshape(self._inks, self.column.width)
        self.refresh()

    def name_key(self, opens: str) -> None:
        """What can be opened says the person's own key for it."""
        self._opens = opens
        self.column.reshape(self._inks, self.column.width)

    @property
    def _inks(self) -> Inks:
        return inks_of(self._palette, self._opens)

    def render_line(self, y: int) -> Strip:
        """One row of the screen."""
        return self.column.strip(self.scroll_offset.y + y, self.marked)

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        """Paints regions, or everything, after which nothing is known of how rows look."""
        if not regions:
            self._told.clear()
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def on_resize(self, event: Resize) -> None:
        """Wraps for the new width; the top line stays the top line."""
        del event
        width = self.scrollable_content_region.width
        if width and width != self.column.width:
            if self.marked is not None:
                self.screen.clear_selection()
            if not self._follows and self._anchor is None:
                self._anchor = self.column.anchor(self.scroll_offset.y)
            self.column.reshape(self._inks, width)
            if self._anchor is not None:
                self._top = self.column.find(self.column.row_of(self._anchor))
        self._settle()
        self.refresh()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """The person scrolled: measures what came near, and follows the end again when it was reached."""
        super().watch_scroll_y(old_value, new_value)
        if not self._is_placing and round(old_value) != round(new_value):
            was_following = self._follows
            self._follows = new_value >= self.max_scroll_y
            if was_following and not self._follows:
                last = max(len(self.column) - 1, 0)
                self._left = (last, self.column.height - self.column.top(last))
            self._top = self._anchor = None
            self._settle()

    def _scroll_to(  # noqa: PLR0913 - Textual's own
        self,
        x: float | None = None,
        y: float | None = None,
        *,
        animate: bool = True,
        speed: float | None = None,
        duration: float | None = None,
        easing: EasingFunction | str | None = None,
        force: bool = False,
        on_complete: CallbackType | None = None,
        level: AnimationLevel = "basic",
        release_anchor: bool = True,
    ) -> bool:
        """Every way to scroll comes through here; none is animated."""
        del animate
        return super()._scroll_to(
            x,
            y,
            animate=False,
            speed=speed,
            duration=duration,
            easing=easing,
            force=force,
            on_complete=on_complete,
            level=level,
            release_anchor=release_anchor,
        )

    def _mark_dirty(self, index: int | None) -> None:
        if index is not None:
            self._first_dirty = index if self._first_dirty is None else min(self._first_dirty, index)

    def _settle(self) -> None:
        """Measures what is near, keeps what is looked at where it is, and follows the end if that is wanted."""
        height = self.size.height
        if not height:
            return
        if self._follows:
            row = self.column.settle_end(height)
        else:
            row = self.scroll_offset.y if self._top is None else self.column.row(*self._top)
            row = self.column.settle(row, height)
        self._fit()
        self._place(row)
        self._top = self.column.find(self.scroll_offset.y)
        self._tell_below()

    def _fit(self) -> None:
        """Tells the scroll bar how long the column is, without a new layout of the screen."""
        size = Size(self.column.width, self.column.height)
        if size != self.virtual_size:
            self.set_reactive(Widget.virtual_size, size)  # pyright: ignore[reportArgumentType] - typed as read from a widget
            if self.show_vertical_scrollbar:
                self.vertical_scrollbar.window_virtual_size = size.height

    def _place(self, row: int) -> None:
        """Scrolls there, not counted as the person's doing."""
        self._is_placing = True
        try:
            self.scroll_target_y = self.scroll_y = float(row)
        finally:
            self._is_placing = False

    def _tell_below(self) -> None:
        count = 0
        if not self._follows:
            last, height = self._left
            count = max(self.column.height - self.column.top(last) - height, 0)
        if count != self._told_below:
            self._told_below = count
            self.post_message(self.NewBelow(count))

    def _refresh_from(self, index: int) -> None:
        """Paints what is in view of a block and all below it, as far as it looks different now.

        What a row looked like is known from when it was last painted from here: rows
        are also rendered for updates that do not send them to the terminal.
        """
        offset, size = self.scroll_offset.y, self.size
        if self._told_for != (offset, size):
            self._told, self._told_for = {}, (offset, size)
        first = max(self.column.top(index) - offset, 0)
        rows = {row: self.column.strip(offset + row, self.marked) for row in range(first, size.height)}
        changed = [row for row, strip in rows.items() if strip != self._told.get(row)]
        self._told |= rows
        if changed:
            self.refresh(*(Region(0, row, size.width, 1) for row in changed))
