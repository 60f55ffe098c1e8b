"""A streamed reply while it is put together: what to show now, and the message it becomes."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby

from codeagent.core.protocols import CallPiece, ModelEvent, TextPiece, ThinkingPiece
from codeagent.core.text import storable

SIGN_OF_LIFE = ThinkingPiece(text="")
"""Shown when bytes came that say nothing yet, so that a working model is not taken for a stalled one."""

LARGEST = 65_536
"""Characters that are shown at once; whoever draws more of them lets a key wait."""
_FIRST_HALF = ("\ud800", "\udbff")


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
