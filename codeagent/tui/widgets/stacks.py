"""Rows from several places as one sequence; what is drawn when it is looked at stays so."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import overload

from codeagent.tui.widgets.inks import Inks
from codeagent.tui.widgets.lines import Line, Piece


class Stack(Sequence[Line]):
    """Lines from several places as one sequence; what is drawn lazily stays lazy."""

    def __init__(self, parts: Iterable[Sequence[Line]]) -> None:
        self._parts = [part for part in parts if len(part)]
        self._ends = list(accumulate(map(len, self._parts)))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @overload
    def __getitem__(self, index: int) -> Line: ...
    @overload
    def __getitem__(self, index: slice) -> list[Line]: ...
    def __getitem__(self, index: int | slice) -> Line | list[Line]:
        if isinstance(index, slice):
            return [self[row] for row in range(*index.indices(len(self)))]
        start = 0
        for part, end in zip(self._parts, self._ends, strict=True):
            if index < end:
                return part[index - start]
            start = end
        raise IndexError(index)


class Shifted(Sequence[Line]):
    """Lines moved to the right, each when it is looked at."""

    def __init__(self, lines: Sequence[Line], cells: int, inks: Inks) -> None:
        self._lines = lines
        self._margin = (Piece(" " * cells, inks.text, ""),)

    def __len__(self) -> int:
        return len(self._lines)

    @overload
    def __getitem__(self, index: int) -> Line: ...
    @overload
    def __getitem__(self, index: slice) -> list[Line]: ...
    def __getitem__(self, index: int | slice) -> Line | list[Line]:
        if isinstance(index, slice):
            return [line.after(self._margin) for line in self._lines[index]]
        return self._lines[index].after(self._margin)
