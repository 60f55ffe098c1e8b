"""What a tool says about one of its calls, with the safe default where it says nothing."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from codeagent.core.approvals import Access, Touch
from codeagent.core.json_types import JsonObject
from codeagent.core.messages import ToolCall, ToolResult
from codeagent.core.protocols import (
    Allowed,
    AnyTool,
    ArgumentsModel,
    ConcurrencySafe,
    Denied,
    Gate,
    HasTimeout,
    Interruptible,
    Interruption,
    Labels,
    Offer,
    Offers,
    Plan,
    ReadOnly,
)

_log = logging.getLogger(__name__)
_EVERYTHING = (Touch(path=None, access=Access.WRITE),)
_LONGEST_LABEL = 200


@runtime_checkable
class _AsksAhead(Protocol):
    """A tool whose plan does not depend on what earlier calls leave, so that it may be asked about before its turn."""

    asks_ahead: bool


@runtime_checkable
class AheadGate(Gate, Protocol):
    """A gate that can ask a person about a call whose turn to run has not come."""

    async def ask_ahead(self, call: ToolCall, plan: Plan) -> Allowed | Denied | None:
        """The answer; None when nobody has to be asked by now."""
        ...

    async def check_again(self, said: Allowed, call: ToolCall, plan: Plan) -> Allowed | Denied:
        """The decision when the turn has come, for a call that was let run ahead."""
        ...


@runtime_checkable
class _Hurries(Protocol):
    """A plan whose run takes a while to end when it is called off: a command that cleans up."""

    def hurry(self) -> None: ...


def claims_of(tool: AnyTool, arguments: ArgumentsModel, touches: Sequence[Touch]) -> tuple[Touch, ...]:
    """What the call must lock: its touches when they surely say all there is to say, else the whole workspace."""
    return tuple(touches) if _is_bounded(tool, arguments) else _EVERYTHING


def covers(claims: Sequence[Touch], touches: Sequence[Touch]) -> bool:
    """Whether locks on ``claims`` are enough for ``touches``."""
    return all(any(_covers(claim, touch) for claim in claims) for touch in touches)


def interruption_of(tool: AnyTool, arguments: ArgumentsModel) -> Interruption:
    """What steering may do to the call while it runs; default: nothing."""
    if not isinstance(tool, Interruptible):
        return Interruption.BLOCK
    try:
        answer = tool.interruption(arguments)
    except Exception:  # noqa: BLE001 - a classifier's bug must not make a call interruptible
        _log.exception("%s cannot say whether it may be interrupted", tool.name)
        return Interruption.BLOCK
    return Interruption.CANCEL if answer is Interruption.CANCEL else Interruption.BLOCK


def time_limit_of(tool: AnyTool, arguments: ArgumentsModel, default: float) -> float | None:
    """Seconds the call may run; None when the tool ends its calls itself."""
    return tool.timeout(arguments) if isinstance(tool, HasTimeout) else default


def offer_of(plan: Plan, result: ToolResult) -> Offer | None:
    """What may follow the run of a plan; default: nothing."""
    return plan.offer(result) if isinstance(plan, Offers) else None


def gate_ahead(gate: Gate, tool: AnyTool) -> AheadGate | None:
    """The gate, when it can ask about the tool's calls before their turn; default: they wait for their turn first."""
    return gate if isinstance(gate, AheadGate) and isinstance(tool, _AsksAhead) and tool.asks_ahead else None


def hurry(plan: Plan | None) -> None:
    """The run of the plan was called off, and its end is asked for once more; default: it takes its time."""
    if isinstance(plan, _Hurries):
        plan.hurry()


def label_of(tool: AnyTool, arguments: ArgumentsModel, mended: JsonObject) -> str:
    """The call's object in a few words; default: its first argument."""
    if isinstance(tool, Labels):
        return tool.label(arguments)
    first = next(iter(mended.values()), "")
    return " ".join(str(first).split())[:_LONGEST_LABEL]


def _is_bounded(tool: AnyTool, arguments: ArgumentsModel) -> bool:
    try:
        if isinstance(tool, ConcurrencySafe):
            return tool.is_concurrency_safe(arguments) is True
        return isinstance(tool, ReadOnly) and tool.is_read_only(arguments) is True
    except Exception:  # noqa: BLE001 - a classifier's bug must not let calls run side by side
        _log.exception("%s cannot say what may run beside it", tool.name)
        return False


def _covers(claim: Touch, touch: Touch) -> bool:
    is_enough = claim.access is Access.WRITE or touch.access is Access.READ
    return is_enough and (claim.path is None or (touch.path is not None and touch.path.is_relative_to(claim.path)))
