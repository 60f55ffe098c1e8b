"""A session: what the person says goes in, everything that happens comes out as events."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from math import isfinite

from codeagent.agent.bookmarks import Bookmarks
from codeagent.agent.budget import Budget
from codeagent.agent.compaction import Compactor
from codeagent.agent.history import History, OnLeft, user_message
from codeagent.agent.limits import Limits
from codeagent.agent.loop import LARGER, Ending, Setting, Turn
from codeagent.agent.meter import Meter
from codeagent.agent.pins import Pins, ReadPin, parse_pin, pinnable, pins_of, read_nothing
from codeagent.agent.record import Record
from codeagent.agent.spending import Spending
from codeagent.agent.steering import Queue
from codeagent.agent.summaries import Judges
from codeagent.agent.tool_call import Workshop
from codeagent.agent.windows import told_windows
from codeagent.core.context import ContextPart, ContextReport, Pin
from codeagent.core.errors import CodeagentError, ContextOverflow, JournalError, SessionBusy
from codeagent.core.events import (
    AgentEvent,
    Delivery,
    Emit,
    Level,
    MessageQueued,
    MessagesReturned,
    ModelChanged,
    NoticeGiven,
    TurnEnd,
    TurnEnded,
    TurnStarted,
    UsageReported,
)
from codeagent.core.messages import (
    BEFORE_OWN_COMMAND,
    AssistantMessage,
    CommandDetails,
    ImageBlock,
    Message,
    Origin,
    ToolResult,
    Unpriced,
    UserMessage,
)
from codeagent.core.protocols import Gate, Hook, Journal, Ledger, Locks, Provider, ToolBox, ToolSpec
from codeagent.core.values import value

_log = logging.getLogger(__name__)


@value
class Before:
    """What a resumed session had done before.

    ``spent`` in US dollars is what is known of its cost, ``unpriced`` what that does not
    hold. The ``bookmarks`` know where in the history the turns began; ``told`` are windows of models.
    """

    turns: int = 0
    spent: float = 0.0
    unpriced: tuple[Unpriced, ...] = ()
    bookmarks: Bookmarks = field(default_factory=Bookmarks)
    pins: tuple[Pin, ...] = ()
    told: Mapping[str, int] = field(default_factory=dict[str, int])


def before(past: Iterable[AgentEvent], bookmarks: Bookmarks) -> Before:
    """What a resumed session had done before."""
    turns, spent, past, unpriced = 0, 0.0, tuple(past), ()
    for event in past:
        match event:
            case TurnStarted(turn=number):
                turns = max(turns, number)
            case UsageReported(cost=known, unpriced=unpriced):
                spent = known if known is not None and isfinite(known) else spent
            case _:
                pass
    pins, told = pins_of(past), told_windows(past)
    return Before(turns=turns, spent=spent, unpriced=unpriced, bookmarks=bookmarks, pins=pins, told=told)


async def _at_once() -> None:
    """Nothing has to be waited for."""


class Session:
    """A conversation with a model that has tools; one turn at a time, steered while it runs."""

    def __init__(  # noqa: PLR0913 - everything the loop is made of comes from outside, here
        self,
        session_id: str,
        provider: Provider,
        *,
        tools: ToolBox,
        gate: Gate,
        locks: Locks,
        journal: Journal,
        ledger: Ledger,
        emit: Emit,
        system: str,
        hooks: Sequence[Hook] = (),
        history: Iterable[Message] = (),
        before_turn: Callable[[], Awaitable[Sequence[str]]] | None = None,
        limits: Limits | None = None,
        news: Callable[[], str] = lambda: "",
        judges: Judges | None = None,
        before: Before | None = None,
        on_left: OnLeft = lambda _: None,
        read_pin: ReadPin = read_nothing,
        ready: Callable[[], Awaitable[None]] = _at_once,
    ) -> None:
        """``system`` is the system prompt; ``history`` and ``before`` are what a resumed session starts from.

        ``news`` is asked before each request what the model should know of things that
        happened meanwhile, such as the end of a background job; empty is nothing.
        ``on_left`` is told of the messages that are left whenever some went.
        ``before_turn`` gives what it should hear right before the person's next message;
        ``ready`` returns when tools and gate can be used.
        """
        limits, before = limits or Limits(), before or Before()
        self._session_id, self._provider = session_id, provider
        self._record = Record(journal, emit)
        self._history = History(history, self._record, before.bookmarks, on_left)
        self.pins = Pins(self._record, read_pin, before.pins)
        self._before_turn = before_turn
        self._queue = Queue()
        self._turn: Turn | None = None
        self._is_listening = False
        self._has_ended = asyncio.Event()
        self._turns = max(before.turns, before.bookmarks.last_turn, sum(map(_opens_turn, self._history.messages)))
        shop = partial(Workshop, tools=tools, gate=gate, locks=locks, hooks=tuple(hooks), ready=ready)
        meter = Meter(lambda: self._history.latest, system, tools.specs())
        room = partial(Compactor, self._history, meter, self._record, self._current)
        compactor = room(ledger=ledger, limits=limits, judges=judges or Judges(), pins=self.pins, told=before.told)
        self._setting = Setting(
            provider=self._current,
            system=system,
            specs=tools.specs(),
            workshop=shop(record=self._record, limits=limits),
            history=self._history,
            queue=self._queue,
            ledger=ledger,
            news=news,
            spending=Spending(ledger, before.spent, before.unpriced),
            meter=meter,
            compactor=compactor,
            budget=Budget(limits, judges.approver if judges else None),
        )

    @property
    def session_id(self) -> str:
        """The id that ``--resume`` takes."""
        return self._session_id

    @property
    def is_running(self) -> bool:
        """Whether a turn is under way."""
        return self._turn is not None

    @property
    def messages(self) -> tuple[Message, ...]:
        """The history: what the next request would carry."""
        return self._history.messages

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """What the model is told that it can do."""
        return self._setting.specs

    def _current(self) -> Provider:
        return self._provider

    def set_provider(self, provider: Provider, effort: str = "", address: str = "") -> Provider:
        """Another model answers from the next request on; what was said stays. Gives back the one before.

        ``effort`` is how hard it thinks, empty as it likes; ``address`` where it answers, as in ``ModelChanged``.
        """
        before, self._provider = self._provider, provider
        self._record.tell(ModelChanged(model=provider.model, effort=effort, address=address))
        self.measure()
        return before

    def measure(self) -> None:
        """Tells how full the window is."""
        self._setting.compactor.measure()

    def context(self) -> ContextReport:
        """What fills the model's window now."""
        setting = self._setting
        report = setting.meter.report(setting.compactor.window, setting.workshop.limits.compact_at)
        return replace(report, pins=tuple(ContextPart(name=pin.label, tokens=pin.tokens) for pin in self.pins.all))

    def pinnable(self) -> tuple[Pin, ...]:
        """The latest messages, which could be pinned, newest first."""
        return pinnable(self._history.latest)

    def pinned(self) -> tuple[Pin, ...]:
        """What stays word for word when room is made."""
        return self.pins.all

    async def pin(self, pin: Pin | str) -> None:
        """Keeps it word for word when room is made; text names a file as ``@PATH:10-40``. Raises CodeagentErrors."""
        pin = parse_pin(pin) if isinstance(pin, str) else pin
        await self.pins.add(pin, self._setting.compactor.most_pinned)

    def unpin(self, label: str) -> None:
        """Takes a pin away; raises a CodeagentError when there is none of that label."""
        self.pins.remove(label)

    async def compact(self, focus: str = "") -> None:
        """Makes the history shorter: before the next request of the turn under way, else at once.

        ``focus`` is what the summary should keep above all. What is said meanwhile waits, as in any turn.
        """
        if self._turn is not None:
            self._turn.compact(focus)
        elif self._history.latest:
            await self._run_turn(f"/compact {focus}".rstrip(), None, focus=focus)

    def add_shell_result(self, command: str, result: ToolResult) -> None:
        """The person's own shell command, shown to the model right before the next message."""
        text = f"{BEFORE_OWN_COMMAND}{command}\n{result.text}"
        message = user_message(text, Origin.SHELL)
        ran = result.details if isinstance(result.details, CommandDetails) else None
        self._history.set_aside(replace(message, ran=ran))

    async def keep_asides(self) -> None:
        """Writes down what waits for the next message, so that no crash loses it; during a turn that is its end."""
        if self._turn is None:
            try:
                await self._history.keep_asides()
            except JournalError as error:
                self._record.announce(NoticeGiven(text=str(error), level=Level.ERROR))

    @property
    def rewound_turn(self) -> int | None:
        """The turn that the conversation just went back before, while nothing was said since."""
        return self._history.rewound_turn

    async def rewind(self, turn: int) -> None:
        """Goes on from before a turn; raises NothingToUndo, SessionBusy and JournalError."""
        self._check_idle()
        await self._history.rewind(turn)

    async def take_rewind_back(self) -> None:
        """Brings back what the last rewind left out; raises NothingToUndo, SessionBusy and JournalError."""
        self._check_idle()
        await self._history.take_rewind_back()

    async def send(self, text: str, images: tuple[ImageBlock, ...] = ()) -> TurnEnded:
        """Runs one turn to its end; raises SessionBusy while another is under way.

        When the caller is cancelled, the turn is stopped as by ``cancel`` and has
        ended before the cancellation goes on.
        """
        return await self._run_turn(text, user_message(text, Origin.PROMPT, images))

    async def go_on(self) -> TurnEnded:
        """Lets the model go on where the step limit stopped it, with as many steps again."""
        messages = self._history.messages
        is_waiting = bool(messages) and not isinstance(messages[-1], AssistantMessage)
        return await self._run_turn("", None if is_waiting else user_message("Go on.", Origin.HARNESS))

    def steer(self, text: str, images: tuple[ImageBlock, ...] = ()) -> str:
        """Says something as soon as the running tools allow; returns the message's id."""
        return self._enqueue(text, Delivery.STEER, images)

    def follow_up(self, text: str, images: tuple[ImageBlock, ...] = ()) -> str:
        """Says something when the model has stopped calling tools; returns the message's id."""
        return self._enqueue(text, Delivery.FOLLOW_UP, images)

    def take_back(self, message_id: str) -> str | None:
        """Takes a queued message out again; its text, or None when it is already on its way."""
        text = self._queue.take_back(message_id)
        if text is not None:
            self._record.tell(MessagesReturned(message_ids=(message_id,), text=text))
        return text

    def stop_call(self, call_id: str) -> None:
        """Ends one running call as far as it may be ended; the turn goes on."""
        if self._turn is not None:
            self._turn.schedule.stop_call(call_id)

    async def cancel(self) -> None:
        """Stops the turn, a second time by force; returns when it has ended. Queued messages come back as an event."""
        if self._turn is None:
            return
        self._turn.stop()
        await self._has_ended.wait()

    def _enqueue(self, text: str, delivery: Delivery, images: tuple[ImageBlock, ...]) -> str:
        """Queues a message; where no turn would take it any more it goes straight back to the prompt."""
        message = self._queue.add(text, delivery, images)
        waits_for = "a turn"
        if self._turn is not None and self._is_listening:
            if delivery is Delivery.STEER:
                self._turn.make_way()
            waits_for = self._turn.waits_for(delivery)
        self._record.tell(
            MessageQueued(message_id=message.message_id, text=text, delivery=delivery, waits_for=waits_for)
        )
        if not self._is_listening:
            self._return_queued()
        return message.message_id

    def _return_queued(self) -> None:
        if returned := self._queue.take_all():
            ids = tuple(message.message_id for message in returned)
            text = "\n\n".join(message.text for message in returned)
            self._record.tell(MessagesReturned(message_ids=ids, text=text))

    async def _run_turn(self, text: str, opening: UserMessage | None, *, focus: str | None = None) -> TurnEnded:
        """Runs the turn in a task of its own, which is seen to its end even when the caller is cancelled."""
        self._check_idle()
        self._turns += 1
        turn = self._turn = Turn(self._turns, self._setting, focus=focus)
        self._is_listening = True
        self._has_ended.clear()
        cancellation: asyncio.CancelledError | None = None
        async with asyncio.TaskGroup() as group:
            task = group.create_task(self._play(turn, text, opening))
            while not task.done():
                try:
                    await asyncio.wait({task})
                except asyncio.CancelledError as error:
                    cancellation = error
                    turn.stop()
        if cancellation is not None:
            raise cancellation
        return task.result()

    def _check_idle(self) -> None:
        if self._turn is not None:
            raise SessionBusy("A turn is under way.", hint="Steer it, or stop it first.")

    async def _play(self, turn: Turn, text: str, opening: UserMessage | None) -> TurnEnded:
        workshop = self._setting.workshop
        workshop.breaker.reopen()
        workshop.repeats.forget()
        is_taken = opening is None
        try:
            await self._record.keep(TurnStarted(turn=turn.number, text=text))
            self._history.begin_turn(turn.number)
            for told in await self._before_turn() if self._before_turn is not None else ():
                self._history.set_aside(user_message(told, Origin.HARNESS))
            if opening is not None:
                if news := self._setting.news():
                    self._history.set_aside(user_message(news, Origin.HARNESS))
                await self._history.append(opening)
                is_taken = True
            ending = await turn.run()
        except ContextOverflow as error:
            ending = Ending(reason=TurnEnd.ERROR, text=f"{error.message} {error.hint or LARGER}")
        except CodeagentError as error:
            ending = Ending(reason=TurnEnd.ERROR, text=str(error))
        except Exception as fault:  # noqa: BLE001 - the loop's top: a bug ends the turn, not the session
            _log.exception("a fault ended the turn")
            ending = Ending(reason=TurnEnd.ERROR, text=f"A fault of the program ended the turn: {fault!r}")
        if not is_taken and text:
            self._record.announce(MessagesReturned(message_ids=(), text=text))
        return await self._close(turn, ending)

    async def _close(self, turn: Turn, ending: Ending) -> TurnEnded:
        """Leaves the session ready for the next turn, whatever ended this one."""
        ended = TurnEnded(
            turn=turn.number,
            reason=ending.reason,
            text=ending.text,
            usage=turn.spending.usage,
            cost=turn.spending.cost,
            denials=tuple(turn.denials),
            unpriced=turn.spending.unpriced,
        )
        try:
            await self._history.close_calls(turn.schedule.results)
            await self._history.keep_asides()
            self._is_listening = False
            self._return_queued()
            await self._record.write(ended)
        except JournalError as error:
            if str(error) != ending.text:
                self._record.announce(NoticeGiven(text=str(error), level=Level.ERROR))
            self._is_listening = False
            self._return_queued()
        self._turn = None
        self._record.announce(ended)
        self._has_ended.set()
        return ended


def _opens_turn(message: Message) -> bool:
    return isinstance(message, UserMessage) and message.origin is Origin.PROMPT
