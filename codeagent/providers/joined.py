"""The messages of a request as bytes; the long beginning that never changes is joined only once.

A turn late in a long session must not take longer to send than an early one, so
no work here grows with the history but copying bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from codeagent.providers.history import Role, Said

_KEPT_OPEN = 8
_CLOSE_FROM = 48


@dataclass(slots=True)
class Turn:
    """Neighbours of one role; ``said`` is how many there are, ``parts`` what they hold."""

    role: Role
    said: int
    parts: list[bytes]


Mark = Callable[[Sequence[Turn]], None]


class JoinedMessages:
    """Joins what was said into messages; ``write`` makes a service's messages of one turn.

    Only the last few turns can still change: they grow, or carry cache markers.
    """

    def __init__(self, write: Callable[[Turn], Iterable[bytes]]) -> None:
        self._write = write
        self._closed = b""
        self._count = 0
        self._last: Said | None = None

    @property
    def count(self) -> int:
        """How much of what was said is joined for good."""
        return self._count

    def join(self, said: Sequence[Said], mark: Mark | None = None) -> tuple[bytes, ...]:
        """The messages, separated by commas, in chunks that only have to be put one after the other.

        ``mark`` sets cache markers on the turns it is given.
        """
        if self._count > len(said) or (self._count and said[self._count - 1] is not self._last):
            self._closed, self._count, self._last = b"", 0, None
        turns = [_turn(role, list(group)) for role, group in groupby(said[self._count :], _role)]
        if len(turns) > _CLOSE_FROM:
            self._close(said, turns[:-_KEPT_OPEN])
            turns = turns[-_KEPT_OPEN:]
        if mark is not None:
            mark(turns)
        opened = self._joined(turns)
        return (self._closed, b",", opened) if self._closed else (opened,)

    def _close(self, said: Sequence[Said], turns: Sequence[Turn]) -> None:
        joined = self._joined(turns)
        self._closed = self._closed + b"," + joined if self._closed else joined
        self._count += sum(turn.said for turn in turns)
        self._last = said[self._count - 1]

    def _joined(self, turns: Iterable[Turn]) -> bytes:
        return b",".join(message for turn in turns for message in self._write(turn))


def _role(said: Said) -> Role:
    return said.role


def _turn(role: Role, group: Sequence[Said]) -> Turn:
    return Turn(role, len(group), [part for one in group for part in one.parts])
