"""Lines that are made when they are looked at, and those from several places as one sequence."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import overload

from codeagent.tui.widgets.inks import Inks
from codeagent.tui.widgets.lines import Line, Piece


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
