"""What a session has used: tokens, their price where it is known, and whose price is not."""

from __future__ import annotations

from collections.abc import Sequence

from codeagent.core.messages import AssistantMessage, StopReason, Unpriced, Usage
from codeagent.core.protocols import Ledger


class Spending:
    """Adds up replies: ``spent`` in US dollars is what they cost as far as prices are known."""

    def __init__(self, ledger: Ledger, spent: float = 0.0, unpriced: Sequence[Unpriced] = ()) -> None:
        """``spent`` and ``unpriced`` are from before."""
        self._ledger = ledger
        self.usage = Usage()
        self.spent = spent
        self._unpriced = {one.model: one.tokens for one in unpriced}

    @property
    def unpriced(self) -> tuple[Unpriced, ...]:
        """The tokens that ``spent`` does not hold, by model, in the order in which the models were first used."""
        return tuple(Unpriced(model=model, tokens=tokens) for model, tokens in self._unpriced.items())

    @property
    def cost(self) -> float | None:
        """What is known of the cost in US dollars; None when nothing had a price."""
        return self.spent if self.spent or not self._unpriced else None

    def of(self, usage: Usage, model: str) -> float:
        """What a request would cost in US dollars, as far as the model's price is known."""
        asked = AssistantMessage(blocks=(), stop=StopReason.END_TURN, model=model, usage=usage)
        return self._ledger.cost(asked) or 0.0

    def add(self, reply: AssistantMessage) -> None:
        """Counts one reply and the request it answered."""
        self.usage += reply.usage
        price = self._ledger.cost(reply)
        if price is None:
            self._unpriced[reply.model] = self._unpriced.get(reply.model, 0) + reply.usage.context_tokens
        else:
            self.spent += price
