"""What a session has used: tokens, and their price where it is known."""

from __future__ import annotations

from codeagent.core.messages import AssistantMessage, Usage
from codeagent.core.protocols import Ledger


class Spending:
    """Adds up replies, in US dollars.

    ``cost`` is None once a reply had no known price; ``spent`` is what is known of it all the same.
    """

    def __init__(self, ledger: Ledger, cost: float | None = 0.0, spent: float = 0.0) -> None:
        """``cost`` and ``spent`` are from before."""
        self._ledger = ledger
        self.usage = Usage()
        self.cost = cost
        self.spent = spent if cost is None else cost

    def add(self, reply: AssistantMessage) -> None:
        """Counts one reply and the request it answered."""
        self.usage += reply.usage
        price = self._ledger.cost(reply)
        self.spent += price or 0.0
        self.cost = None if price is None or self.cost is None else self.cost + price
