"""Lines that are made when they are looked at, as most of a long text never are, or come from several places."""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import overload

from rich.style import Style

from codeagent.tui.widgets.inks import Inks
from codeagent.tui.widgets.lines import Line, Piece, Pieces, breaks

_Row = tuple[int, int, int]
_CUT: deque[tuple[str, int, list[_Row]]] = deque(maxlen=8)
"""The texts that were cut last, with their width and their rows."""
_UNSURE = 2
"""So many rows at the end of a text may become others when more of it comes."""


class LazyLines(Sequence[Line]):
    """Lines of which each is made when it is looked at."""

    @abstractmethod
    def line_at(self, row: int) -> Line:
        """The line in this row, from 0, of which there is one."""

    @overload
    def __getitem__(self, index: int) -> Line: ...
    @overload
    def __getitem__(self, index: slice) -> list[Line]: ...
    def __getitem__(self, index: int | slice) -> Line | list[Line]:
        if isinstance(index, slice):
            return [self.line_at(row) for row in range(*index.indices(len(self)))]
        row = index + len(self) if index < 0 else index
        if not 0 <= row < len(self):
            raise IndexError(index)
        return self.line_at(row)


class Stack(LazyLines):
    """Lines from several places as one sequence, none of them copied; a long diff stays as lazy as it is."""

    def __init__(self, parts: Iterable[Sequence[Line]]) -> None:
        self._parts = [part for part in parts if len(part)]
        self._ends = list(accumulate(map(len, self._parts)))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def line_at(self, row: int) -> Line:
        """The line of the part that stands there."""
        start = 0
        for part, end in zip(self._parts, self._ends, strict=True):
            if row < end:
                return part[row - start]
            start = end
        raise IndexError(row)


class Shifted(LazyLines):
    """Lines moved to the right."""

    def __init__(self, lines: Sequence[Line], cells: int, inks: Inks) -> None:
        self._lines = lines
        self._margin = (Piece(" " * cells, inks.text, ""),)

    def __len__(self) -> int:
        return len(self._lines)

    def line_at(self, row: int) -> Line:
        """The line with blanks before it."""
        return self._lines[row].after(self._margin)


class LongLines(LazyLines):
    """A text of one style as it was written, in the rows that ``wrap`` makes of it."""

    def __init__(self, text: str, style: Style, width: int) -> None:
        self._text = text
        self._style = style
        self._rows = _rows(text, width)

    def __len__(self) -> int:
        return len(self._rows)

    def line_at(self, row: int) -> Line:
        """The text between two places, and what the wrap before it swallowed."""
        swallowed, start, end = self._rows[row]
        joint = "\n" if swallowed < 0 else self._text[swallowed:start]
        return Line(pieces=(Piece(self._text[start:end], self._style),) if start < end else (), joint=joint)


def _rows(text: str, width: int) -> list[_Row]:
    """Of each row where the one before it ended, -1 where it begins a line, and where it begins and ends itself.

    Of what is still written the beginning is drawn again and again: only what has come since is cut anew.
    """
    known = (one for one in _CUT if one[1] == width and text.startswith(one[0]))
    before = max(known, key=lambda one: len(one[0]), default=("", width, list[_Row]()))
    rows, swallowed, start = list[_Row](), -1, 0
    if len(before[2]) > _UNSURE:
        rows, (swallowed, start, _) = before[2][:-_UNSURE], before[2][-_UNSURE]
    for line in text[start:].split("\n"):
        spans = [(start + first, start + last) for first, last in breaks(line, width)]
        rows.append((swallowed, *spans[0]))
        rows += [(before[1], *after) for before, after in pairwise(spans)]
        swallowed, start = -1, start + len(line) + 1
    if before in _CUT:
        _CUT.remove(before)
    _CUT.append((text, width, rows))
    return rows


class Indented(LazyLines):
    """Lines behind a left margin, which empty ones do not have."""

    def __init__(self, lines: Sequence[Line], margin: Pieces) -> None:
        self._lines = lines
        self._margin = margin

    def __len__(self) -> int:
        return len(self._lines)

    def line_at(self, row: int) -> Line:
        """The line with the margin before it."""
        line = self._lines[row]
        return line.after(self._margin) if line.pieces else line
