"""Where in the transcript each turn begins and each stored event is shown, so that turns can be taken out again."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from codeagent.tui.widgets.blocks import Block, Kind
from codeagent.tui.widgets.column import Column

_NEARBY = 30


class TurnPlaces:
    """Belongs to one column, whose blocks it takes out and puts back."""

    def __init__(self) -> None:
        self._begun: dict[int, int] = {}
        self._left: list[tuple[int, Block]] = []
        self._events: list[int] = []
        self._blocks: list[int] = []

    def begin(self, turn: int, index: int) -> None:
        """A turn begins with the block at ``index``; what was taken out before is given up."""
        self._begun[turn] = index
        self._left = []

    def shown(self, event: int, index: int) -> None:
        """The event with that number is shown in the block at ``index``; both only grow."""
        self._events.append(event)
        self._blocks.append(index)

    def places(self, event: int) -> Sequence[int]:
        """The blocks to look for an event in, the likeliest first: its own, or the last ones before it."""
        first, last = bisect_left(self._events, event), bisect_right(self._events, event)
        if first < last:
            return self._blocks[first:last]
        return self._blocks[max(first - _NEARBY, 0) : first][::-1]

    def take_out(self, turn: int, column: Column) -> int | None:
        """Takes out all from the beginning of a turn on; the first index that changed, None without such a turn."""
        first = self._begun.get(turn)
        if first is None:
            return None
        found = ((index, column.block(index)) for index in range(first, len(column)))
        self._left = [(index, block) for index, block in found if block is not None]
        for index, _ in self._left:
            column.replace(index, None)
        return first

    def put_back(self, column: Column) -> int | None:
        """Puts back what was last taken out; the first index that changed, None when there is nothing."""
        left, self._left = self._left, []
        for index, block in left:
            column.replace(index, block)
            column.guess(index)
        return left[0][0] if left else None


def last_kind(column: Column) -> Kind | None:
    """The kind of the last block that is there."""
    for index in reversed(range(len(column))):
        if (block := column.block(index)) is not None:
            return block.kind
    return None
