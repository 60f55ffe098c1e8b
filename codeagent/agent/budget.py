"""The limits on steps and money, and the person who may move them."""

from __future__ import annotations

from itertools import count

from codeagent.agent.limits import Limits
from codeagent.core.approvals import ApprovalRequest, Approve, Decision, TextPreview, Verdict
from codeagent.core.desk import Approver


class Budget:
    """Asks the person at each limit whether to go on; without an ``approver`` a limit is an end."""

    def __init__(self, limits: Limits, approver: Approver | None) -> None:
        self._limits = limits
        self._approver = approver
        self._most = limits.max_cost
        self._numbers = count(1)

    @property
    def most(self) -> float | None:
        """US dollars that the session may cost by now; None when there is no limit."""
        return self._most

    def is_spent(self, cost: float | None) -> bool:
        """Whether so many US dollars are all that may be spent; an unknown cost cannot be held to a limit."""
        return self._most is not None and cost is not None and cost >= self._most

    async def may_spend_more(self, cost: float) -> bool:
        """Asks for as much money again; the limit moves with a yes."""
        step = self._limits.max_cost or 0.0
        text = f"The session has cost ${cost:.2f}; the limit is ${self._most or 0.0:.2f}.\nGo on for ${step:.2f} more?"
        if not await self._ask(text, "budget.max_cost is set, and another request would go over it."):
            return False
        self._most = max(self._most or 0.0, cost) + step
        return True

    async def may_take_steps(self, taken: int) -> bool:
        """Asks for as many steps again."""
        steps = "1 step" if taken == 1 else f"{taken} steps"
        text = f"This turn has taken {steps}, which is the limit.\nGo on for {self._limits.steps} more?"
        return await self._ask(text, "budget.max_steps bounds how many requests one turn may take.")

    async def _ask(self, text: str, because: str) -> bool:
        if self._approver is None:
            return False
        answer = await self._approver.ask(
            ApprovalRequest(
                call_id=f"limit-{next(self._numbers)}",
                tool="limit",
                preview=TextPreview(title="a limit is reached", text=text),
                touches=(),
                verdict=Verdict(decision=Decision.ASK, because=because),
            )
        )
        return isinstance(answer, Approve)
