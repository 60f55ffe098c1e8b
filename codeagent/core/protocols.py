"""The contracts between the rooms: what each part must offer, and may expect of the others."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, Protocol, Self, TypeVar, runtime_checkable

from codeagent.core.approvals import Answer, ApprovalRequest, Mode, Preview, Scope, Touch, Verdict
from codeagent.core.events import AgentEvent, TurnEnded
from codeagent.core.messages import AssistantMessage, ImageBlock, Message, ToolCall, ToolResult

JsonValue = None | bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"]
JsonObject = dict[str, JsonValue]

Emit = Callable[[AgentEvent], None]
"""Tells every listener; synchronous, never blocks, loses nothing."""

Progress = Callable[[str], None]
"""Shows more of what a running tool has put out."""


# --- tools -------------------------------------------------------------------------------------


class ArgumentsModel(Protocol):
    """The part of a pydantic model class that the pipeline needs."""

    @classmethod
    def model_validate(cls, obj: object) -> Self:
        """Builds the arguments; raises pydantic's ValidationError."""
        ...

    @classmethod
    def model_validate_json(cls, json_data: str, *, strict: bool | None = None) -> Self:
        """Builds the arguments from JSON, when ``strict`` without changing any value's type; raises ValidationError."""
        ...

    @classmethod
    def model_json_schema(cls) -> dict[str, object]:
        """The JSON schema the model is told: one flat object."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """Which call a plan is made for."""

    call_id: str


class Plan(Protocol):
    """What one call would do, worked out but not done. What was shown is what is carried out."""

    @property
    def preview(self) -> Preview:
        """What a person is shown."""
        ...

    @property
    def touches(self) -> tuple[Touch, ...]:
        """What it reads and changes; at most what the tool said before."""
        ...

    async def run(self, progress: Progress) -> ToolResult:
        """Does exactly what the preview shows.

        Raises StaleFile, having changed nothing, when a file is no longer what
        the preview was made from, and other ToolErrors.
        """
        ...

    async def is_stale(self) -> bool:
        """Whether something it was made from changed meanwhile."""
        ...

    async def rebuilt(self) -> Plan:
        """The same call planned on what is there now; raises a ToolError when that cannot be."""
        ...

    def narrowed(self, hunks: frozenset[int]) -> Plan:
        """Only the given hunks of a diff preview; raises PlanFixed where there are none."""
        ...

    async def edited(self, text: str) -> Plan:
        """The plan with the person's own proposal (file text or command); raises PlanFixed."""
        ...


Arguments_contra = TypeVar("Arguments_contra", contravariant=True)


class Tool(Protocol[Arguments_contra]):
    """Something the model can ask for; its arguments are a pydantic model: a flat object."""

    @property
    def name(self) -> str:
        """The name the model calls it by."""
        ...

    @property
    def description(self) -> str:
        """What the model is told it does."""
        ...

    @property
    def Arguments(self) -> type[ArgumentsModel]:  # noqa: N802 - a class, held by the tool
        """The class its arguments are checked against."""
        ...

    def touches(self, arguments: Arguments_contra, context: ToolContext) -> tuple[Touch, ...]:
        """What the call would read and change; cheap, before any lock; raises PathRefused."""
        ...

    async def plan(self, arguments: Arguments_contra, context: ToolContext) -> Plan:
        """Works out what would be done; raises a ToolError when it can not be."""
        ...


AnyTool = Tool[Any]
"""A tool whose arguments were made by its own ``Arguments``: the one place where the pair is not typed."""


class Interruption(StrEnum):
    """What may happen to a running call when the person steers."""

    CANCEL = "cancel"
    BLOCK = "block"


@runtime_checkable
class Labels(Protocol):
    """A tool that can name a call's object in a few words; default: its first argument."""

    def label(self, arguments: object) -> str:
        """A path, pattern or command."""
        ...


@runtime_checkable
class ReadOnly(Protocol):
    """A tool of which some calls change nothing; default: every call may."""

    def is_read_only(self, arguments: object) -> bool:
        """True only when the call surely changes nothing."""
        ...


@runtime_checkable
class ConcurrencySafe(Protocol):
    """A tool whose calls may run beside others within their touches; wins over ReadOnly."""

    def is_concurrency_safe(self, arguments: object) -> bool:
        """True when the touches say all there is to say."""
        ...


@runtime_checkable
class Interruptible(Protocol):
    """A tool that says whether steering may cancel a running call; default: block."""

    def interruption(self, arguments: object) -> Interruption:
        """What steering does to this call."""
        ...


@runtime_checkable
class HasTimeout(Protocol):
    """A tool with a time limit of its own; default 60 seconds."""

    def timeout(self, arguments: object) -> float | None:
        """Seconds, or None when the tool ends its calls itself."""
        ...


class ToolBox(Protocol):
    """The tools there are, in one stable order."""

    def find(self, name: str) -> AnyTool:
        """The tool of that name; raises UnknownTool naming those there are."""
        ...

    def specs(self) -> tuple[ToolSpec, ...]:
        """What the model is told about them."""
        ...


class Hook(Protocol):
    """Middleware around a run: a plain onion, the first one outermost."""

    async def before(self, call: ToolCall, plan: Plan) -> str:
        """A reason to deny the call, or an empty string. It can not allow what the gate denied."""
        ...

    async def after(self, call: ToolCall, result: ToolResult) -> ToolResult:
        """The result as it is, or another one in its place."""
        ...


# --- locks -------------------------------------------------------------------------------------


class Reservation(Protocol):
    """A place in the queue for some touches; enter it to wait, leave it to give the locks back."""

    async def __aenter__(self) -> Self: ...
    async def __aexit__(self, *exc_info: object) -> None: ...


class Locks(Protocol):
    """Fair read/write locks: a reservation waits for every earlier one that conflicts."""

    def reserve(self, touches: Sequence[Touch]) -> Reservation:
        """Takes a place in the queue now; the order of calls is the order of service."""
        ...


# --- the gate ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """The call may run as ``plan``.

    ``note`` tells the model what a person changed; ``was_asked`` says that a person said yes.
    """

    plan: Plan
    note: str = ""
    was_asked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Denied:
    """The call may not run; ``reason`` is for the model, ``feedback`` is what the person typed."""

    reason: str
    feedback: str = ""


class Gate(Protocol):
    """Decides one call, asking a person where that is needed."""

    async def check(self, call: ToolCall, plan: Plan) -> Allowed | Denied:
        """The decision. Cancelling it withdraws the question."""
        ...


class Approver(Protocol):
    """A person, or what stands for one."""

    async def ask(self, request: ApprovalRequest) -> Answer:
        """Waits for the answer. Cancelling it closes the question without one."""
        ...


# --- the model ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as the model is told of it."""

    name: str
    description: str
    schema_json: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One request; ``messages`` is the whole history. ``max_tokens`` None leaves it to the provider."""

    system: str
    messages: Sequence[Message]
    tools: tuple[ToolSpec, ...]
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPiece:
    """More text of the reply."""

    kind: Literal["text"] = "text"
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingPiece:
    """More of the model's thinking; empty text says only that the model is at work."""

    kind: Literal["thinking"] = "thinking"
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPiece:
    """More of a tool call's arguments; ``size`` is their length so far in characters."""

    kind: Literal["call"] = "call"
    name: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyFinished:
    """The reply is whole; always the last event, and missing when the stream broke off."""

    kind: Literal["finished"] = "finished"
    message: AssistantMessage


ModelEvent = TextPiece | ThinkingPiece | CallPiece | ReplyFinished


class Provider(Protocol):
    """A model that answers."""

    @property
    def model(self) -> str:
        """Its name in the form that ``--model`` takes."""
        ...

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Streams one reply; raises ProviderErrors. Closing the iterator ends the request."""
        ...


class Ledger(Protocol):
    """Knows what models cost."""

    def window(self, model: str) -> int | None:
        """The context window in tokens, None when unknown."""
        ...

    def cost(self, message: AssistantMessage) -> float | None:
        """What the reply cost in US dollars, None when the price is unknown."""
        ...


# --- the journal -------------------------------------------------------------------------------


class Journal(Protocol):
    """The lasting record of one session."""

    async def append(self, event: AgentEvent) -> None:
        """Returns when the event is written; raises JournalError."""
        ...

    def note(self, event: AgentEvent) -> None:
        """Keeps an event that may be lost in a crash; written with the next append."""
        ...


# --- the session as a screen sees it -----------------------------------------------------------


class Conversation(Protocol):
    """A session to talk to; everything that happens comes out as events."""

    @property
    def session_id(self) -> str:
        """The id that ``--resume`` takes."""
        ...

    @property
    def is_running(self) -> bool:
        """Whether a turn is under way."""
        ...

    async def send(self, text: str, images: tuple[ImageBlock, ...] = ()) -> TurnEnded:
        """Runs one turn to its end; raises SessionBusy while another is under way."""
        ...

    def steer(self, text: str) -> str:
        """Says something as soon as the running tools allow; returns the message's id."""
        ...

    def follow_up(self, text: str) -> str:
        """Says something when the model has stopped calling tools; returns the message's id."""
        ...

    def take_back(self, message_id: str) -> str | None:
        """Takes a queued message out again; its text, or None when it is already on its way."""
        ...

    async def cancel(self) -> None:
        """Stops the turn and returns when it has ended; queued messages are given back as an event."""
        ...


class CheckState(StrEnum):
    """How one thing that doctor looks at is doing."""

    GOOD = "good"
    LIMITED = "limited"
    MISSING = "missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One finding of doctor; ``remedy`` says how to mend it."""

    name: str
    state: CheckState
    finding: str
    remedy: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceStatus:
    """What the top and status lines show of the workspace; ``sandbox`` is empty when commands are confined."""

    root: Path
    branch: str = ""
    is_dirty: bool = False
    sandbox: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRule:
    """A permission rule in force, and where it comes from."""

    decision: str
    rule: str
    source: str
    scope: Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSummary:
    """A stored session; ``updated_at`` is ISO 8601 in UTC."""

    session_id: str
    title: str
    updated_at: str
    turns: int
    model: str


class Workbench(Protocol):
    """What screens need beyond the conversation; filled by wiring."""

    async def status(self) -> WorkspaceStatus:
        """Branch, dirt and sandbox, read now."""
        ...

    def mode(self) -> Mode:
        """The permission mode in force."""
        ...

    def set_mode(self, mode: Mode) -> None:
        """Changes it; told to listeners as ModeChanged."""
        ...

    async def files(self, query: str, limit: int) -> tuple[str, ...]:
        """Workspace files whose path fits the query, best first, ignored ones left out."""
        ...

    def rules(self) -> tuple[StoredRule, ...]:
        """Every permission rule and grant in force."""
        ...

    def explain(self, command: str) -> Verdict:
        """What the gate would say to a shell command now."""
        ...

    async def run_command(self, command: str, progress: Progress) -> ToolResult:
        """Runs the person's own shell command; the model sees it with the next message."""
        ...

    def sessions(self) -> tuple[SessionSummary, ...]:
        """The stored sessions of this workspace, newest first."""
        ...

    async def doctor(self) -> tuple[Check, ...]:
        """Looks at terminal, key, model, git, ripgrep and sandbox."""
        ...

    def history(self) -> tuple[str, ...]:
        """What was typed in this workspace before, oldest first."""
        ...

    def remember(self, text: str) -> None:
        """Adds to that history."""
        ...

    def save_draft(self, text: str) -> None:
        """Keeps an unsent prompt so that a crash does not lose it."""
        ...

    def draft(self) -> str:
        """The unsent prompt that was kept."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """All that a screen works with: the session, the workbench, and the events of a resumed session.

    ``close`` gives everything back when the program ends: record, processes, locks.
    """

    conversation: Conversation
    workbench: Workbench
    past: tuple[AgentEvent, ...] = ()
    close: Callable[[], None] = lambda: None


Connect = Callable[[Emit, Approver], Awaitable[Desk]]
"""Opens the session once the screen stands; raises NoModel and other ConfigErrors."""
