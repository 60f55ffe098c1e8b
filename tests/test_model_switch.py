"""Choosing another model in the middle of a session, with real services behind it."""

from __future__ import annotations

from functools import partial

import pytest

from codeagent.config.launch import LATEST, Launch
from codeagent.config.places import find_places
from codeagent.core.errors import ConfigError, NoModel
from codeagent.core.events import ContextMeasured, ModelChanged
from codeagent.providers.catalog import ModelName
from codeagent.providers.local_servers import find_local_servers
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
    parts.bench.switch.find_servers = tuple
    yield parts, events
    await parts.session.set_provider(ScriptedProvider([])).aclose()
    parts.close()


async def listed(parts):
    """The fullest list."""
    return [choices async for choices in parts.bench.models()][-1]


@pytest.fixture
def local(tmp_path):
    """A server on this machine that no setting names, and a session with a key for OpenAI itself."""
    environ = {"CODEAGENT_HOME": str(tmp_path / "home"), "OPENAI_API_KEY": "the-key-for-openai"}
    root = tmp_path / "work"
    root.mkdir()
    with ScriptedServer(models=("qwen3", "llama")) as server:
        port = int(server.url.rpartition(":")[2])

        def open_session(resume=None, **flags):
            launch = Launch(
                root=root, places=find_places(environ), environ=environ, resume=resume, flags={"model": flags}
            )
            events = []
            parts = assemble(launch, events.append, None)
            parts.greet()
            parts.bench.switch.find_servers = partial(find_local_servers, {port: "Ollama"})
            return parts, events

        yield server, open_session


async def end(parts):
    parts.close()
    await parts.session.set_provider(ScriptedProvider([])).aclose()


async def test_models_of_servers_on_this_machine_are_listed_and_answer_without_a_key(local):
    server, open_session = local
    parts, events = open_session(name="openai/gpt-test")
    choices = {choice.name: choice.detail for choice in await listed(parts)}
    assert choices["openai-chat/qwen3"] == f"Ollama on this machine · 127.0.0.1:{server.url.rpartition(':')[2]}"
    await parts.bench.set_model("openai-chat/qwen3")
    server.reply(say("Hello."))
    assert (await parts.session.send("Hi.")).text == "Hello."
    assert server.requests[-1].headers["authorization"] == "Bearer none"
    assert b"the-key-for-openai" not in server.requests[-1].raw
    assert [event.address for event in events if isinstance(event, ModelChanged)] == [server.openai_url]
    await parts.bench.set_effort("low")
    server.reply(say("Still here."))
    assert (await parts.session.send("And now?")).text == "Still here."
    await end(parts)


async def test_what_was_said_to_a_model_on_this_machine_stays_there_when_the_session_is_resumed(local):
    server, open_session = local
    parts, _ = open_session(name="openai/gpt-test")
    await listed(parts)
    await parts.bench.set_model("openai-chat/llama")
    server.reply(say("Hello."))
    await parts.session.send("A secret.")
    await end(parts)
    for answer in ("Still here.", "Once more."):
        parts, _ = open_session(resume=LATEST)
        server.reply(say(answer))
        assert (await parts.session.send("And now?")).text == answer
        assert server.requests[-1].body["model"] == "llama"
        assert server.requests[-1].headers["authorization"] == "Bearer none"
        await end(parts)


async def test_a_server_of_the_settings_on_this_machine_is_found_again_without_the_setting(local):
    server, open_session = local
    parts, _ = open_session(name="openai-chat/llama", openai_base_url=server.openai_url)
    server.reply(say("Hello."))
    await parts.session.send("A secret.")
    await end(parts)
    parts, _ = open_session(resume=LATEST)
    server.reply(say("Still here."))
    assert (await parts.session.send("And now?")).text == "Still here."
    await end(parts)


async def test_this_machine_is_looked_at_only_while_models_are_listed(local):
    server, open_session = local
    looked = []
    parts, _ = open_session(name="openai-chat/llama", openai_base_url=server.openai_url)
    parts.bench.switch.find_servers = lambda: looked.append(1) or ()
    server.reply(say("Hello."))
    await parts.session.send("Hi.")
    await parts.bench.set_model("openai-chat/qwen3")
    assert looked == []
    lists = parts.bench.models()
    await anext(lists)
    assert looked == []
    await anext(lists)
    assert looked == [1]
    await lists.aclose()
    await end(parts)


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
    names = [choice.name for choice in await listed(parts)]
    assert names[:2] == ["anthropic/claude-test", "anthropic/chat-test"]
    assert "openai-chat/gpt-test" in names
    assert "anthropic/claude-opus-5-5" in names
    details = {choice.name: choice.detail for choice in await listed(parts)}
    assert details["anthropic/claude-haiku-4-5"] == "200k tokens · $1 in, $5 out a million"


async def test_a_service_that_does_not_answer_leaves_the_known_models(opened):
    parts, _ = opened
    nobody = {"anthropic_base_url": "http://127.0.0.1:9", "openai_base_url": "http://127.0.0.1:9/v1"}
    parts.bench.switch.settings = parts.bench.switch.settings.model_copy(update=nobody)
    names = [choice.name for choice in await listed(parts)]
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


async def test_a_model_that_answers_again_goes_on_with_the_history_it_knows(opened, server):
    parts, _ = opened
    switch = parts.bench.switch
    first = switch.take(ModelName.parse("anthropic/claude-test"))
    for name in ("openai-chat/chat-test", "openai/gpt-test"):
        switch.take(ModelName.parse(name))
    again = switch.take(ModelName.parse("anthropic/claude-test"))
    assert again is not first
    assert again.encoder is first.encoder
    for name in ("openai-chat/one", "openai-chat/two", "openai-chat/three"):
        switch.take(ModelName.parse(name))
    assert switch.take(ModelName.parse("anthropic/claude-test")).encoder is not first.encoder
