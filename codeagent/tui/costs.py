"""What a session has used, by turn and in all, gathered from its events."""

from __future__ import annotations

from dataclasses import dataclass, field

from codeagent.core.events import AgentEvent, ModelChanged, SessionStarted, TurnEnded, TurnStarted, UsageReported
from codeagent.core.messages import Unpriced, Usage
from codeagent.core.values import value


@value
class TurnCost:
    """One turn; ``cost`` in US dollars is None when nothing had a price, ``unpriced`` what it does not hold."""

    turn: int
    text: str
    usage: Usage
    cost: float | None
    unpriced: tuple[Unpriced, ...] = ()


@dataclass(slots=True)
class CostBook:
    """Listens to events; ``cost`` in US dollars is None when nothing had a price; it does not hold the ``unpriced``."""

    usage: Usage = field(default_factory=Usage)
    cost: float | None = 0.0
    model: str = ""
    unpriced: tuple[Unpriced, ...] = ()
    turns: list[TurnCost] = field(default_factory=list[TurnCost])
    _said: str = ""

    def take(self, event: AgentEvent) -> None:
        """One event, past or present."""
        match event:
            case SessionStarted(model=model) | ModelChanged(model=model):
                self.model = model
            case TurnStarted(text=text):
                self._said = text
            case UsageReported(usage=usage, cost=cost, unpriced=unpriced):
                self.usage += usage
                self.cost, self.unpriced = cost, unpriced
            case TurnEnded(turn=turn, usage=usage, cost=cost, unpriced=unpriced):
                self.turns.append(TurnCost(turn=turn, text=self._said, usage=usage, cost=cost, unpriced=unpriced))
            case _:
                pass


def filled(event: UsageReported) -> float | None:
    """The filled part of the window as the service counted it; None when its size is unknown."""
    return share(event.usage.context_tokens if event.context is None else event.context, event.window)


def share(tokens: int, window: int | None) -> float | None:
    """The part of a window that so many tokens fill; None when its size is unknown."""
    return tokens / window if window else None
