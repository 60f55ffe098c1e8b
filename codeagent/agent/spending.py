"""What a session has used: tokens, and their price where it is known."""

from __future__ import annotations

from codeagent.core.messages import AssistantMessage, Usage
from codeagent.core.protocols import Ledger


class Spending:
    """Adds up replies; ``cost`` is in US dollars and None once a reply had no known price."""

    def __init__(self, ledger: Ledger, cost: float | None = 0.0) -> None:
        self._ledger = ledger
        self.usage = Usage()
        self.cost = cost

    def add(self, reply: AssistantMessage) -> None:
        """Counts one reply and the request it answered."""
        self.usage += reply.usage
        price = self._ledger.cost(reply)
        self.cost = None if price is None or self.cost is None else self.cost + price
