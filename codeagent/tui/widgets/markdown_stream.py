"""Cuts streamed Markdown into parts that will not change any more, so that only the last one is drawn anew.

Parts are paragraphs, headings, single list items, quotes, tables and fences: each
is complete Markdown by itself. The cuts are those that CommonMark makes, save in
rare constructions that need text from further on.
"""

from __future__ import annotations

import re
from itertools import accumulate

from codeagent.core.values import value

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[^`]*$")
_ITEM_FENCE = re.compile(r"\s*(?:[-*+]\s+|\d{1,9}[.)]\s+)?(`{3,}|~{3,})[^`]*$")
_HEADING = re.compile(r" {0,3}#{1,6}(?:\s|$)")
_ITEM = re.compile(r"( {0,3})([-*+]|(\d{1,9})[.)])( +|$)")
_RULE = re.compile(r" {0,3}(?:(?:\*\s*){3,}|(?:_\s*){3,}|(?:-\s*){3,})$")
_LONGEST_TAIL = 200_000
"""Characters of the unfinished part that are given again with each piece that comes."""


@value
class Part:
    """A part; ``number`` is that of a numbered list item, counted on from the list's first.

    ``is_close`` says that it is a list item right after another one, without an empty line between.
    Of a very long one that is not finished the source is the beginning, and ``more`` characters follow.
    """

    source: str
    is_close: bool = False
    number: int | None = None
    more: int = 0


class MarkdownStream:
    """Takes text as it comes and gives parts as they end; the unfinished one is ``tail``."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._size = 0
        self._partial = ""
        self._rest: list[str] = []
        self._rest_size = 0
        self._fence = ""
        self._indent: int | None = None
        self._number: int | None = None
        self._previous_number: int | None = None
        self._blank_lines = 0
        self._is_close = False
        self._done: list[Part] = []

    @property
    def tail(self) -> Part:
        """What may still change; its source is empty when there is nothing."""
        if not self._lines:
            is_close = self._is_close and _ITEM.match(self._partial) is not None
            return Part(source=self._partial, is_close=is_close, more=self._rest_size)
        if self._size > _LONGEST_TAIL:
            source = "\n".join(self._lines[: self._first_lines()])
            more = self._size - len(source) + len(self._partial) + self._rest_size
            return Part(source=source, is_close=self._is_close, number=self._number, more=more)
        lines = [*self._lines, *[""] * self._blank_lines, self._partial] if self._partial else self._lines
        return Part(source="\n".join(lines), is_close=self._is_close, number=self._number, more=self._rest_size)

    def _first_lines(self) -> int:
        """How many lines the beginning of the unfinished part has."""
        ends = accumulate(len(line) + 1 for line in self._lines)
        return next((count for count, end in enumerate(ends, 1) if end > _LONGEST_TAIL), len(self._lines))

    @property
    def code(self) -> tuple[str, int] | None:
        """While the tail is a fence at the margin: its language, and the number of whole code lines in it."""
        found = _FENCE.match(self._lines[0]) if self._fence and self._lines else None
        return (self._lines[0].strip().strip("`~").strip(), len(self._lines) - 1) if found else None

    def code_lines(self, start: int, end: int) -> str:
        """Whole code lines of the fence that is the tail."""
        return "\n".join(self._lines[1 + start : 1 + end])

    @property
    def partial(self) -> str:
        """The last line, as far as it has come, or the beginning of it when it is very long."""
        return self._partial

    def feed(self, text: str) -> list[Part]:
        """Adds text; the parts that ended with it."""
        *whole, last = text.split("\n")
        for line in whole:
            self._grow(line)
            self._line(self._taken_line().rstrip("\r"))
        self._grow(last)
        if self._blank_lines and self._partial.strip() and self._starts_anew(self._partial):
            self._end()
        return self._taken()

    def finish(self) -> list[Part]:
        """Ends the text; the parts that were left."""
        if self._partial:
            self._line(self._taken_line())
        self._end()
        self._previous_number = None
        return self._taken()

    def _grow(self, text: str) -> None:
        """More of the last line; what is beyond its beginning is put together once, when it ends."""
        room = _LONGEST_TAIL - len(self._partial)
        self._partial += text[:room]
        if len(text) > room:
            self._rest.append(text[room:])
            self._rest_size += len(text) - room

    def _taken_line(self) -> str:
        line = "".join((self._partial, *self._rest)) if self._rest else self._partial
        self._partial, self._rest, self._rest_size = "", [], 0
        return line

    def _taken(self) -> list[Part]:
        done, self._done = self._done, []
        return done

    def _line(self, line: str) -> None:
        if self._fence:
            self._add(line)
            if line.strip().startswith(self._fence) and not line.strip().strip(self._fence[0]):
                self._fence = ""
                if self._indent is None:
                    self._end()
            return
        if not line.strip():
            self._blank()
            return
        if self._starts_anew(line):
            self._end()
        if not self._lines:
            self._start(line)
        for _ in range(self._blank_lines if self._lines else 0):
            self._add("")
        self._blank_lines = 0
        self._add(line)
        if found := (_FENCE if self._indent is None else _ITEM_FENCE).match(line):
            self._fence = found[1]
        elif self._indent is None and (_HEADING.match(line) or (len(self._lines) == 1 and _RULE.match(line))):
            self._end()

    def _add(self, line: str) -> None:
        self._lines.append(line)
        self._size += len(line) + 1

    def _blank(self) -> None:
        """An empty line: the end of all but a list item, which an indented line may go on with."""
        if self._indent is not None:
            self._blank_lines += 1
        else:
            self._end()

    def _starts_anew(self, line: str) -> bool:
        """Whether the line belongs to another part than the one before it."""
        if not self._lines:
            return False
        item = _ITEM.match(line) if not _RULE.match(line) else None
        if self._indent is not None:
            if len(line) - len(line.lstrip(" ")) >= self._indent:
                return False
            is_other = _FENCE.match(line) or _HEADING.match(line) or _RULE.match(line) or line.startswith(">")
            return bool(self._blank_lines or item or is_other)
        if line.lstrip().startswith(">") != self._lines[0].lstrip().startswith(">"):
            return line.lstrip().startswith(">")
        return bool(_FENCE.match(line) or _HEADING.match(line) or (item and item[3] in {None, "1"}))

    def _start(self, line: str) -> None:
        item = _ITEM.match(line) if not _RULE.match(line) else None
        if item is None:
            self._indent = self._number = self._previous_number = None
            self._is_close = False
            return
        self._indent = len(item[1]) + len(item[2]) + 1
        if item[3] is None:
            self._number = self._previous_number = None
        else:
            self._number = int(item[3]) if self._previous_number is None else self._previous_number + 1

    def _end(self) -> None:
        if not self._lines:
            return
        self._done.append(Part(source="\n".join(self._lines), is_close=self._is_close, number=self._number))
        self._is_close = self._indent is not None and self._blank_lines == 0
        self._previous_number = self._number
        self._lines, self._size = [], 0
        self._fence = ""
        self._indent = self._number = None
        self._blank_lines = 0
