"""Everything the agent tells its listeners, as one closed union.

The screen is a pure function of these events, which hold only plain values. Listeners may rely on:

* exactly one ``ToolStarted`` and one ``ToolEnded`` for each call id, on every
  way out, also for calls that never ran;
* for one call: started < previewed < asked < settled < running < progressed < ended;
  what lies between may be missing, and repeats when the plan changed or a run ends in an offer;
* nothing of a turn comes after its ``TurnEnded`` (background jobs belong to none);
* results enter the history in call order, whatever order the tools end in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from enum import StrEnum
from typing import Literal

from codeagent.core.approvals import Answer, ApprovalRequest, Mode, Preview
from codeagent.core.archive import SessionNamed
from codeagent.core.context import CompactionStarted, HistoryCompacted, PinsChanged
from codeagent.core.jobs import Job
from codeagent.core.messages import Message, ToolResult, Unpriced, Usage
from codeagent.core.values import value


class TurnEnd(StrEnum):
    """Why a turn is over."""

    DONE = "done"
    CANCELLED = "cancelled"
    STEP_LIMIT = "step_limit"
    BUDGET = "budget"
    REFUSED = "refused"
    ERROR = "error"


REFUSED = "The model refused to go on. Say it in other words, or choose another model."
"""What a person is told at such an end; the text of the end is what the model said itself, perhaps nothing."""


class Delivery(StrEnum):
    """When a message typed during a turn should reach the model."""

    STEER = "steer"
    FOLLOW_UP = "follow_up"


class Level(StrEnum):
    """How much a notice matters."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@value
class SessionStarted:
    """A session was opened, new or resumed; ``cwd`` is the workspace root.

    ``address`` is where the model answers, where that is not its service's own place: a server, or a script's file.
    """

    kind: Literal["session_started"] = "session_started"
    session_id: str
    model: str
    mode: Mode
    cwd: str
    started_at: str = ""
    effort: str = ""
    address: str = ""


@value
class TurnStarted:
    """The person's message was taken up; turns count from 1."""

    kind: Literal["turn_started"] = "turn_started"
    turn: int
    text: str


@value
class StepStarted:
    """One model request goes out; steps count from 1 in each turn."""

    kind: Literal["step_started"] = "step_started"
    turn: int
    step: int


@value
class TextStreamed:
    """A piece of the reply's text arrived."""

    kind: Literal["text_delta"] = "text_delta"
    text: str


@value
class ThinkingStreamed:
    """A piece of the model's thinking arrived."""

    kind: Literal["thinking_delta"] = "thinking_delta"
    text: str


@value
class CallStreamed:
    """The model is writing a tool call; ``size`` is its length in characters so far."""

    kind: Literal["call_delta"] = "call_delta"
    name: str
    size: int


@value
class ReplyEnded:
    """The reply being streamed is over; ``discarded`` means a retry will write it anew."""

    kind: Literal["reply_ended"] = "reply_ended"
    discarded: bool = False


@value
class RetryScheduled:
    """The model service failed; it is asked again in ``seconds``."""

    kind: Literal["retry_scheduled"] = "retry_scheduled"
    attempt: int
    attempts: int
    seconds: float
    reason: str


@value
class ToolStarted:
    """The agent takes up a call; ``arguments_json`` is the model's own text."""

    kind: Literal["tool_started"] = "tool_started"
    call_id: str
    name: str
    arguments_json: str


@value
class ToolPreviewed:
    """What the call would do is known; ``label`` names its object, such as a path."""

    kind: Literal["tool_previewed"] = "tool_previewed"
    call_id: str
    preview: Preview
    label: str = ""


@value
class ToolRunning:
    """The call has its turn and its clock starts; until then it was prepared, asked about, or waited.

    A call that ``makes_way`` is ended by new words of the person.
    """

    kind: Literal["tool_running"] = "tool_running"
    call_id: str
    makes_way: bool = False


@value
class ToolProgressed:
    """A running tool has something to show; ``text`` is added to what it showed before."""

    kind: Literal["tool_progressed"] = "tool_progressed"
    call_id: str
    text: str


@value
class ToolEnded:
    """The call is over; ``seconds`` counts its running time without any waiting for a person."""

    kind: Literal["tool_ended"] = "tool_ended"
    result: ToolResult
    seconds: float = 0.0


@value
class ApprovalAsked:
    """A person must decide about a call."""

    kind: Literal["approval_asked"] = "approval_asked"
    request: ApprovalRequest


@value
class ApprovalSettled:
    """A call's question is closed: answered, or withdrawn because its plan changed or the turn ended."""

    kind: Literal["approval_settled"] = "approval_settled"
    call_id: str
    answer: Answer


@value
class MessageQueued:
    """The person typed a message during the turn; ``waits_for`` says in words what it waits for."""

    kind: Literal["message_queued"] = "message_queued"
    message_id: str
    text: str
    delivery: Delivery
    waits_for: str


@value
class MessageDelivered:
    """A queued message goes to the model with the next request, which is step ``step``."""

    kind: Literal["message_delivered"] = "message_delivered"
    message_id: str
    text: str
    delivery: Delivery
    step: int


@value
class MessagesReturned:
    """Messages were given back to the prompt, undelivered, oldest first; without ids, the one that began the turn."""

    kind: Literal["messages_returned"] = "messages_returned"
    message_ids: tuple[str, ...]
    text: str


@value
class HistoryAppended:
    """A message became part of the history."""

    kind: Literal["history_appended"] = "history_appended"
    message: Message


@value
class ContextMeasured:
    """How many tokens the next request is expected to have; an estimate between two counts of the provider."""

    kind: Literal["context_measured"] = "context_measured"
    tokens: int
    window: int | None = None


@value
class UsageReported:
    """The provider counted a request; ``cost`` of the session so far in US dollars, None when nothing had a price.

    ``unpriced`` is what the cost does not hold. ``context`` is how many tokens of the window are filled now.
    """

    kind: Literal["usage_reported"] = "usage_reported"
    usage: Usage
    window: int | None = None
    cost: float | None = None
    context: int | None = None
    unpriced: tuple[Unpriced, ...] = ()


@value
class ModelChanged:
    """Another model answers from now on, or thinks with another effort; empty leaves that to the model.

    ``address`` is where it answers, where that is not its service's own place: a server, or a script's file.
    """

    kind: Literal["model_changed"] = "model_changed"
    model: str
    effort: str = ""
    address: str = ""


@value
class CheckpointTaken:
    """The workspace was saved before a change; ``checkpoint`` names it."""

    kind: Literal["checkpoint_taken"] = "checkpoint_taken"
    checkpoint: str
    before_call: str = ""


@value
class ConversationRewound:
    """The conversation goes on from before ``turn``; what was said since is out of it."""

    kind: Literal["conversation_rewound"] = "conversation_rewound"
    turn: int


@value
class ConversationRestored:
    """The last rewind of the conversation was taken back."""

    kind: Literal["conversation_restored"] = "conversation_restored"
    turn: int


@value
class ModeChanged:
    """The permission mode is another one from now on."""

    kind: Literal["mode_changed"] = "mode_changed"
    mode: Mode


@value
class JobChanged:
    """A background job was started or is over; it belongs to no turn."""

    kind: Literal["job_changed"] = "job_changed"
    job: Job


@value
class NoticeGiven:
    """Something the person should know that belongs to no call."""

    kind: Literal["notice"] = "notice"
    text: str
    level: Level = Level.INFO


@value
class TurnEnded:
    """The turn is over; ``text`` is the final answer or refusal, or what went wrong when the reason is an error.

    ``cost`` in US dollars is None when nothing in it had a price; ``unpriced`` is what it does not hold.
    """

    kind: Literal["turn_ended"] = "turn_ended"
    turn: int
    reason: TurnEnd
    text: str
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None
    denials: tuple[str, ...] = ()
    unpriced: tuple[Unpriced, ...] = ()


AgentEvent = (
    SessionStarted
    | SessionNamed
    | TurnStarted
    | StepStarted
    | TextStreamed
    | ThinkingStreamed
    | CallStreamed
    | ReplyEnded
    | RetryScheduled
    | ToolStarted
    | ToolPreviewed
    | ToolRunning
    | ToolProgressed
    | ToolEnded
    | ApprovalAsked
    | ApprovalSettled
    | MessageQueued
    | MessageDelivered
    | MessagesReturned
    | HistoryAppended
    | CompactionStarted
    | HistoryCompacted
    | PinsChanged
    | ContextMeasured
    | UsageReported
    | ModelChanged
    | CheckpointTaken
    | ConversationRewound
    | ConversationRestored
    | ModeChanged
    | JobChanged
    | NoticeGiven
    | TurnEnded
)

Emit = Callable[[AgentEvent], None]
"""Tells every listener; synchronous, never blocks, loses nothing."""

Progress = Callable[[str], None]
"""Shows more of a running tool's output."""
