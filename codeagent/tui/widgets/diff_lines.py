"""A change of a file as lines: numbers of both sides, signs, changed words marked, code in colours.

Only the layout is worked out at once; a line gets its colours when it is first
looked at, so that a change of ten thousand lines opens as fast as a small one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import overload

from rich.style import Style

from codeagent.core.diff import ChangeKind, DiffLine, FileDiff, Hunk, LineKind, Spans, word_spans
from codeagent.core.text import show_invisible
from codeagent.core.values import value
from codeagent.tui.later import language_of
from codeagent.tui.themes import Palette
from codeagent.tui.widgets.code_lines import highlight
from codeagent.tui.widgets.inks import Inks, inks_of
from codeagent.tui.widgets.lines import TAB, Line, Piece, breaks, count_rows, wrap

_AT_ONCE = 60
_WIDE_ENOUGH_FOR_BOTH_NUMBERS = 60
_SIGNS = {LineKind.SAME: " ", LineKind.REMOVED: "−", LineKind.ADDED: "+"}


@value
class _Row:
    """One line of the file, and where its first drawn row is; ``numbers`` are drawn before it."""

    hunk: int
    place: int
    numbers: str
    top: int


@value
class _Layout:
    """Where everything stands, whatever is chosen."""

    rows: tuple[_Row, ...]
    height: int
    starts: tuple[int, ...]
    number_cells: int
    has_mixed_ends: bool


class DiffLines(Sequence[Line]):
    """The lines of a diff, coloured when looked at.

    ``hunk_starts`` are the rows at which the hunks begin, each with its own
    heading when there is more than one or when hunks can be chosen.
    """

    def __init__(
        self,
        diff: FileDiff,
        width: int,
        palette: Palette,
        *,
        chosen: frozenset[int] | None = None,
        current: int | None = None,
        layout: _Layout | None = None,
    ) -> None:
        self._diff = diff
        self._width = width
        self._inks = inks_of(palette)
        self._chosen = chosen
        self._current = current
        self._layout = _lay_out(diff, width) if layout is None else layout
        self._painter = _Painter(diff, palette)
        self._rows: dict[int, list[Line]] = {}

    @property
    def hunk_starts(self) -> tuple[int, ...]:
        """The row at which each hunk begins."""
        return self._layout.starts

    def marked(self, chosen: frozenset[int] | None, current: int | None) -> DiffLines:
        """The same diff with other hunks chosen, or another one pointed at; costs next to nothing."""
        palette = self._inks.palette
        again = DiffLines(self._diff, self._width, palette, chosen=chosen, current=current, layout=self._layout)
        again._painter = self._painter
        return again

    def __len__(self) -> int:
        return self._layout.height

    @overload
    def __getitem__(self, index: int) -> Line: ...
    @overload
    def __getitem__(self, index: slice) -> list[Line]: ...
    def __getitem__(self, index: int | slice) -> Line | list[Line]:
        if isinstance(index, slice):
            return [self[row] for row in range(*index.indices(len(self)))]
        row = index + len(self) if index < 0 else index
        if not 0 <= row < len(self):
            raise IndexError(index)
        at = self._find(row)
        if at < 0:
            return self._note(row)
        entry = self._layout.rows[at]
        if at not in self._rows:
            self._rows[at] = self._draw(entry)
        return self._rows[at][row - entry.top]

    def _find(self, row: int) -> int:
        """The last entry that begins at the row or before it; -1 for the notes on top."""
        low, high = 0, len(self._layout.rows)
        while low < high:
            middle = (low + high) // 2
            if self._layout.rows[middle].top <= row:
                low = middle + 1
            else:
                high = middle
        return low - 1

    def _note(self, row: int) -> Line:
        text = show_invisible(self._diff.notes[row])
        start, end = breaks(text, self._width, by_word=False)[0]
        return Line(pieces=(Piece(text[start:end], self._inks.warning, ""),), whole="")

    def _draw(self, entry: _Row) -> list[Line]:
        hunk = self._diff.hunks[entry.hunk]
        if entry.place < 0:
            return [self._heading(entry.hunk, hunk)]
        line = hunk.lines[entry.place]
        inks = self._inks
        is_out = self._chosen is not None and entry.hunk not in self._chosen
        ground, ink = _grounds(line.kind, inks, is_out=is_out)
        number = Piece(f"{entry.numbers} ", inks.faint + ground, "")
        sign = Piece(f"{_SIGNS[line.kind]} ", ink + ground, "")
        blank = Piece(" " * (self._layout.number_cells + 3), ground, "")
        if is_out:
            pieces = [Piece(_shown(line.text), inks.faint)]
        else:
            pieces = [
                piece._replace(style=piece.style + ground) for piece in self._painter.line(entry.hunk, entry.place)
            ]
            pieces = _with_words(pieces, self._painter.words(entry.hunk, entry.place), _word_ground(line.kind, inks))
        pieces.append(Piece(_end_mark(line.text, has_mixed_ends=self._layout.has_mixed_ends), inks.faint + ground, ""))
        return wrap(pieces, self._width, first=(number, sign), rest=(blank,), by_word=False, fill=ground)

    def _heading(self, index: int, hunk: Hunk) -> Line:
        inks = self._inks
        first, last = hunk.old_range
        where = f"line {first}" if first == last else f"lines {first}–{last}"
        is_in = self._chosen is None or index in self._chosen
        state = "" if self._chosen is None else "● " if is_in else "○ "
        word = "" if is_in else "  left out"
        ink = inks.accent if self._current == index else inks.faint
        pointer = "▸ " if self._current == index else "  "
        text = f"{pointer}{state}{where}{word} "
        rule = "─" * max(self._width - len(text), 0)
        return Line(pieces=(Piece(text, ink, ""), Piece(rule, inks.rule, "")), whole="")


def render_diff(
    diff: FileDiff,
    width: int,
    palette: Palette,
    *,
    chosen: frozenset[int] | None = None,
    current: int | None = None,
) -> DiffLines:
    """The lines of a diff for ``width`` cells.

    ``chosen`` are the hunks that are in (None: there is no choice), ``current`` the one pointed at.
    """
    return DiffLines(diff, max(width, 12), palette, chosen=chosen, current=current)


class _Painter:
    """Colours of the code and marks of changed words, worked out for a stretch of lines at a time."""

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

    def words(self, hunk: int, place: int) -> Spans:
        """The characters of a line that differ from the line it takes the place of."""
        if hunk not in self._partners:
            self._partners[hunk] = _pairs(self._diff.hunks[hunk].lines)
        other = self._partners[hunk].get(place)
        if other is None:
            return ()
        lines = self._diff.hunks[hunk].lines
        mine, its = _shown(lines[place].text), _shown(lines[other].text)
        is_old = lines[place].kind is LineKind.REMOVED
        return word_spans(mine, its)[0] if is_old else word_spans(its, mine)[1]

    def _painted(self, hunk: int, stretch: int) -> list[list[Piece]]:
        """Old and new lines are each read as one text, so that strings over several lines come out right."""
        lines = self._diff.hunks[hunk].lines[stretch * _AT_ONCE : (stretch + 1) * _AT_ONCE]
        painted: list[list[Piece]] = [[] for _ in lines]
        for other in (LineKind.ADDED, LineKind.REMOVED):
            places = [place for place, line in enumerate(lines) if line.kind is not other]
            code = "\n".join(_shown(lines[place].text) for place in places)
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


def _lay_out(diff: FileDiff, width: int) -> _Layout:
    last = max((max(hunk.old_start, hunk.new_start) + len(hunk.lines) for hunk in diff.hunks), default=1)
    digits = max(len(str(last)), 3)
    has_both = diff.change is ChangeKind.CHANGED and width >= _WIDE_ENOUGH_FOR_BOTH_NUMBERS
    number_cells = 2 * digits + 1 if has_both else digits
    room = max(width - number_cells - 3, 1)
    top = len(diff.notes)
    rows: list[_Row] = []
    starts: list[int] = []
    ends = {line.text[-2:] == "\r\n" for hunk in diff.hunks for line in hunk.lines if line.text.endswith("\n")}
    has_mixed_ends = len(ends) > 1
    has_headings = len(diff.hunks) > 1 and diff.change is ChangeKind.CHANGED
    for index, hunk in enumerate(diff.hunks):
        starts.append(top)
        if has_headings:
            rows.append(_Row(hunk=index, place=-1, numbers="", top=top))
            top += 1
        old, new = hunk.old_start, hunk.new_start
        for place, line in enumerate(hunk.lines):
            is_old, is_new = line.kind is not LineKind.ADDED, line.kind is not LineKind.REMOVED
            if has_both:
                numbers = f"{old if is_old else '':>{digits}} {new if is_new else '':>{digits}}"
            else:
                numbers = f"{new if is_new else old:>{digits}}"
            rows.append(_Row(hunk=index, place=place, numbers=numbers, top=top))
            old += is_old
            new += is_new
            top += count_rows(_shown(line.text) + _end_mark(line.text, has_mixed_ends=has_mixed_ends), room)
    return _Layout(
        rows=tuple(rows), height=top, starts=tuple(starts), number_cells=number_cells, has_mixed_ends=has_mixed_ends
    )


def _shown(text: str) -> str:
    """A line of the file as drawn, without its end: nothing hidden, tabs made into blanks."""
    return show_invisible(text.removesuffix("\n").removesuffix("\r")).expandtabs(len(TAB))


def _end_mark(text: str, *, has_mixed_ends: bool) -> str:
    """What is said of a line's end: a newline that is missing, or which kind it is where both occur."""
    if not text.endswith(("\n", "\r")):
        return " (no newline at the end)"
    return "␍" if has_mixed_ends and text.endswith("\r\n") else ""


def _grounds(kind: LineKind, inks: Inks, *, is_out: bool) -> tuple[Style, Style]:
    """The background of a line and the ink of its sign."""
    if is_out:
        return Style.null(), inks.faint
    match kind:
        case LineKind.ADDED:
            return inks.added_ground, inks.added
        case LineKind.REMOVED:
            return inks.removed_ground, inks.removed
        case LineKind.SAME:
            return Style.null(), inks.faint


def _word_ground(kind: LineKind, inks: Inks) -> Style:
    return inks.added_word_ground if kind is LineKind.ADDED else inks.removed_word_ground


def _with_words(pieces: list[Piece], spans: Spans, ground: Style) -> list[Piece]:
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
