"""An app with a session in memory: what the agent does in a turn is written in the test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.events import Focus
from textual.pilot import Pilot

from codeagent.core.approvals import (
    ApprovalRequest,
    CommandPreview,
    Decision,
    DiffPreview,
    Mode,
    RuleOffer,
    Scope,
    Verdict,
    VerdictPart,
)
from codeagent.core.archive import Hit, SessionNamed, SessionSummary
from codeagent.core.changes import BranchDiff
from codeagent.core.context import ContextPart, ContextReport, Pin, PinsChanged
from codeagent.core.custom_commands import FoundCommands
from codeagent.core.desk import (
    Approver,
    Check,
    CheckState,
    Desk,
    Glimpse,
    Habits,
    KnownTool,
    LocalServer,
    ModelChoice,
    Opening,
    RuleSource,
    StoredRule,
    WorkspaceStatus,
)
from codeagent.core.diff import make_diff
from codeagent.core.errors import CodeagentError, ConfigError, JournalError, SessionBusy
from codeagent.core.events import (
    AgentEvent,
    ConversationRestored,
    ConversationRewound,
    Delivery,
    Emit,
    MessageQueued,
    MessagesReturned,
    ModeChanged,
    ModelChanged,
    Progress,
    SessionStarted,
    TurnEnd,
    TurnEnded,
    TurnStarted,
)
from codeagent.core.jobs import Job, JobState
from codeagent.core.messages import Draft, DraftImage, ImageBlock, TextBlock, ToolResult
from codeagent.store.change_log import Entry, Kind
from codeagent.store.change_store import ChangeStore
from codeagent.store.file_states import FileChange, state_of
from codeagent.store.timeline import ChangeTimeline
from codeagent.tui.app import CodeagentApp
from codeagent.tui.offers import Offers
from codeagent.tui.screens import typing
from tests.tui.scenes import NEW, OLD

Turn = Callable[[Emit, Approver], Awaitable[None]]

IN_EARNEST = typing.ALONE_SECONDS
"""How long a letter waits for others where the program is not hurried."""


@pytest.fixture(autouse=True)
def quick_answers(monkeypatch):
    """Answers come sooner than they do for a person, so that tests that are not about it need not wait."""
    monkeypatch.setattr(typing, "ALONE_SECONDS", 0.15)


@pytest.fixture(autouse=True, scope="session")
def styles_parsed_once() -> Iterator[None]:
    """The style sheets are the same in each of thousands of apps: each is parsed once in the same colours."""
    parse, parsed = Stylesheet._parse_rules, {}

    def look_up(self: Stylesheet, *arguments: object, **others: object) -> list[RuleSet]:
        key = (frozenset(self._variables.items()), arguments, frozenset(others.items()))
        if key not in parsed:
            parsed[key] = parse(self, *arguments, **others)
        return parsed[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", look_up)
        yield


@pytest.fixture
def answers_in_earnest(quick_answers, monkeypatch):
    """A letter waits for others as long as it does for a person."""
    monkeypatch.setattr(typing, "ALONE_SECONDS", IN_EARNEST)


async def nothing(emit: Emit, approver: Approver) -> None:
    """A turn in which nothing happens."""


def full_window() -> ContextReport:
    part = ContextPart(name="what you said", tokens=40_000)
    file = ContextPart(name="shop/[cart].py", tokens=20_000)
    return ContextReport(
        used=60_000, window=100_000, is_estimate=False, parts=(part,), by_file=(file,), compact_at=0.85
    )


@dataclass
class MemoryConversation:
    emit: Emit
    approver: Approver
    turn: Turn = nothing
    sent: list[str] = field(default_factory=list)
    images: list[ImageBlock] = field(default_factory=list)
    queued: dict[str, str] = field(default_factory=dict)
    taken_back: list[str] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)
    compacted: list[str] = field(default_factory=list)
    pins: tuple[Pin, ...] = ()
    report: ContextReport = field(default_factory=full_window)
    opening: Opening = field(default_factory=Opening)
    rewound: list[int] = field(default_factory=list)
    session_id: str = "s-1"
    running: asyncio.Task[None] | None = None
    over: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def is_running(self) -> bool:
        return self.running is not None

    async def send(self, text: str, images: tuple[ImageBlock, ...] = ()) -> TurnEnded:
        if self.running is not None:
            raise SessionBusy("Another turn is under way.")
        self.sent.append(text)
        self.images += images
        self.emit(TurnStarted(turn=len(self.sent), text=text))
        reason = TurnEnd.DONE
        self.over.clear()
        try:
            async with asyncio.TaskGroup() as group:
                self.running = group.create_task(self.run())
        except* asyncio.CancelledError:
            reason = TurnEnd.CANCELLED
        if self.running.cancelled():
            reason = TurnEnd.CANCELLED
        self.running = None
        if self.queued:
            self.emit(MessagesReturned(message_ids=tuple(self.queued), text="\n".join(self.queued.values())))
            self.queued.clear()
        ended = TurnEnded(turn=len(self.sent), reason=reason, text="All done.")
        self.emit(ended)
        self.over.set()
        return ended

    async def run(self) -> None:
        await self.turn(self.emit, self.approver)

    def steer(self, text: str, images: tuple[ImageBlock, ...] = ()) -> str:
        self.images += images
        return self._queue(text, Delivery.STEER)

    def follow_up(self, text: str, images: tuple[ImageBlock, ...] = ()) -> str:
        self.images += images
        return self._queue(text, Delivery.FOLLOW_UP)

    def _queue(self, text: str, delivery: Delivery) -> str:
        message_id = f"m{len(self.queued) + 1}"
        self.queued[message_id] = text
        self.emit(MessageQueued(message_id=message_id, text=text, delivery=delivery, waits_for="bash"))
        return message_id

    def take_back(self, message_id: str) -> str | None:
        self.taken_back.append(message_id)
        return self.queued.pop(message_id, None)

    def stop_call(self, call_id: str) -> None:
        self.stopped.append(call_id)

    async def compact(self, focus: str = "") -> None:
        self.compacted.append(focus)

    def pinnable(self) -> tuple[Pin, ...]:
        return tuple(Pin(label=f"you: {text}", text=text) for text in reversed(self.sent))

    def pinned(self) -> tuple[Pin, ...]:
        return self.pins

    async def pin(self, pin: Pin | str) -> None:
        self.pins = (*self.pins, Pin(label=pin) if isinstance(pin, str) else pin)
        self.emit(PinsChanged(pins=self.pins))

    def unpin(self, label: str) -> None:
        self.pins = tuple(pin for pin in self.pins if pin.label != label)
        self.emit(PinsChanged(pins=self.pins))

    def context(self) -> ContextReport:
        return self.report

    async def cancel(self) -> None:
        if self.running is not None:
            self.running.cancel()
            await self.over.wait()

    @property
    def rewound_turn(self) -> int | None:
        return self.rewound[-1] if self.rewound else None

    async def rewind(self, turn: int) -> None:
        self.rewound.append(turn)
        self.emit(ConversationRewound(turn=turn))

    async def take_rewind_back(self) -> None:
        self.emit(ConversationRestored(turn=self.rewound.pop()))


@dataclass
class MemoryArchive:
    """Three sessions; ``said`` is what a search finds in them."""

    titles: dict[str, str] = field(
        default_factory=lambda: {name: f"mend [{name}]" for name in ("s-1", "old-1", "locked")}
    )
    said: tuple[Hit, ...] = ()
    forks: list[tuple[str, int | None]] = field(default_factory=list)
    written: list[tuple[str, Path, bool]] = field(default_factory=list)

    def summaries(self) -> tuple[SessionSummary, ...]:
        return tuple(
            SessionSummary(session_id=name, title=title, updated_at="2026-01-02T03:04:05", turns=2, model="m", cost=0.5)
            for name, title in self.titles.items()
        )

    def search(self, words: str, is_stopped: Callable[[], bool]) -> Iterator[Hit]:
        yield from (hit for hit in self.said if words in hit.text)

    def rename(self, session_id: str, title: str) -> None:
        if session_id == "locked":
            raise SessionBusy("The session is open in another codeagent.")
        self.titles[session_id] = title

    def delete(self, session_id: str) -> None:
        del self.titles[session_id]

    def fork(self, session_id: str, turn: int | None = None) -> str:
        self.forks.append((session_id, turn))
        return "copy-1"

    def export_to(self, session_id: str, path: Path, *, replaces: bool = False) -> None:
        if path.exists() and not replaces:
            raise JournalError("There is a file already.")
        self.written.append((session_id, path, replaces))


@dataclass
class MemoryWorkbench:
    emit: Emit
    archive: MemoryArchive = field(default_factory=MemoryArchive)
    branch: BranchDiff | None = None
    timeline: ChangeTimeline | None = None
    current: Mode = Mode.ASK
    typed: list[str] = field(default_factory=lambda: ["older", "newer"])
    kept: str = ""
    pasted: tuple[str, ...] = ()
    images: tuple[DraftImage, ...] = ()
    efforts: list[str] = field(default_factory=list)
    ran: list[str] = field(default_factory=list)
    own_result: ToolResult = field(default_factory=lambda: ToolResult(call_id="?", blocks=(TextBlock(text="out"),)))
    chosen: Habits = field(default_factory=Habits)
    background: list[Job] = field(default_factory=list)
    stored: list[StoredRule] = field(
        default_factory=lambda: [
            StoredRule(decision=Decision.ALLOW, rule="bash(pytest *)", source=RuleSource.SETTINGS, scope=Scope.ALWAYS)
        ]
    )
    custom: FoundCommands = field(
        default_factory=lambda: FoundCommands(folder=Path("/home/me/.config/codeagent/commands"))
    )
    services: asyncio.Event | None = None
    looks: int = 0
    may_look: asyncio.Event | None = None
    is_dirty: bool = True
    model_name: str = "anthropic/claude-test"
    """Set when they have answered which models they have; None when they are not asked."""
    paths: tuple[str, ...] = ("shop/cart.py", "shop/money.py", "tests/test_cart.py", "a[b].py")

    async def status(self) -> WorkspaceStatus:
        self.looks += 1
        if self.may_look is not None:
            await self.may_look.wait()
        return WorkspaceStatus(root=Path.home() / "src" / "shop", branch="main", is_dirty=self.is_dirty)

    def mode(self) -> Mode:
        return self.current

    def set_mode(self, mode: Mode) -> None:
        self.current = mode
        self.emit(ModeChanged(mode=mode))

    async def models(self) -> AsyncGenerator[tuple[ModelChoice, ...]]:
        names = ("anthropic/claude-test", "openai-chat/qwen[3]")
        yield tuple(ModelChoice(name=name, detail="200,000 tokens") for name in names)
        if self.services is not None:
            await self.services.wait()
            yield tuple(ModelChoice(name=name, detail="on this machine") for name in ("openai-chat/a-new-one", *names))

    async def set_model(self, name: str) -> None:
        if "/" not in name:
            raise ConfigError(f"{name!r} does not name a model.", hint="Models are named anthropic/….")
        self.model_name = name
        self.emit(ModelChanged(model=name, effort=self.effort()))

    def model(self) -> str:
        return self.model_name

    def effort(self) -> str:
        return self.efforts[-1] if self.efforts else ""

    async def set_effort(self, effort: str) -> None:
        self.efforts.append(effort)
        self.emit(ModelChanged(model=self.model(), effort=effort))

    async def files(self, query: str, limit: int) -> tuple[str, ...]:
        return tuple(path for path in self.paths if query in path)[:limit]

    async def glimpse(self, path: str, lines: int) -> Glimpse:
        return (
            Glimpse(lines=(f"# {path}", "", "def total():"), said="1.2 KB")
            if path.endswith(".py")
            else Glimpse(said="binary, 9 bytes")
        )

    def rules(self) -> tuple[StoredRule, ...]:
        return tuple(self.stored)

    async def add_rule(self, decision: Decision, rule: str, scope: Scope) -> None:
        self.stored.append(StoredRule(decision=decision, rule=rule, source=RuleSource.PERSON, scope=scope))

    async def remove_rule(self, rule: StoredRule) -> None:
        self.stored.remove(rule)

    def rule_meaning(self, decision: Decision, rule: str) -> str:
        if "(" not in rule:
            raise ConfigError(f"{rule!r} is no permission rule.", hint='Write "bash(git status *)".')
        return f"It {OUTCOMES[decision]} all that fits {rule}."

    def explain(self, command: str) -> Verdict:
        part = VerdictPart(words=tuple(command.split()), decision=Decision.ASK, because="no rule covers it")
        losses = ("x would be deleted.",) if command.startswith("rm") else ()
        return Verdict(decision=Decision.ASK, because="It may change things.", parts=(part,), losses=losses)

    async def run_command(self, command: str, progress: Progress) -> ToolResult:
        self.ran.append(command)
        progress("out\n")
        if command.startswith("sleep"):
            await asyncio.sleep(60)
        return self.own_result

    async def instructions(self) -> tuple[ContextPart, ...]:
        note = "changed since the session began: /new takes it up"
        return (ContextPart(name="AGENTS.md", tokens=1_200), ContextPart(name="../CLAUDE.md", tokens=300, note=note))

    def jobs(self) -> tuple[Job, ...]:
        return tuple(self.background)

    async def stop_job(self, number: int) -> None:
        job = self.background[number - 1]
        self.background[number - 1] = replace(job, state=JobState.STOPPED, ended="stopped")

    def rename(self, title: str) -> None:
        self.emit(SessionNamed(title=title))

    async def branch_diff(self) -> BranchDiff | None:
        return self.branch

    async def doctor(self) -> tuple[Check, ...]:
        return (
            Check(name="git", state=CheckState.GOOD, finding="git 2.39"),
            Check(name="rg", state=CheckState.MISSING, finding="not found", remedy="apt install ripgrep"),
        )

    def tools(self) -> tuple[KnownTool, ...]:
        told = "Reads a file [text or image]. Long files come in pages."
        return (KnownTool(name="read", description=told, arguments=("path", "offset?")),)

    def custom_commands(self) -> FoundCommands:
        return self.custom

    def habits(self) -> Habits:
        return self.chosen

    def keep_habits(self, habits: Habits) -> None:
        self.chosen = habits

    def history(self) -> tuple[Draft, ...]:
        return tuple(Draft(text=text, pasted=self.pasted) for text in self.typed)

    def remember(self, typed: Draft) -> None:
        self.typed.append(typed.text)

    def save_draft(self, draft: Draft) -> None:
        self.kept, self.pasted, self.images = draft.text, draft.pasted, draft.images

    def draft(self) -> Draft:
        return Draft(text=self.kept, pasted=self.pasted if self.kept else (), images=self.images)


@dataclass
class Stage:
    """The running app, and the session behind it once it is open."""

    app: CodeagentApp
    pilot: Pilot[str]
    opened: asyncio.Event
    desks: list[tuple[MemoryConversation, MemoryWorkbench]]

    @property
    def conversation(self) -> MemoryConversation:
        return self.desks[0][0]

    @property
    def bench(self) -> MemoryWorkbench:
        return self.desks[0][1]

    @property
    def text(self) -> str:
        """What the person sees."""
        screen = self.app.screen
        height = self.app.size.height
        strips = screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips[:height])

    async def until(self, condition: Callable[[], object], seconds: float = 30.0) -> None:
        end = asyncio.get_running_loop().time() + seconds
        while not condition():
            assert asyncio.get_running_loop().time() < end, self.text
            await self.pilot.pause(0.01)

    async def press_slowly(self, *keys: str) -> None:
        """Presses keys as a person does who answers, not one who types."""
        for key in keys:
            await self.pilot.press(key)
            await self.pilot.pause(typing.ALONE_SECONDS + 0.1)
            await self.until(self._is_nothing_held)  # it was looked at, however busy the machine
            await self.pilot.pause()

    def _is_nothing_held(self) -> bool:
        return self.app.main._typing._held is self.app.main._letters._held is None

    async def to_question(self) -> None:
        """Walks to the question with Tab, unless it has come for the keyboard by itself; then its keys count."""
        dialog = self.app.main.approval
        await self.until(lambda: dialog.waiting)
        while not dialog.has_keyboard:
            await self.pilot.press("tab")
        await self.until(lambda: dialog.answers_to(Focus().time))

    async def type(self, text: str) -> None:
        await self.pilot.press(*(_name(character) for character in text))


def _name(character: str) -> str:
    return {" ": "space", "\n": "enter", "/": "slash", "@": "at", "!": "exclamation_mark", "\\": "backslash"}.get(
        character, character
    )


@dataclass
class Setting:
    """An app that is not running yet, and what will be behind it."""

    app: CodeagentApp
    opened: asyncio.Event
    desks: list[tuple[MemoryConversation, MemoryWorkbench]]


def set_up(  # noqa: PLR0913 - all that a test may want to be different
    turn: Turn = nothing,
    *,
    gate: asyncio.Event | None = None,
    first: Callable[[Approver, Opening], Awaitable[None]] | None = None,
    error: CodeagentError | None = None,
    past: tuple[AgentEvent, ...] = (),
    draft: str = "",
    pasted: tuple[str, ...] = (),
    images: tuple[DraftImage, ...] = (),
    typed: tuple[str, ...] = ("older", "newer"),
    prompt: str = "",
    theme: str = "dark",
    theme_folders: tuple[Path, ...] = (),
    keymap: dict[str, str] | None = None,
    vi: bool = False,
    timeline: ChangeTimeline | None = None,
    servers: tuple[LocalServer, ...] = (),
    custom: FoundCommands | None = None,
    kept_keys: list[tuple[str, str]] | None = None,
) -> Setting:
    opened = asyncio.Event()
    kept_keys = [] if kept_keys is None else kept_keys
    desks: list[tuple[MemoryConversation, MemoryWorkbench]] = []

    async def connect(emit: Emit, approver: Approver, opening: Opening) -> Desk:
        if opening.resume == "locked" and not opening.forks:
            raise SessionBusy("The session is open in another codeagent.")
        if gate is not None:
            await gate.wait()
        if first is not None:
            await first(approver, opening)
        if error is not None and not opening.model:
            raise error
        conversation = MemoryConversation(emit=emit, approver=approver, turn=turn, opening=opening)
        bench = MemoryWorkbench(emit=emit, kept=draft, pasted=pasted, images=images, typed=[*typed], timeline=timeline)
        if custom is not None:
            bench.custom = custom
        desks.append((conversation, bench))
        emit(SessionStarted(session_id="s-1", model="anthropic/claude-test", mode=Mode.ASK, cwd="/src/shop"))
        opened.set()
        return Desk(conversation=conversation, workbench=bench, past=past)

    def check_key(service: str, key: str) -> str:
        if " " in key:
            raise ConfigError("That is no key.")
        return "Anthropic does not accept the key." if "wrong" in key else ""

    def keep_key(service: str, key: str) -> str:
        nonlocal error
        kept_keys.append((service, key))
        error = None
        return "a file"

    app = CodeagentApp(
        connect=connect,
        root=Path.home() / "src" / "shop",
        theme=theme,
        theme_folders=theme_folders,
        reduced_motion=True,
        vi=vi,
        prompt=prompt,
        keymap=keymap,
        offers=Offers(servers=lambda: servers, check_key=check_key, keep_key=keep_key),
    )
    return Setting(app=app, opened=opened, desks=desks)


@asynccontextmanager
async def staged(
    turn: Turn = nothing,
    *,
    size: tuple[int, int] = (80, 24),
    gate: asyncio.Event | None = None,
    error: CodeagentError | None = None,
    **others: object,
) -> AsyncIterator[Stage]:
    setting = set_up(turn, gate=gate, error=error, **others)
    async with setting.app.run_test(size=size) as pilot:
        stage = Stage(app=setting.app, pilot=pilot, opened=setting.opened, desks=setting.desks)
        if gate is None and error is None and "first" not in others:
            await stage.until(setting.opened.is_set)
            await pilot.pause()
        yield stage


BEFORE = "".join(f"line {number}\n" for number in range(1, 41))


def diff_request(call_id: str = "c1", *, hunks: int = 2, path: str = "shop/cart.py") -> ApprovalRequest:
    after = BEFORE.replace("line 3\n", "line three\n")
    if hunks > 1:
        after = after.replace("line 30\n", "line thirty\n")
    preview = DiffPreview(diff=make_diff(path, BEFORE, after), proposal=after)
    return ApprovalRequest(
        call_id=call_id,
        tool="edit",
        preview=preview,
        touches=(),
        verdict=Verdict(decision=Decision.ASK, because="In ask mode every change is asked about."),
        offers=(RuleOffer(rule="edit(shop/**)", covers="every change below shop/"),),
    )


def command_request(command: str, call_id: str = "c1", *, warnings: tuple[str, ...] = ()) -> ApprovalRequest:
    return ApprovalRequest(
        call_id=call_id,
        tool="bash",
        preview=CommandPreview(command=command, cwd=Path("/src/shop"), timeout=120),
        touches=(),
        verdict=Verdict(decision=Decision.ASK, because="No rule covers it."),
        warnings=warnings,
    )


@pytest.fixture
def stage_of():
    """Sets up the app with a session in memory."""
    return staged


@pytest.fixture
def app_of():
    """Builds the app with a session in memory, for pictures."""
    return lambda *arguments, **others: set_up(*arguments, **others).app


OUTCOMES = {Decision.ALLOW: "allows", Decision.ASK: "asks about", Decision.DENY: "denies"}


class _Clock:
    """A time of day that goes on by so many seconds with each look at it."""

    def __init__(self, at: float, step: float) -> None:
        self._at, self._step = at, step

    def __call__(self) -> float:
        self._at += self._step
        return self._at


@pytest.fixture
def picture(snap_compare, monkeypatch):
    """Compares a picture of the app after a person's ``steps``; the clock of the panels stands still."""
    monkeypatch.setattr("codeagent.tui.widgets.transcript.monotonic", lambda: 100.0)
    monkeypatch.setattr("codeagent.tui.bridge.monotonic", lambda: 100.0)
    monkeypatch.setattr("codeagent.tui.widgets.column.time", _Clock(1767323045.0, 7.0))

    def compare(steps: Callable[[Stage], Awaitable[None]], size: tuple[int, int], **settings: object) -> bool:
        setting = set_up(**settings)
        setting.app.title = "codeagent"

        async def run(pilot: Pilot[str]) -> None:
            stage = Stage(app=setting.app, pilot=pilot, opened=setting.opened, desks=setting.desks)
            await steps(stage)
            dialog = setting.app.main.approval
            await stage.until(lambda: not dialog.has_keyboard or dialog._keys._is_live)
            await pilot.pause()

        return snap_compare(setting.app, terminal_size=size, run_before=run)

    return compare


@pytest.fixture
def ask_diff():
    """Builds a question about a change."""
    return diff_request


@pytest.fixture
def ask_command():
    """Builds a question about a command."""
    return command_request


@pytest.fixture
def timeline(tmp_path):
    """Two turns that changed files, the second of which the person changed again."""
    root = tmp_path / "shop"
    root.mkdir()
    store = ChangeStore(root, tmp_path / "state", "s1")
    timeline = ChangeTimeline(store, asyncio.Lock(), lambda: False)
    turns = {
        1: ("the totals are wrong when a discount is 100 %", {"cart.py": OLD, "money.py": "CENT = 1\n"}),
        2: ("also cover negative discounts", {"cart.py": NEW}),
    }
    for turn, (text, files) in turns.items():
        timeline.listen(TurnStarted(turn=turn, text=text))
        changes = []
        for name, content in files.items():
            before = state_of(root / name, store.blobs)
            (root / name).write_text(content)
            changes.append(FileChange(name=name, before=before, after=state_of(root / name, store.blobs)))
        entry = Entry(id=f"c{turn}", kind=Kind.CALL, what="edit cart.py", turn=turn, changes=tuple(changes))
        store.log.add(entry)
    return timeline
