"""The colours of a change: code as its language has it, and the words that differ from the line before."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from rich.style import Style

from codeagent.core.diff import DiffLine, FileDiff, LineKind, Spans, word_spans
from codeagent.tui.later import language_of
from codeagent.tui.themes import Palette
from codeagent.tui.widgets.code_lines import highlight
from codeagent.tui.widgets.diff_layout import shown
from codeagent.tui.widgets.lines import Piece

_AT_ONCE = 60


class DiffPainter:
    """Works colours out for a stretch of lines at a time, when one of them is looked at or ahead of that."""

    def __init__(self, diff: FileDiff, palette: Palette) -> None:
        self._diff = diff
        self._palette = palette
        self._language = language_of(diff.path)
        self._stretch = lru_cache(maxsize=64)(self._painted)
        self._partners: dict[int, dict[int, int]] = {}

    def line(self, hunk: int, place: int) -> list[Piece]:
        """One line's code."""
        stretch, offset = divmod(place, _AT_ONCE)
        return self._stretch(hunk, stretch)[offset]

    def prepare(self, hunk: int) -> None:
        """Works out the first colours of a hunk, so that they are known when it is looked at; called on a thread."""
        if hunk < len(self._diff.hunks):
            for place in (0, _AT_ONCE):
                if place < len(self._diff.hunks[hunk].lines):
                    self.line(hunk, place)

    def words(self, hunk: int, place: int) -> Spans:
        """The characters of a line that differ from the line it takes the place of."""
        if hunk not in self._partners:
            self._partners[hunk] = _pairs(self._diff.hunks[hunk].lines)
        other = self._partners[hunk].get(place)
        if other is None:
            return ()
        lines = self._diff.hunks[hunk].lines
        mine, its = shown(lines[place].text), shown(lines[other].text)
        is_old = lines[place].kind is LineKind.REMOVED
        return word_spans(mine, its)[0] if is_old else word_spans(its, mine)[1]

    def _painted(self, hunk: int, stretch: int) -> list[list[Piece]]:
        """Old and new lines are each read as one text, so that strings over several lines come out right."""
        lines = self._diff.hunks[hunk].lines[stretch * _AT_ONCE : (stretch + 1) * _AT_ONCE]
        painted: list[list[Piece]] = [[] for _ in lines]
        for other in (LineKind.ADDED, LineKind.REMOVED):
            places = [place for place, line in enumerate(lines) if line.kind is not other]
            if other is LineKind.REMOVED and len(places) == sum(line.kind is LineKind.SAME for line in lines):
                continue  # nothing was added: all was read as the old text
            code = "\n".join(shown(lines[place].text) for place in places)
            for place, pieces in zip(places, highlight(code, self._language, self._palette), strict=False):
                painted[place] = pieces
        return painted


def _pairs(lines: Sequence[DiffLine]) -> dict[int, int]:
    """Removed lines and the added ones in their place, both ways, where a stretch has as many of each."""
    pairs: dict[int, int] = {}
    place = 0
    while place < len(lines):
        start = place
        while place < len(lines) and lines[place].kind is LineKind.REMOVED:
            place += 1
        middle = place
        while place < len(lines) and lines[place].kind is LineKind.ADDED:
            place += 1
        if middle - start == place - middle:
            for old, new in zip(range(start, middle), range(middle, place), strict=True):
                pairs[old], pairs[new] = new, old
        place = max(place, start + 1)
    return pairs


def with_words(pieces: list[Piece], spans: Spans, ground: Style) -> list[Piece]:
    """The pieces, the characters within the spans on another ground."""
    if not spans:
        return pieces
    marked: list[Piece] = []
    at = 0
    edges = sorted({edge for span in spans for edge in span})
    for piece in pieces:
        end = at + len(piece.text)
        cuts = [at, *(edge for edge in edges if at < edge < end), end]
        for start, stop in pairwise(cuts):
            is_within = any(first <= start < last for first, last in spans)
            style = piece.style + ground if is_within else piece.style
            marked.append(Piece(piece.text[start - at : stop - at], style, piece.copied))
        at = end
    return marked
