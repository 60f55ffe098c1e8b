"""The limits on steps and money, and the person who may move them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

from codeagent.agent.limits import Limits
from codeagent.core.approvals import ApprovalRequest, Approve, Decision, TextPreview, Verdict
from codeagent.core.desk import Approver
from codeagent.core.messages import Unpriced
from codeagent.core.money import dollars, rounded_up
from codeagent.core.text import counted


class Budget:
    """Asks the person at each limit whether to go on; without an ``approver`` a limit is an end."""

    def __init__(self, limits: Limits, approver: Approver | None) -> None:
        self._limits = limits
        self._approver = approver
        self._most = limits.max_cost
        self._unpriced: set[str] = set()
        self._told: set[str] = set()
        self._numbers = count(1)

    def reached(self, spent: float, expected: float) -> str:
        """Why another request, which will probably cost ``expected``, may not be made; empty when it may."""
        if self._most is None:
            return ""
        if spent >= self._most:
            return f"the limit is {dollars(self._most)}"
        over = spent + expected > self._most
        return (
            f"the next request costs about {dollars(expected)}, and the limit is {dollars(self._most)}" if over else ""
        )

    def left(self, spent: float) -> float | None:
        """The US dollars that may still be spent, None without a limit."""
        return None if self._most is None else max(self._most - spent, 0.0)

    def leaves_open(self, model: str, *, is_priced: bool) -> bool:
        """Whether the limit cannot be kept with this model, and the person has not said that it need not be."""
        return self._most is not None and not is_priced and model not in self._unpriced

    async def may_spend_more(self, spent: float, reached: str, expected: float) -> bool:
        """Asks for as much money again, ``reached`` being why; the limit moves with a yes.

        It is never less than the next request, which will probably cost ``expected``, takes.
        """
        most, step = self._most or 0.0, self._limits.max_cost or 0.0
        more = max(step, rounded_up(expected))
        text = f"The session has cost {dollars(spent)}; {reached}.\nGo on for {dollars(more)} more?"
        because = "budget.max_cost is set, and another request would go over it."
        if not await self._ask("A limit is reached", text, because):
            return False
        self._most = max(max(most, spent) + step, spent + more)
        return True

    async def may_go_unpriced(self, model: str) -> bool:
        """Asks whether to go on with a model whose price is unknown; asked once for each."""
        text = f"{self.unpriced(model)}\nGo on with it all the same, uncounted?"
        if not await self._ask("A price is unknown", text, "budget.max_cost is set, and cannot be kept."):
            return False
        self._unpriced.add(model)
        return True

    def unpriced(self, model: str) -> str:
        """Why the limit cannot be kept."""
        return f"No price is known for {model}, so the limit of {dollars(self._most or 0.0)} cannot be kept."

    def uncounted(self, unpriced: Iterable[Unpriced]) -> str:
        """What the limit does not hold, as far as the person has not been told yet; empty when there is nothing."""
        if self._most is None:
            return ""
        new = [one for one in unpriced if one.model not in self._unpriced | self._told]
        self._told.update(one.model for one in new)
        return f"The limit of {dollars(self._most)} cannot count {without_price(new)}." if new else ""

    async def may_take_steps(self, taken: int) -> bool:
        """Asks for as many steps again."""
        text = (
            f"This turn has taken {counted(taken, 'step')}, which is the limit.\nGo on for {self._limits.steps} more?"
        )
        because = "budget.max_steps bounds how many requests one turn may take."
        return await self._ask("A limit is reached", text, because)

    async def _ask(self, title: str, text: str, because: str) -> bool:
        if self._approver is None:
            return False
        answer = await self._approver.ask(
            ApprovalRequest(
                call_id=f"limit-{next(self._numbers)}",
                tool="limit",
                preview=TextPreview(title=title, text=text),
                touches=(),
                verdict=Verdict(decision=Decision.ASK, because=because),
            )
        )
        return isinstance(answer, Approve)


def without_price(unpriced: Iterable[Unpriced]) -> str:
    """So many tokens of each model whose price is unknown."""
    return " and ".join(f"{counted(one.tokens, 'token')} of {one.model} without a price" for one in unpriced)
