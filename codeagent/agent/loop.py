"""The loop: ask the model, run the calls it makes, tell it the results, until it has nothing more to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from codeagent.agent.arguments import is_whole
from codeagent.agent.history import History, user_message
from codeagent.agent.phases import Halt
from codeagent.agent.reply import Asker
from codeagent.agent.schedule import Schedule
from codeagent.agent.scope import CalledOff, Scope
from codeagent.agent.spending import Spending
from codeagent.agent.steering import Queue
from codeagent.agent.tool_call import Workshop
from codeagent.core.errors import JournalError
from codeagent.core.events import (
    Delivery,
    Level,
    MessageDelivered,
    NoticeGiven,
    StepStarted,
    TurnEnd,
    UsageReported,
)
from codeagent.core.messages import AssistantMessage, Origin, StopReason, TextBlock, ToolCall
from codeagent.core.protocols import Ledger, ModelRequest, Provider, ToolSpec

OVERFLOW = "The conversation no longer fits the model's window. Start a new session, or choose a larger model."
_ORIGINS = {Delivery.STEER: Origin.STEERING, Delivery.FOLLOW_UP: Origin.FOLLOW_UP}
_STOPPED_MARK = TextBlock(text="\n\n[The person stopped this reply here.]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """Why a turn is over, and its last words."""

    reason: TurnEnd
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What stays the same from turn to turn; ``provider`` and ``news`` are asked for anew with each request."""

    provider: Callable[[], Provider]
    system: str
    specs: tuple[ToolSpec, ...]
    workshop: Workshop
    history: History
    queue: Queue
    ledger: Ledger
    spending: Spending
    news: Callable[[], str] = lambda: ""


class Turn:
    """One turn: ``run`` it once; ``stop`` and ``make_way`` reach into it from outside."""

    def __init__(self, number: int, setting: Setting) -> None:
        self.number = number
        self.denials: list[str] = []
        self.spending = Spending(setting.ledger)
        self.schedule = Schedule(setting.workshop)
        self._setting = setting
        self._record = setting.workshop.record
        self._limits = setting.workshop.limits
        self._asker = Asker(self._record, self._limits)
        self._asking = Scope()
        self._step = 0
        self._cuts = 0
        self._cut_text = ""
        self._answer = ""
        self._is_asking = False
        self._is_stopped = False
        self._has_finished = False

    async def run(self) -> Ending:
        """Goes step by step to the turn's end; raises ProviderError and JournalError."""
        while True:
            if self._is_stopped:
                return Ending(reason=TurnEnd.CANCELLED, text=self._answer)
            if self._has_finished and self._setting.queue.is_empty:
                return Ending(reason=TurnEnd.DONE, text=self._answer)
            if (ending := self._limit_reached()) is not None:
                return ending
            await self._deliver()
            reply = await self._ask()
            if reply is None:
                return Ending(reason=TurnEnd.CANCELLED, text=await self._keep_partial())
            if (ending := await self._act_on(reply)) is not None:
                return ending

    def stop(self) -> None:
        """Lets nothing new start and ends what may be ended."""
        self._is_stopped = True
        self._asking.call_off()
        self.schedule.halt(Halt.STOPPED)

    def make_way(self) -> None:
        """Skips and cancels calls so that a waiting message can be heard; a reply being written is not cut."""
        self.schedule.halt(Halt.STEERED)

    def waits_for(self, delivery: Delivery) -> str:
        """In words, what a message queued now waits for."""
        if delivery is Delivery.FOLLOW_UP:
            return "the model to finish"
        if self._is_asking:
            return "the end of this reply"
        return self.schedule.waits_for() or "the next request"

    def _limit_reached(self) -> Ending | None:
        """The turn's end when another request would go over a limit."""
        limits, cost = self._limits, self._setting.spending.cost
        if self._step >= limits.steps:
            return Ending(reason=TurnEnd.STEP_LIMIT, text=f"Stopped after {self._step} steps, which is the limit.")
        if limits.max_cost is not None and cost is not None and cost >= limits.max_cost:
            text = f"Stopped at ${cost:.2f}: the limit is ${limits.max_cost:.2f}."
            return Ending(reason=TurnEnd.BUDGET, text=text)
        return None

    async def _deliver(self) -> None:
        """Puts what the model should hear now into the history: news, then steering; follow-ups when all is done."""
        if news := self._setting.news():
            await self._setting.history.append(user_message(news, Origin.HARNESS))
        queue = self._setting.queue
        kind = Delivery.FOLLOW_UP if self._has_finished and not queue.has_steering else Delivery.STEER
        while (message := queue.take(kind)) is not None:
            try:
                await self._setting.history.append(user_message(message.text, _ORIGINS[kind]))
            except JournalError:
                queue.put_back(message)
                raise
            self._setting.workshop.breaker.reopen()
            self._setting.workshop.repeats.forget()
            self._record.tell(
                MessageDelivered(message_id=message.message_id, text=message.text, delivery=kind, step=self._step + 1)
            )

    async def _ask(self) -> AssistantMessage | None:
        """The model's next reply; None when the person stopped it."""
        self._step += 1
        self._has_finished = False
        setting = self._setting
        self._record.tell(StepStarted(turn=self.number, step=self._step))
        request = ModelRequest(system=setting.system, messages=setting.history.messages, tools=setting.specs)
        self._is_asking = True
        try:
            async with self._asking:
                reply = await self._asker.ask(setting.provider(), request)
        except CalledOff:
            return None
        finally:
            self._is_asking = False
        self._asking = Scope()
        return reply

    async def _act_on(self, reply: AssistantMessage) -> Ending | None:
        """Takes the reply into the history and does what it asks for; an ending when nothing can follow."""
        reply = self._setting.history.adopt(reply)
        await self._count(reply)
        match reply.stop:
            case StopReason.REFUSAL:
                await self._take_up(_without(reply, reply.calls))
                return Ending(reason=TurnEnd.REFUSED, text=reply.text or "The model refused to answer.")
            case StopReason.CONTEXT_EXCEEDED:
                await self._take_up(_without(reply, reply.calls))
                return Ending(reason=TurnEnd.ERROR, text=OVERFLOW)
            case StopReason.MAX_TOKENS:
                return await self._go_on_after_cut(reply)
            case StopReason.END_TURN | StopReason.TOOL_USE | StopReason.PAUSE_TURN | StopReason.CANCELLED:
                await self._take_up(reply)
                self._answer = self._cut_text + reply.text
                self._cuts, self._cut_text = 0, ""
                self._has_finished = not reply.calls and reply.stop is not StopReason.PAUSE_TURN
                if self._has_finished and not reply.blocks:
                    self._record.tell(NoticeGiven(text="The model sent an empty reply.", level=Level.WARNING))
                return None

    async def _take_up(self, reply: AssistantMessage) -> None:
        """Writes the reply down, then runs its calls and writes down their results."""
        if not reply.blocks:
            return
        history = self._setting.history
        await history.append(reply)
        if reply.calls:
            results = await self.schedule.run(reply.calls, self._halt())
            self.denials += self.schedule.denials
            await history.close_calls(results)

    async def _go_on_after_cut(self, reply: AssistantMessage) -> Ending | None:
        """After the output limit: whole calls run, an unfinished one is dropped, and the model may go on."""
        last = reply.blocks[-1] if reply.blocks else None
        unfinished = tuple(call for call in reply.calls if call is last or not is_whole(call.arguments_json))
        kept = _without(reply, unfinished)
        await self._take_up(kept)
        self._cuts += 1
        self._cut_text = "" if kept.calls else self._cut_text + kept.text
        if self._cuts > self._limits.continuations:
            text = f"The reply was cut off by the model's output limit {self._cuts} times in a row."
            return Ending(reason=TurnEnd.ERROR, text=text)
        await self._setting.history.append(user_message(_cut_notice(unfinished), Origin.HARNESS))
        return None

    def _halt(self) -> Halt | None:
        if self._is_stopped:
            return Halt.STOPPED
        return Halt.STEERED if self._setting.queue.has_steering else None

    async def _count(self, reply: AssistantMessage) -> None:
        setting = self._setting
        was_known = setting.spending.cost is not None
        setting.spending.add(reply)
        self.spending.add(reply)
        cost = setting.spending.cost
        if self._limits.max_cost is not None and was_known and cost is None:
            text = "The price of this model is unknown, so the cost limit cannot be kept."
            self._record.tell(NoticeGiven(text=text, level=Level.WARNING))
        window = setting.ledger.window(setting.provider().model)
        await self._record.keep(UsageReported(usage=reply.usage, window=window, cost=cost))

    async def _keep_partial(self) -> str:
        """Keeps what the model had written when it was stopped, marked as such."""
        text = self._asker.partial.rstrip()
        if text:
            model = self._setting.provider().model
            blocks = (TextBlock(text=text), _STOPPED_MARK)
            partial = AssistantMessage(blocks=blocks, stop=StopReason.CANCELLED, model=model)
            await self._setting.history.append(self._setting.history.adopt(partial))
        return text


def _without(reply: AssistantMessage, calls: tuple[ToolCall, ...]) -> AssistantMessage:
    return replace(reply, blocks=tuple(block for block in reply.blocks if block not in calls))


def _cut_notice(unfinished: tuple[ToolCall, ...]) -> str:
    if not unfinished:
        return "Your reply was cut off by the output limit. Go on exactly where it stopped."
    names = ", ".join(call.name for call in unfinished)
    return (
        f"Your reply was cut off by the output limit while you wrote a call of {names}; that call was not run. "
        "Make it again in smaller pieces: several calls, each with less text."
    )
