"""Stopped, cut off and silent turns through the real SDKs: the next request is one that a strict service takes."""

from __future__ import annotations

import asyncio

import pytest

from codeagent.core.events import ApprovalAsked, ToolProgressed, ToolStarted, TurnEnd
from codeagent.providers.anthropic import AnthropicProvider
from codeagent.providers.openai import OpenAIProvider
from codeagent.providers.openai_chat import OpenAIChatProvider
from tests.agent.stage import Person, Read, Shell, Stage, Write
from tests.server.replies import Call, Reply, Say, say

STOPS = {AnthropicProvider: "max_tokens", OpenAIChatProvider: "length", OpenAIProvider: "max_output_tokens"}


@pytest.fixture(params=STOPS)
async def provider(request, model_server):
    url = model_server.url if request.param is AnthropicProvider else model_server.openai_url
    provider = request.param("test", "key", url)
    yield provider
    await provider.aclose()


async def test_stopped_during_a_call(provider, model_server, tmp_path):
    model_server.reply(say("", Call("bash", {"command": "echo go; sleep 30"}), Call("read", {"path": "a"})), say("Ok."))
    stage = Stage(provider, Shell(tmp_path), Read(tmp_path))
    turn = asyncio.ensure_future(stage.send())
    await stage.until(lambda event: isinstance(event, ToolProgressed))
    await stage.session.cancel()
    await turn
    assert (await stage.send("And now?")).text == "Ok."
    assert model_server.refusals == []


async def test_stopped_while_a_question_is_open(provider, model_server, tmp_path):
    model_server.reply(say("", Call("write", {"path": "a", "content": "x"})), say("Ok."))
    stage = Stage(provider, Write(tmp_path), gate=Person())
    turn = asyncio.ensure_future(stage.send())
    await stage.until(lambda event: isinstance(event, ApprovalAsked))
    await stage.session.cancel()
    await turn
    assert (await stage.send("And now?")).text == "Ok."
    assert model_server.refusals == []


async def test_stopped_while_arguments_stream(provider, model_server, tmp_path):
    long = Call("write", {"path": "a", "content": "x" * 2_000})
    model_server.reply(Reply(parts=(Say("I write."), long), pace=0.05), say("Ok."))
    stage = Stage(provider, Write(tmp_path))
    turn = asyncio.ensure_future(stage.send())
    await stage.until(lambda event: event.kind == "call_delta")
    await asyncio.wait_for(stage.session.cancel(), 2)
    assert (await turn).text == "I write."
    assert (await stage.send("And now?")).text == "Ok."
    assert stage.of(ToolStarted) == []
    assert model_server.refusals == []


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("write", '{"path":"a.py","content":"line1\\nlin'),
        ("bash", '{"command":"rm -rf build/tm'),
        ("write", '{"path":"a.py"}'),
    ],
)
async def test_arguments_cut_by_the_output_limit(provider, model_server, tmp_path, name, written):
    (tmp_path / "build").mkdir()
    cut = Reply(parts=(Call(name, written),), stop=STOPS[type(provider)])
    model_server.reply(cut, cut, cut, cut)
    stage = Stage(provider, Write(tmp_path), Shell(tmp_path))
    ended = await stage.send()
    assert ended.reason is TurnEnd.ERROR
    assert len(model_server.requests) == 4
    assert "smaller pieces" in str(model_server.requests[1].messages)
    assert stage.of(ToolStarted) == []
    assert [path.name for path in tmp_path.iterdir()] == ["build"]
    assert (await stage.send("And now?")).reason is TurnEnd.DONE
    assert model_server.refusals == []
