"""A file change as data: hunks with context, changed words, and applying or reversing any subset of hunks.

Lines keep their line endings, so a diff is exact to the character: applying all
hunks to the old text gives the new text, reversing them gives the old one back.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

from codeagent.core.errors import StaleFile

CONTEXT_LINES = 3
_AUTOJUNK_FROM = 2_000
_WORD = re.compile(r"\w+|\s+|[^\w\s]")
_LONGEST_WORD_DIFF = 2_000


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
    """One line of a hunk; ``text`` includes its line ending, if it has one."""

    kind: LineKind
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
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
        """First and last line (1-based, inclusive) that the change itself replaces in the old file."""
        number = self.old_start
        changed: list[int] = []
        for line in self.lines:
            if line.kind is not LineKind.SAME:
                changed.append(number)
            if line.kind is not LineKind.ADDED:
                number += 1
        return (changed[0], max(changed[0], changed[-1]))


@dataclass(frozen=True, slots=True, kw_only=True)
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
    mark = "\r" if "\r" in text and "\n" not in text else "\n"
    lines = text.split(mark)
    last = lines.pop()
    kept = [line + mark for line in lines]
    return [*kept, last] if last else kept


def make_diff(
    path: str, before: str | None, after: str | None, *, notes: tuple[str, ...] = (), context: int = CONTEXT_LINES
) -> FileDiff:
    """Compares two texts; None stands for no file. ``context`` is in lines."""
    change = ChangeKind.CREATED if before is None else ChangeKind.DELETED if after is None else ChangeKind.CHANGED
    old, new = split_lines(before or ""), split_lines(after or "")
    hunks = tuple(_hunk(old, new, group, context) for group in _groups(_changes(old, new), context))
    return FileDiff(path=path, change=change, hunks=hunks, notes=notes)


def apply_hunks(before: str, diff: FileDiff, chosen: Collection[int] | None = None) -> str:
    """The text after the ``chosen`` hunks (indexes; None is all) were applied to ``before``.

    Raises StaleFile when ``before`` is not the text that the diff was made from.
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


def reverse_hunks(after: str, diff: FileDiff, chosen: Collection[int] | None = None) -> str:
    """The text after the ``chosen`` hunks (indexes; None is all) were taken back from ``after``.

    Raises StaleFile when ``after`` is not the text that the whole diff leads to.
    """
    return apply_hunks(after, reversed_diff(diff), chosen)


def reversed_diff(diff: FileDiff) -> FileDiff:
    """The change that undoes ``diff``."""
    swap = {LineKind.ADDED: LineKind.REMOVED, LineKind.REMOVED: LineKind.ADDED, LineKind.SAME: LineKind.SAME}
    whole = {ChangeKind.CREATED: ChangeKind.DELETED, ChangeKind.DELETED: ChangeKind.CREATED}
    hunks = tuple(
        Hunk(
            old_start=hunk.new_start,
            new_start=hunk.old_start,
            lines=tuple(DiffLine(kind=swap[line.kind], text=line.text) for line in hunk.lines),
        )
        for hunk in diff.hunks
    )
    return FileDiff(path=diff.path, change=whole.get(diff.change, ChangeKind.CHANGED), hunks=hunks, notes=diff.notes)


Spans = tuple[tuple[int, int], ...]


def word_spans(old: str, new: str) -> tuple[Spans, Spans]:
    """Character ranges (start, end) of the words that differ, in the old and in the new line.

    Both are empty when the lines have too little in common for marks to help.
    """
    if max(len(old), len(new)) > _LONGEST_WORD_DIFF:
        return (), ()
    old_words, new_words = _WORD.findall(old), _WORD.findall(new)
    matcher = SequenceMatcher(None, old_words, new_words, autojunk=False)
    if matcher.ratio() < 0.35:  # noqa: PLR2004 - below this, marks cover nearly all of the line
        return (), ()
    old_at, new_at = _offsets(old_words), _offsets(new_words)
    old_spans: list[tuple[int, int]] = []
    new_spans: list[tuple[int, int]] = []
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            continue
        if i1 < i2:
            old_spans.append((old_at[i1], old_at[i2]))
        if j1 < j2:
            new_spans.append((new_at[j1], new_at[j2]))
    return tuple(old_spans), tuple(new_spans)


def _offsets(words: list[str]) -> list[int]:
    offsets = [0]
    for word in words:
        offsets.append(offsets[-1] + len(word))
    return offsets


@dataclass(frozen=True, slots=True)
class _Change:
    """Lines old[i1:i2] become new[j1:j2]."""

    i1: int
    i2: int
    j1: int
    j2: int


def _changes(old: list[str], new: list[str]) -> Iterator[_Change]:
    """What differs; common lines at both ends are cut off first, which makes edits of long files cheap."""
    start = 0
    shortest = min(len(old), len(new))
    while start < shortest and old[start] == new[start]:
        start += 1
    tail = 0
    while tail < shortest - start and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    old_middle, new_middle = old[start : len(old) - tail], new[start : len(new) - tail]
    is_long = len(old_middle) + len(new_middle) > _AUTOJUNK_FROM
    matcher = SequenceMatcher(None, old_middle, new_middle, autojunk=is_long)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag != "equal":
            yield _Change(start + i1, start + i2, start + j1, start + j2)


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


def _hunk(old: list[str], new: list[str], group: list[_Change], context: int) -> Hunk:
    first, last = group[0], group[-1]
    before = min(context, first.i1, first.j1)
    lines: list[DiffLine] = [_same(line) for line in old[first.i1 - before : first.i1]]
    position = first.i1
    for change in group:
        lines += [_same(line) for line in old[position : change.i1]]
        lines += [DiffLine(kind=LineKind.REMOVED, text=line) for line in old[change.i1 : change.i2]]
        lines += [DiffLine(kind=LineKind.ADDED, text=line) for line in new[change.j1 : change.j2]]
        position = change.i2
    lines += [_same(line) for line in old[last.i2 : last.i2 + context]]
    return Hunk(old_start=first.i1 - before + 1, new_start=first.j1 - before + 1, lines=tuple(lines))


def _same(text: str) -> DiffLine:
    return DiffLine(kind=LineKind.SAME, text=text)


def _stale(diff: FileDiff) -> StaleFile:
    return StaleFile(f"{diff.path} is no longer the text this change was made from.", hint="Read it again.")
