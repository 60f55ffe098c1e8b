"""The scrolling part of an approval question."""

from __future__ import annotations

from collections.abc import Sequence

from rich.style import Style
from textual.content import Content
from textual.events import Click
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from codeagent.tui.widgets.diff_lines import OPEN_FOLD
from codeagent.tui.widgets.drawn_rows import DrawnRows, SeenRows
from codeagent.tui.widgets.lines import EMPTY, Line

_MOST_PAINTED = 500


class QuestionBody(DrawnRows):
    """Lines drawn as they come into view, so that a very long change opens at once."""

    DEFAULT_CSS = """
    QuestionBody { height: 1fr; background: $surface; scrollbar-size-vertical: 1; overflow-x: hidden; }
    """
    can_focus = False

    class Moved(Message):
        """Other lines are in view."""

    class FoldClicked(Message):
        """What a line stands for is to be shown."""

        def __init__(self, line: int) -> None:
            super().__init__()
            self.line = line

    def __init__(self) -> None:
        super().__init__()
        self._lines: Sequence[Line] = ()
        self._seen = SeenRows()
        self._ground: Style | None = None
        self._painted: dict[int, tuple[Line, Strip]] = {}

    def show(self, lines: Sequence[Line], *, from_start: bool, seen: SeenRows) -> None:
        """Shows other lines, from the first one or from where it stood; to ``seen`` is added what comes into view."""
        self._lines, self._seen = lines, seen
        self.virtual_size = Size(self.size.width, len(lines))
        if from_start:
            self.scroll_home(animate=False, immediate=True)
        self.refresh()
        self.call_after_refresh(self._look)

    def _look(self) -> None:
        """Notes what is in view by now."""
        if self.display:
            top = self.scroll_offset.y
            self._seen.add(top, min(top + self.size.height, self.total))

    def what_follows(self, rows: int) -> Content:
        """How many lines are below the last of ``rows`` in view, and how many there are; empty at the end."""
        below = len(self._lines) - self.scroll_offset.y - rows
        return Content.styled(f"↓ {below:,} more of {self.total:,} lines", "$warning") if below > 0 else Content()

    @property
    def total(self) -> int:
        """How many lines there are."""
        return len(self._lines)

    def go_on_at(self, top: int) -> None:
        """Stands again where it stood before other lines were shown."""
        self.scroll_to(y=top, animate=False, immediate=True, force=True)

    def bring(self, line: int, rows: int) -> None:
        """Scrolls so that a line stands near the top, unless so many rows from there on are in view."""
        top = self.scroll_offset.y
        if not top <= line <= top + max(self.size.height - rows, 0):
            self.scroll_to(y=max(line - 1, 0), animate=False, immediate=True)

    def keep(self, line: int, row: int) -> None:
        """Scrolls so that a line stands in a row of the view, as far as there are lines above it."""
        self.scroll_to(y=max(line - row, 0), animate=False, immediate=True, force=True)

    def on_click(self, event: Click) -> None:
        """Tells when a fold was clicked."""
        at = event.y + self.scroll_offset.y
        piece = self._lines[at].piece_at(event.x) if at < len(self._lines) else None
        if piece is not None and piece.link == OPEN_FOLD:
            self.post_message(self.FoldClicked(at))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Tells the dialog, which says how much follows."""
        super().watch_scroll_y(old_value, new_value)
        self.call_after_refresh(self._look)
        self.post_message(self.Moved())

    def on_resize(self) -> None:
        """Tells the dialog: more or fewer lines are in view."""
        self.call_after_refresh(self._look)
        self.post_message(self.Moved())

    def notify_style_update(self) -> None:
        """Other colours."""
        super().notify_style_update()
        self._ground = None

    def render_line(self, y: int) -> Strip:
        """One row; as it was painted before, when it is the same line."""
        at, width = y + self.scroll_offset.y, self.size.width
        ground = self._ground
        if ground is None or len(self._painted) > _MOST_PAINTED:
            ground = self._ground = self.rich_style
            self._painted.clear()
        line = self._lines[at] if at < len(self._lines) else EMPTY
        before = self._painted.get(at)
        if before is not None and before[0] is line and before[1].cell_length == width:
            return before[1]
        strip = line.strip(width, ground=ground).adjust_cell_length(width, ground)
        self._painted[at] = (line, strip)
        return strip
