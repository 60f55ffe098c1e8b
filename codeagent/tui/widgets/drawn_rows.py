"""Scrolling rows that are painted as they are drawn, so that a row which was painted before costs nothing again."""

from __future__ import annotations

from textual.geometry import Region
from textual.scroll_view import ScrollView
from textual.strip import Strip


class DrawnRows(ScrollView):
    """A scrolling widget without border, padding and tint, which Textual would work out anew for each row.

    ``render_line`` gives a row of the view, as wide as the view is; as long as it
    is the same strip, what the terminal is sent for it is known already.
    """

    def render_lines(self, crop: Region) -> list[Strip]:
        """The rows of a part of the view."""
        background = self.background_colors[1]
        strips = [self.render_line(row) for row in crop.line_range]
        for line_filter in self.get_line_filters():
            strips = [strip.apply_filter(line_filter, background) for strip in strips]
        if crop.column_span != (0, self.region.width):
            strips = [strip.crop(*crop.column_span) for strip in strips]
        return strips
