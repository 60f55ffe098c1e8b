"""A search through the transcript: how often the words stand in it, and which place comes next."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic

from codeagent.core.values import value
from codeagent.tui.widgets.column import Column, Place
from codeagent.tui.widgets.finding import Hit, hits_by_paragraph, pattern_of

_AT_ONCE_SECONDS = 0.008


@value
class Found:
    """Where a search stands: place ``number`` (from 1) of ``total``; both 0 when the words stand nowhere."""

    number: int = 0
    total: int = 0


class Search:
    """Words that are sought in a column. Nothing here holds up the screen, however long the column is.

    Blocks are searched by what they hold, also folded away; only the one that is
    gone to is drawn for it.
    """

    def __init__(self, column: Column, words: str) -> None:
        self.pattern = pattern_of(words)
        self._column = column
        self._counts: dict[int, int] = {}
        self._seen = 0
        self._number = 0
        self._turn = asyncio.Lock()
        self.place: tuple[Place, Place] | None = None

    @property
    def found(self) -> Found:
        """Where it stands now."""
        total = sum(self._counts.values())
        return Found(number=min(self._number, total) if self.place is not None else 0, total=total)

    async def go(self, start: int, *, is_down: bool, unfold: Callable[[int], bool]) -> bool:
        """Goes to the next place below or above, round the ends; at first to the last one up to block ``start``.

        ``unfold`` opens a block in which words are folded away, and says whether it did.
        False when they stand nowhere.
        """
        async with self._turn:
            return await self._go(start, is_down=is_down, unfold=unfold)

    async def _go(self, start: int, *, is_down: bool, unfold: Callable[[int], bool]) -> bool:
        await self._count()
        here = self.place
        at = here[0].block if here is not None else start
        order = _round(sorted(self._counts), at, is_down=is_down)
        for index in [*order, *order[:1]]:
            found = await self._drawn_hits(index, unfold)
            if here is not None and index == at:
                found = [hit for hit in found if (hit > here if is_down else hit < here)]
                here = None
                if found:
                    self._number += 1 if is_down else -1
                    self.place = found[0 if is_down else -1]
                    return True
            elif found:
                before = sum(count for block, count in self._counts.items() if block < index)
                self._number = before + (1 if is_down else self._counts[index])
                self.place = found[0 if is_down else -1]
                return True
        return self.place is not None

    async def _count(self) -> None:
        """Counts in the blocks that came since the last time; what changes while it streams is counted once."""
        until = monotonic() + _AT_ONCE_SECONDS
        while self._seen < len(self._column):
            block = self._column.block(self._seen)
            count = 0 if block is None else sum(1 for _ in self.pattern.finditer(block.words()))
            count += self._is_at_that_time(self._seen)
            if count:
                self._counts[self._seen] = count
            self._seen += 1
            if monotonic() > until:
                await asyncio.sleep(0)
                until = monotonic() + _AT_ONCE_SECONDS

    async def _drawn_hits(self, index: int, unfold: Callable[[int], bool]) -> list[tuple[Place, Place]]:
        """Where the words are drawn in a block, which is opened where some of them are folded away.

        The count is put right where Markdown's signs lie between them.
        """
        if self._column.block(index) is None:
            self._counts[index] = 0
            return []
        found = await self._hits(index)
        if len(found) < self._counts[index] and unfold(index):
            found = await self._hits(index)
        self._counts[index] = len(found)
        return [(Place(index, *first), Place(index, *last)) for first, last in found]

    def _is_at_that_time(self, index: int) -> bool:
        """Whether the words stand in the time that is shown of a block."""
        return self.pattern.search(self._column.time_shown(index)) is not None

    async def _hits(self, index: int) -> list[Hit]:
        """Where they are drawn; the first line is the place of its time, which stands beside it or above."""
        lines = self._column.lines(index)
        found: list[Hit] = [((0, 0), (0, len(lines[0].text)))] if lines and self._is_at_that_time(index) else []
        until = monotonic() + _AT_ONCE_SECONDS
        for some in hits_by_paragraph(lines, self.pattern):
            found += some
            if monotonic() > until:
                await asyncio.sleep(0)
                until = monotonic() + _AT_ONCE_SECONDS
        return found


def _round(blocks: list[int], at: int, *, is_down: bool) -> list[int]:
    """The blocks in the order in which they are gone through from ``at`` on, once round."""
    if is_down:
        return [block for block in blocks if block >= at] + [block for block in blocks if block < at]
    return [block for block in reversed(blocks) if block <= at] + [block for block in reversed(blocks) if block > at]
