"""What the person types while a turn runs, until it goes to the model or back to the prompt."""

from __future__ import annotations

from uuid import uuid4

from codeagent.core.events import Delivery
from codeagent.core.messages import ImageBlock
from codeagent.core.values import value


@value
class QueuedMessage:
    """One message that waits for its time."""

    message_id: str
    text: str
    delivery: Delivery
    images: tuple[ImageBlock, ...] = ()


class Queue:
    """The waiting messages, oldest first; each leaves exactly once: delivered, taken back or returned."""

    def __init__(self) -> None:
        self._waiting: list[QueuedMessage] = []

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits."""
        return not self._waiting

    @property
    def has_steering(self) -> bool:
        """Whether a message waits that wants to be heard before more is done."""
        return any(message.delivery is Delivery.STEER for message in self._waiting)

    def add(self, text: str, delivery: Delivery, images: tuple[ImageBlock, ...] = ()) -> QueuedMessage:
        """Puts a message at the end."""
        message = QueuedMessage(message_id=uuid4().hex[:12], text=text, delivery=delivery, images=images)
        self._waiting.append(message)
        return message

    def take(self, delivery: Delivery) -> QueuedMessage | None:
        """Takes out the oldest message of one kind."""
        for message in self._waiting:
            if message.delivery is delivery:
                self._waiting.remove(message)
                return message
        return None

    def put_back(self, message: QueuedMessage) -> None:
        """Puts a message that could not be delivered at the head again."""
        self._waiting.insert(0, message)

    def take_back(self, message_id: str) -> str | None:
        """Takes one message out; its text, or None when it no longer waits."""
        for message in self._waiting:
            if message.message_id == message_id:
                self._waiting.remove(message)
                return message.text
        return None

    def take_all(self) -> tuple[QueuedMessage, ...]:
        """Takes out everything, as it was typed."""
        taken = tuple(self._waiting)
        self._waiting.clear()
        return taken
