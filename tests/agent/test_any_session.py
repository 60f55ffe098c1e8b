"""Whatever happens in a session, in whatever order: a strict service takes each request, on all three protocols."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Awaitable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from codeagent.agent.bookmarks import Bookmarks
from codeagent.agent.history import restore
from codeagent.agent.limits import Limits
from codeagent.agent.session import before
from codeagent.core.approvals import Approve, Deny
from codeagent.core.errors import NothingToUndo
from codeagent.core.events import AgentEvent, TurnEnd, TurnEnded
from codeagent.core.messages import ImageBlock, TextBlock, ToolResult
from codeagent.providers.anthropic import AnthropicProvider
from codeagent.providers.live import LiveProvider
from codeagent.providers.openai import OpenAIProvider
from codeagent.providers.openai_chat import OpenAIChatProvider
from tests.agent.stage import FreeProbe, Person, Prices, Read, Stage, SteadyProbe, Write, said
from tests.server.replies import Answer, Call, Hangup, Redacted, Refuse, Reply, Reset, Say, StreamError, Think, Truncate
from tests.server.scripted_server import ScriptedServer

PROVIDERS = {"messages": AnthropicProvider, "chat": OpenAIChatProvider, "responses": OpenAIProvider}
LIMITS = Limits(retries=1, retry_seconds=0, longest_pause=0, steps=8)
PNG = ImageBlock(media_type="image/png", data="aGk=")

SAYINGS = st.sampled_from(["", "slow", "bug", "nothing", "image", "half \ud83d", " "])
PATHS = st.sampled_from(["a", "b"])
IDS = st.sampled_from(["", "c1", "c2", "functions.x:0", "x" * 70, "é"])
CALLS = st.one_of(
    st.builds(Call, st.sampled_from(["free", "steady"]), st.fixed_dictionaries({"say": SAYINGS}), id=IDS),
    st.builds(Call, st.just("read"), st.fixed_dictionaries({"path": PATHS}), id=IDS),
    st.builds(Call, st.just("write"), st.fixed_dictionaries({"path": PATHS, "content": st.just("new\n")}), id=IDS),
    st.builds(
        Call, st.sampled_from(["write", "no such tool!", ""]), st.sampled_from(['{"path": "a', "[1]", "", "NaN"])
    ),
)
PARTS = st.one_of(
    st.builds(
        Say, st.sampled_from(["Words.", " \n", "Grüße 😀", "half \ud83d", '<tool_call>{"name": "free"}</tool_call>'])
    ),
    st.builds(Think, st.just("Hm."), signature=st.sampled_from(["c2lnbmVk", ""])),
    st.just(Redacted()),
    CALLS,
    CALLS,
)
STOPS = st.sampled_from([None, None, None, "max_tokens", "length", "max_output_tokens", "refusal", "pause_turn", "odd"])
FAULTS = st.sampled_from([None, None, None, Truncate(after=1), Truncate(after=4), Reset(after=2), StreamError(after=1)])
ANSWERS = st.one_of(
    st.builds(Reply, parts=st.lists(CALLS, min_size=1, max_size=6).map(tuple)),
    st.builds(Reply, parts=st.lists(PARTS, min_size=1, max_size=4).map(tuple)),
    st.builds(Reply, parts=st.lists(PARTS, max_size=4).map(tuple), stop=STOPS, fault=FAULTS),
    st.builds(Refuse, status=st.sampled_from([400, 401, 413, 429, 500, 529])),
    st.just(Hangup()),
)
ACTS = st.sampled_from(["steer", "follow up", "stop", "switch", "compact", "shell", "crash", "touch a"])
INTERFERENCE = st.dictionaries(st.integers(2, 40), ACTS, max_size=4)
DECISIONS = st.lists(
    st.sampled_from([Approve(), Deny(feedback="no"), Approve(edited="mine\n")]), min_size=1, max_size=3
)

TURNS = st.tuples(st.lists(ANSWERS, min_size=1, max_size=6), INTERFERENCE, DECISIONS)


async def act(say, progress):
    progress("begun")
    match say:
        case "bug":
            raise RuntimeError("bug")
        case "slow":
            await asyncio.sleep(0.01)
        case "image":
            return ToolResult(call_id="", blocks=(TextBlock(text="seen"), PNG))
    return "" if say == "nothing" else f"did {say}"


class World:
    """What outlives a session: the service, and the connections to it, which are slow to make."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.server = ScriptedServer().start()
        self.clients = {name: provider._connection for name, provider in self.providers().items()}

    def providers(self) -> dict[str, LiveProvider]:
        """Providers that have sent nothing yet."""
        made = {}
        for name, make in PROVIDERS.items():
            url = self.server.url if name == "messages" else self.server.openai_url
            made[name] = make(f"{name}-test", "key", url)
            if hasattr(self, "clients"):
                made[name]._connection = self.clients[name]
        return made

    def do(self, work: Awaitable[object]) -> None:
        self.loop.run_until_complete(asyncio.wait_for(work, 20))

    def play(self, answers: list[Answer]) -> None:
        self.server._answers.clear()
        self.server.reply(*answers)

    def close(self) -> None:
        for client in self.clients.values():
            self.do(client.aclose())
        self.server.close()
        self.loop.close()


class AnySession(RuleBasedStateMachine):
    """A session that lives through crashes and changes of the model; ``journal`` is what is on disk."""

    world: World

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.world.server.requests.clear()
        self.journal: list[AgentEvent] = []
        self.has_crashed = False
        self.stops: list[asyncio.Future[None]] = []
        self.plan: dict[int, str] = {}
        self.told = 0

    def teardown(self) -> None:
        self.world.play([])
        with self.folder:
            self.world.do(self.close())

    async def close(self) -> None:
        """In the end, each of the services still takes the whole history."""
        for name in PROVIDERS:
            self.stage.session.set_provider(self.providers[name])
            ended = await self.stage.session.send("Still there?")
            assert ended.reason is TurnEnd.DONE, ended.text
        assert self.world.server.refusals == []

    @initialize(name=st.sampled_from(list(PROVIDERS)))
    def begin(self, name: str) -> None:
        (Path(self.folder.name) / "a").write_text("first\n")
        self.open(name)

    def open(self, name: str) -> None:
        """A new process: all that it knows is in the journal."""
        root = Path(self.folder.name)
        bookmarks = Bookmarks()
        self.name = name
        self.providers = self.world.providers()
        self.person = Person()
        self.stage = Stage(
            self.providers[name],
            FreeProbe("free", act),
            SteadyProbe("steady", act),
            Read(root),
            Write(root),
            gate=self.person,
            limits=LIMITS,
            ledger=Prices(size=8_000),
            history=restore(self.journal, bookmarks),
            before=before(self.journal, bookmarks),
        )
        self.stage.journal.events = self.journal
        self.stage.listeners.append(self.interfere)

    def interfere(self, _: AgentEvent) -> None:
        session = self.stage.session
        self.told += 1
        match self.plan.pop(self.told, None):
            case "steer":
                session.steer(f"steer {self.told}")
            case "follow up":
                session.follow_up(f"later {self.told}")
            case "stop":
                self.stop()
            case "switch":
                self.switch(list(PROVIDERS)[self.told % 3])
            case "compact" if session.is_running:
                session._turn.compact("all")
            case "shell":
                session.add_shell_result("ls", said("", "files"))
            case "touch a":
                (Path(self.folder.name) / "a").write_text(f"touched {self.told}\n")
            case "crash" if not self.has_crashed:
                self.has_crashed = True
                self.journal = list(self.stage.journal.events)
                self.stop()

    def stop(self) -> None:
        self.stops.append(self.world.loop.create_task(self.stage.session.cancel()))

    @rule(turns=st.lists(TURNS, min_size=1, max_size=4))
    def take_turns(self, turns: list[tuple[list[Answer], dict[int, str], list[object]]]) -> None:
        for answers, plan, decisions in turns:
            self.world.do(self.play(answers, plan, decisions))
            self.every_request_was_sound_and_the_journal_holds_the_history()

    async def play(self, answers: list[Answer], plan: dict[int, str], decisions: list[object]) -> None:
        self.world.play(answers)
        self.plan, self.told = dict(plan), 0
        number = len(self.stage.of(TurnEnded))
        answering = self.world.loop.create_task(self.answer(decisions))
        await self.stage.session.send("Go on.")
        self.plan = {}
        answering.cancel()
        for stop in self.stops:
            await stop
        self.stops.clear()
        self.stage.assert_promises()
        assert len(self.stage.of(TurnEnded)) == number + 1
        if self.has_crashed:
            self.has_crashed = False
            self.open(self.name)

    async def answer(self, decisions: list[object]) -> None:
        for number in range(1_000):
            _, future = await self.person.questions.get()
            if not future.done():
                future.set_result(decisions[number % len(decisions)])

    @rule(name=st.sampled_from(list(PROVIDERS)))
    def switch(self, name: str) -> None:
        self.name = name
        self.stage.session.set_provider(self.providers[name])

    @rule(answers=st.lists(ANSWERS, max_size=2))
    def compact(self, answers: list[Answer]) -> None:
        self.world.play(answers)
        self.world.do(self.stage.session.compact("the files"))

    @rule(back=st.integers(1, 3))
    def rewind(self, back: int) -> None:
        try:
            self.world.do(self.stage.session.rewind(self.stage.session._turns + 1 - back))
        except NothingToUndo:
            return

    @precondition(lambda self: self.stage.session.rewound_turn is not None)
    @rule()
    def take_rewind_back(self) -> None:
        self.world.do(self.stage.session.take_rewind_back())

    @invariant()
    def every_request_was_sound_and_the_journal_holds_the_history(self) -> None:
        assert self.world.server.refusals == []
        if self.journal:
            assert restore(self.journal) == self.stage.session.messages


@pytest.fixture
def world():
    AnySession.world = World()
    yield AnySession.world
    AnySession.world.close()


def test_every_request_is_one_that_its_service_takes(world):
    run_state_machine_as_test(
        AnySession,
        settings=settings(
            max_examples=15,
            stateful_step_count=15,
            deadline=None,
            derandomize=bool(os.environ.get("CI")),
            suppress_health_check=list(HealthCheck),
            phases=(Phase.explicit, Phase.reuse, Phase.generate),  # making a failure small takes minutes
        ),
    )
