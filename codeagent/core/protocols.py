"""The contracts between the rooms: what each part must offer, and may expect of the others."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, Protocol, Self, TypeVar, runtime_checkable

from codeagent.core.approvals import Preview, Touch
from codeagent.core.events import AgentEvent, Progress
from codeagent.core.messages import AssistantMessage, Message, ToolCall, ToolResult, Usage
from codeagent.core.values import value

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


@value
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
        """Does exactly what the preview shows; raises ToolErrors, StaleFile where a file is not what was shown."""
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


@value
class Offer:
    """What may follow a run when the person wants it; ``what`` completes "it was not …"."""

    plan: Plan
    what: str


@runtime_checkable
class Offers(Protocol):
    """A plan whose run can end in an offer: to run a command without the sandbox, to undo what it did."""

    def offer(self, result: ToolResult) -> Offer | None:
        """What is offered after a run that came to ``result``; it is judged and asked about like any plan."""
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

    async def dropped(self, call: ToolCall) -> str:
        """What a run without a result (stopped, stale, a fault) did until then, or ""; what ended it goes on."""
        ...


class Cover(Protocol):
    """What undo would bring back, as the gate needs to know it."""

    def gap(self, paths: Sequence[Path]) -> str:
        """Why undo would not bring back everything at and below ``paths``, or an empty string when it would."""
        ...

    def promise(self, call_id: str) -> None:
        """Says that a call is let through for that reason: without a checkpoint it must not run."""


# --- locks -------------------------------------------------------------------------------------


class Reservation(Protocol):
    """A place in the queue for some touches; enter it to wait, leave it to give the locks back."""

    @property
    def is_waiting(self) -> bool:
        """Whether an earlier reservation still stands in the way."""
        ...

    def abandon(self) -> None:
        """Gives the place back, entered or not; twice is harmless."""

    async def __aenter__(self) -> Self: ...
    async def __aexit__(self, *exc_info: object) -> None: ...


class Locks(Protocol):
    """Fair read/write locks: a reservation waits for every earlier one that conflicts."""

    def reserve(self, touches: Sequence[Touch]) -> Reservation:
        """Takes a place in the queue now; the order of calls is the order of service."""
        ...


# --- the gate ----------------------------------------------------------------------------------


@value
class Allowed:
    """The call may run as ``plan``.

    ``note`` tells the model what a person changed; ``was_asked`` says that a person said yes.
    """

    plan: Plan
    note: str = ""
    was_asked: bool = False


@value
class Denied:
    """The call may not run; ``reason`` is for the model, ``feedback`` is what the person typed."""

    reason: str
    feedback: str = ""


class Gate(Protocol):
    """Decides one call, asking a person where that is needed."""

    async def check(self, call: ToolCall, plan: Plan) -> Allowed | Denied:
        """The decision. Cancelling it withdraws the question."""
        ...


# --- the model ---------------------------------------------------------------------------------


@value
class ToolSpec:
    """A tool as the model is told of it."""

    name: str
    description: str
    schema_json: str


@value
class ModelRequest:
    """One request with the whole history. ``max_tokens`` None: as the provider likes; ``is_last``: no try follows."""

    system: str
    messages: Sequence[Message]
    tools: tuple[ToolSpec, ...]
    max_tokens: int | None = None
    affordable: int | None = None
    """The most tokens of a reply that may be paid for."""
    is_last: bool = False


@value
class TextPiece:
    """More text of the reply."""

    kind: Literal["text"] = "text"
    text: str


@value
class ThinkingPiece:
    """More of the model's thinking; empty text says only that the model is at work."""

    kind: Literal["thinking"] = "thinking"
    text: str


@value
class CallPiece:
    """More of a tool call's arguments; ``size`` is their length so far in characters."""

    kind: Literal["call"] = "call"
    name: str
    size: int


@value
class NoticePiece:
    """A sentence for the person about how the model had to be asked."""

    kind: Literal["notice"] = "notice"
    text: str


@value
class UsagePiece:
    """What the service has counted of this reply so far, which is owed even when the reply never ends."""

    kind: Literal["usage"] = "usage"
    usage: Usage


@value
class ReplyFinished:
    """The reply is whole; always the last event, and missing when the stream broke off."""

    kind: Literal["finished"] = "finished"
    message: AssistantMessage


ModelEvent = TextPiece | ThinkingPiece | CallPiece | NoticePiece | UsagePiece | ReplyFinished


class Provider(Protocol):
    """A model that answers."""

    @property
    def model(self) -> str:
        """Its name in the form that ``--model`` takes."""
        ...

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Streams one reply; raises ProviderErrors. Closing the iterator ends the request."""
        ...

    async def aclose(self) -> None:
        """Closes the connections that are kept for the next request."""


class Ledger(Protocol):
    """Knows what models cost."""

    def window(self, model: str) -> int | None:
        """The context window in tokens, None when unknown."""
        ...

    def output(self, model: str) -> int | None:
        """The most tokens that a reply can have, None when unknown."""
        ...

    def cost(self, message: AssistantMessage) -> float | None:
        """What the reply cost in US dollars, None when the price is unknown."""
        ...

    def is_priced(self, model: str) -> bool:
        """Whether the model's price is known before it is asked."""
        ...


# --- the journal -------------------------------------------------------------------------------


class Journal(Protocol):
    """The lasting record of one session."""

    async def append(self, event: AgentEvent) -> None:
        """Returns when the event is written; raises JournalError."""

    def note(self, event: AgentEvent) -> None:
        """Keeps an event that may be lost in a crash; written with the next append."""
