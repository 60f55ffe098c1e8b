"""One tool call, from the model's words to its one result, in twelve steps."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial

from codeagent.agent import results
from codeagent.agent.arguments import read_arguments
from codeagent.agent.breaker import Breaker, Repeats
from codeagent.agent.capabilities import (
    AheadGate,
    claims_of,
    covers,
    gate_ahead,
    hurry,
    interruption_of,
    label_of,
    offer_of,
    time_limit_of,
)
from codeagent.agent.history import storable_blocks
from codeagent.agent.limits import Limits
from codeagent.agent.phases import Halt, Phase
from codeagent.agent.record import Record
from codeagent.agent.scope import CalledOff, Scope
from codeagent.core.approvals import CommandPreview, Touch
from codeagent.core.errors import JournalError, StaleFile, ToolError
from codeagent.core.events import ToolEnded, ToolPreviewed, ToolProgressed, ToolRunning, ToolStarted
from codeagent.core.messages import TextBlock, ToolCall, ToolResult
from codeagent.core.protocols import Allowed, Denied, Gate, Hook, Interruption, Locks, Plan, ToolBox, ToolContext
from codeagent.core.text import Redactor

_log = logging.getLogger(__name__)
_WATCH_SECONDS = 0.3
_MOMENT = 1.0
"""In seconds; a file may be gone for so long while an editor saves it, or ``git stash`` and ``git stash pop`` run."""
_MOST_QUESTIONS = 10
_LONGEST_TITLE = 200
_LONGEST_TAIL = 4_000

Check = Callable[[ToolCall, Plan], Awaitable[Allowed | Denied | None]]
"""How a call is decided; None when nobody has to be asked by now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workshop:
    """What all calls of a session work with; ``ready`` returns when they can, ``slots`` bounds how many run at once."""

    ready: Callable[[], Awaitable[None]]
    tools: ToolBox
    gate: Gate
    locks: Locks
    hooks: Sequence[Hook]
    record: Record
    limits: Limits
    breaker: Breaker = field(default_factory=Breaker)
    repeats: Repeats = field(default_factory=Repeats)
    slots: asyncio.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "slots", asyncio.Semaphore(self.limits.parallel))


class CallRun:
    """One call on its way: ``run`` it once; ``halt`` it from outside."""

    def __init__(self, call: ToolCall, workshop: Workshop) -> None:
        self.call = call
        self.label = ""
        self.phase = Phase.WAITING
        self.result: ToolResult | None = None
        self._shop = workshop
        self._scope = Scope()
        self._halt = Halt.STOPPED
        self._interruption = Interruption.BLOCK
        self._limit: float | None = workshop.limits.tool_seconds
        self._seconds = 0.0
        self._shown = ""
        self._done_until_then = ""
        self._previewed: Plan | None = None
        self._check: Check = workshop.gate.check
        self._running: Plan | None = None
        self._held: tuple[ToolResult, str] | None = None
        self._is_admitted = False
        self._was_cut_off = False

    @property
    def title(self) -> str:
        """The call in a few words, on one line."""
        title = " ".join(f"{self.call.name} {self.label[: 2 * _LONGEST_TITLE]}".split())
        return title if len(title) <= _LONGEST_TITLE else f"{title[: Redactor().cut(title, _LONGEST_TITLE - 1)]}…"

    @property
    def is_leaving(self) -> bool:
        """Whether it was told to make way."""
        return self._scope.is_called_off

    def halt(self, why: Halt) -> None:
        """Asks the call to make way; a change of a file that has begun is done to its end.

        New words of the person skip a call that has not started and cancel one whose
        tool allows it; a stopped turn ends every call, open questions included, and a
        stopped call is ended in the same way, and by force when that is asked for again.
        """
        if why is not Halt.STEERED and self._scope.is_called_off:
            hurry(self._running)
        may_cancel = self._interruption is Interruption.CANCEL and self.phase in {Phase.PREPARING, Phase.RUNNING}
        if why is not Halt.STEERED or self.phase is Phase.WAITING or may_cancel:
            if not self._scope.is_called_off:
                self._halt = why
            self._scope.call_off()

    async def run(self) -> ToolResult:
        """Carries the call out; whatever happens there is one start event, one end event and one result.

        Nothing is waited for before the place in the lock queue is taken: tasks that
        are started in call order are served in call order.
        """
        call, record = self.call, self._shop.record
        try:
            # 1. It is announced as the model wrote it.
            record.tell(ToolStarted(call_id=call.id, name=call.name, arguments_json=call.arguments_json))
            reminder = self._shop.repeats.reminder(call)
            return await self._end(await self._attempt(), reminder)
        finally:
            if self.result is None:
                self._stand_in()

    async def _attempt(self) -> ToolResult:
        try:
            # 2. Nothing starts once the turn was stopped or the person has said something.
            async with self._scope:
                return await self._carry_out()
        except CalledOff:
            return self._unless_held(results.halted(self.call, self._halt, self.phase, self._shown), f"{self._halt}.")
        except ToolError as error:
            return self._unless_held(results.failed(self.call, error), str(error))
        except Exception as fault:  # noqa: BLE001 - a bug in a tool or hook ends its call, not the turn
            _log.exception("%s failed in a way nobody thought of", self.call.name)
            return results.faulty(self.call, fault, self.phase)

    async def _carry_out(self) -> ToolResult:
        shop, call = self._shop, self.call
        # 3. A tool that keeps failing rests.
        if not shop.breaker.admits(call.name):
            return results.disabled(call)
        self._is_admitted = True
        # 4. The tool is found; an unknown name is answered with the known ones.
        tool = shop.tools.find(call.name)
        # 5. The arguments are parsed and 6. mended where they can mean one thing only.
        arguments, mended = read_arguments(tool, call.arguments_json)
        self.label = label_of(tool, arguments, mended)
        self._interruption = interruption_of(tool, arguments)
        self._limit = time_limit_of(tool, arguments, shop.limits.tool_seconds)
        # 7. It waits for earlier calls that touch the same things, and is planned.
        context = ToolContext(call_id=call.id)
        claims = claims_of(tool, arguments, tool.touches(arguments, context))
        async with AsyncExitStack() as place:
            reservation = shop.locks.reserve(claims)
            place.callback(reservation.abandon)
            plan = None
            if (gate := gate_ahead(shop.gate, tool)) is not None and reservation.is_waiting:
                with suppress(ToolError):  # what it cannot be planned without, an earlier call may bring
                    plan = await tool.plan(arguments, context)
            if gate is not None and plan is not None:
                answered = await self._ask_ahead(plan, gate)
                if isinstance(answered, Denied):
                    return results.denied(call, answered)
                if answered is not None:
                    plan, self._check = answered.plan, partial(gate.check_again, answered)
                    self._show(plan)
            await place.enter_async_context(reservation)
            self.phase = Phase.PREPARING
            if plan is None:
                plan = await tool.plan(arguments, context)
            elif await plan.is_stale():
                plan = await plan.rebuilt()
            return await self._decide_and_run(plan, claims, place)

    async def _ask_ahead(self, plan: Plan, gate: AheadGate) -> Allowed | Denied | None:
        """What a person says beside earlier calls to what runs after them; None when nobody has to be asked yet.

        The call has not started with that: new words of the person skip it, its question included.
        """
        self._show(plan)
        return await self._settled(plan, gate.ask_ahead)

    async def _decide_and_run(self, plan: Plan, claims: Sequence[Touch], place: AsyncExitStack) -> ToolResult:
        """Steps 8 to 11, again from the preview when the file changed under a question or a run ends in an offer."""
        for _ in range(_MOST_QUESTIONS):
            # 8. What it would do is shown.
            self._show(plan)
            # 9. The gate decides, asking a person where that is needed.
            self.phase = Phase.DECIDING
            decision = await self._settled(plan, self._check)
            self._check = self._shop.gate.check
            self.phase = Phase.PREPARING
            if isinstance(decision, Denied):
                return self._unless_held(results.denied(self.call, decision), decision.reason, decision.feedback)
            if decision is None:
                plan = await plan.rebuilt()
                continue
            if decision.plan is not plan:
                self._show(decision.plan)
            if not covers(claims, decision.plan.touches):
                claims = decision.plan.touches
                await place.aclose()
                await place.enter_async_context(self._shop.locks.reserve(claims))
            try:
                # 10. A place among the running ones; only now the clock starts.
                async with self._shop.slots:
                    self.phase = Phase.RUNNING
                    makes_way = self._interruption is Interruption.CANCEL
                    self._shop.record.tell(ToolRunning(call_id=self.call.id, makes_way=makes_way))
                    # 11. It runs inside the hooks, the first one outermost.
                    result = await self._through(self._shop.hooks, decision.plan)
                result = replace(result, blocks=(*result.blocks, TextBlock(text=decision.note)))
                if (offer := offer_of(decision.plan, result)) is None:
                    return result
                # Where the run ends in an offer, the person is asked about that as about any plan.
                self.phase = Phase.PREPARING
                self._held, plan = (result, offer.what), offer.plan
            except StaleFile:
                if not decision.was_asked:
                    raise
                self.phase = Phase.PREPARING
                plan = await _rebuilt(decision.plan)
        raise StaleFile(
            f"{self.label} kept changing while it was asked about; nothing was done.", hint="Read it again."
        )

    def _unless_held(self, result: ToolResult, reason: str, feedback: str = "") -> ToolResult:
        """What an earlier run of this call came to, when there was one and the offer at its end was not taken up."""
        if self._held is None or self.phase is Phase.RUNNING:
            return result
        held, what = self._held
        return results.not_followed(held, what, reason, feedback)

    def _show(self, plan: Plan) -> None:
        """Shows what would be done, once for each plan."""
        if plan is self._previewed:
            return
        self._previewed = plan
        if isinstance(plan.preview, CommandPreview):  # the person may have changed it
            self.label = plan.preview.command
        self._shop.record.tell(ToolPreviewed(call_id=self.call.id, preview=plan.preview, label=self.label))

    async def _settled(self, plan: Plan, check: Check) -> Allowed | Denied | None:
        """The gate's decision; None when the plan grew stale meanwhile and the question was withdrawn."""
        question = Scope()
        async with asyncio.TaskGroup() as group:
            watch = group.create_task(_watch(plan, question))
            try:
                async with question:
                    return await check(self.call, plan)
            except CalledOff:
                return None
            except Exception as fault:  # noqa: BLE001 - a gate that fails is a gate that stays shut
                _log.exception("the permission check of %s failed", self.call.name)
                return Denied(reason=f"The permission check failed ({type(fault).__name__}), which counts as a no.")
            finally:
                watch.cancel()

    async def _through(self, hooks: Sequence[Hook], plan: Plan) -> ToolResult:
        if not hooks:
            return await self._run_plan(plan)
        outermost, inner = hooks[0], hooks[1:]
        if reason := await outermost.before(self.call, plan):
            return results.denied(self.call, Denied(reason=reason))
        try:
            result = await self._through(inner, plan)
        except BaseException:
            self._done_until_then += await outermost.dropped(self.call)
            raise
        return await outermost.after(self.call, result)

    async def _run_plan(self, plan: Plan) -> ToolResult:
        """The run itself, within its time limit; a plan that shows a diff is writing a file and is never cut midway."""
        started = time.monotonic()
        clock = asyncio.timeout(self._limit)
        self._running = plan
        try:
            with self._scope.held() if plan.preview.kind == "diff" else nullcontext():
                async with clock:
                    return await plan.run(self._progressed)
        except StaleFile:
            raise
        except ToolError as error:
            return results.failed(self.call, error)
        except TimeoutError:
            if self._limit is None or not clock.expired():
                raise
            self._was_cut_off = True
            return results.timed_out(self.call, self._limit, self._shown)
        finally:
            self._seconds += time.monotonic() - started

    def _progressed(self, text: str) -> None:
        if self.phase is Phase.RUNNING:
            shown = self._shown + text
            if len(shown) > 2 * _LONGEST_TAIL:
                shown = shown[Redactor().cut(shown, len(shown) - _LONGEST_TAIL, keeps_end=True) :]
            self._shown = shown
            self._shop.record.tell(ToolProgressed(call_id=self.call.id, text=text))

    async def _end(self, result: ToolResult, reminder: str) -> ToolResult:
        # 12. The result is written down and told.
        self.phase = Phase.OVER
        told = (*result.blocks, TextBlock(text=self._done_until_then), TextBlock(text=reminder))
        blocks = storable_blocks(told) or (TextBlock(text="(no output)"),)
        result = replace(result, call_id=self.call.id, blocks=blocks)
        try:
            await self._shop.record.keep(ToolEnded(result=result, seconds=self._seconds))
        except JournalError as error:
            result = results.not_recorded(self.call, error)
            self._shop.record.announce(ToolEnded(result=result, seconds=self._seconds))
        self.result = result
        if self._is_admitted:
            cut_off = self._was_cut_off
            self._shop.breaker.learn(self.call.name, result.outcome, result.code, was_cut_off=cut_off)
        return result

    def _stand_in(self) -> None:
        """Ends the call when its task is torn down with the program: there is no time to wait for the journal."""
        self.phase = Phase.OVER
        self.result = results.unknown(self.call)
        self._shop.record.tell(ToolEnded(result=self.result, seconds=self._seconds))


async def _watch(plan: Plan, question: Scope) -> None:
    """Withdraws the question when what was shown is no longer what would happen, and not for a moment only."""
    while True:
        await asyncio.sleep(_WATCH_SECONDS)
        if await _is_stale(plan):
            await asyncio.sleep(_MOMENT)
            if await _is_stale(plan):
                question.call_off()
                return


async def _is_stale(plan: Plan) -> bool:
    try:
        return await plan.is_stale()
    except (ToolError, OSError):
        return True  # planning it anew will say what is wrong


async def _rebuilt(plan: Plan) -> Plan:
    """The plan made anew; where that fails, once more a moment later, when what is gone may be back."""
    try:
        return await plan.rebuilt()
    except ToolError:
        await asyncio.sleep(_MOMENT)
        return await plan.rebuilt()
