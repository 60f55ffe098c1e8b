"""Choosing another model in the middle of a session, with real services behind it."""

from __future__ import annotations

import pytest

from codeagent.config.launch import Launch
from codeagent.config.places import find_places
from codeagent.core.errors import ConfigError, NoModel
from codeagent.core.events import ContextMeasured, ModelChanged
from codeagent.providers.scripted import ScriptedProvider
from codeagent.wiring import assemble
from tests.server.replies import Call, Reply, Say, Think, say
from tests.server.scripted_server import ScriptedServer


@pytest.fixture
def server():
    with ScriptedServer(models=("claude-test", "chat-test", "gpt-test", "claude-haiku-4-5")) as server:
        yield server


@pytest.fixture
async def opened(tmp_path, server):
    """A session with all services at the scripted server, and what it told."""
    environ = {
        "CODEAGENT_HOME": str(tmp_path / "home"),
        "ANTHROPIC_API_KEY": "key",
        "ANTHROPIC_BASE_URL": server.url,
        "OPENAI_API_KEY": "key",
        "OPENAI_BASE_URL": server.openai_url,
    }
    events = []
    root = tmp_path / "work"
    root.mkdir()
    (root / "a.txt").write_text("hello\n")
    launch = Launch(
        root=root, places=find_places(environ), environ=environ, flags={"model": {"name": "anthropic/claude-test"}}
    )
    parts = assemble(launch, events.append, None)
    yield parts, events
    await parts.session.set_provider(ScriptedProvider([])).aclose()
    parts.close()


async def test_the_history_goes_on_with_each_of_the_services(opened, server):
    parts, events = opened
    thinking = Reply(parts=(Think("Let me see."), Say("Reading."), Call("read", {"path": "a.txt"})))
    for model in ("openai-chat/chat-test", "openai/gpt-test", "anthropic/claude-test"):
        server.reply(thinking, say("Read it."))
        await parts.session.send("Read a.txt.")
        await parts.bench.set_model(model)
    server.reply(say("Still here."))
    assert (await parts.session.send("And now?")).text == "Still here."
    assert server.refusals == []
    paths = list(dict.fromkeys(request.path.partition("?")[0] for request in server.requests))
    assert paths == ["/v1/messages", "/v1/chat/completions", "/v1/responses"]
    assert next(event.model for event in events if isinstance(event, ModelChanged)) == "openai-chat/chat-test"


async def test_the_meter_follows_the_window_of_the_new_model(opened):
    parts, events = opened
    await parts.bench.set_model("anthropic/claude-haiku-4-5")
    assert [event.window for event in events if isinstance(event, ContextMeasured)] == [200_000]


async def test_the_list_holds_what_the_services_say_first_and_the_known_models(opened):
    parts, _ = opened
    names = [choice.name for choice in await parts.bench.models()]
    assert names[:2] == ["anthropic/claude-test", "anthropic/chat-test"]
    assert "openai-chat/gpt-test" in names
    assert "anthropic/claude-opus-5-5" in names
    details = {choice.name: choice.detail for choice in await parts.bench.models()}
    assert details["anthropic/claude-haiku-4-5"] == "200,000 tokens · $1 in, $5 out for a million"


async def test_a_service_that_does_not_answer_leaves_the_known_models(opened):
    parts, _ = opened
    nobody = {"anthropic_base_url": "http://127.0.0.1:9", "openai_base_url": "http://127.0.0.1:9/v1"}
    parts.bench.switch.settings = parts.bench.switch.settings.model_copy(update=nobody)
    names = [choice.name for choice in await parts.bench.models()]
    assert names[0] == "anthropic/claude-opus-5-5"


@pytest.mark.parametrize("name", ["gibberish", "acme/x"])
async def test_what_names_no_model_changes_nothing(opened, server, name):
    parts, _ = opened
    with pytest.raises(ConfigError):
        await parts.bench.set_model(name)
    server.reply(say("Hello."))
    await parts.session.send("Hi.")
    assert server.requests[-1].body["model"] == "claude-test"


async def test_a_model_without_its_key_changes_nothing(tmp_path, server):
    environ = {
        "CODEAGENT_HOME": str(tmp_path), "ANTHROPIC_API_KEY": "key", "ANTHROPIC_BASE_URL": server.url
    }  # fmt: skip
    parts = assemble(Launch(root=tmp_path, places=find_places(environ), environ=environ), lambda event: None, None)
    try:
        with pytest.raises(NoModel, match="OPENAI_API_KEY"):
            await parts.bench.set_model("openai/gpt-test")
    finally:
        parts.close()
