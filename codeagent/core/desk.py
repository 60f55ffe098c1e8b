"""The session and the workbench as a screen sees them: all that a screen may know of the rest."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from codeagent.core.approvals import Answer, ApprovalRequest, Decision, Mode, Scope, Verdict
from codeagent.core.archive import Archive
from codeagent.core.changes import BranchDiff, Timeline
from codeagent.core.context import ContextPart, ContextReport, Pin
from codeagent.core.custom_commands import FoundCommands
from codeagent.core.events import AgentEvent, Emit, Progress, TurnEnded
from codeagent.core.jobs import Job
from codeagent.core.messages import Draft, ImageBlock, ToolResult
from codeagent.core.values import value


class Approver(Protocol):
    """A person, or what stands for one."""

    async def ask(self, request: ApprovalRequest) -> Answer:
        """Waits for the answer. Cancelling it closes the question without one."""
        ...


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

    def steer(self, text: str, images: tuple[ImageBlock, ...] = ()) -> str:
        """Says something as soon as the running tools allow; returns the message's id."""
        ...

    def follow_up(self, text: str, images: tuple[ImageBlock, ...] = ()) -> str:
        """Says something when the model has stopped calling tools; returns the message's id."""
        ...

    def take_back(self, message_id: str) -> str | None:
        """Takes a queued message out again; its text, or None when it is already on its way."""
        ...

    def stop_call(self, call_id: str) -> None:
        """Ends one running call as far as it may be ended; the turn goes on."""
        ...

    async def compact(self, focus: str = "") -> None:
        """Makes the history shorter, keeping ``focus`` above all; during a turn before its next request."""
        ...

    def context(self) -> ContextReport:
        """What fills the model's window now."""
        ...

    def pinnable(self) -> tuple[Pin, ...]:
        """The latest messages, which could be pinned, newest first."""
        ...

    def pinned(self) -> tuple[Pin, ...]:
        """What stays word for word when room is made."""
        ...

    async def pin(self, pin: Pin | str) -> None:
        """Keeps it word for word when room is made; text names a file as ``@PATH:10-40``. Raises CodeagentErrors."""
        ...

    def unpin(self, label: str) -> None:
        """Takes a pin away; raises a CodeagentError when there is none of that label."""
        ...

    async def cancel(self) -> None:
        """Stops the turn, a second time by force; returns when it has ended. Queued messages come back as an event."""
        ...

    @property
    def rewound_turn(self) -> int | None:
        """The turn that the conversation just went back before, while nothing was said since."""
        ...

    async def rewind(self, turn: int) -> None:
        """Goes on from before a turn; raises NothingToUndo, SessionBusy and JournalError."""
        ...

    async def take_rewind_back(self) -> None:
        """Brings back what the last rewind left out; raises NothingToUndo, SessionBusy and JournalError."""
        ...


class CheckState(StrEnum):
    """How one thing that doctor looks at is doing."""

    GOOD = "good"
    LIMITED = "limited"
    MISSING = "missing"


@value
class Check:
    """One finding of doctor; ``remedy`` says how to mend it."""

    name: str
    state: CheckState
    finding: str
    remedy: str = ""


@value
class WorkspaceStatus:
    """What the top and status lines show of the workspace; ``sandbox`` is empty when commands are confined.

    ``held`` says in a word or two how they are.
    """

    root: Path
    branch: str = ""
    is_dirty: bool = False
    sandbox: str = ""
    held: str = "sandboxed"


class RuleSource(StrEnum):
    """Where a permission rule comes from."""

    SETTINGS = "settings"
    PERSON = "you"


@value
class StoredRule:
    """A permission rule in force, where it comes from, and how long it holds.

    ``place`` is the file that keeps it, for people; one of the settings is changed there.
    """

    decision: Decision
    rule: str
    source: RuleSource
    scope: Scope
    place: str = ""

    @property
    def can_be_removed(self) -> bool:
        """Whether it was stored by an answer or in the list of rules, and so can be taken back there."""
        return self.source is RuleSource.PERSON


@value
class ModelChoice:
    """A model that can be chosen; ``detail`` says what is known of it."""

    name: str
    detail: str = ""


@value
class KnownTool:
    """A tool as the model is told of it; ``arguments`` are as they are named, those it may leave out with a ?."""

    name: str
    description: str
    arguments: tuple[str, ...] = ()


@value
class Habits:
    """What a person chose with a key and has so the next time: old and new side by side, and times shown."""

    side_by_side: bool = False
    shows_times: bool = False


@value
class Glimpse:
    """The first lines of a file; ``said`` is its size, or why there are none to be shown."""

    lines: tuple[str, ...] = ()
    said: str = ""


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

    def models(self) -> AsyncGenerator[tuple[ModelChoice, ...]]:
        """The models that are known; then again, with those that the services and servers on this machine list."""
        ...

    async def set_model(self, name: str) -> None:
        """Another model (PROVIDER/NAME, known or not) answers from the next request on; raises ConfigError."""
        ...

    def model(self) -> str:
        """The model that answers, as ``--model`` takes it."""
        ...

    def effort(self) -> str:
        """How hard it thinks; empty is as it likes."""
        ...

    async def set_effort(self, effort: str) -> None:
        """It thinks so hard from the next request on, empty is as it likes; raises ConfigError."""
        ...

    async def files(self, query: str, limit: int) -> tuple[str, ...]:
        """Workspace files whose path fits the query, best first, ignored ones left out."""
        ...

    async def glimpse(self, path: str, lines: int) -> Glimpse:
        """The first lines of a workspace file, or why they are not shown."""
        ...

    def rules(self) -> tuple[StoredRule, ...]:
        """Every permission rule and grant in force."""
        ...

    async def add_rule(self, decision: Decision, rule: str, scope: Scope) -> None:
        """Puts a rule in force and keeps it as ``scope`` says; raises ConfigError."""
        ...

    async def remove_rule(self, rule: StoredRule) -> None:
        """Takes a rule back that was stored by an answer or by ``add_rule``; raises ConfigError."""
        ...

    def rule_meaning(self, decision: Decision, rule: str) -> str:
        """What a rule would cover, in words; raises ConfigError for one that means nothing."""
        ...

    def explain(self, command: str) -> Verdict:
        """What the gate would say to a shell command now."""
        ...

    async def run_command(self, command: str, progress: Progress) -> ToolResult:
        """Runs the person's own shell command; the model sees it with the next message."""
        ...

    def jobs(self) -> tuple[Job, ...]:
        """The background jobs of this session, oldest first."""
        ...

    async def stop_job(self, number: int) -> None:
        """Ends a job with all it started; raises ToolError when there is none of that number."""
        ...

    @property
    def archive(self) -> Archive:
        """The stored sessions of this workspace."""
        ...

    def rename(self, title: str) -> None:
        """Gives this session a title; told as SessionNamed."""
        ...

    async def doctor(self) -> tuple[Check, ...]:
        """Looks at terminal, key, model, git, ripgrep and sandbox."""
        ...

    def tools(self) -> tuple[KnownTool, ...]:
        """What the model can do, as it is told."""
        ...

    def custom_commands(self) -> FoundCommands:
        """The person's own commands and those of a trusted project, read now; called on a thread."""
        ...

    def habits(self) -> Habits:
        """What was chosen before."""
        ...

    def keep_habits(self, habits: Habits) -> None:
        """Keeps what is chosen now; where the disk refuses, for this time only."""
        ...

    async def instructions(self) -> tuple[ContextPart, ...]:
        """The texts of instructions in the system prompt with their size, and what became of their files since."""
        ...

    def history(self) -> tuple[Draft, ...]:
        """What was typed in this workspace before, oldest first, with the long texts that were pasted."""
        ...

    def remember(self, typed: Draft) -> None:
        """Adds to that history."""
        ...

    def save_draft(self, draft: Draft) -> None:
        """Keeps an unsent prompt so that a crash does not lose it."""
        ...

    def draft(self) -> Draft:
        """The unsent prompt that was kept."""
        ...

    async def branch_diff(self) -> BranchDiff | None:
        """What the branch changed, whoever did it, committed or not; None where git knows of nothing to compare."""
        ...

    @property
    def timeline(self) -> Timeline:
        """The agent's changes of files, to look at and to take back."""
        ...


@value
class Desk:
    """All that a screen works with: the session, the workbench, and the events of a resumed session.

    ``times`` are when those events happened (ISO 8601). ``close`` gives everything back
    when the program ends: record, processes, locks.
    """

    conversation: Conversation
    workbench: Workbench
    past: tuple[AgentEvent, ...] = ()
    times: tuple[str, ...] = ()
    close: Callable[[], None] = lambda: None


@value
class Errand:
    """All that a run without a screen works with; none of the ``keys`` is printed.

    ``settle`` is awaited while the model answers: what its answer can ask for is made
    meanwhile. ``workbench`` is made when it is asked for, ``close`` as of a desk.
    """

    conversation: Conversation
    workbench: Callable[[], Workbench]
    settle: Callable[[], Coroutine[None, None, None]]
    close: Callable[[], None]
    keys: tuple[str, ...] = ()


@value
class Opening:
    """Which session is wanted: ``resume`` is the id of an older one, and without it a new one.

    ``is_first`` says that the command line decides. With ``forks`` a copy of it is
    opened, which may be open elsewhere meanwhile; ``record`` is the event to look at first,
    for the ``words`` in it. A ``model`` answers when one is given; where it is one of a
    server at ``base_url``, in all sessions from now on. ``asks_trust`` asks about the
    project's files again, whatever was answered before.
    """

    resume: str = ""
    is_first: bool = False
    forks: bool = False
    record: int | None = None
    words: str = ""
    asks_trust: bool = False
    model: str = ""
    base_url: str = ""


@value
class KeyProblem:
    """Why a key may be of no use, in one sentence; ``is_refused`` where the service said so itself."""

    text: str
    is_refused: bool


@value
class LocalServer:
    """A model server that answers on this machine; ``url`` is its base URL for Chat Completions."""

    name: str
    url: str
    models: tuple[str, ...]


Connect = Callable[[Emit, Approver, Opening], Awaitable[Desk]]
"""Opens a session once the screen stands; raises NotOpened, NoModel, other ConfigErrors, JournalError, SessionBusy."""
