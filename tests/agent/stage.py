"""A model that plays what a test wrote, tools that do real things, and a session to put them in."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from codeagent.agent.limits import Limits
from codeagent.agent.session import Before, Session
from codeagent.agent.summaries import Judges
from codeagent.core.approvals import (
    Access,
    Answer,
    ApprovalRequest,
    Approve,
    CommandPreview,
    Decision,
    Deny,
    DiffPreview,
    NoPreview,
    Preview,
    Touch,
    Verdict,
    Withdraw,
)
from codeagent.core.diff import make_diff
from codeagent.core.errors import FileProblem, JournalError, PlanFixed, StaleFile
from codeagent.core.events import (
    AgentEvent,
    ApprovalAsked,
    ApprovalSettled,
    Emit,
    Progress,
    ToolEnded,
    ToolPreviewed,
    ToolProgressed,
    ToolRunning,
    ToolStarted,
    TurnEnded,
)
from codeagent.core.messages import (
    AssistantBlock,
    AssistantMessage,
    Message,
    ResultsMessage,
    StopReason,
    TextBlock,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)
from codeagent.core.protocols import (
    Allowed,
    CallPiece,
    Denied,
    Gate,
    Hook,
    Interruption,
    Journal,
    ModelEvent,
    ModelRequest,
    Plan,
    ReplyFinished,
    TextPiece,
    ToolContext,
)
from codeagent.tools.registry import Registry
from codeagent.workspace.locks import LockTable

FAST = Limits(retry_seconds=0.001, retries=3)


# --- the model -----------------------------------------------------------------------------------


def call(call_id: str, name: str, raw: str | None = None, /, **arguments: object) -> ToolCall:
    return ToolCall(id=call_id, name=name, arguments_json=json.dumps(arguments) if raw is None else raw)


def reply(text: str = "", *calls: ToolCall, stop: StopReason | None = None, usage: Usage | None = None):
    blocks: tuple[AssistantBlock, ...] = (*((TextBlock(text=text),) if text else ()), *calls)
    reason = stop or (StopReason.TOOL_USE if calls else StopReason.END_TURN)
    return AssistantMessage(blocks=blocks, stop=reason, model="played/one", usage=usage or Usage(output_tokens=1))


Script = Callable[[ModelRequest], AsyncGenerator[ModelEvent, None]]


class Model:
    """Plays replies, raises errors, or streams by a script; refuses a history that no service would take."""

    model = "played/one"

    def __init__(self, *steps: AssistantMessage | Exception | Script) -> None:
        self.steps = list(steps)
        self.requests: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        self.requests.append(request)
        assert_valid(request.messages)
        step = self.steps.pop(0) if self.steps else reply("That is all.")
        if isinstance(step, Exception):
            raise step
        if callable(step):
            async with contextlib.aclosing(step(request)) as events:
                async for event in events:
                    yield event
            return
        if step.text:
            yield TextPiece(text=step.text)
        for one in step.calls:
            yield CallPiece(name=one.name, size=len(one.arguments_json))
        yield ReplyFinished(message=step)


def assert_valid(messages: Sequence[Message]) -> None:
    """Every call has exactly one result, in order, directly after; ids are used once; nothing is empty."""
    assert messages
    assert isinstance(messages[0], UserMessage)
    assert not isinstance(messages[-1], AssistantMessage)
    seen: set[str] = set()
    for before, message in zip([None, *messages], [*messages, None], strict=True):
        calls = before.calls if isinstance(before, AssistantMessage) else ()
        if calls or isinstance(message, ResultsMessage):
            assert isinstance(message, ResultsMessage)
            assert [result.call_id for result in message.results] == [one.id for one in calls]
            assert all(result.blocks for result in message.results)
        for one in calls:
            assert one.id
            assert one.id not in seen
            seen.add(one.id)
        if isinstance(message, (UserMessage, AssistantMessage)):
            assert message.blocks
            assert all(block.text.strip() for block in message.blocks if isinstance(block, TextBlock))


# --- tools ---------------------------------------------------------------------------------------


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")


class PathArguments(Closed):
    path: str


class WriteArguments(Closed):
    path: str
    content: str


class ShellArguments(Closed):
    command: str


class ProbeArguments(Closed):
    say: str = ""


def said(call_id: str, text: str) -> ToolResult:
    return ToolResult(call_id=call_id, blocks=(TextBlock(text=text),))


@dataclass
class FixedPlan:
    """A plan that can only be run."""

    touches: tuple[Touch, ...]
    action: Callable[[Progress], Awaitable[ToolResult]]
    preview: Preview = field(default_factory=NoPreview)

    async def run(self, progress: Progress) -> ToolResult:
        return await self.action(progress)

    async def is_stale(self) -> bool:
        return False

    async def rebuilt(self) -> Plan:
        return self

    def narrowed(self, hunks: frozenset[int]) -> Plan:
        raise PlanFixed("fixed")

    async def edited(self, text: str) -> Plan:
        raise PlanFixed("fixed")


@dataclass
class WritePlan:
    """Writes a file in a thread; ``seconds`` makes the writing slow."""

    path: Path
    before: str | None
    after: str
    call_id: str
    seconds: float = 0.0

    @property
    def touches(self) -> tuple[Touch, ...]:
        return (Touch(path=self.path, access=Access.WRITE),)

    @property
    def preview(self) -> Preview:
        return DiffPreview(diff=make_diff(self.path.name, self.before, self.after), proposal=self.after)

    async def run(self, progress: Progress) -> ToolResult:
        await asyncio.to_thread(self._write)
        progress("written")
        return said(self.call_id, f"wrote {self.path.name}")

    def _write(self) -> None:
        if content_of(self.path) != self.before:
            raise StaleFile(f"{self.path.name} changed.")
        threading.Event().wait(self.seconds)
        self.path.write_text(self.after)

    async def is_stale(self) -> bool:
        return await asyncio.to_thread(content_of, self.path) != self.before

    async def rebuilt(self) -> Plan:
        return replace(self, before=await asyncio.to_thread(content_of, self.path))

    def narrowed(self, hunks: frozenset[int]) -> Plan:
        raise PlanFixed("fixed")

    async def edited(self, text: str) -> Plan:
        return replace(self, after=text)


def content_of(path: Path) -> str | None:
    return path.read_text() if path.exists() else None


class Write:
    name = "write"
    description = "Writes a file."
    Arguments = WriteArguments

    def __init__(self, root: Path, seconds: float = 0.0) -> None:
        self.root = root
        self.seconds = seconds

    def touches(self, arguments: WriteArguments, context: ToolContext) -> tuple[Touch, ...]:
        return (Touch(path=self.root / arguments.path, access=Access.WRITE),)

    async def plan(self, arguments: WriteArguments, context: ToolContext) -> Plan:
        path = self.root / arguments.path
        before = await asyncio.to_thread(content_of, path)
        return WritePlan(path, before, arguments.content, context.call_id, self.seconds)

    def is_concurrency_safe(self, arguments: object) -> bool:
        return True


class Read:
    name = "read"
    description = "Reads a file."
    Arguments = PathArguments

    def __init__(self, root: Path) -> None:
        self.root = root

    def touches(self, arguments: PathArguments, context: ToolContext) -> tuple[Touch, ...]:
        return (Touch(path=self.root / arguments.path, access=Access.READ),)

    async def plan(self, arguments: PathArguments, context: ToolContext) -> Plan:
        path = self.root / arguments.path

        async def look(progress: Progress) -> ToolResult:
            text = await asyncio.to_thread(content_of, path)
            if text is None:
                raise FileProblem(f"{path.name} does not exist.")
            return said(context.call_id, text)

        return FixedPlan(self.touches(arguments, context), look)

    def is_read_only(self, arguments: object) -> bool:
        return True

    def interruption(self, arguments: object) -> Interruption:
        return Interruption.CANCEL


class Shell:
    """Runs bash; cancelling kills it."""

    name = "bash"
    description = "Runs a command."
    Arguments = ShellArguments

    def __init__(self, root: Path) -> None:
        self.root = root

    def touches(self, arguments: ShellArguments, context: ToolContext) -> tuple[Touch, ...]:
        return (Touch(path=None, access=Access.WRITE),)

    async def plan(self, arguments: ShellArguments, context: ToolContext) -> Plan:
        async def execute(progress: Progress) -> ToolResult:
            process = await asyncio.create_subprocess_exec(
                "bash", "-c", arguments.command, cwd=self.root, stdout=asyncio.subprocess.PIPE
            )
            assert process.stdout is not None
            text = ""
            try:
                async for line in process.stdout:
                    text += line.decode()
                    progress(line.decode())
                await process.wait()
            finally:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
            return said(context.call_id, f"{text}exit code {process.returncode}")

        preview = CommandPreview(command=arguments.command, cwd=self.root, timeout=60)
        return FixedPlan(self.touches(arguments, context), execute, preview)


class Probe:
    """Does whatever a test wants; says nothing about itself, so it runs alone."""

    description = "Does what the test wants."
    Arguments = ProbeArguments

    def __init__(self, name: str, action: Callable[[str, Progress], Awaitable[ToolResult | str]]) -> None:
        self.name = name
        self.action = action

    def touches(self, arguments: ProbeArguments, context: ToolContext) -> tuple[Touch, ...]:
        return ()

    async def plan(self, arguments: ProbeArguments, context: ToolContext) -> Plan:
        async def act(progress: Progress) -> ToolResult:
            result = await self.action(arguments.say, progress)
            return said(context.call_id, result) if isinstance(result, str) else result

        return FixedPlan((), act)


class FreeProbe(Probe):
    """A probe that may run beside anything and may be interrupted."""

    def is_concurrency_safe(self, arguments: object) -> bool:
        return True

    def interruption(self, arguments: object) -> Interruption:
        return Interruption.CANCEL


class SteadyProbe(Probe):
    """A probe that may run beside anything and must not be interrupted by steering."""

    def is_concurrency_safe(self, arguments: object) -> bool:
        return True


# --- the gate, the journal, the session ----------------------------------------------------------


class OpenGate:
    """Lets everything through."""

    async def check(self, call: ToolCall, plan: Plan) -> Allowed | Denied:
        return Allowed(plan=plan)


class Person:
    """A gate that asks a person about every diff; the test answers with ``answer``."""

    def __init__(self) -> None:
        self.emit: Emit = print
        self.questions: asyncio.Queue[tuple[ApprovalRequest, asyncio.Future[Answer]]] = asyncio.Queue()

    async def check(self, call: ToolCall, plan: Plan) -> Allowed | Denied:
        if plan.preview.kind == "none":
            return Allowed(plan=plan)
        verdict = Verdict(decision=Decision.ASK, because="the mode asks")
        request = ApprovalRequest(
            call_id=call.id, tool=call.name, preview=plan.preview, touches=plan.touches, verdict=verdict
        )
        self.emit(ApprovalAsked(request=request))
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        answer: Answer = Withdraw(reason="no longer needed")
        await self.questions.put((request, future))
        try:
            answer = await future
        finally:
            self.emit(ApprovalSettled(call_id=call.id, answer=answer))
        match answer:
            case Approve(edited=None):
                return Allowed(plan=plan, was_asked=True)
            case Approve(edited=text):
                return Allowed(plan=await plan.edited(text), was_asked=True, note="The person edited the text.")
            case Deny(feedback=feedback):
                return Denied(reason="The person said no.", feedback=feedback)
            case Withdraw(reason=reason):
                return Denied(reason=reason)

    async def answer(self, answer: Answer) -> ApprovalRequest:
        request, future = await self.questions.get()
        future.set_result(answer)
        return request


class MemoryJournal:
    """Keeps events in a list; ``refuses`` says which ones it cannot write."""

    def __init__(self) -> None:
        self.events: list[AgentEvent] = []
        self.refuses: Callable[[AgentEvent], bool] = lambda event: False

    async def append(self, event: AgentEvent) -> None:
        await asyncio.sleep(0)
        if self.refuses(event):
            raise JournalError("The disk is full.")
        self.events.append(event)

    def note(self, event: AgentEvent) -> None:
        self.events.append(event)


class Prices:
    """One dollar a reply."""

    def __init__(self, price: float | None = 1.0, size: int | None = 200_000) -> None:
        self.price = price
        self.size = size

    def window(self, model: str) -> int | None:
        return self.size

    def output(self, model: str) -> int | None:
        return None

    def cost(self, message: AssistantMessage) -> float | None:
        return self.price

    def is_priced(self, model: str) -> bool:
        return self.price is not None


class Stage:
    """A session with everything around it, and all that it told."""

    def __init__(  # noqa: PLR0913 - all that a test may want to be different
        self,
        model: Model,
        *tools: object,
        gate: Gate | None = None,
        limits: Limits = FAST,
        hooks: Sequence[Hook] = (),
        history: Sequence[Message] = (),
        ledger: Prices | None = None,
        journal: Journal | None = None,
        news: Callable[[], str] = lambda: "",
        judges: Judges | None = None,
        before_turn: Callable[[], Awaitable[Sequence[str]]] | None = None,
        before: Before | None = None,
    ) -> None:
        self.model = model
        self.events: list[AgentEvent] = []
        self.listeners: list[Emit] = []
        self.journal = MemoryJournal()
        self.locks = LockTable()
        self.gate = gate or OpenGate()
        if isinstance(self.gate, Person):
            self.gate.emit = self.emit
        self.session = Session(
            "s1",
            model,
            tools=Registry(tools),
            gate=self.gate,
            locks=self.locks,
            journal=journal or self.journal,
            ledger=ledger or Prices(),
            emit=self.emit,
            system="You are tested.",
            hooks=hooks,
            history=history,
            before_turn=before_turn,
            before=before,
            limits=limits,
            news=news,
            judges=judges,
        )

    def emit(self, event: AgentEvent) -> None:
        self.events.append(event)
        for listener in tuple(self.listeners):
            listener(event)

    async def send(self, text: str = "Do it.") -> TurnEnded:
        ended = await self.session.send(text)
        self.assert_promises()
        return ended

    async def until(self, wanted: Callable[[AgentEvent], bool]) -> AgentEvent:
        """The first event of that kind, past or to come."""
        for event in self.events:
            if wanted(event):
                return event
        found: asyncio.Future[AgentEvent] = asyncio.get_running_loop().create_future()

        def listen(event: AgentEvent) -> None:
            if wanted(event) and not found.done():
                found.set_result(event)

        self.listeners.append(listen)
        return await asyncio.wait_for(found, 10)

    def of(self, kind: type) -> list:
        return [event for event in self.events if isinstance(event, kind)]

    def results(self) -> dict[str, ToolResult]:
        return {event.result.call_id: event.result for event in self.of(ToolEnded)}

    def assert_promises(self) -> None:
        """What listeners may rely on, and that nothing is left behind."""
        assert len(self.locks) == 0
        assert not self.session.is_running
        started = [event.call_id for event in self.of(ToolStarted)]
        ended = [event.result.call_id for event in self.of(ToolEnded)]
        assert len(set(started)) == len(started)
        assert sorted(started) == sorted(ended)
        for call_id in started:
            order = "".join(_step(event, call_id) for event in self.events)
            assert re.fullmatch("S((P(AD)*)+(GR*)?)*E", order), order
        messages = self.session.messages
        if messages and not isinstance(messages[-1], AssistantMessage):
            assert_valid(messages)
        elif messages:
            assert_valid([*messages, UserMessage(blocks=(TextBlock(text="and on"),))])


def _step(event: AgentEvent, call_id: str) -> str:
    """A letter for an event of that call: Started, Previewed, Asked, Decided, Going, Reporting, Ended."""
    match event:
        case ToolStarted(call_id=this):
            letter = "S"
        case ToolPreviewed(call_id=this):
            letter = "P"
        case ApprovalAsked(request=request):
            this, letter = request.call_id, "A"
        case ApprovalSettled(call_id=this):
            letter = "D"
        case ToolRunning(call_id=this):
            letter = "G"
        case ToolProgressed(call_id=this):
            letter = "R"
        case ToolEnded(result=result):
            this, letter = result.call_id, "E"
        case _:
            return ""
    return letter if this == call_id else ""
