"""What a history does not show: where each turn began, to go back there, and which call ids were ever used."""

from __future__ import annotations

from codeagent.core.errors import NothingToUndo
from codeagent.core.messages import Message


class Bookmarks:
    """The place of each turn's start.

    A place is a list and a length: lists of messages only ever grow, and whoever
    makes the history shorter makes a new list. So each place stays what it was.
    """

    def __init__(self) -> None:
        self._places: dict[int, tuple[list[Message], int]] = {}
        self._left: tuple[int, list[Message], int] | None = None
        self.last_turn = 0
        self.call_ids: set[str] = set()
        """The ids of all calls of the session, also of those that a compaction or a rewind took out."""

    @property
    def rewound_turn(self) -> int | None:
        """The turn that the conversation just went back before, while nothing was said since."""
        return self._left[0] if self._left is not None else None

    def begin(self, turn: int, messages: list[Message]) -> None:
        """A turn begins; what was left by a rewind is given up."""
        self._places[turn] = (messages, len(messages))
        self._left = None
        self.last_turn = max(self.last_turn, turn)

    def check(self, turn: int) -> None:
        """Raises NothingToUndo when the conversation has no such turn."""
        if turn not in self._places:
            raise NothingToUndo(f"The conversation has no turn {turn} any more.")

    def rewind(self, turn: int, messages: list[Message]) -> list[Message]:
        """The history before a turn; ``messages`` is the whole. Raises NothingToUndo."""
        self.check(turn)
        self._left = (turn, messages, len(messages))
        origin, length = self._places[turn]
        return origin[:length]

    def restore(self) -> list[Message]:
        """The history as it was before the last rewind; raises NothingToUndo."""
        if self._left is None:
            raise NothingToUndo("The conversation was not just rewound.")
        _, messages, length = self._left
        self._left = None
        return messages[:length]
