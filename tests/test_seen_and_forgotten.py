"""Text that left the conversation has to be read again before it is changed: after room was made, after a rewind."""

from __future__ import annotations

import json

import pytest

from codeagent.config.launch import LATEST, Launch
from codeagent.config.places import find_places
from codeagent.core.events import ToolEnded
from codeagent.core.messages import Outcome
from codeagent.providers.scripted import ScriptedProvider
from codeagent.wiring import assemble
from tests.server.replies import Call, Reply, Say, say

LONG = "".join(f"line {number} of the file\n" for number in range(1, 61))


@pytest.fixture
async def opened(tmp_path, model_server):
    environ = {
        "CODEAGENT_HOME": str(tmp_path / "home"),
        "ANTHROPIC_API_KEY": "k",
        "ANTHROPIC_BASE_URL": model_server.url,
    }
    root = tmp_path / "work"
    root.mkdir()
    (root / "a.txt").write_text(LONG)
    flags = {"model": {"name": "anthropic/claude-haiku-4-5"}, "permissions": {"mode": "edits"}}
    parts = []

    def opening(resume=None):
        events = []
        launch = Launch(root=root, places=find_places(environ), environ=environ, flags=flags, resume=resume)
        parts.append(assemble(launch, events.append, None))
        return parts[-1], events

    yield opening
    for one in parts:
        await finish(one)


async def say_and_call(parts, model_server, *calls, text="Go on."):
    for call in calls:
        model_server.reply(Reply(parts=(Say("So."), call)))
    model_server.reply(say("Done."))
    await parts.session.send(text)


async def finish(parts):
    parts.close()
    await parts.session.set_provider(ScriptedProvider([])).aclose()


def last_result(events):
    return [event.result for event in events if isinstance(event, ToolEnded)][-1]


def edit(old, new):
    return Call("edit", {"path": "a.txt", "old": old, "new": new})


READ = Call("read", {"path": "a.txt"})


async def compacted(parts, model_server):
    await say_and_call(parts, model_server)
    model_server.reply(say("## Files\nA summary: a.txt was read."))
    await parts.session.compact()


async def test_what_was_summed_up_must_be_read_again_and_the_refusal_says_so(opened, model_server):
    parts, events = opened()
    await say_and_call(parts, model_server, READ)
    await compacted(parts, model_server)
    await say_and_call(parts, model_server, edit("line 2 of", "line two of"))
    assert last_result(events).code == "UNREAD"
    assert last_result(events).text.startswith(
        "What was read of a.txt was taken out of the conversation since. Read it"
    )
    await say_and_call(parts, model_server, READ, edit("line 2 of", "line two of"))
    assert last_result(events).outcome is Outcome.OK
    assert model_server.refusals == []
    await finish(parts)


async def test_what_is_still_in_the_conversation_needs_no_second_reading(opened, model_server):
    parts, events = opened()
    await say_and_call(parts, model_server, text="A long story. " * 2_000)
    await say_and_call(parts, model_server, READ)
    model_server.reply(say("## Task\nA summary."))
    await parts.session.compact()
    await say_and_call(parts, model_server, edit("line 2 of", "line two of"))
    assert last_result(events).outcome is Outcome.OK
    await finish(parts)


async def test_a_resumed_session_knows_what_it_forgot(opened, model_server):
    parts, _ = opened()
    await say_and_call(parts, model_server, READ)
    await compacted(parts, model_server)
    await finish(parts)
    parts, events = opened(LATEST)
    await say_and_call(parts, model_server, edit("line 2 of", "line two of"))
    assert last_result(events).code == "UNREAD"
    await finish(parts)


async def test_what_was_read_after_the_place_gone_back_to_must_be_read_again(opened, model_server):
    parts, events = opened()
    await say_and_call(parts, model_server)
    await say_and_call(parts, model_server, READ)
    await parts.session.rewind(2)
    await say_and_call(parts, model_server, edit("line 2 of", "line two of"))
    assert last_result(events).code == "UNREAD"
    await finish(parts)


async def test_a_rewind_to_before_a_compaction_brings_the_messages_back_to_be_read_again(opened, model_server):
    parts, events = opened()
    await say_and_call(parts, model_server, READ)
    await compacted(parts, model_server)
    before = len(parts.session.messages)
    await parts.session.rewind(2)
    assert len(parts.session.messages) > before - 2
    assert "line 60 of the file" in str(parts.session.messages)
    await say_and_call(parts, model_server, READ, edit("line 2 of", "line two of"))
    assert last_result(events).outcome is Outcome.OK
    await finish(parts)
    parts, _ = opened(LATEST)
    assert "A summary" not in str(parts.session.messages)
    await say_and_call(parts, model_server)
    assert model_server.refusals == []
    await finish(parts)


async def test_between_two_turns_the_model_hears_once_of_a_file_that_somebody_else_changed(
    opened, model_server, tmp_path
):
    parts, _ = opened()
    await say_and_call(parts, model_server, READ)
    (tmp_path / "work" / "a.txt").write_text(LONG + "more\n")
    await say_and_call(parts, model_server, text="Second.")
    sent = model_server.requests[-1].body["messages"][-1]["content"]
    assert "files that you had read have changed: a.txt." in json.dumps(sent)
    await say_and_call(parts, model_server, text="Third.")
    assert "have changed" not in json.dumps(model_server.requests[-1].body["messages"][-1]["content"])
