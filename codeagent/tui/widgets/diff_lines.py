"""A change of a file as lines: numbers of both sides, signs, changed words marked, code in colours.

Only the layout is worked out at once; a line gets its colours when it is first
looked at, so that a change of ten thousand lines opens as fast as a small one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from operator import add

from rich.style import Style

from codeagent.core.diff import FileDiff, Hunk, LineKind
from codeagent.core.text import counted, show_invisible
from codeagent.core.values import value
from codeagent.tui.later import readable_on
from codeagent.tui.themes import Palette
from codeagent.tui.widgets.diff_layout import NONE, Entry, Layout, Side, end_mark, gaps, lay_out, numbers, shown
from codeagent.tui.widgets.diff_painter import DiffPainter, with_words
from codeagent.tui.widgets.drawn_rows import SeenRows
from codeagent.tui.widgets.inks import Inks, inks_of
from codeagent.tui.widgets.lines import Cut, Line, Piece, Pieces, between, wrap
from codeagent.tui.widgets.stacks import LazyLines

OPEN_FOLD = "open fold"
"""The link of what a click on it shows: the unchanged lines around a hunk."""

ChangedLine = tuple[LineKind, int]
"""A line that comes or goes, by its number in the file where it is, however the change is laid out."""

_SIGNS = {LineKind.SAME: " ", LineKind.REMOVED: "−", LineKind.ADDED: "+"}


@value
class _LaidOut:
    """All that stays as it is whatever is chosen; ``rows`` are drawn ones, of hunks that are left out or not."""

    notes: list[Line]
    layout: Layout
    painter: DiffPainter
    numbers: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    rows: dict[tuple[int, int, bool], list[Line]] = field(default_factory=dict)


class DiffLines(LazyLines):
    """The lines of a diff, coloured when looked at.

    ``hunk_starts`` are the rows at which the hunks begin, each with its own
    heading when there is more than one or when hunks can be chosen. ``folded``
    says how many unchanged lines before a hunk are not shown.
    """

    def __init__(  # noqa: PLR0913 - all that decides how it looks
        self,
        diff: FileDiff,
        width: int,
        palette: Palette,
        *,
        chosen: frozenset[int] | None = None,
        current: int | None = None,
        side: Side = Side.BELOW,
        folded: Mapping[int, int] | None = None,
        laid_out: _LaidOut | None = None,
    ) -> None:
        self._diff = diff
        self._width = width
        self._inks = inks_of(palette)
        self._chosen = chosen
        self._current = current
        self._folded = folded or {}
        if laid_out is None:
            notes = _note_lines(diff, width, self._inks)
            layout, painter = lay_out(diff, width, side, len(notes)), DiffPainter(diff, palette)
            laid_out = _LaidOut(notes=notes, layout=layout, painter=painter)
        self._laid_out = laid_out
        self._notes, self._layout, self._painter = laid_out.notes, laid_out.layout, laid_out.painter
        self._numbers, self._rows = laid_out.numbers, laid_out.rows

    def prepare(self, hunk: int, rows: int) -> None:
        """Draws the first rows of a hunk, so that they are there when it is looked at; called on a thread."""
        self._painter.expect(rows)
        if hunk < len(self._layout.hunks):
            for entry in range(min(rows, len(self._layout.hunks[hunk].entries))):
                self._entry(hunk, entry)

    def change_in(self, hunk: int) -> int:
        """The row at which the first changed line of a hunk stands."""
        layout = self._layout.hunks[hunk]
        lines = self._diff.hunks[hunk].lines
        at = next((at for at, entry in enumerate(layout.entries) if lines[max(entry)].kind is not LineKind.SAME), 0)
        return layout.tops[at]

    def changes_in(self, rows: SeenRows, above: int) -> set[ChangedLine]:
        """The lines that come or go and stand wholly in these rows, which begin ``above`` rows before the diff's."""
        entries = self._entries()
        found = (
            self._changed(hunk, places) for hunk, places, top, end in entries if rows.covers(top + above, end + above)
        )
        return {line for lines in found for line in lines}

    def rows_without(self, unseen: Callable[[ChangedLine], bool], above: int) -> Iterator[tuple[int, int]]:
        """The ranges of rows from the first hunk on without lines that come or go ``unseen``, counted as above."""
        first = self.hunk_starts[0]
        for hunk, places, top, end in self._entries():
            if any(map(unseen, self._changed(hunk, places))):
                yield first + above, top + above
                first = end
        yield first + above, len(self) + above

    def _entries(self) -> Iterator[tuple[int, Entry, int, int]]:
        """Hunk, lines, first row and row behind the last of each."""
        for hunk, layout in enumerate(self._layout.hunks):
            following = self._layout.starts[hunk + 1] if hunk + 1 < len(self._layout.starts) else len(self)
            for places, top, bottom in zip(layout.entries, layout.tops, (*layout.tops[1:], following), strict=True):
                yield hunk, places, top, bottom

    def _changed(self, hunk: int, places: Entry) -> Iterator[ChangedLine]:
        if hunk not in self._numbers:
            self._numbers[hunk] = numbers(self._diff.hunks[hunk])
        for place in places:
            if place >= 0 and (kind := self._diff.hunks[hunk].lines[place].kind) is not LineKind.SAME:
                old, new = self._numbers[hunk][place]
                yield kind, old if kind is LineKind.REMOVED else new

    @property
    def hunk_starts(self) -> tuple[int, ...]:
        """The row at which each hunk begins."""
        return self._layout.starts

    def marked(self, chosen: frozenset[int] | None, current: int | None) -> DiffLines:
        """The same diff with other hunks chosen, or another one pointed at; costs next to nothing."""
        if (chosen, current) == (self._chosen, self._current):
            return self
        palette, folded = self._inks.palette, self._folded
        kept = self._laid_out
        return DiffLines(self._diff, self._width, palette, chosen=chosen, current=current, folded=folded, laid_out=kept)

    def __len__(self) -> int:
        return self._layout.height

    def line_at(self, row: int) -> Line:
        """The line in this row, in its colours."""
        hunk, entry, local = self._layout.find(row)
        if hunk == NONE:
            return self._notes[local]
        return self._heading(hunk, self._diff.hunks[hunk]) if entry == NONE else self._entry(hunk, entry)[local]

    def _entry(self, hunk: int, entry: int) -> list[Line]:
        """The rows of a line, or of two side by side; they stay as they are while the hunk is in, or out."""
        key = (hunk, entry, self._is_out(hunk))
        if key not in self._rows:
            self._rows[key] = self._draw(hunk, entry)
        return self._rows[key]

    def _is_out(self, hunk: int) -> bool:
        return self._chosen is not None and hunk not in self._chosen

    def _draw(self, hunk: int, entry: int) -> list[Line]:
        if hunk not in self._numbers:
            self._numbers[hunk] = numbers(self._diff.hunks[hunk])
        places = self._layout.hunks[hunk].entries[entry]
        if self._layout.side is Side.BESIDE:
            return self._beside(hunk, places)
        old, new = places
        place = max(old, new)
        digits = self._layout.digits
        old_number, new_number = self._numbers[hunk][place]
        if self._layout.has_both_numbers:
            number = f"{old_number if old >= 0 else '':>{digits}} {new_number if new >= 0 else '':>{digits}}"
        else:
            number = f"{new_number if new >= 0 else old_number:>{digits}}"
        return self._code(hunk, place, number, self._width)

    def _beside(self, hunk: int, places: Entry) -> list[Line]:
        """The old line on the left, the new one on the right."""
        digits = self._layout.digits
        width = digits + 3 + self._layout.room
        sides: list[list[Line]] = []
        for which, place in enumerate(places):
            number = f"{self._numbers[hunk][place][which]:>{digits}}" if place >= 0 else ""
            sides.append(self._code(hunk, place, number, width) if place >= 0 else [])
        left, right = sides
        rule = Piece(" │ ", self._inks.rule, "")
        lines: list[Line] = []
        for at in range(max(map(len, sides))):
            old = left[at] if at < len(left) else Line()
            new = right[at] if at < len(right) else Line()
            lines.append(Line(pieces=(*_filled(old, width), rule, *_filled(new, width))))
        return lines

    def _code(self, hunk: int, place: int, number: str, width: int) -> list[Line]:
        line = self._diff.hunks[hunk].lines[place]
        inks = self._inks
        is_out = self._is_out(hunk)
        ground, ink = _grounds(line.kind, inks, is_out=is_out)
        put_on = readable_on if inks.palette.is_rounded else add
        tint, sign = ground, put_on(ink, ground)
        if inks.palette.has_strong_tints:  # only the column of signs has them
            ground = Style.null()
        faint = put_on(inks.faint, ground)
        before, behind = f"{number} ", " "
        if ground is tint:
            first: Pieces = (Piece(before, faint, ""), Piece(_SIGNS[line.kind] + behind, sign, ""))
            rest: Pieces = (Piece(" " * (len(before) + 2), ground, ""),)
        else:
            first = (Piece(before, faint, ""), Piece(_SIGNS[line.kind], sign, ""), Piece(behind, ground, ""))
            rest = (Piece(" " * len(before), ground, ""), Piece(" ", tint, ""), Piece(behind, ground, ""))
        if is_out:
            pieces = [Piece(shown(line.text), inks.faint)]
        else:
            pieces = [Piece(piece.text, put_on(piece.style, ground)) for piece in self._painter.line(hunk, place)]
            pieces = with_words(pieces, self._painter.words(hunk, place), _word_ground(line.kind, inks), put_on)
        pieces = _with_gaps(pieces, gaps(line.text), inks.warning)
        mark = end_mark(line.text, has_mixed_ends=self._layout.has_mixed_ends)
        pieces.append(Piece(mark, faint, ""))
        return wrap(pieces, width, first=first, rest=rest, cut=Cut.CODE, fill=ground)

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
        count = self._folded.get(index, 0)
        fold = f" ⋯ {counted(count, 'unchanged line')} above" if count else ""
        rule = "─" * max(self._width - len(text) - len(fold) - 1, 0)  # away from what scrolls
        pieces = (Piece(text, ink, ""), Piece(rule, inks.rule, ""), Piece(fold, inks.faint, "", OPEN_FOLD))
        return Line(pieces=pieces if len(text) + len(fold) < self._width else pieces[:2], whole="")


def render_diff(
    diff: FileDiff,
    width: int,
    palette: Palette,
    *,
    chosen: frozenset[int] | None = None,
    current: int | None = None,
    side: Side = Side.BELOW,
    folded: Mapping[int, int] | None = None,
) -> DiffLines:
    """The lines of a diff for ``width`` cells.

    ``chosen`` are the hunks that are in (None: there is no choice), ``current`` the one pointed at.
    """
    return DiffLines(diff, max(width, 12), palette, chosen=chosen, current=current, side=side, folded=folded)


def _note_lines(diff: FileDiff, width: int, inks: Inks) -> list[Line]:
    """What no line can show, such as another mode."""
    return [
        Line(pieces=tuple(piece._replace(copied="") for piece in line.pieces), whole="")
        for note in diff.notes
        for line in wrap([Piece(show_invisible(note), inks.warning)], width)
    ]


def _with_gaps(pieces: list[Piece], found: Sequence[tuple[int, int, int]], style: Style) -> list[Piece]:
    """The pieces, in which counted blanks stand out, and are copied as the blanks that they are."""
    for start, end, blanks in found:
        whole = sum(len(piece.text) for piece in pieces)
        said = between(pieces, start, end)
        one = Piece("".join(piece.text for piece in said), said[len(said) // 2].style + style, " " * blanks)
        pieces = [*between(pieces, 0, start), one, *between(pieces, end, whole)]
    return pieces


def _filled(line: Line, width: int) -> Pieces:
    """The pieces of a line with blanks up to its width, on its ground."""
    return (*line.pieces, Piece(" " * max(width - line.width, 0), line.fill or Style.null(), ""))


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
    """Where rows have no ground of their own, what would be theirs stands out enough."""
    if inks.palette.has_strong_tints:
        return inks.added_ground if kind is LineKind.ADDED else inks.removed_ground
    return inks.added_word_ground if kind is LineKind.ADDED else inks.removed_word_ground
