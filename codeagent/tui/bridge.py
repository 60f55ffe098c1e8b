"""Between the agent and the screen: every event becomes something to see, every question finds its way to the person.

The agent calls ``emit`` for all that happens and ``ask`` when a person must decide.
Both run in the screen's own event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from time import monotonic
from typing import assert_never

from textual.events import Focus
from textual.timer import Timer

from codeagent.core.approvals import Answer, ApprovalRequest, Deny, Withdraw
from codeagent.core.archive import SessionNamed
from codeagent.core.context import CompactionStarted, HistoryCompacted, PinsChanged
from codeagent.core.desk import WorkspaceStatus
from codeagent.core.events import (
    AgentEvent,
    ApprovalAsked,
    ApprovalSettled,
    CallStreamed,
    CheckpointTaken,
    ContextMeasured,
    ConversationRestored,
    ConversationRewound,
    HistoryAppended,
    JobChanged,
    MessageDelivered,
    MessageQueued,
    MessagesReturned,
    ModeChanged,
    ModelChanged,
    NoticeGiven,
    ReplyEnded,
    RetryScheduled,
    SessionStarted,
    StepStarted,
    TextStreamed,
    ThinkingStreamed,
    ToolEnded,
    ToolPreviewed,
    ToolProgressed,
    ToolRunning,
    ToolStarted,
    TurnEnd,
    TurnEnded,
    TurnStarted,
    UsageReported,
)
from codeagent.core.messages import Outcome
from codeagent.core.text import clean
from codeagent.tui.costs import CostBook, filled, share
from codeagent.tui.running import CallEvent, CallOrder, RunningCalls
from codeagent.tui.screens.main import MainScreen
from codeagent.tui.widgets.past import end_note, model_note, rewind_note
from codeagent.tui.widgets.queue import Queued

_SessionEvent = SessionStarted | TurnStarted | ModeChanged | JobChanged | NoticeGiven | TurnEnded
_ReplyEvent = StepStarted | TextStreamed | ThinkingStreamed | CallStreamed | ReplyEnded | RetryScheduled
_ContextEvent = CompactionStarted | HistoryCompacted | PinsChanged | ContextMeasured | UsageReported | ModelChanged
_QueueEvent = MessageQueued | MessageDelivered | MessagesReturned


class Bridge:
    """The screen as the agent sees it: a listener to its events, and the person who approves."""

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen
        self._questions: dict[int, asyncio.Future[Answer]] = {}
        self._next_ticket = 1
        self._is_closed = False
        self._called_off: set[str] = set()
        self.calls = RunningCalls()
        self._order = CallOrder(screen, self.calls, self._count)
        self._jobs: frozenset[int] = frozenset()
        self._retry: tuple[RetryScheduled, float] | None = None
        self._retry_timer: Timer | None = None
        self.last_answer = ""
        self._answering = ("", "")
        self._turn_began = 0.0
        self.costs = CostBook()

    # --- the person who approves

    async def ask(self, request: ApprovalRequest) -> Answer:
        """Shows the question and waits for the person; cancelling closes it without an answer."""
        await self._screen.make_ready_for(request)
        if self._is_closed:
            return Withdraw(reason="codeagent was closed")
        ticket, self._next_ticket = self._next_ticket, self._next_ticket + 1
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._questions[ticket] = answer
        order, is_anew = self.calls.order_of(request.call_id), request.call_id in self._called_off
        is_early = self.calls.may_ask_before(order)
        self._screen.approval.add(ticket, request, order=order, is_anew=is_anew, is_early=is_early)
        self._screen.call_for_person()
        self._count()
        was_called_off = False
        try:
            return await answer
        except asyncio.CancelledError:
            was_called_off = True
            self._called_off.add(request.call_id)
            raise
        finally:
            del self._questions[ticket]
            self._screen.approval.close_question(ticket, may_return=was_called_off)
            self._count()

    def settle(self, ticket: int, answer: Answer) -> None:
        """Passes on what the person decided; a question that was closed meanwhile stays closed."""
        question = self._questions.get(ticket)
        if question is not None and not question.done():
            question.set_result(answer)

    def refuse(self) -> None:
        """Says no to all that is open."""
        for ticket in list(self._questions):
            self.settle(ticket, Deny())

    def close(self) -> None:
        """The app is being left: nothing that is open, or asked from now on, is allowed."""
        self._is_closed = True
        for ticket in list(self._questions):
            self.settle(ticket, Withdraw(reason="codeagent was closed"))

    # --- the listener

    def emit(self, event: AgentEvent) -> None:
        """Shows one event."""
        self.costs.take(event)
        match event:
            case SessionStarted() | TurnStarted() | ModeChanged() | JobChanged() | NoticeGiven() | TurnEnded():
                self._show_session(event)
            case StepStarted() | TextStreamed() | ThinkingStreamed() | CallStreamed() | ReplyEnded() | RetryScheduled():
                self._show_reply(event)
            case ToolStarted() | ToolPreviewed() | ToolRunning() | ToolProgressed() | ToolEnded():
                self._show_call(event)
            case ApprovalAsked() | ApprovalSettled():
                self._show_call(event)
            case MessageQueued() | MessageDelivered() | MessagesReturned():
                self._show_queue(event)
            case (
                CompactionStarted()
                | HistoryCompacted()
                | PinsChanged()
                | ContextMeasured()
                | UsageReported()
                | ModelChanged()
            ):
                self._show_context(event)
            case ConversationRewound() | ConversationRestored():
                self._show_rewind(event)
            case HistoryAppended() | CheckpointTaken() | SessionNamed():
                pass  # what they hold was shown as it happened, or is not shown here
            case _:
                assert_never(event)

    def _show_session(self, event: _SessionEvent) -> None:
        header, transcript = self._screen.header, self._screen.transcript
        match event:
            case SessionStarted():
                header.show(replace(header.heading, model=event.model, effort=event.effort, mode=event.mode))
                self._show(mode=event.mode)
                self._answering = (event.model, event.effort)
            case TurnStarted():
                self._turn_began = Focus().time
                self._screen.end_greeting()
                transcript.begin_turn(event.turn, event.text)
                self._show(is_working=True, activity="")
            case ModeChanged():
                header.show(replace(header.heading, mode=event.mode))
                self._show(mode=event.mode)
            case JobChanged(job=job):
                self._jobs = self._jobs | {job.number} if job.is_running else self._jobs - {job.number}
                self._show(jobs=len(self._jobs))
                self.calls.on_change()
            case NoticeGiven():
                self._screen.end_greeting()
                transcript.add_note(event.text, event.level)
            case TurnEnded():
                self._end_turn(event)
            case _:
                assert_never(event)

    def _show_context(self, event: _ContextEvent) -> None:
        header = self._screen.header
        match event:
            case CompactionStarted():
                self._show(activity="compacting")
            case HistoryCompacted():
                self._screen.end_greeting()
                self._screen.transcript.compacted(event)
                self._show(context=share(event.after, event.window), activity="")
            case PinsChanged(pins=pins):
                self._screen.end_greeting()
                named = ", ".join(pin.label for pin in pins)
                self._screen.transcript.add_note(f"Stays word for word: {named}" if pins else "Nothing is pinned now.")
            case ContextMeasured():
                self._show(context=share(event.tokens, event.window))
            case UsageReported():
                self._show(context=filled(event), cost=event.cost, unpriced=event.unpriced)
            case ModelChanged():
                header.show(replace(header.heading, model=event.model, effort=event.effort))
                if not self._screen.status.status.activity:  # else a reply of the one before comes in
                    self._tell_model()
            case _:
                assert_never(event)

    def _show_rewind(self, event: ConversationRewound | ConversationRestored) -> None:
        note = rewind_note(event)
        if isinstance(event, ConversationRewound):
            self._screen.transcript.rewind(event.turn, note)
        else:
            self._screen.transcript.restore(note)

    def _show_reply(self, event: _ReplyEvent) -> None:
        transcript = self._screen.transcript
        match event:
            case StepStarted():
                self._end_retry()
                self._show(is_working=True, activity="thinking")
            case TextStreamed():
                transcript.stream_text(event.text)
                self._show(activity="writing")
            case ThinkingStreamed():
                transcript.stream_thinking(event.text)
                self._show(activity="thinking")
            case CallStreamed():
                self._show(activity=f"preparing {clean(event.name)}")
            case ReplyEnded():
                transcript.end_text(discarded=event.discarded)
                self._tell_model()
                self._show(activity="")
            case RetryScheduled():
                self._start_retry(event)
            case _:
                assert_never(event)

    def _show_call(self, event: CallEvent) -> None:
        transcript = self._screen.transcript
        if isinstance(event, ToolEnded):
            call_id, outcome = event.result.call_id, event.result.outcome
            self._screen.approval.end_call(call_id, is_done=outcome is Outcome.OK or self.calls.has_run(call_id))
        self.calls.take(event)
        match event:
            case ToolStarted():
                transcript.tool_started(event.call_id, event.name, event.arguments_json)
            case ToolPreviewed():
                transcript.tool_previewed(event.call_id, event.preview, event.label)
            case ToolRunning():
                transcript.tool_running(event.call_id)
            case ToolProgressed():
                transcript.tool_progressed(event.call_id, event.text)
            case ToolEnded():
                transcript.tool_ended(event.result, event.seconds)
            case ApprovalAsked():
                transcript.tool_asked(event.request.call_id)
            case ApprovalSettled(call_id=call_id, answer=answer):
                transcript.tool_settled(call_id)
                if isinstance(answer, Deny):
                    transcript.tool_denied(call_id, answer.feedback)
            case _:
                assert_never(event)
        self._count()

    def _show_queue(self, event: _QueueEvent) -> None:
        queue = self._screen.queue_lines
        match event:
            case MessageQueued():
                queue.add(
                    Queued(
                        message_id=event.message_id,
                        text=event.text,
                        delivery=event.delivery,
                        waits_for=event.waits_for,
                    )
                )
            case MessageDelivered():
                queue.drop(event.message_id)
                self._screen.transcript.add_user(event.text, note=f"seen before step {event.step}")
            case MessagesReturned():
                # text comes back once: whoever took a message back a moment ago has it already
                is_known = any(one.message_id in event.message_ids for one in queue.queued)
                for message_id in event.message_ids:
                    queue.drop(message_id)
                if is_known or not event.message_ids:
                    self._screen.prompt.give_back_unasked(event.text)
            case _:
                assert_never(event)

    def replay(self, past: Sequence[AgentEvent], times: Sequence[str] = ()) -> None:
        """Shows the events of a resumed session, which happened at ``times``, then where things stand now."""
        if not past:
            return
        self._screen.end_greeting()
        self._screen.transcript.load(past, times)
        for event in past:
            if not isinstance(event, SessionStarted | ModelChanged):
                self.costs.take(event)
            match event:
                case HistoryCompacted(after=tokens, window=window):
                    self._show(context=share(tokens, window))
                case UsageReported():
                    self._show(context=filled(event), cost=event.cost, unpriced=event.unpriced)
                case _:
                    pass

    def look_at(self, event: int, words: str) -> None:
        """Goes to where an event of a resumed session is shown, counted from 0, and marks the words there."""
        self._screen.call_after_refresh(self._screen.transcript.look_at, event, words)

    def start_over(self) -> None:
        """Another session is shown from now on: nothing of the one before stays on the screen."""
        for ticket in list(self._questions):
            self.settle(ticket, Withdraw(reason="another session was opened"))
        self._end_retry()
        self.calls.clear()
        self._jobs = frozenset()
        self.last_answer = ""
        self.costs = CostBook()
        self._screen.start_over()
        self._show(
            context=None,
            cost=None,
            unpriced=(),
            is_working=False,
            is_stopping=False,
            activity="",
            running=0,
            jobs=0,
            below=0,
        )

    def show_workspace(self, status: WorkspaceStatus) -> None:
        """Shows branch and sandbox as they were just read."""
        header = self._screen.header
        heading = replace(header.heading, branch=status.branch, is_dirty=status.is_dirty)
        header.show(replace(heading, sandbox=status.sandbox, held=status.held))
        self._show(sandbox=status.sandbox)

    # --- inside

    def _show(self, **changes: object) -> None:
        self._screen.status.show(replace(self._screen.status.status, **changes))

    def _count(self) -> None:
        self._order.look()
        self._show(
            running=self.calls.count,
            waiting=self._screen.approval.waiting,
            words_stop_command=self.calls.words_stop_command,
        )

    def _tell_model(self) -> None:
        """Which model answers from here on is told where there is something above it."""
        heading = self._screen.header.heading
        before, self._answering = self._answering, (heading.model, heading.effort)
        if len(self._screen.transcript.column) and (note := model_note(before, self._answering)):
            self._screen.transcript.add_note(note)

    def _end_turn(self, event: TurnEnded) -> None:
        transcript = self._screen.transcript
        self._end_retry()
        self._screen.approval.end_calls()
        transcript.end_text()
        self._tell_model()
        if event.reason is TurnEnd.DONE and event.text:
            self.last_answer = event.text
        if (note := end_note(event.reason, event.text)) is not None:
            transcript.add_note(*note)
        self.calls.clear()
        self._show(is_working=False, is_stopping=False, activity="", running=0, words_stop_command=False)
        self._screen.call_for_person(Focus().time - self._turn_began)

    def _start_retry(self, event: RetryScheduled) -> None:
        self._end_retry()
        self._retry = (event, monotonic() + event.seconds)
        self._retry_timer = self._screen.set_interval(1.0, self._tick_retry)
        self._tick_retry()

    def _tick_retry(self) -> None:
        if self._retry is None:
            return
        event, until = self._retry
        left = max(round(until - monotonic()), 0)
        text = f"{event.reason} Trying again in {left} s ({event.attempt} of {event.attempts})."
        self._screen.transcript.set_countdown(text)
        self._show(activity=f"again in {left} s")

    def _end_retry(self) -> None:
        if self._retry_timer is not None:
            self._retry_timer.stop()
            self._retry_timer = self._retry = None
            self._screen.transcript.set_countdown(None)
