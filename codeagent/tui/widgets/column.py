"""The transcript as one long column of rows: which block a row belongs to, and what is drawn there.

Blocks are measured exactly only near what is looked at; elsewhere a guess stands
for their height. Nothing here costs more when the column grows longer.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from time import time
from typing import NamedTuple

from textual.strip import Strip

from codeagent.core.values import value
from codeagent.tui.widgets.blocks import Block, Kind
from codeagent.tui.widgets.finding import spans
from codeagent.tui.widgets.heights import Heights
from codeagent.tui.widgets.inks import Inks
from codeagent.tui.widgets.lines import EMPTY, Line
from codeagent.tui.widgets.times import time_line, time_text, with_time

_DRAWN_BLOCKS = 128
_DRAWN_LINES = 1_000
_DRAWN_ANYHOW = 64
"""So many blocks are kept drawn, however long they are: more than a screen shows of long ones."""

_KEPT_STRIPS = 240
"""Rows that are kept ready for the screen, some screens full; each takes six kilobytes with all that belongs to it."""

_LONGEST_WALK = 2_000


@dataclass(slots=True)
class _Entry:
    """A block with the empty rows before it; None when it was taken out."""

    block: Block | None
    gap: int
    at: float = 0.0
    is_measured: bool = False


@dataclass(slots=True)
class _Drawn:
    """A block's rows for the width in force; ``count`` is how many there were at first, live code grows."""

    lines: Sequence[Line]
    count: int
    strips: dict[int, Strip] = field(default_factory=dict[int, Strip])


class Place(NamedTuple):
    """A character of the transcript: block, line of the block, character of the line."""

    block: int
    line: int
    character: int = 0


@value
class Anchor:
    """A row by what stands in it, so that it is found again at another width.

    ``stands`` is the paragraph and the character in it that the row begins with,
    None where that is not worth counting.
    """

    block: int
    row: int
    stands: tuple[int, int] | None


class Column:
    """Blocks one below the other."""

    def __init__(self, inks: Inks, width: int = 80) -> None:
        self._inks = inks
        self._width = width
        self._entries: list[_Entry] = []
        self._heights = Heights()
        self._drawn: OrderedDict[int, _Drawn] = OrderedDict()
        self._blank = EMPTY.strip(width, ground=inks.ground)
        self._line_count = self._strip_count = 0
        self._sought: re.Pattern[str] | None = None
        self._shows_times = False

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def height(self) -> int:
        """All rows, as far as they are known."""
        return self._heights.total

    @property
    def width(self) -> int:
        """Cells of each row."""
        return self._width

    @property
    def drawn_count(self) -> int:
        """How many blocks are kept drawn."""
        return len(self._drawn)

    @property
    def strip_count(self) -> int:
        """How many rows are kept ready for the screen."""
        return self._strip_count

    @property
    def shows_times(self) -> bool:
        """Whether it is shown when each thing happened."""
        return self._shows_times

    def show_times(self, *, is_shown: bool) -> None:
        """Shows from now on when each thing happened, or does not."""
        self._shows_times = is_shown
        self._forget_strips()

    def block(self, index: int) -> Block | None:
        """The block at an index, None when it was taken out."""
        return self._entries[index].block

    def append(self, block: Block, gap: int, at: float | None = None) -> int:
        """Adds a block below ``gap`` empty rows; its index. ``at`` is when it came, now by default, 0 unknown."""
        self._entries.append(_Entry(block, gap, time() if at is None else at))
        self._heights.append(gap + block.guess(self._width))
        return len(self._entries) - 1

    def replace(self, index: int, block: Block | None) -> None:
        """Puts another block in the place of one, or takes it out."""
        self._entries[index].block = block
        self.changed(index)

    def changed(self, index: int) -> None:
        """Forgets how a block was drawn; it is measured when next looked at."""
        entry = self._entries[index]
        if (drawn := self._drawn.pop(index, None)) is not None:
            self._let_go(drawn)
        entry.is_measured = entry.block is None
        if entry.block is None:
            self._heights.set(index, 0)
        if index + 1 < len(self._entries):
            following = self._entries[index + 1]
            following.is_measured = following.block is None

    def guess(self, index: int) -> None:
        """Sets a changed block's height to a guess, where it is not looked at."""
        entry = self._entries[index]
        if entry.block is not None and not entry.is_measured:
            self._heights.set(index, self.gap(index) + entry.block.guess(self._width))

    def measure(self, index: int) -> int:
        """The exact height of a block with the empty rows before it."""
        entry = self._entries[index]
        if not entry.is_measured and entry.block is not None:
            self._heights.set(index, self.gap(index) + len(self._draw(index).lines))
            entry.is_measured = True
        return self._heights[index]

    def settle(self, row: int, view: int) -> int:
        """Measures all within two views of a row; the row at which what stood there is now."""
        index, local = self._heights.find(max(row, 0))
        if index >= len(self._entries):
            return self.settle_end(view)
        local = min(local, max(self.measure(index) - 1, 0))
        below, at = self._heights[index] - local, index + 1
        while at < len(self._entries) and below < 2 * view:
            below += self.measure(at)
            at += 1
        above, at = local, index - 1
        while at >= 0 and above < 2 * view:
            above += self.measure(at)
            at -= 1
        return self._heights.top(index) + local

    def settle_end(self, view: int) -> int:
        """Measures the last two views; the row to begin with so that the last one is at the bottom."""
        rows, at = 0, len(self._entries) - 1
        while at >= 0 and rows < 2 * view:
            rows += self.measure(at)
            at -= 1
        return max(self.height - view, 0)

    def top(self, index: int) -> int:
        """The row at which a block begins, its gap included."""
        return self._heights.top(index)

    def gap(self, index: int) -> int:
        """The empty rows before a block: one less where the block before ends with one."""
        gap = self._entries[index].gap
        before = self._entries[index - 1].block if index else None
        return gap - 1 if gap and before is not None and before.ends_empty else gap

    def find(self, row: int) -> tuple[int, int] | None:
        """The block at a row, and the line of the block (below 0 in the gap); None beyond the end."""
        index, local = self._heights.find(row)
        if row < 0 or index >= len(self._entries):
            return None
        return index, local - self.gap(index)

    def row(self, index: int, line: int) -> int:
        """The row of a block's line, or of one of the empty rows before it (below 0)."""
        offset = min(max(self.gap(index) + line, 0), max(self.measure(index) - 1, 0))
        return self.top(index) + offset

    def line(self, row: int) -> Line:
        """The line at a row, empty in gaps and beyond the end."""
        found = self.find(row)
        if found is None or found[1] < 0:
            return EMPTY
        lines = self._draw(found[0]).lines
        return lines[found[1]] if found[1] < len(lines) else EMPTY

    def lines(self, index: int) -> Sequence[Line]:
        """All lines of a block, without its gap."""
        return self._draw(index).lines

    def seek(self, pattern: re.Pattern[str] | None) -> None:
        """Shows from now on wherever that stands; None shows nothing of the kind."""
        self._sought = pattern
        self._forget_strips()

    def strip(self, row: int, marked: tuple[Place, Place] | None = None) -> Strip:
        """What is drawn in a row; characters ``marked`` from-to are shown as selected."""
        found = self.find(row)
        if found is None:
            return self._blank
        index, number = found
        if number < 0:
            is_here = self._shows_times and number == -1 and self._timed(index) is None
            return self._time_strip(index) if is_here else self._blank
        drawn = self._draw(index)
        if number >= len(drawn.lines):
            return self._blank
        line, inks = drawn.lines[number], self._inks
        span = None if marked is None else _span(marked, index, number, line)
        if span is None and number in drawn.strips:
            return drawn.strips[number]
        if self._sought is not None:
            for found in spans(drawn.lines, number, self._sought):
                line = line.marked(found, inks.found)
        if span is not None:
            line = line.marked(span, inks.selected if self._sought is None else inks.found_here)
        if self._shows_times and number == 0:
            line = self._timed(index, line) or line
        if span is not None:
            return line.strip(self._width, ground=inks.ground)
        return self._kept(drawn, number, line.strip(self._width, ground=inks.ground))

    def _kept(self, drawn: _Drawn, number: int, strip: Strip) -> Strip:
        if self._strip_count >= _KEPT_STRIPS:
            self._forget_strips()
        drawn.strips[number] = strip
        self._strip_count += 1
        return strip

    def _timed(self, index: int, line: Line | None = None) -> Line | None:
        """A block's first row with the time; None where the time stands in the empty row above it."""
        entry, lines = self._entries[index], self._draw(index).lines
        if not lines or entry.block is None:
            return None
        may_cut = entry.block.kind is not Kind.TEXT
        return with_time(line or lines[0], self._time_of(index), self._width, self._inks, may_cut=may_cut)

    def _time_of(self, index: int) -> float:
        """When a block came, 0 for unknown; text that goes on below text has the time of where that began."""
        entry, above = self._entries[index], self._entries[index - 1] if index else None
        blocks = (entry.block, above.block if above is not None else None)
        return 0.0 if all(block is not None and block.kind is Kind.TEXT for block in blocks) else entry.at

    def time_shown(self, index: int) -> str:
        """When a block came, as it is shown; empty where it is not."""
        at = self._time_of(index) if self._shows_times else 0.0
        return time_text(at).strip() if at else ""

    def _time_strip(self, index: int) -> Strip:
        """The empty row before a block, with when the block came."""
        line = time_line(self._time_of(index), self._width, self._inks)
        return line.strip(self._width, ground=self._inks.ground)

    def reshape(self, inks: Inks, width: int) -> None:
        """Other colours or another width: everything is drawn anew when next looked at."""
        self._drawn.clear()
        self._line_count = self._strip_count = 0
        self._inks = inks
        self._blank = EMPTY.strip(width, ground=inks.ground)
        if width == self._width:
            return
        self._width = width
        for entry in self._entries:
            entry.is_measured = entry.block is None
        self._heights.replace(
            [entry.gap + entry.block.guess(width) if entry.block is not None else 0 for entry in self._entries]
        )

    def anchor(self, row: int) -> Anchor | None:
        """What stands at a row, None beyond the end."""
        found = self.find(row)
        if found is None:
            return None
        index, number = found
        stands: tuple[int, int] | None = None
        if 0 <= number <= _LONGEST_WALK:
            stands = list(_standing(self._draw(index).lines[: number + 1]))[-1]
        return Anchor(block=index, row=number, stands=stands)

    def row_of(self, anchor: Anchor) -> int:
        """The row where the anchor's text stands now."""
        height = self.measure(anchor.block)
        gap = self.gap(anchor.block)
        top = self.top(anchor.block)
        if anchor.row < 0:
            return top + max(gap + anchor.row, 0)
        if anchor.stands is None:
            return top + min(gap + anchor.row, max(height - 1, 0))
        rows = [row for row, stands in enumerate(_standing(self._draw(anchor.block).lines)) if stands <= anchor.stands]
        return top + gap + (rows[-1] if rows else 0)

    def text(self, start: Place, end: Place) -> str:
        """What copying from one place to another gives: the words without gutters, wraps and frames."""
        return "".join(self._copied(start, end)).strip("\n")

    def _copied(self, start: Place, end: Place) -> Iterator[str]:
        for index in range(start.block, min(end.block + 1, len(self._entries))):
            entry = self._entries[index]
            if entry.block is None:
                continue
            if index != start.block and entry.gap:
                yield "\n"
            lines = self._draw(index).lines
            first = max(start.line, 0) if index == start.block else 0
            last = min(end.line, len(lines) - 1) if index == end.block else len(lines) - 1
            for number in range(first, last + 1):
                line = lines[number]
                span = _span((start, end), index, number, line)
                if span is None or line.is_drawn_only:
                    continue
                yield line.joint + line.copied(*span)

    def _draw(self, index: int) -> _Drawn:
        drawn = self._drawn.get(index)
        if drawn is not None:
            self._drawn.move_to_end(index)
            return drawn
        block = self._entries[index].block
        lines = block.lines(self._width, self._inks) if block is not None else ()
        drawn = self._drawn[index] = _Drawn(lines, len(lines))
        self._line_count += drawn.count
        while len(self._drawn) > (_DRAWN_ANYHOW if self._line_count > _DRAWN_LINES else _DRAWN_BLOCKS):
            self._let_go(self._drawn.popitem(last=False)[1])
        return drawn

    def _let_go(self, drawn: _Drawn) -> None:
        self._line_count -= drawn.count
        self._strip_count -= len(drawn.strips)

    def _forget_strips(self) -> None:
        for drawn in self._drawn.values():
            drawn.strips.clear()
        self._strip_count = 0


def gap_between(before: Kind | None, after: Kind, *, is_close: bool = False) -> int:
    """How many empty rows stand between two kinds of block."""
    if before is None or is_close:
        return 0
    if before == after and after in {Kind.TOOL, Kind.NOTE, Kind.THINKING}:
        return 0
    return 1


def _standing(lines: Iterable[Line]) -> Iterator[tuple[int, int]]:
    """Of each line, the paragraph it belongs to and the character of it that it begins with."""
    paragraph = character = 0
    for line in lines:
        if line.joint == "\n":
            paragraph, character = paragraph + 1, 0
        else:
            character += len(line.joint)
        yield paragraph, character
        character += len(line.copied()) if line.whole is None else 0


def _span(marked: tuple[Place, Place], index: int, number: int, line: Line) -> tuple[int, int] | None:
    """The characters of a line within the marked stretch, None when it lies outside."""
    start, end = marked
    here = (index, number)
    if here < (start.block, start.line) or here > (end.block, end.line):
        return None
    length = len(line.text)
    first = start.character if here == (start.block, start.line) else 0
    last = end.character if here == (end.block, end.line) else length
    return (min(first, length), min(last, length))
