"""What a session has used: tokens, their price where it is known, and whose is not; and what comes next costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from codeagent.agent.meter import Meter
from codeagent.core.messages import AssistantMessage, StopReason, Unpriced, Usage
from codeagent.core.protocols import Ledger

_LEAST_REPLY = 1_024
"""Tokens; a shorter reply is hardly worth what has to be read for it."""
_LONGEST_UNKNOWN = 32_000
"""Tokens of a reply whose limit nobody knows; a server may refuse to be asked for more."""
_SHARE_OF_ROOM = 0.9
_MANY = 1_000_000


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


class Forecast:
    """Looks ahead by one request; a reply is thought of as at least long enough to be of use."""

    def __init__(self, ledger: Ledger, meter: Meter, spending: Spending) -> None:
        self._ledger = ledger
        self._meter = meter
        self._spending = spending

    def cost(self, model: str, window: int | None, size: int | None = None) -> float:
        """In US dollars, with a reply as long as replies were so far; ``window`` is the model's, in tokens.

        ``size`` is how many tokens the request has, where that is not the whole history.
        """
        usage = self._meter.expected(model, size)
        least = min(_LEAST_REPLY, self._longest(model, window, size) or _LEAST_REPLY)
        return self._spending.of(replace(usage, output_tokens=max(usage.output_tokens, least)), model)

    def affordable(self, model: str, window: int | None, left: float | None) -> int | None:
        """The most tokens of a reply that ``left`` US dollars cover; None when they cover all that it could have."""
        if left is None:
            return None
        asked = replace(self._meter.expected(model), output_tokens=0)
        cost = self._spending.of(asked, model)
        dollars_a_million = self._spending.of(replace(asked, output_tokens=_MANY), model) - cost
        if dollars_a_million <= 0:
            return None
        covered = max(int((left - cost) / dollars_a_million * _MANY), _LEAST_REPLY)  # a summary may have cost the rest
        if covered >= (self._longest(model, window) or _LONGEST_UNKNOWN):
            return None
        # some servers refuse a reply that does not fit beside the request, whose length is an estimate
        room = None if window is None else max(int((window - self._meter.used) * _SHARE_OF_ROOM), 1)
        return min(covered, room or covered)

    def _longest(self, model: str, window: int | None, size: int | None = None) -> int | None:
        """The most tokens that a reply can have, None when nobody knows."""
        room = None if window is None else max(window - (self._meter.used if size is None else size), 1)
        return min((size for size in (self._ledger.output(model), room) if size is not None), default=None)
