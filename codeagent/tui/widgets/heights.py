"""How high the blocks of the transcript are, so that any row finds its block at once however many there are."""

from __future__ import annotations

from collections.abc import Iterable


def guess_rows(text: str, width: int) -> int:
    """Roughly how many lines a text takes: cheap, right for most, never less than one."""
    if "\n" not in text:
        return len(text) // width + 1
    return sum([len(line) // width + 1 for line in text.split("\n")])


class Heights:
    """Row counts in order, summed in a Fenwick tree: changing one and finding a row take logarithmic time."""

    def __init__(self, heights: Iterable[int] = ()) -> None:
        self._heights: list[int] = []
        self._tree: list[int] = [0]
        self._total = 0
        self.replace(heights)

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, index: int) -> int:
        return self._heights[index]

    @property
    def total(self) -> int:
        """All rows."""
        return self._total

    def replace(self, heights: Iterable[int]) -> None:
        """Starts over with other row counts."""
        self._heights = list(heights)
        self._total = sum(self._heights)
        tree = [0, *self._heights]
        for index in range(1, len(tree)):
            parent = index + (index & -index)
            if parent < len(tree):
                tree[parent] += tree[index]
        self._tree = tree

    def append(self, height: int) -> None:
        """Adds a block at the end."""
        self._heights.append(height)
        index = len(self._heights)
        value, child = height, index - 1
        while child > index - (index & -index):
            value += self._tree[child]
            child -= child & -child
        self._tree.append(value)
        self._total += height

    def set(self, index: int, height: int) -> None:
        """Changes the height of one block."""
        change = height - self._heights[index]
        self._heights[index] = height
        self._total += change
        index += 1
        while change and index < len(self._tree):
            self._tree[index] += change
            index += index & -index

    def top(self, index: int) -> int:
        """The row at which a block begins."""
        total = 0
        while index > 0:
            total += self._tree[index]
            index -= index & -index
        return total

    def find(self, row: int) -> tuple[int, int]:
        """The block that a row lies in, and the row within it; blocks without rows are never found.

        A row beyond the end gives the number of blocks and how far beyond it is.
        """
        index = 0
        step = 1 << (len(self._heights).bit_length())
        while step:
            following = index + step
            if following < len(self._tree) and self._tree[following] <= row:
                index = following
                row -= self._tree[following]
            step >>= 1
        return index, row
