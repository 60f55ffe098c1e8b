"""Hundreds of turns of everything at changing services: each request is taken, and begins as the one before."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from itertools import pairwise

import pytest

from codeagent.agent.history import restore
from codeagent.agent.limits import Limits
from codeagent.core.events import HistoryCompacted, TurnEnd
from codeagent.core.messages import ImageBlock, TextBlock, ToolResult
from tests.agent.services import PROTOCOLS
from tests.agent.stage import FreeProbe, Prices, Read, Shell, Stage, SteadyProbe
from tests.server.replies import Call, Redacted, Refuse, Reply, Say, Stall, Think, Tokens, Truncate, say
from tests.server.scripted_server import Request

TURNS = 250
WINDOW = 32_000
MARKER = b',"cache_control":{"type":"ephemeral"}'
PNG = ImageBlock(media_type="image/png", data="aGk=", name="shot.png")
LIMITS = Limits(retries=2, retry_seconds=0, longest_pause=0)


async def act(say, progress):
    if say == "image":
        return ToolResult(call_id="", blocks=(TextBlock(text="seen"), PNG))
    return f"did {say} " * 40


def replies_for(number: int, chance: random.Random) -> list[Reply | Refuse]:
    """What the service says in one turn: thinking, text and calls, sometimes a fault before it."""
    tokens = Tokens(input=0, output=0) if number % 5 else Tokens()
    faults = [Refuse(status=529), Reply(parts=(Say("Half of a reply"),), fault=Truncate(after=1))]
    answers: list[Reply | Refuse] = [chance.choice(faults)] if number % 11 == 0 else []
    for step in range(chance.randint(1, 3)):
        calls = [
            Call(
                chance.choice(["look", "do", "read", "no such tool!"]),
                {"say": chance.choice(["a", "image", "grün 😀"]), "path": "a"},
                id=chance.choice(["", "c1", f"c{number}_{step}"]),
            )
            for _ in range(chance.randint(1, 5))
        ]
        thinking = chance.choice([(), (Think("Hm."),), (Think("Hm.", signature=""),), (Redacted(), Think("So."))])
        answers.append(Reply(parts=(*thinking, Say("## State\n" + f"Step {step}. " * 5), *calls), tokens=tokens))
    return [*answers, say("## State\n" + f"Turn {number} is done. " * 10)]


@pytest.mark.timeout(300)
async def test_each_of_its_requests_is_taken_and_begins_as_the_one_before(model_server, tmp_path):
    (tmp_path / "a").write_text("one\n" * 50)
    providers = [
        make("test", "key", model_server.url if name == "messages" else model_server.openai_url)
        for name, make in PROTOCOLS.items()
    ]
    tools = (FreeProbe("look", act), SteadyProbe("do", act), Read(tmp_path), Shell(tmp_path))
    stage = Stage(providers[0], *tools, limits=LIMITS, ledger=Prices(size=WINDOW))
    chance = random.Random(5)
    for number in range(TURNS):
        model_server._answers.clear()
        if number % 4 == 0:
            stage.session.set_provider(providers[number // 4 % 3])
        if number % 25 == 24:
            model_server.reply(say("## State\nAll is well."))
            await stage.session.compact("the last step")
        model_server.reply(*replies_for(number, chance))
        if number % 17 == 0:
            await stopped_in_the_middle(model_server, stage, chance)
            continue
        ended = await stage.session.send(f"Turn {number}: go on.", (PNG,) if number % 7 == 0 else ())
        assert ended.reason is TurnEnd.DONE, ended.text
        assert model_server.refusals == []
    assert len(stage.of(HistoryCompacted)) >= TURNS // 25
    assert_prefixes(model_server.requests)
    assert restore(stage.journal.events) == stage.session.messages
    for provider in providers:
        await provider.aclose()


async def stopped_in_the_middle(model_server, stage, chance):
    """A turn that is stopped while a call runs, while text streams, or when it is over."""
    model_server._answers.clear()
    running = say("I run it.", Call("look", {"say": "a"}), Call("bash", {"command": "sleep 30"}), Call("do", {}))
    model_server.reply(chance.choice([running, Reply(parts=(Say("Word. " * 9),), fault=Stall(after=3)), say("x")]))
    asked = len(model_server.requests)
    turn = asyncio.ensure_future(stage.session.send("And this."))
    await asyncio.to_thread(model_server.wait_for_requests, asked + 1)
    for _ in range(chance.randint(1, 60)):
        await asyncio.sleep(0)
    await stage.session.cancel()
    await turn


def assert_prefixes(requests: Sequence[Request]) -> None:
    """Each request to a service begins with the bytes of the one before, unless the history was made shorter."""
    compared = 0
    for one, two in pairwise(requests):
        is_summary = any("tools" not in each.body or "tool_choice" in each.body for each in (one, two))
        if one.path != two.path or is_summary or len(two.messages) < len(one.messages):
            continue
        before, after = (each.raw.replace(MARKER, b"") for each in (one, two))
        assert after.startswith(before.rstrip(b'"]}'))
        compared += 1
    assert compared > len(requests) // 2
