"""The loop: ask the model, run the calls it makes, tell it the results, until it has nothing more to do."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import replace

from codeagent.agent.arguments import is_whole, with_meant_tools
from codeagent.agent.budget import Budget
from codeagent.agent.compaction import Compactor
from codeagent.agent.history import History, user_message
from codeagent.agent.meter import Meter, tokens_of
from codeagent.agent.phases import Halt
from codeagent.agent.reply import Asker
from codeagent.agent.schedule import Schedule
from codeagent.agent.scope import CalledOff, Scope
from codeagent.agent.spending import Forecast, Spending
from codeagent.agent.steering import Queue
from codeagent.agent.tool_call import Workshop
from codeagent.core.context import CompactionReason
from codeagent.core.errors import ContextOverflow, JournalError, SummaryRefused
from codeagent.core.events import (
    Delivery,
    Level,
    MessageDelivered,
    NoticeGiven,
    StepStarted,
    TurnEnd,
    UsageReported,
)
from codeagent.core.messages import AssistantMessage, Origin, StopReason, TextBlock, ToolCall, Usage, UserMessage
from codeagent.core.money import dollars
from codeagent.core.protocols import Ledger, ModelRequest, Provider, ToolSpec
from codeagent.core.text import counted
from codeagent.core.values import value

REFUSED = "The conversation no longer fits the model's window, and the summary in its place was refused."
WAYS_OUT = "/compact FOCUS sums it up with what you name, /new starts a new session, /model takes a larger model."
LARGER = (
    "Choose a model with a larger window, or start a new session; "
    "if the window is known wrongly, set it in models.toml beside config.toml (window = …)."
)
OVERFLOW = f"The conversation no longer fits the model's window and could not be made shorter. {LARGER}"
CUT = "Ask for smaller steps, raise model.max_tokens, or choose another model."
PAUSED = "Ask for smaller steps, or choose another model."
SPENT = "A higher --max-cost, or budget.max_cost, lets it go on."
PRICELESS = "Name its price in models.toml beside config.toml, or leave out --max-cost and budget.max_cost."
EMPTY = "The model sent an empty reply. Ask it to go on, say it in other words, or choose another model."
_ORIGINS = {Delivery.STEER: Origin.STEERING, Delivery.FOLLOW_UP: Origin.FOLLOW_UP}
_MOST_SHORTENED = 5  # times for one request, each time to about half
_STOPPED_MARK = TextBlock(text="\n\n[The person stopped this reply here.]")


@value
class Ending:
    """Why a turn is over, and its last words."""

    reason: TurnEnd
    text: str


@value
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
    meter: Meter
    compactor: Compactor
    budget: Budget
    news: Callable[[], str] = lambda: ""


class Turn:
    """One turn: ``run`` it once; ``stop`` and ``make_way`` reach into it from outside."""

    def __init__(self, number: int, setting: Setting, *, focus: str | None = None) -> None:
        """With a ``focus``, even an empty one, the turn begins by making the history shorter, not by a question."""
        self.number = number
        self.denials: list[str] = []
        self.spending = Spending(setting.ledger)
        self.schedule = Schedule(setting.workshop)
        self._setting = setting
        self._forecast = Forecast(setting.ledger, setting.meter, setting.spending)
        self._record = setting.workshop.record
        self._limits = setting.workshop.limits
        self._asker = Asker(self._record, self._limits)
        self._asking = Scope()
        self._step = 0
        self._cuts = 0
        self._pauses = 0
        self._overflows = 0
        self._extensions = 1
        self._cut_text = ""
        self._answer = ""
        self._is_asking = False
        self._is_stopped = self._is_declined = False
        self._focus = focus
        self._has_finished = focus is not None

    async def run(self) -> Ending:
        """Goes step by step to the turn's end; raises ProviderError and JournalError."""
        while True:
            if self._is_stopped:
                return Ending(reason=TurnEnd.CANCELLED, text=self._answer)
            if self._focus is not None and not await self._compact_as_wanted():
                continue
            if self._has_finished and self._setting.queue.is_empty:
                return self._finished()
            if (ending := await self._limit_reached()) is not None:
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

    def compact(self, focus: str) -> None:
        """Makes the history shorter before the next request."""
        self._focus = focus

    def waits_for(self, delivery: Delivery) -> str:
        """In words, what a message queued now waits for."""
        if delivery is Delivery.FOLLOW_UP:
            return "the model to finish"
        if self._is_asking:
            return "the end of this reply"
        return self.schedule.waits_for() or "the next request"

    def _finished(self) -> Ending:
        """The end that the model came to; without a word of an answer it is none that anybody can rely on."""
        if self._step and not self._answer.strip():
            return Ending(reason=TurnEnd.ERROR, text=EMPTY)
        return Ending(reason=TurnEnd.DONE, text=self._answer)

    async def _limit_reached(self) -> Ending | None:
        """The turn's end when another request would go over a limit, and nobody wants to go on."""
        setting = self._setting
        if self._step >= self._limits.steps * self._extensions:
            text = f"Stopped after {counted(self._step, 'step')}, which is the limit."
            if not await self._within_scope(setting.budget.may_take_steps(self._step)):
                return self._stopped_or(Ending(reason=TurnEnd.STEP_LIMIT, text=text))
            self._extensions += 1
        return await self._money_missing()

    async def _money_missing(self) -> Ending | None:
        """The turn's end when what may be spent is spent, or cannot be counted, and nobody wants to go on."""
        setting, model = self._setting, self._setting.provider().model
        budget, spent = setting.budget, setting.spending.spent
        if text := budget.uncounted(setting.spending.unpriced):
            self._record.tell(NoticeGiven(text=text, level=Level.WARNING))
        if budget.leaves_open(model, is_priced=setting.ledger.is_priced(model)):
            text, asking = f"{budget.unpriced(model)} {PRICELESS}", budget.may_go_unpriced(model)
        else:
            expected = self._forecast.cost(model, setting.compactor.window, setting.compactor.next_size)
            if not (reached := budget.reached(spent, expected)):
                return None
            text = f"Stopped at {dollars(spent)}: {reached}. {SPENT}"
            asking = budget.may_spend_more(spent, reached, expected)
        return None if await self._within_scope(asking) else self._stopped_or(Ending(reason=TurnEnd.BUDGET, text=text))

    def _stopped_or(self, ending: Ending) -> Ending:
        return Ending(reason=TurnEnd.CANCELLED, text=self._answer) if self._is_stopped else ending

    async def _within_scope(self, asking: Coroutine[None, None, bool]) -> bool:
        """The outcome of something that the person can stop, which is then false."""
        try:
            async with self._asking:
                return await asking
        except CalledOff:
            asking.close()
            return False
        finally:
            self._renew_scope()

    def _renew_scope(self) -> None:
        if not self._is_stopped:
            self._asking = Scope()

    async def _compact_as_wanted(self) -> bool:
        """What ``/compact`` asks for; False when the person stopped it."""
        focus, self._focus = self._focus or "", None
        work = self._setting.compactor.compact(CompactionReason.WANTED, self._pay, focus)
        await self._within_scope(work)
        return not self._is_stopped

    async def _deliver(self) -> None:
        """Puts what the model should hear now into the history: news, then steering; follow-ups when all is done."""
        if news := self._setting.news():
            await self._setting.history.append(user_message(news, Origin.HARNESS))
        queue = self._setting.queue
        kind = Delivery.FOLLOW_UP if self._has_finished and not queue.has_steering else Delivery.STEER
        while (message := queue.take(kind)) is not None:
            try:
                await self._setting.history.append(user_message(message.text, _ORIGINS[kind], message.images))
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
        self._is_asking = True
        try:
            async with self._asking:
                if setting.compactor.is_due:
                    await self._make_room(CompactionReason.FULL)
                setting.compactor.measure()
                return await self._reply()
        except CalledOff:
            return None
        finally:
            self._is_asking = False
            self._renew_scope()
            for lost in self._asker.take_lost():
                await self._pay(lost)

    async def _reply(self) -> AssistantMessage:
        """The reply; where the history turns out too long, it is made shorter until it fits, and asked again."""
        setting = self._setting
        for _ in range(_MOST_SHORTENED):
            try:
                return await self._asker.ask(setting.provider(), self._request())
            except ContextOverflow as error:
                setting.compactor.narrow(error)
                if self._is_declined:
                    raise SummaryRefused(REFUSED, hint=WAYS_OUT) from error
                if not await self._make_room(CompactionReason.OVERFLOW):
                    raise
        return await self._asker.ask(setting.provider(), self._request())

    async def _make_room(self, reason: CompactionReason) -> bool:
        """Makes the history shorter, or says that it stays; raises SummaryRefused where nothing can follow that."""
        compactor = self._setting.compactor
        if await compactor.compact(reason, self._pay):
            return True
        self._is_declined = compactor.is_refused
        if self._is_declined and (compactor.is_beyond or reason is CompactionReason.OVERFLOW):
            raise SummaryRefused(REFUSED, hint=WAYS_OUT)
        return False

    def _request(self) -> ModelRequest:
        setting = self._setting
        left, model = setting.budget.left(setting.spending.spent), setting.provider().model
        affordable = self._forecast.affordable(model, setting.compactor.window, left)
        return ModelRequest(
            system=setting.system, messages=setting.history.messages, tools=setting.specs, affordable=affordable
        )

    async def _act_on(self, reply: AssistantMessage) -> Ending | None:
        """Takes the reply into the history and does what it asks for; an ending when nothing can follow."""
        reply = with_meant_tools(self._setting.history.adopt(reply), self._setting.specs)
        await self._count(reply)
        match reply.stop:
            case StopReason.REFUSAL:
                await self._take_up(_without(reply, reply.calls))
                return Ending(reason=TurnEnd.REFUSED, text=reply.text)
            case StopReason.CONTEXT_EXCEEDED:
                await self._take_up(_without(reply, reply.calls))
                return await self._go_on_after_overflow()
            case StopReason.MAX_TOKENS:
                return await self._go_on_after_cut(reply)
            case StopReason.END_TURN | StopReason.TOOL_USE | StopReason.PAUSE_TURN | StopReason.CANCELLED:
                await self._take_up(reply)
                self._answer = self._cut_text + reply.text
                self._cuts, self._cut_text, self._overflows = 0, "", 0
                is_paused = not reply.calls and reply.stop is StopReason.PAUSE_TURN
                self._has_finished = not reply.calls and not is_paused
                self._pauses = self._pauses + 1 if is_paused else 0
                return self._too_often("The model paused its reply", self._pauses, PAUSED)

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
        if ending := self._too_often("The reply was cut off by the model's output limit", self._cuts, CUT):
            return ending
        await self._setting.history.append(user_message(_cut_notice(unfinished), Origin.HARNESS))
        return None

    def _too_often(self, what: str, times: int, remedy: str) -> Ending | None:
        """The turn's end when a reply had to be gone on with more often in a row than is allowed."""
        if times <= self._limits.continuations:
            return None
        return Ending(reason=TurnEnd.ERROR, text=f"{what} {counted(times, 'time')} in a row. {remedy}")

    def _halt(self) -> Halt | None:
        if self._is_stopped:
            return Halt.STOPPED
        return Halt.STEERED if self._setting.queue.has_steering else None

    async def _go_on_after_overflow(self) -> Ending | None:
        """After a reply that ran into the end of the window: room is made, and the model may go on, once."""
        self._overflows += 1
        self._setting.compactor.is_full()
        work = self._make_room(CompactionReason.OVERFLOW)
        if self._overflows > 1 or not await self._within_scope(work):
            work.close()
            return self._stopped_or(Ending(reason=TurnEnd.ERROR, text=OVERFLOW))
        if not isinstance(self._setting.history.latest[-1], UserMessage):
            await self._setting.history.append(user_message(_cut_notice(()), Origin.HARNESS))
        return None

    async def _count(self, reply: AssistantMessage) -> None:
        self._setting.meter.learn(reply.usage, reply)
        self._setting.compactor.fits_again()
        await self._pay(reply)

    def _estimate(self, reply: AssistantMessage) -> Usage:
        """What a service that does not count, or counts only what it sent, has probably been sent, and has sent."""
        written = reply.usage.output_tokens or tokens_of(reply)
        return Usage(input_tokens=self._setting.meter.used, output_tokens=written, is_estimate=True)

    async def _pay(self, reply: AssistantMessage) -> None:
        """Counts what a reply cost, and the room it takes when it is part of the conversation."""
        setting = self._setting
        if reply.usage.context_tokens == reply.usage.output_tokens:
            reply = replace(reply, usage=self._estimate(reply))
        setting.spending.add(reply)
        self.spending.add(reply)
        window, context = setting.compactor.window, setting.meter.used
        cost, unpriced = setting.spending.cost, setting.spending.unpriced
        await self._record.keep(
            UsageReported(usage=reply.usage, window=window, cost=cost, context=context, unpriced=unpriced)
        )

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
