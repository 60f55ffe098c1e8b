"""A list whose chosen line is seen in every theme, also in one without grounds of its own."""

from __future__ import annotations

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widgets import OptionList

_REVERSED = Style(color="default", bgcolor="default", reverse=True)


class OptionRows(OptionList):
    """Textual's list; where the theme has no grounds the chosen line is drawn in reverse."""

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
