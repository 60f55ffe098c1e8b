"""Whatever a model calls and whenever a person interferes: the promises hold and the history stays valid."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codeagent.agent.history import restore
from codeagent.agent.limits import Limits
from codeagent.core.approvals import Approve, Deny
from codeagent.core.errors import ProviderRejected, ProviderUnavailable
from codeagent.core.events import (
    Delivery,
    HistoryAppended,
    MessageDelivered,
    MessageQueued,
    MessagesReturned,
    TurnEnded,
)
from codeagent.core.messages import StopReason
from codeagent.core.protocols import TextPiece
from tests.agent.stage import (
    FreeProbe,
    Model,
    Person,
    Read,
    Shell,
    Stage,
    SteadyProbe,
    Write,
    assert_valid,
    call,
    reply,
    said,
)

PATHS = st.sampled_from(["a", "b"])
CALLS = st.one_of(
    st.tuples(st.just("read"), st.fixed_dictionaries({"path": PATHS})),
    st.tuples(st.just("write"), st.fixed_dictionaries({"path": PATHS, "content": st.sampled_from(["1\n", "2\n"])})),
    st.tuples(
        st.sampled_from(["free", "steady"]), st.fixed_dictionaries({"say": st.sampled_from(["", "slow", "bug"])})
    ),
    st.tuples(st.sampled_from(["unknown", "read"]), st.just({})),
)
REPLIES = st.one_of(
    st.lists(CALLS, min_size=1, max_size=4),
    st.sampled_from(["words", "cut", "cut call", "refused", "unavailable", "rejected", "broken off", "empty"]),
)
ACTIONS = st.tuples(
    st.integers(1, 40), st.sampled_from(["steer", "follow up", "take back", "stop", "touch a", "shell", "disk"])
)
ANSWERS = st.lists(st.sampled_from([Approve(), Deny(feedback="no"), Approve(edited="mine\n")]), min_size=1)


async def act(say, progress):
    progress("begun")
    if say == "bug":
        raise RuntimeError("bug")
    await asyncio.sleep(0.004 if say == "slow" else 0)
    return "done"


def step(number: int, plan):  # noqa: PLR0911 - one kind of reply a line
    match plan:
        case "words":
            return reply(f"Words {number}.")
        case "cut":
            return reply("Part", stop=StopReason.MAX_TOKENS)
        case "cut call":
            return reply("", call("x", "write", '{"path": "a", "cont'), stop=StopReason.MAX_TOKENS)
        case "refused":
            return reply("No.", stop=StopReason.REFUSAL)
        case "unavailable":
            return ProviderUnavailable("busy")
        case "rejected":
            return ProviderRejected("bad request")
        case "empty":
            return reply("")
        case "broken off":

            async def stream(request):
                yield TextPiece(text="Half")

            return stream
        case calls:
            return reply("", *(call(f"call_{place}", name, **values) for place, (name, values) in enumerate(calls)))


class Interference:
    """Does what the plan says when so many events have been told."""

    def __init__(self, stage: Stage, root: Path, actions) -> None:
        self.stage, self.root = stage, root
        self.actions = dict(actions)
        self.told = 0
        self.stops: list[asyncio.Future] = []

    def __call__(self, event) -> None:
        self.told += 1
        session = self.stage.session
        match self.actions.pop(self.told, None):
            case "steer":
                session.steer(f"steer {self.told}")
            case "follow up":
                session.follow_up(f"later {self.told}")
            case "take back":
                queued = self.stage.of(MessageQueued)
                if queued:
                    session.take_back(queued[-1].message_id)
            case "stop":
                self.stops.append(asyncio.ensure_future(session.cancel()))
            case "touch a":
                (self.root / "a").write_text(f"touched {self.told}\n")
            case "shell":
                session.add_shell_result("ls", said("", "files"))
            case "disk":
                self.stage.journal.refuses = lambda _: self.told % 3 == 0


async def play(plans, actions, answers) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "a").write_text("first\n")
        person = Person()
        stage = Stage(
            Model(*(step(number, plan) for number, plan in enumerate(plans))),
            Read(root),
            Write(root),
            Shell(root),
            FreeProbe("free", act),
            SteadyProbe("steady", act),
            gate=person,
            limits=Limits(retry_seconds=0, retries=1, steps=8),
        )
        interference = Interference(stage, root, actions)
        stage.listeners.append(interference)

        async def answering() -> None:
            for number in range(1_000):
                _, future = await person.questions.get()
                if not future.done():
                    future.set_result(answers[number % len(answers)])

        answerer = asyncio.ensure_future(answering())
        for text in ("one", "two"):
            await asyncio.wait_for(stage.session.send(text), 20)
        stage.journal.refuses = lambda _: False
        await asyncio.wait_for(stage.session.send("three"), 20)
        answerer.cancel()
        for stop in interference.stops:
            await stop
        stage.assert_promises()
        assert len(stage.of(TurnEnded)) == 3
        assert_every_message_left_once(stage)
        if "disk" not in dict(actions).values():
            past = restore(stage.journal.events)
            assert past == stage.session.messages
            assert_valid(past if past[-1].kind != "assistant" else past[:-1])
            assert tuple(event.message for event in stage.of(HistoryAppended)) == past


def assert_every_message_left_once(stage: Stage) -> None:
    queued = [event.message_id for event in stage.of(MessageQueued)]
    delivered = [event.message_id for event in stage.of(MessageDelivered)]
    returned = [one for event in stage.of(MessagesReturned) for one in event.message_ids]
    assert sorted(queued) == sorted(delivered + returned)
    for kind in Delivery:
        order = [event.message_id for event in stage.of(MessageDelivered) if event.delivery is kind]
        assert order == [one for one in queued if one in order]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(REPLIES, max_size=8), st.lists(ACTIONS, max_size=6), ANSWERS)
def test_the_promises_hold_whatever_happens(plans, actions, answers):
    asyncio.run(play(plans, actions, answers))
