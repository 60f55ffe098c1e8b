"""Scrolling rows that are painted as they are drawn and cost nothing the second time, and which of them were seen."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from operator import itemgetter

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


class SeenRows:
    """Rows that were in view, as ranges that neither overlap nor touch, so that ten thousand rows cost no more."""

    def __init__(self, ranges: Iterable[tuple[int, int]] = ()) -> None:
        """Each range goes from its first row, counted from 0, to before its last number."""
        self._ranges: list[tuple[int, int]] = []
        for first, end in ranges:
            self.add(first, end)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(self._ranges)

    def __len__(self) -> int:
        """How many rows they are."""
        return sum(end - first for first, end in self._ranges)

    def add(self, first: int, end: int) -> None:
        """The rows from ``first`` to before ``end`` were in view."""
        if first >= end:
            return
        apart = [one for one in self._ranges if one[1] < first or one[0] > end]
        met = [one for one in self._ranges if one[1] >= first and one[0] <= end]
        whole = (min(first, *(one[0] for one in met)), max(end, *(one[1] for one in met))) if met else (first, end)
        self._ranges = sorted([*apart, whole])

    def within(self, end: int) -> SeenRows:
        """Those before row ``end``."""
        return SeenRows((first, min(one, end)) for first, one in self._ranges if first < end)

    def covers(self, first: int, end: int) -> bool:
        """Whether all rows from ``first`` to before ``end`` are among them."""
        at = bisect_right(self._ranges, first, key=itemgetter(0)) - 1
        return at >= 0 and end <= self._ranges[at][1]
