"""Where each line of a change stands when it is drawn, one below the other or side by side.

Only heights are worked out here, so that a change of ten thousand lines opens as
fast as a small one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import accumulate, zip_longest
from typing import NamedTuple

from codeagent.core.diff import ChangeKind, DiffLine, FileDiff, Hunk, LineKind, line_pairs
from codeagent.core.text import show_disguised
from codeagent.core.values import value
from codeagent.tui.widgets.lines import TAB, count_code_rows

NONE = -1
"""In place of a line, where a side has none."""

_WIDE_ENOUGH_FOR_BOTH_NUMBERS = 60
_PLAIN = re.compile(r"[\x20-\x7e]*")
_PLAIN_LINES = re.compile(r"[\x20-\x7e\n]*")
_BETWEEN = 3
_LONG_GAP = 64
"""So many blanks are more than anybody lines code up with."""

_GAP = " " * _LONG_GAP
_GAPS = re.compile(f" {{{_LONG_GAP},}}")


class Side(StrEnum):
    """How a change is laid out."""

    BELOW = "one below the other"
    BESIDE = "side by side"

    @property
    def other(self) -> Side:
        """The other way."""
        return Side.BESIDE if self is Side.BELOW else Side.BELOW


Entry = tuple[int, int]
"""The places, in the lines of a hunk, of the old and of the new line that stand in one row."""


class HunkLayout(NamedTuple):
    """The rows of a hunk: it begins at row ``top``, with ``headings`` rows; ``tops`` are those of the entries."""

    top: int
    headings: int
    entries: Sequence[Entry]
    tops: Sequence[int]


@value
class Layout:
    """Where everything stands, whatever is chosen.

    ``room`` is how many cells a line of code has, ``starts`` are the rows at which the hunks begin.
    """

    hunks: tuple[HunkLayout, ...]
    height: int
    digits: int
    has_both_numbers: bool
    room: int
    side: Side
    has_mixed_ends: bool

    starts: tuple[int, ...]

    def find(self, row: int) -> tuple[int, int, int]:
        """Hunk, entry and row of the entry at a row; entry NONE is the hunk's heading, hunk NONE the notes on top."""
        hunk = bisect_right(self.starts, row) - 1
        if hunk < 0:
            return NONE, NONE, row
        found = self.hunks[hunk]
        if row < found.top + found.headings:
            return hunk, NONE, row - found.top
        entry = bisect_right(found.tops, row) - 1
        return hunk, entry, row - found.tops[entry]


def lay_out(diff: FileDiff, width: int, side: Side, first_row: int) -> Layout:
    """The places of all lines in ``width`` cells; the first one stands in row ``first_row``."""
    last = max((max(hunk.old_start, hunk.new_start) + len(hunk.lines) for hunk in diff.hunks), default=1)
    digits = max(len(str(last)), 3)
    is_changed = diff.change is ChangeKind.CHANGED
    has_both = is_changed and side is Side.BELOW and width >= _WIDE_ENOUGH_FOR_BOTH_NUMBERS
    if side is Side.BESIDE:
        room = max((width - _BETWEEN) // 2 - digits - 3, 1)
    else:
        room = max(width - (2 * digits + 1 if has_both else digits) - 3, 1)
    mixed = has_mixed_ends(diff)
    headings = int(len(diff.hunks) > 1 and is_changed)
    top = first_row
    hunks: list[HunkLayout] = []
    for hunk in diff.hunks:
        heights = _heights(hunk, room, has_mixed_ends=mixed)
        entries = list(_beside(hunk) if side is Side.BESIDE else _below(hunk))
        taken = [max(heights[old] if old >= 0 else 0, heights[new] if new >= 0 else 0) for old, new in entries]
        tops = list(accumulate(taken, initial=top + headings))
        hunks.append(HunkLayout(top, headings, entries, tops[:-1]))
        top = tops[-1]
    return Layout(
        hunks=tuple(hunks),
        starts=tuple(hunk.top for hunk in hunks),
        height=top,
        digits=digits,
        has_both_numbers=has_both,
        room=room,
        side=side,
        has_mixed_ends=mixed,
    )


def numbers(hunk: Hunk) -> list[tuple[int, int]]:
    """For each line of a hunk its number in the old and in the new file; that of the next line where it has none."""
    counted: list[tuple[int, int]] = []
    old, new = hunk.old_start, hunk.new_start
    for line in hunk.lines:
        counted.append((old, new))
        old += line.kind is not LineKind.ADDED
        new += line.kind is not LineKind.REMOVED
    return counted


def shown(text: str) -> str:
    """A line of the file as drawn, without its end: nothing hidden, tabs made into blanks, very many blanks counted."""
    drawn = _drawn(text)
    return _GAPS.sub(_counted_blanks, drawn) if _GAP in drawn else drawn


def gaps(text: str) -> list[tuple[int, int, int]]:
    """Where counted blanks stand in a line as ``shown``: start, end, and how many they are."""
    drawn = _drawn(text)
    found: list[tuple[int, int, int]] = []
    shift = 0
    for gap in _GAPS.finditer(drawn) if _GAP in drawn else ():
        blanks, said = len(gap[0]) - 2, len(_counted_blanks(gap)) - 2
        found.append((gap.start() + shift + 1, gap.start() + shift + 1 + said, blanks))
        shift += said - blanks
    return found


def _drawn(text: str) -> str:
    return show_disguised(text.removesuffix("\n").removesuffix("\r")).expandtabs(len(TAB))


def _counted_blanks(gap: re.Match[str]) -> str:
    """As in a command."""
    return f" <{len(gap[0]) - 2} blanks> "


def end_mark(text: str, *, has_mixed_ends: bool) -> str:
    """What is said of a line's end: a newline that is missing, or which kind it is where both occur."""
    if not text.endswith(("\n", "\r")):
        return " (no newline at the end)"
    return "␍" if has_mixed_ends and text.endswith("\r\n") else ""


def has_mixed_ends(diff: FileDiff) -> bool:
    """Whether lines end in more than one way."""
    ends = {line.text[-2:] == "\r\n" for hunk in diff.hunks for line in hunk.lines if line.text.endswith("\n")}
    return len(ends) > 1


def _heights(hunk: Hunk, room: int, *, has_mixed_ends: bool) -> list[int]:
    """The rows that each line takes; short plain lines, as nearly all are, are not looked at one by one."""
    texts = [line.text for line in hunk.lines]
    joined = "".join(texts)
    is_plain = joined.count("\n") == len(texts) and _PLAIN_LINES.fullmatch(joined)
    if is_plain and not has_mixed_ends and max(map(len, texts)) <= room:
        return [1] * len(texts)
    return [_rows(line, room, has_mixed_ends=has_mixed_ends) for line in hunk.lines]


def _rows(line: DiffLine, room: int, *, has_mixed_ends: bool) -> int:
    text = line.text
    if len(text) <= room and text.endswith("\n") and not has_mixed_ends and _PLAIN.fullmatch(text, 0, len(text) - 1):
        return 1
    return count_code_rows(shown(text) + end_mark(text, has_mixed_ends=has_mixed_ends), room)


def _below(hunk: Hunk) -> Iterator[Entry]:
    for place, line in enumerate(hunk.lines):
        yield (
            NONE if line.kind is LineKind.ADDED else place,
            NONE if line.kind is LineKind.REMOVED else place,
        )


def _beside(hunk: Hunk) -> Iterator[Entry]:
    """Each new line stands beside the old one that it takes the place of; the others fill the rows between."""
    pairs = line_pairs(hunk.lines)
    removed: list[int] = []
    added: list[int] = []
    for place, line in enumerate(hunk.lines):
        if line.kind is LineKind.REMOVED:
            if added:
                yield from _paired(removed, added, pairs)
                removed, added = [], []
            removed.append(place)
        elif line.kind is LineKind.ADDED:
            added.append(place)
        else:
            yield from _paired(removed, added, pairs)
            removed, added = [], []
            yield place, place
    yield from _paired(removed, added, pairs)


def _paired(removed: Sequence[int], added: Sequence[int], pairs: Mapping[int, int]) -> Iterator[Entry]:
    old = new = 0
    for at, place in enumerate(removed):
        if (partner := pairs.get(place)) is not None:
            to = added.index(partner, new)
            yield from zip_longest(removed[old:at], added[new:to], fillvalue=NONE)
            yield place, partner
            old, new = at + 1, to + 1
    yield from zip_longest(removed[old:], added[new:], fillvalue=NONE)
