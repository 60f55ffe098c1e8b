"""How many tokens each model of a session takes: what is known, and what its service told when it refused more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from codeagent.agent.meter import Meter
from codeagent.core.context import HistoryCompacted
from codeagent.core.errors import ContextOverflow
from codeagent.core.events import AgentEvent
from codeagent.core.protocols import Ledger

_TOO_LARGE = 413  # of bytes, which says nothing of tokens
_JUST_UNDER, _LEAST_GUESS = 0.9, 4_000


class Windows:
    """The windows by model, which refusals make smaller."""

    def __init__(self, ledger: Ledger, meter: Meter, told: Mapping[str, int]) -> None:
        """``told`` are the windows that services have named in refusals, by model."""
        self._ledger = ledger
        self._meter = meter
        self._told = dict(told)

    def of(self, model: str) -> int | None:
        """The window of a model in tokens: what is known of it, or what its service named."""
        known, told = self._ledger.window(model), self._told.get(model)
        return known if told is None else min(told, known or told)

    def is_told(self, model: str) -> bool:
        """Whether a refusal has told something of its window."""
        return model in self._told

    def narrow(self, model: str, refusal: ContextOverflow) -> None:
        """Takes what a refusal names for the window from now on; if it names none, a bit under what it refused.

        What is less than the service took just before is no window, but some other number.
        """
        if self.take_named(model, refusal) or refusal.status == _TOO_LARGE:
            return
        guess = max(int(self._meter.used * _JUST_UNDER), _LEAST_GUESS)
        self._narrow_to(model, max(guess, self._meter.accepted(model)))

    def take_named(self, model: str, refusal: ContextOverflow) -> bool:
        """Takes only what a refusal names; whether it names a window that can be one."""
        named = refusal.window
        if named is None or named < self._meter.accepted(model):
            return False
        self._narrow_to(model, named)
        return True

    def is_full(self, model: str) -> None:
        """A reply ran into the end of the window: it holds no more than what is used now."""
        self._narrow_to(model, max(self._meter.used, _LEAST_GUESS))

    def _narrow_to(self, model: str, window: int) -> None:
        known = self.of(model)
        if known is None or window < known:
            self._told[model] = window


def told_windows(past: Iterable[AgentEvent]) -> dict[str, int]:
    """The windows that services have told by their refusals in a resumed session, by model."""
    compactions = (event for event in past if isinstance(event, HistoryCompacted) and event.told_by)
    return {event.told_by: event.window for event in compactions if event.window is not None}
