"""Where in ordinary Markdown a streaming text has come to."""

from __future__ import annotations

import re

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_SENTENCE_ENDS = frozenset(".!?…:。！？：")
_CODE_INDENT = 4
_HEAD = 64
"""So many characters of a line tell what kind of line it is."""


class Prose:
    """Where in ordinary Markdown the text has come to: in a code fence, between backticks, at a line's start."""

    __slots__ = ("_fence", "_head", "_last", "_ticks")

    def __init__(self) -> None:
        self._last = ""
        self._fence = ""
        self._head = ""
        self._ticks = 0

    @property
    def is_quoting(self) -> bool:
        """Whether what comes next stands in a code fence or between backticks."""
        return bool(self._fence) or self._ticks % 2 == 1 or bool(_FENCE.match(self._head))

    @property
    def is_at_line_start(self) -> bool:
        """Whether nothing but space stands before what comes next on its line."""
        return not self._head.strip()

    @property
    def may_begin_block(self) -> bool:
        """Whether something may begin here that is not part of a line, and not of code that is set off by spaces."""
        return self.is_at_line_start and len(self._head.expandtabs(_CODE_INDENT)) < _CODE_INDENT

    @property
    def is_after_sentence(self) -> bool:
        """Whether what comes next follows the end of a sentence without a space."""
        return self._last in _SENTENCE_ENDS

    def take(self, text: str) -> None:
        """More text."""
        self._last = text[-1:] or self._last
        first, *others = text.split("\n")
        self._grow(first)
        for line in others:
            self._end_line()
            self._grow(line)

    def _grow(self, text: str) -> None:
        if len(self._head) < _HEAD:
            self._head += text[:_HEAD]
        self._ticks += text.count("`")

    def _end_line(self) -> None:
        if found := _FENCE.match(self._head):
            if not self._fence:
                self._fence = found[1]
            elif found[1].startswith(self._fence):
                self._fence = ""
        self._head, self._ticks = "", 0
