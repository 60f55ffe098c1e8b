"""A streamed reply while it is put together: what to show now, where in Markdown it is, and what it becomes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import groupby

from codeagent.core.protocols import CallPiece, ModelEvent, TextPiece, ThinkingPiece
from codeagent.core.text import storable

SIGN_OF_LIFE = ThinkingPiece(text="")
"""Shown when bytes came that say nothing yet, so that a working model is not taken for a stalled one."""

LARGEST = 16_384
"""Characters that are shown at once; whoever draws more of them lets a key wait."""
_FIRST_HALF = ("\ud800", "\udbff")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_SENTENCE_ENDS = frozenset(".!?…:。！？：")
_COLONS = frozenset(":：")
_SET_OFF = re.compile(r"\s*(?:[-*+>|#<]|\d+[.)]|\Z)")
"""How a line begins that is no plain prose: of a list, a quotation, a table, a heading, or in tags."""
_CODE_INDENT = 4
_HEAD = 64
"""So many characters of a line tell what kind of line it is."""


@dataclass(slots=True)
class GrowingText:
    """Text that arrives in pieces."""

    pieces: list[str] = field(default_factory=list[str])
    size: int = 0

    def add(self, piece: str) -> None:
        """Appends a piece."""
        self.pieces.append(piece)
        self.size += len(piece)

    def __str__(self) -> str:
        return "".join(self.pieces)


class Display:
    """What came in since the screen was last told, in order, neighbours joined.

    A character cut in half between two pieces waits for its other half.
    """

    __slots__ = ("_halves", "_waiting")

    def __init__(self) -> None:
        self._waiting: list[tuple[type[TextPiece | ThinkingPiece], str] | CallPiece] = []
        self._halves: dict[type[TextPiece | ThinkingPiece], str] = {}

    def text(self, text: str) -> None:
        """More of the reply."""
        self._waiting.append((TextPiece, text))

    def thinking(self, text: str) -> None:
        """More of the thinking."""
        self._waiting.append((ThinkingPiece, text))

    def call(self, name: str, size: int) -> None:
        """More of a call's arguments; only the newest size is kept."""
        if self._waiting and isinstance(self._waiting[-1], CallPiece) and self._waiting[-1].name == name:
            self._waiting.pop()
        self._waiting.append(CallPiece(name=name, size=size))

    def drain(self) -> list[ModelEvent]:
        """Everything that is to be shown now; at least a sign of life."""
        events: list[ModelEvent] = []
        for kind, group in groupby(self._waiting, lambda item: None if isinstance(item, CallPiece) else item[0]):
            if kind is None:
                events += [item for item in group if isinstance(item, CallPiece)]
            else:
                joined = self._halves.pop(kind, "")
                joined += "".join(item[1] for item in group if not isinstance(item, CallPiece))
                if _FIRST_HALF[0] <= joined[-1:] <= _FIRST_HALF[1]:
                    self._halves[kind] = joined[-1]
                    joined = joined[:-1]
                text = storable(joined)
                events += [kind(text=text[at : at + LARGEST]) for at in range(0, len(text), LARGEST)]
        self._waiting.clear()
        return events or [SIGN_OF_LIFE]


class Prose:
    """Where in ordinary Markdown the text has come to: in a code fence, between backticks, at a line's start."""

    __slots__ = ("_fence", "_head", "_last", "_said", "_ticks")

    def __init__(self) -> None:
        self._last = ""
        self._said = ""
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

    @property
    def is_apart(self) -> bool:
        """Whether what comes next follows a sentence of plain prose and a space, on its line."""
        is_over = self._said in _SENTENCE_ENDS - _COLONS and self._last in {" ", "\t"}
        return is_over and not _SET_OFF.match(self._head) and len(self._head) - len(self._head.lstrip()) < _CODE_INDENT

    def take(self, text: str) -> None:
        """More text."""
        self._last = text[-1:] or self._last
        self._said = text.rstrip(" \t")[-1:] or self._said
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
