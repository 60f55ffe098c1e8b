"""What a session keeps in memory of each turn: what is sent again, and never the files it worked on."""

from __future__ import annotations

import asyncio
import gc
import tracemalloc

import pytest

from codeagent.config.launch import Launch
from codeagent.config.places import find_places
from codeagent.providers.scripted import ScriptedProvider
from codeagent.wiring import assemble
from tests.server.replies import Call, Reply, say

FILE = "".join(f"line_{number} = {number}\n" for number in range(30_000))
FIRST_TURNS, TURNS = 2, 4


@pytest.fixture
async def session(tmp_path, model_server):
    """A session in a folder with a file of half a megabyte, in auto mode, whose record is kept."""
    environ = {
        "CODEAGENT_HOME": str(tmp_path / "home"),
        "ANTHROPIC_API_KEY": "key",
        "ANTHROPIC_BASE_URL": model_server.url,
    }
    root = tmp_path / "work"
    root.mkdir()
    (root / "big.py").write_text(FILE)
    flags = {"model": {"name": "anthropic/claude-opus-5-5"}, "permissions": {"mode": "edits"}}
    launch = Launch(root=root, places=find_places(environ), environ=environ, flags=flags)
    parts = assemble(launch, lambda _: None, None)
    gc.freeze()  # what other tests left in memory is not looked through each time
    yield parts.session
    gc.unfreeze()
    parts.close()
    await parts.session.set_provider(ScriptedProvider([])).aclose()


async def grown_by_turn(session, model_server, calls_of) -> float:
    """The bytes that a turn leaves behind, after the first ones, which load what turns need."""
    for turn in range(FIRST_TURNS + TURNS):
        for call in calls_of(turn):
            model_server.reply(Reply(parts=(call,)))
        model_server.reply(say("Done."))
        await session.send("Go on.")
        if turn == FIRST_TURNS - 1:
            gc.collect()
            model_server.requests.clear()
            tracemalloc.start()
    assert model_server.refusals == []
    model_server.requests.clear()
    held = []
    for _ in range(10):  # the threads of the last call may still be on their way out
        gc.collect()
        held.append(tracemalloc.get_traced_memory()[0])
        await asyncio.sleep(0.05)
    tracemalloc.stop()
    return min(held) / TURNS


async def test_an_edit_leaves_its_diff_behind_not_the_file(session, model_server):
    def calls_of(turn):
        old = "line_500 = 500" if turn == 0 else f"line_500 = 'x{turn - 1}'"
        yield Call("read", {"path": "big.py", "offset": 490, "limit": 20})
        yield Call("edit", {"path": "big.py", "old": old, "new": f"line_500 = 'x{turn}'"})

    assert await grown_by_turn(session, model_server, calls_of) < len(FILE) / 10
    assert "line_500 = 'x5'" in session.messages[-2].results[0].text


async def test_a_command_leaves_the_output_behind_that_the_model_got(session, model_server):
    def calls_of(turn):
        yield Call("bash", {"command": f"seq {turn} 20000"})

    grown = await grown_by_turn(session, model_server, calls_of)
    output = session.messages[-2].results[0].text
    assert 25_000 < len(output) < 40_000
    assert output.isascii()
    assert grown < 3 * len(output)
