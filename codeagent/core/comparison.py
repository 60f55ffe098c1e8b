"""Finds what two sequences of lines or words have in common, in a time that grows with their length only.

First what is the same at both ends, then items that occur once on each side (the
"patience" method, which keeps functions whole), and between those the shortest
difference (E. Myers, An O(ND) Difference Algorithm, 1986). Work is counted: a part
that would need too much of it counts as replaced. Of lines that were replaced it finds those
that are most alike.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import pairwise

Run = tuple[int, int, int]
"""So many items are the same: (start in the old sequence, start in the new one, how many)."""

_STEPS_PER_ITEM = 20
_FREE_STEPS = 30_000
_LONG = 2_000
_FEW_EDITS = 40
_STRETCH = 64
_LEAST_ALIKE = 0.5


def common_runs(old: Sequence[str], new: Sequence[str]) -> list[Run]:
    """What stayed the same, in order; what lies between two runs was removed, added or replaced."""
    return _joined(_Search(old, new).run())


class _Search:
    """The state of one comparison."""

    def __init__(self, old: Sequence[str], new: Sequence[str]) -> None:
        self._old = old
        self._new = new
        self._runs: list[Run] = []
        self._steps_left = _STEPS_PER_ITEM * (len(old) + len(new)) + _FREE_STEPS

    def run(self) -> list[Run]:
        parts = [(0, len(self._old), 0, len(self._new))]
        while parts:
            i1, i2, j1, j2 = self._without_common_ends(*parts.pop())
            if i1 == i2 or j1 == j2 or self._steps_left <= 0:
                continue
            if i2 - i1 + j2 - j1 > _LONG and self._shortest(i1, i2, j1, j2, _FEW_EDITS):
                continue
            anchors = self._anchors(i1, i2, j1, j2)
            if not anchors:
                self._shortest(i1, i2, j1, j2, i2 - i1 + j2 - j1)
                continue
            for i, j in anchors:
                self._runs.append((i, j, 1))
                parts.append((i1, i, j1, j))
                i1, j1 = i + 1, j + 1
            parts.append((i1, i2, j1, j2))
        return self._runs

    def _without_common_ends(self, i1: int, i2: int, j1: int, j2: int) -> tuple[int, int, int, int]:
        """Notes what is the same at the start and end of a part, and returns the rest."""
        start = self._same_from(i1, j1, min(i2 - i1, j2 - j1))
        self._runs.append((i1, j1, start))
        i1, j1 = i1 + start, j1 + start
        end = 0
        shortest = min(i2 - i1, j2 - j1)
        while end < shortest and self._old[i2 - end - 1] == self._new[j2 - end - 1]:
            end += 1
        self._runs.append((i2 - end, j2 - end, end))
        return i1, i2 - end, j1, j2 - end

    def _same_from(self, i: int, j: int, most: int) -> int:
        """How many items, at most ``most``, are the same from two places on."""
        old, new = self._old, self._new
        count = 0
        if most <= 0 or old[i] != new[j]:
            return 0
        while (
            count + _STRETCH <= most and old[i + count : i + count + _STRETCH] == new[j + count : j + count + _STRETCH]
        ):
            count += _STRETCH
        while count < most and old[i + count] == new[j + count]:
            count += 1
        return count

    def _anchors(self, i1: int, i2: int, j1: int, j2: int) -> list[tuple[int, int]]:
        """Pairs of items that occur once on either side of a part: the longest chain of them in order."""
        self._steps_left -= (i2 - i1) + (j2 - j1)
        old, new = self._old[i1:i2], self._new[j1:j2]
        in_old, in_new = Counter(old), Counter(new)
        place = {item: j for j, item in enumerate(new, j1) if in_new[item] == 1 and in_old[item] == 1}
        return _longest_chain([(i, place[item]) for i, item in enumerate(old, i1) if item in place])

    def _shortest(self, i1: int, i2: int, j1: int, j2: int, most_edits: int) -> bool:
        """Notes the longest common part of two ranges; False when that takes too many edits or too long."""
        width, height = i2 - i1, j2 - j1
        reached = {1: 0}
        history: list[dict[int, int]] = []
        enough = self._steps_left // 2
        while self._steps_left > enough and len(history) <= most_edits:
            edits = len(history)
            history.append(reached.copy())
            self._steps_left -= 2 * edits + 1
            for diagonal in range(-edits, edits + 1, 2):
                start = _step(reached, diagonal, edits)
                x, y = start, start - diagonal
                same = self._same_from(i1 + x, j1 + y, min(width - x, height - y))
                self._steps_left -= same
                reached[diagonal] = x + same
                if x + same >= width and y + same >= height:
                    self._runs += [(i1 + i, j1 + j, count) for i, j, count in _walk_back(history, width, height)]
                    return True
        return False


def _goes_down(reached: dict[int, int], diagonal: int, edits: int) -> bool:
    """Whether the best way to a diagonal adds an item; else it removes one."""
    return diagonal == -edits or (diagonal != edits and reached[diagonal - 1] < reached[diagonal + 1])


def _step(reached: dict[int, int], diagonal: int, edits: int) -> int:
    """How many old items are used up after one more edit that leads to the diagonal."""
    return reached[diagonal + 1] if _goes_down(reached, diagonal, edits) else reached[diagonal - 1] + 1


def _walk_back(history: list[dict[int, int]], x: int, y: int) -> list[Run]:
    """The runs on the way that led to (x, y); ``history`` is what was reached before each edit."""
    runs: list[Run] = []
    for edits in range(len(history) - 1, -1, -1):
        diagonal = x - y
        start = _step(history[edits], diagonal, edits)
        runs.append((start, start - diagonal, x - start))
        x = start if _goes_down(history[edits], diagonal, edits) else start - 1
        y = start - diagonal - (x == start)
    return runs


def _longest_chain(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest choice of pairs, given in order of their first place, whose second places rise too."""
    if all(one[1] < two[1] for one, two in pairwise(pairs)):
        return pairs
    ends: list[int] = []
    end_pairs: list[int] = []
    before: list[int] = []
    for number, (_, j) in enumerate(pairs):
        pile = bisect_left(ends, j)
        before.append(end_pairs[pile - 1] if pile else -1)
        if pile == len(ends):
            ends.append(j)
            end_pairs.append(number)
        else:
            ends[pile] = j
            end_pairs[pile] = number
    chain: list[tuple[int, int]] = []
    number = end_pairs[-1] if end_pairs else -1
    while number >= 0:
        chain.append(pairs[number])
        number = before[number]
    chain.reverse()
    return chain


def _joined(runs: list[Run]) -> list[Run]:
    """The runs in order, those that touch made one and empty ones left out."""
    joined: list[Run] = []
    for i, j, count in sorted(run for run in runs if run[2]):
        if joined:
            last_i, last_j, last = joined[-1]
            if (last_i + last, last_j + last) == (i, j):
                joined[-1] = (last_i, last_j, last + count)
                continue
        joined.append((i, j, count))
    return joined


def alike(old: Sequence[Collection[str]], new: Sequence[Collection[str]]) -> list[tuple[int, int]]:
    """Which old line, given by its words, became which new one: the most that is alike in all, in order."""
    old_words, new_words = ([_words(line) for line in lines] for lines in (old, new))
    likeness = [[_likeness(one, other) for other in new_words] for one in old_words]
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i in reversed(range(len(old))):
        for j in reversed(range(len(new))):
            best[i][j] = max(best[i + 1][j], best[i][j + 1], likeness[i][j] + best[i + 1][j + 1])
    pairs: list[tuple[int, int]] = []
    i = j = 0
    while i < len(old) and j < len(new):
        if likeness[i][j] and best[i][j] == likeness[i][j] + best[i + 1][j + 1]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def _words(line: Collection[str]) -> frozenset[str]:
    return frozenset(word for word in line if not word.isspace())


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """How much of both lines stands in both, from 0 to 1; 0 where it is too little to speak of."""
    whole = sum(map(len, one)) + sum(map(len, other))
    share = 2 * sum(map(len, one & other)) / whole if whole else 0.0
    return share if share >= _LEAST_ALIKE else 0.0
