"""The unchanged lines around the hunks of a change: folded away, and shown a few at a time when asked for."""

from __future__ import annotations

from collections.abc import Mapping

from codeagent.core.diff import ChangeKind, DiffLine, FileDiff, Hunk, LineKind, split_lines

_STEP = 20
_NOT_WORTH_FOLDING = 10


class Surroundings:
    """A change with as much around its hunks as the person wants to see; hunks stay the hunks that they are."""

    def __init__(self, diff: FileDiff, after: str) -> None:
        """``after`` is the whole text that the change leads to."""
        self._diff = diff
        self._after = after
        self._lines: list[str] | None = None
        self._more: dict[int, int] = {}
        self._ends = [
            hunk.new_start + sum([line.kind is not LineKind.REMOVED for line in hunk.lines]) for hunk in diff.hunks
        ]

    @property
    def is_foldable(self) -> bool:
        """Whether there is something around hunks at all."""
        return self._diff.change is ChangeKind.CHANGED and bool(self._diff.hunks)

    def open(self, hunk: int) -> bool:
        """Shows more of what is around a hunk; False when all of it is shown."""
        if not self.is_foldable:
            return False
        left = max(self._gap(hunk), self._gap(hunk + 1)) - self._more.get(hunk, 0)
        if left <= 0 or not self._is_whole:
            return False
        step = _STEP if left > _STEP + _NOT_WORTH_FOLDING else left
        self._more[hunk] = self._more.get(hunk, 0) + step
        return True

    @property
    def opened(self) -> Mapping[int, int]:
        """How many lines more are shown around each hunk where there are more."""
        return dict(self._more)

    def open_again(self, opened: Mapping[int, int]) -> None:
        """Shows as many as were shown when that was ``opened``."""
        self._more = dict(opened)

    @property
    def shown(self) -> FileDiff:
        """The change with those lines."""
        if not self._more:
            return self._diff
        hunks = tuple(self._widened(index, hunk) for index, hunk in enumerate(self._diff.hunks))
        return FileDiff(path=self._diff.path, change=self._diff.change, hunks=hunks, notes=self._diff.notes)

    @property
    def folded(self) -> Mapping[int, int]:
        """How many unchanged lines before each hunk are not shown."""
        if not self.is_foldable:
            return {}
        return {index: self._folded(index) for index in range(len(self._diff.hunks))}

    def _folded(self, hunk: int) -> int:
        return self._gap(hunk) - self._before(hunk) - (self._after_hunk(hunk - 1) if hunk else 0)

    def _before(self, hunk: int) -> int:
        room = self._gap(hunk) - (self._after_hunk(hunk - 1) if hunk else 0)
        return min(self._more.get(hunk, 0), room)

    def _after_hunk(self, hunk: int) -> int:
        return min(self._more.get(hunk, 0), self._gap(hunk + 1))

    def _gap(self, hunk: int) -> int:
        """The unchanged lines between a hunk and the one before; past the last one, to the end of the file."""
        hunks = self._diff.hunks
        start = self._ends[hunk - 1] if hunk else 1
        if hunk < len(hunks):
            return hunks[hunk].new_start - start
        return len(self._text) + 1 - start

    @property
    def _text(self) -> list[str]:
        if self._lines is None:
            self._lines = split_lines(self._after)
        return self._lines

    @property
    def _is_whole(self) -> bool:
        """Whether the text is what the change leads to."""
        return all(
            tuple(self._text[hunk.new_start - 1 : hunk.new_start - 1 + len(hunk.new_lines)]) == hunk.new_lines
            for hunk in self._diff.hunks
        )

    def _widened(self, index: int, hunk: Hunk) -> Hunk:
        before, after = self._before(index), self._after_hunk(index)
        first = hunk.new_start - 1
        last = first + len(hunk.new_lines)
        return Hunk(
            old_start=hunk.old_start - before,
            new_start=hunk.new_start - before,
            lines=(*self._same(first - before, first), *hunk.lines, *self._same(last, last + after)),
        )

    def _same(self, first: int, last: int) -> list[DiffLine]:
        return [DiffLine(kind=LineKind.SAME, text=text) for text in self._text[first:last]]
