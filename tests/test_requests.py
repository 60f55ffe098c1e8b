"""Requests as they go out: each one continues the one before byte by byte, and the first is small."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from codeagent.config.launch import Launch
from codeagent.config.places import find_places
from codeagent.core.events import ToolStarted
from codeagent.providers.scripted import ScriptedProvider
from codeagent.wiring import assemble
from tests.server.replies import Call, Reply, Say, Think, say

MODELS = ("anthropic/claude-opus-5-5", "openai/gpt-6-sol", "openai-chat/chat-test")
MOST_BYTES = 12 * 1024


@pytest.fixture(params=MODELS)
async def opened(request, tmp_path, model_server):
    """A session with one of the three protocols, in auto mode, and what it told."""
    environ = {
        "CODEAGENT_HOME": str(tmp_path / "home"),
        "ANTHROPIC_API_KEY": "key",
        "ANTHROPIC_BASE_URL": model_server.url,
        "OPENAI_API_KEY": "key",
        "OPENAI_BASE_URL": model_server.openai_url,
    }
    root = tmp_path / "work"
    root.mkdir()
    (root / "a.txt").write_text("hello\n")
    events = []
    flags = {"model": {"name": request.param}, "permissions": {"mode": "edits"}}
    launch = Launch(root=root, places=find_places(environ), environ=environ, flags=flags)
    parts = assemble(launch, lambda event: (events.append(event), steer(event))[0], None)
    steered = []

    def steer(event):
        if isinstance(event, ToolStarted) and event.name == "write" and not steered:
            steered.append(parts.session.steer("Use two blanks."))

    yield parts
    parts.close()
    await parts.session.set_provider(ScriptedProvider([])).aclose()


def turn(*calls):
    return Reply(parts=(Think("Hm."), Say("I look."), *calls))


def unmarked(raw):
    return re.sub(rb',"cache_control":\{"type":"ephemeral"\}', b"", raw)


def continues(later, earlier):
    """Whether a request is the one before and more; only the brackets at its end may open again."""
    return unmarked(later).startswith(unmarked(earlier).rstrip(b"]}"))


async def test_each_request_continues_the_one_before_until_the_conversation_is_compacted(opened, model_server):
    session = opened.session
    read, write = Call("read", {"path": "a.txt"}), Call("write", {"path": "b.txt", "content": "b"})
    model_server.reply(turn(read, Call("ls", {})), turn(write), say("Done."))
    await session.send("Look around.")
    model_server.reply(turn(Call("grep", {"pattern": "hello"})), say("Found it."))
    await session.send("Search.")
    requests = [request.raw for request in model_server.requests]
    assert len(requests) == 5
    assert b"Use two blanks." in requests[-1]
    assert [continues(later, earlier) for earlier, later in pairwise(requests)] == [True] * 4

    model_server.reply(say("## Task\nThe summary."))
    await session.compact()
    model_server.reply(turn(read), say("Go."))
    await session.send("And on.")
    after = [request.raw for request in model_server.requests[6:]]
    assert len(after) == 2
    assert not continues(after[0], requests[-1])
    assert continues(after[1], after[0])
    before_messages = re.split(rb'"(?:messages|input)":\[', unmarked(requests[-1]))[0]
    assert unmarked(after[0]).startswith(before_messages)
    assert model_server.refusals == []


async def test_the_first_request_is_small(opened, model_server):
    model_server.reply(say("Hello."))
    await opened.session.send("Hi.")
    assert len(model_server.requests[0].raw) <= MOST_BYTES


async def test_the_system_prompt_names_the_tools_there_are_and_says_how_edits_match_and_what_the_gate_does(opened):
    system = opened.session._setting.system
    names = {spec.name for spec in opened.session.tools}
    named = set(re.findall(r"^- (\w+) (?:replaces|is for|starts)|use ((?:\w+, )*\w+) rather", system, re.MULTILINE))
    words = {word for found in named for part in found for word in part.split(", ") if word}
    assert words
    assert words <= names
    assert "must occur once" in system
    assert "shown to the person first" in system
    assert len(system) < 3_000
