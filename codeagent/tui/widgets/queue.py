"""The messages that wait for their turn, above the prompt."""

from __future__ import annotations

from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget

from codeagent.core.events import Delivery
from codeagent.core.text import show_invisible
from codeagent.core.values import value

MOST_ROWS = 4
_LOOKED_AT = 2_000
"""Characters of a message that are looked at for its row."""
_LEAST_WAITS = 20
"""Cells without which it is not begun to say what a message waits for."""
_WIDEST = 116
"""Cells of a row on the widest screen, so that its hint stays beside its words and ends where panels do."""


@value
class Queued:
    """A message on its way to the model; ``waits_for`` says in words what for."""

    message_id: str
    text: str
    delivery: Delivery
    waits_for: str


class QueueLines(Widget):
    """One line for each queued message, oldest first; no lines when nothing waits."""

    DEFAULT_CSS = """
    QueueLines { height: auto; padding: 0 1 0 3; color: $text-muted; display: none; }
    """

    class Changed(Message):
        """A message came, or left."""

    def __init__(self, *, take_back: str) -> None:
        """``take_back`` is the key that brings the last one back into the prompt."""
        super().__init__()
        self._hint = f"{take_back} take back"
        self._queued: list[Queued] = []

    @property
    def queued(self) -> tuple[Queued, ...]:
        """What waits, oldest first."""
        return tuple(self._queued)

    def add(self, message: Queued) -> None:
        """Puts a message at the end."""
        self._queued.append(message)
        self._changed()

    def drop(self, message_id: str) -> None:
        """Takes a message out; one that is not there is none to take."""
        self._queued = [one for one in self._queued if one.message_id != message_id]
        self._changed()

    def _changed(self) -> None:
        self.display = bool(self._queued)
        self.post_message(self.Changed())
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 - Textual's
        """One row a message, up to four."""
        return min(len(self._queued), MOST_ROWS)

    def render(self) -> Content:
        """The rows; with more than fit, the first says how many are left out."""
        hidden = len(self._queued) - MOST_ROWS
        shown = self._queued[hidden + 1 :] if hidden > 0 else self._queued
        rows = [self._row(one, is_last=one is shown[-1]) for one in shown]
        if hidden > 0:
            rows.insert(0, Content.styled(f"and {hidden + 1} queued before these", "$text-faint"))
        return Content("\n").join(rows)

    def _row(self, message: Queued, *, is_last: bool) -> Content:
        hint, width = self._hint if is_last else "", min(self.size.width, _WIDEST)
        word = "queued" if message.delivery is Delivery.STEER else "later"
        waits = f"  waits for {message.waits_for}" if message.waits_for else ""
        one_line = " ".join(show_invisible(message.text[:_LOOKED_AT]).split())
        room = width - len(hint) - len(word) - 6
        waits_room = min(len(waits), max(room // 2, 0))
        if waits_room < min(len(waits), _LEAST_WAITS):
            waits, waits_room = "", 0
        text = Content(f"“{one_line}").truncate(max(room - waits_room, 8), ellipsis=True)
        left = Content.assemble((f"{word}: ", "$text-faint"), text, "”", (show_invisible(waits), "$text-faint"))
        left = left.truncate(max(width - len(hint) - 2, 8), ellipsis=True)
        gap = " " * max(width - left.cell_length - len(hint), 1)
        return Content.assemble(left, gap, (hint, "$text-faint"))
