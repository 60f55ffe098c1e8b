"""A file change as data: hunks with context, changed words, and applying any subset of hunks.

Lines keep their line endings, so a diff is exact to the character: applying all
hunks to the old text gives the new text.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate
from typing import NamedTuple

from codeagent.core.comparison import Run, alike, common_runs
from codeagent.core.errors import StaleFile
from codeagent.core.seldom import seldom
from codeagent.core.values import value

CONTEXT_LINES = 3
_WORD = seldom(r"\w+|\s+|[^\w\s]")
_LONGEST_WORD_DIFF = 2_000
_LEAST_LIKENESS = 0.35
_MOST_ALIKE = 400
_MOST_ALIKE_IN_HUNK = 1_000
"""So many pairs of lines are compared at most, to find those that are alike, by their beginnings."""

_BEGINNING = 500

_MOST_SLIDE = 30


class ChangeKind(StrEnum):
    """What happens to the file as a whole."""

    CREATED = "created"
    CHANGED = "changed"
    DELETED = "deleted"


class LineKind(StrEnum):
    """What happens to one line."""

    SAME = " "
    REMOVED = "-"
    ADDED = "+"


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffLine:
    """One line of a hunk; ``text`` includes its line ending, if it has one.

    Slots, since a session keeps all lines that it changed: a fifth of the memory of a ``value``.
    """

    kind: LineKind
    text: str


@value
class Hunk:
    """Neighbouring changes with the unchanged lines around them.

    ``old_start`` and ``new_start`` are the 1-based numbers of the first line, in
    the file before and after the whole change.
    """

    old_start: int
    new_start: int
    lines: tuple[DiffLine, ...]

    @property
    def old_lines(self) -> tuple[str, ...]:
        """The lines before the change."""
        return tuple(line.text for line in self.lines if line.kind is not LineKind.ADDED)

    @property
    def new_lines(self) -> tuple[str, ...]:
        """The lines after the change."""
        return tuple(line.text for line in self.lines if line.kind is not LineKind.REMOVED)

    @property
    def old_range(self) -> tuple[int, int]:
        """First and last line (1-based, inclusive) of the old file that the change removes or replaces.

        Where lines only come in it is twice the line that they come before.
        """
        number = self.old_start
        removed: list[int] = []
        added_before: list[int] = []
        for line in self.lines:
            if line.kind is LineKind.REMOVED:
                removed.append(number)
            elif line.kind is LineKind.ADDED:
                added_before.append(number)
            number += line.kind is not LineKind.ADDED
        touched = removed or added_before
        return (touched[0], touched[-1])


@value
class FileDiff:
    """A change of one file; ``path`` is as shown to people, ``notes`` are changes no line can show."""

    path: str
    change: ChangeKind
    hunks: tuple[Hunk, ...]
    notes: tuple[str, ...] = ()

    @property
    def added(self) -> int:
        """Number of lines that come in."""
        return sum(line.kind is LineKind.ADDED for hunk in self.hunks for line in hunk.lines)

    @property
    def removed(self) -> int:
        """Number of lines that go."""
        return sum(line.kind is LineKind.REMOVED for hunk in self.hunks for line in hunk.lines)


def split_lines(text: str) -> list[str]:
    """Splits at LF only (at CR in a text that has CR and no LF), keeping the endings."""
    return _split(text, _line_end(text))


def make_diff(
    path: str, before: str | None, after: str | None, *, notes: tuple[str, ...] = (), context: int = CONTEXT_LINES
) -> FileDiff:
    """Compares two texts; None stands for no file. ``context`` is in lines."""
    change = ChangeKind.CREATED if before is None else ChangeKind.DELETED if after is None else ChangeKind.CHANGED
    middle = _middle(before or "", after or "", context)
    groups = _groups(_changes(middle), context)
    hunks = tuple(_hunk(middle, group, context) for group in groups)
    return FileDiff(path=path, change=change, hunks=hunks, notes=notes)


def apply_hunks(before: str, diff: FileDiff, chosen: Collection[int] | None = None) -> str:
    """The text after the ``chosen`` hunks (indexes; None is all) were applied to ``before``.

    Raises StaleFile when ``before`` is, at the hunks, not the text that the diff was made from.
    """
    lines = split_lines(before)
    result: list[str] = []
    position = 0
    for index, hunk in enumerate(diff.hunks):
        start = hunk.old_start - 1
        end = start + len(hunk.old_lines)
        if tuple(lines[start:end]) != hunk.old_lines:
            raise _stale(diff)
        result += lines[position:start]
        result += hunk.new_lines if chosen is None or index in chosen else hunk.old_lines
        position = end
    return "".join(result + lines[position:])


def line_pairs(lines: Sequence[DiffLine]) -> dict[int, int]:
    """Removed lines and the added ones in their place, both ways: those most alike where there are more of one kind."""
    pairs: dict[int, int] = {}
    place, left = 0, _MOST_ALIKE_IN_HUNK
    while place < len(lines):
        start = place
        while place < len(lines) and lines[place].kind is LineKind.REMOVED:
            place += 1
        middle = place
        while place < len(lines) and lines[place].kind is LineKind.ADDED:
            place += 1
        removed, added = middle - start, place - middle
        found: Iterable[tuple[int, int]] = ()
        if removed == added:
            found = zip(range(removed), range(added), strict=True)
        elif 0 < removed * added <= min(left, _MOST_ALIKE):
            left -= removed * added
            words = [_WORD().findall(line.text[:_BEGINNING]) for line in lines[start:place]]
            found = alike(words[:removed], words[removed:])
        for old, new in found:
            pairs[start + old], pairs[middle + new] = middle + new, start + old
        place = max(place, start + 1)
    return pairs


Spans = tuple[tuple[int, int], ...]


def word_spans(old: str, new: str) -> tuple[Spans, Spans]:
    """Character ranges (start, end) of the words that differ, in the old and in the new line.

    Both are empty when the lines have too little in common for marks to help.
    """
    if max(len(old), len(new)) > _LONGEST_WORD_DIFF:
        return (), ()
    old_words: list[str] = _WORD().findall(old)
    new_words: list[str] = _WORD().findall(new)
    runs = _worth_keeping(common_runs(old_words, new_words), old_words, new_words)
    kept = sum(_weight(old_words[i : i + count]) for i, _, count in runs)
    if 2 * kept < _LEAST_LIKENESS * (_weight(old_words) + _weight(new_words)):
        return (), ()
    old_at, new_at = _offsets(old_words), _offsets(new_words)
    gaps = list(_gaps(runs, len(old_words), len(new_words)))
    return (
        tuple((old_at[gap.i1], old_at[gap.i2]) for gap in gaps if gap.i1 < gap.i2),
        tuple((new_at[gap.j1], new_at[gap.j2]) for gap in gaps if gap.j1 < gap.j2),
    )


def _worth_keeping(runs: list[Run], old_words: list[str], new_words: list[str]) -> list[Run]:
    """Without blanks that stand alone between two changes: one mark over both reads better."""
    return [
        (i, j, count)
        for i, j, count in runs
        if _weight(old_words[i : i + count])
        or (i, j) == (0, 0)
        or (i + count, j + count) == (len(old_words), len(new_words))
    ]


def _weight(words: list[str]) -> int:
    """How many characters other than blanks the words have."""
    return sum([len(word) for word in words if not word.isspace()])


def _offsets(words: list[str]) -> list[int]:
    return [0, *accumulate(map(len, words))]


class _Change(NamedTuple):
    """Items old[i1:i2] become new[j1:j2]."""

    i1: int
    i2: int
    j1: int
    j2: int


def _gaps(runs: list[Run], old_length: int, new_length: int) -> Iterator[_Change]:
    """What lies between the runs that stayed the same."""
    i = j = 0
    for start, new_start, count in [*runs, (old_length, new_length, 0)]:
        if start > i or new_start > j:
            yield _Change(i, start, j, new_start)
        i, j = start + count, new_start + count


class _Middle(NamedTuple):
    """The lines of two texts without most of what they share at both ends; ``skipped`` lines stand before."""

    old: list[str]
    new: list[str]
    skipped: int


def _middle(before: str, after: str, context: int) -> _Middle:
    """Cuts common ends off as text, which is much quicker than line by line, but leaves ``context`` lines of them."""
    mark = _line_end(before)
    if mark != _line_end(after):
        return _Middle(split_lines(before), split_lines(after), 0)
    start = _common_start(before, after)
    rest = min(len(before), len(after)) - start
    tail = _common_end(before[len(before) - rest :], after[len(after) - rest :])
    for _ in range(context + 1 + _MOST_SLIDE):
        start = before.rfind(mark, 0, max(start - 1, 0)) + 1
    for _ in range(context + 1):
        line_end = before.find(mark, len(before) - tail) + 1
        tail = len(before) - line_end if line_end else 0
    old = _split(before[start : len(before) - tail], mark)
    new = _split(after[start : len(after) - tail], mark)
    return _Middle(old, new, before.count(mark, 0, start))


def _line_end(text: str) -> str:
    return "\r" if "\r" in text and "\n" not in text else "\n"


def _split(text: str, mark: str) -> list[str]:
    lines = text.split(mark)
    last = lines.pop()
    kept = [line + mark for line in lines]
    return [*kept, last] if last else kept


def _common_start(one: str, two: str) -> int:
    """How many characters are the same at the start; halving compares long stretches at once."""
    low, high = 0, min(len(one), len(two))
    while low < high:
        half = (low + high + 1) // 2
        if one[low:half] == two[low:half]:
            low = half
        else:
            high = half - 1
    return low


def _common_end(one: str, two: str) -> int:
    """How many characters are the same at the end of two texts of one length."""
    low, high = 0, len(one)
    while low < high:
        half = (low + high + 1) // 2
        if one[len(one) - half : len(one) - low] == two[len(two) - half : len(two) - low]:
            low = half
        else:
            high = half - 1
    return low


def _changes(middle: _Middle) -> Iterator[_Change]:
    """What changed; lines that only came in or only went stand where a person would have put them."""
    old, new = middle.old, middle.new
    end = 0
    for gap in _gaps(common_runs(old, new), len(old), len(new)):
        room = min(gap.i1 - end, _MOST_SLIDE)
        up = 0
        if gap.i1 == gap.i2:
            up = _slide(new, gap.j1, gap.j2, room)
        elif gap.j1 == gap.j2:
            up = _slide(old, gap.i1, gap.i2, room)
        end = gap.i2 - up
        yield _Change(gap.i1 - up, end, gap.j1 - up, gap.j2 - up)


def _slide(lines: list[str], start: int, end: int, room: int) -> int:
    """How far up a block of lines is best moved, when the lines before it equal its own last ones.

    It should begin at a line that is indented little and follows a blank one: with a
    function's first line, not with its second.
    """
    best, best_cost = 0, _cost_of_beginning(lines, start)
    for up in range(1, room + 1):
        if lines[start - up] != lines[end - up]:
            break
        cost = _cost_of_beginning(lines, start - up)
        if cost < best_cost:
            best, best_cost = up, cost
    return best


def _cost_of_beginning(lines: list[str], start: int) -> tuple[bool, int, bool]:
    first = lines[start]
    is_blank = not first.strip()
    return is_blank, len(first) - len(first.lstrip()), start > 0 and bool(lines[start - 1].strip())


def _groups(changes: Iterator[_Change], context: int) -> Iterator[list[_Change]]:
    """Changes whose context would touch, together."""
    group: list[_Change] = []
    for change in changes:
        if group and change.i1 - group[-1].i2 > 2 * context:
            yield group
            group = []
        group.append(change)
    if group:
        yield group


def _hunk(middle: _Middle, group: list[_Change], context: int) -> Hunk:
    old, new = middle.old, middle.new
    first, last = group[0], group[-1]
    before = min(context, first.i1)
    position = first.i1 - before
    lines: list[DiffLine] = []
    for change in group:
        lines += [_same(line) for line in old[position : change.i1]]
        lines += [DiffLine(kind=LineKind.REMOVED, text=line) for line in old[change.i1 : change.i2]]
        lines += [DiffLine(kind=LineKind.ADDED, text=line) for line in new[change.j1 : change.j2]]
        position = change.i2
    lines += [_same(line) for line in old[last.i2 : last.i2 + context]]
    return Hunk(
        old_start=middle.skipped + first.i1 - before + 1,
        new_start=middle.skipped + first.j1 - before + 1,
        lines=tuple(lines),
    )


def _same(text: str) -> DiffLine:
    return DiffLine(kind=LineKind.SAME, text=text)


def _stale(diff: FileDiff) -> StaleFile:
    return StaleFile(f"{diff.path} is no longer the text this change was made from.", hint="Read it again.")
