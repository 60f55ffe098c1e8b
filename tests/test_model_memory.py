"""Which model a resumed session goes on with, and how hard it thinks."""

from __future__ import annotations

from contextlib import asynccontextmanager

import pytest

from codeagent.config.launch import LATEST, Launch
from codeagent.config.places import find_places
from codeagent.core.errors import ConfigError, NoModel
from codeagent.core.events import ModelChanged, NoticeGiven, SessionStarted
from codeagent.providers.scripted import ScriptedProvider
from codeagent.wiring import assemble
from tests.server.replies import say


@pytest.fixture
def environ(tmp_path, model_server):
    return {
        "CODEAGENT_HOME": str(tmp_path / "home"),
        "CODEAGENT_MODEL": "anthropic/claude-test",
        "ANTHROPIC_API_KEY": "key",
        "ANTHROPIC_BASE_URL": model_server.url,
        "OPENAI_API_KEY": "key",
        "OPENAI_BASE_URL": model_server.openai_url,
    }


@pytest.fixture
def opened(tmp_path, environ, model_server):
    """Opens a session, new or the latest one, with a reply at hand; gives its parts and what it told."""
    root = tmp_path / "work"
    root.mkdir()

    @asynccontextmanager
    async def opening(resume=None, flags=None, **changed):
        own = {name: value for name, value in (environ | changed).items() if value}
        launch = Launch(root=root, places=find_places(own), environ=own, resume=resume, flags=flags or {})
        events = []
        model_server.reply(say("Hello."))
        parts = assemble(launch, events.append, None)
        parts.greet()
        try:
            yield parts, events
        finally:
            parts.close()
            await parts.session.set_provider(ScriptedProvider([])).aclose()

    return opening


async def talk(parts, model_server):
    await parts.session.send("Hi.")
    return model_server.requests[-1].body["model"]


async def switched(opened, model_server, model="openai-chat/chat-test", effort=""):
    async with opened() as (parts, _):
        assert await talk(parts, model_server) == "claude-test"
        await parts.bench.set_model(model)
        if effort:
            await parts.bench.set_effort(effort)


async def test_a_resumed_session_goes_on_with_the_model_it_last_used(opened, model_server):
    await switched(opened, model_server)
    async with opened(LATEST) as (parts, events):
        assert await talk(parts, model_server) == "chat-test"
        assert parts.bench.model() == "openai-chat/chat-test"
        assert [event.model for event in events if isinstance(event, SessionStarted)] == ["openai-chat/chat-test"]
    async with opened(LATEST) as (parts, _):
        assert await talk(parts, model_server) == "chat-test"


async def test_a_new_session_takes_the_model_of_the_settings_again(opened, model_server):
    await switched(opened, model_server)
    async with opened() as (parts, _):
        assert await talk(parts, model_server) == "claude-test"


async def test_a_flag_goes_before_the_session(opened, model_server):
    await switched(opened, model_server)
    async with opened(LATEST, {"model": {"name": "openai/gpt-test"}}) as (parts, _):
        assert await talk(parts, model_server) == "gpt-test"


async def test_a_model_that_cannot_be_used_any_more_is_told_and_another_answers(opened, model_server):
    await switched(opened, model_server)
    async with opened(LATEST, OPENAI_API_KEY="", OPENAI_BASE_URL="") as (parts, events):
        assert await talk(parts, model_server) == "claude-test"
        [notice] = [event.text for event in events if isinstance(event, NoticeGiven)]
        assert "last used openai-chat/chat-test, which cannot be used now" in notice
        assert "anthropic/claude-test answers instead." in notice


async def test_where_no_model_is_left_the_record_is_given_back(opened, model_server):
    await switched(opened, model_server)
    nothing = dict.fromkeys(("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "CODEAGENT_MODEL"), "")
    for _ in range(2):
        with pytest.raises(NoModel):
            async with opened(LATEST, **nothing):
                pass
    async with opened(LATEST) as (parts, _):
        assert await talk(parts, model_server) == "chat-test"


async def test_the_effort_goes_out_from_the_next_request_on_and_is_remembered(opened, model_server):
    await switched(opened, model_server, effort="high")
    async with opened(LATEST) as (parts, _):
        await talk(parts, model_server)
        assert model_server.requests[-1].body["reasoning_effort"] == "high"
        model_server.reply(say("Again."))
        await parts.bench.set_effort("")
        await talk(parts, model_server)
        assert "reasoning_effort" not in model_server.requests[-1].body
    async with opened(LATEST, {"model": {"effort": "low"}}) as (parts, _):
        await talk(parts, model_server)
        assert "reasoning_effort" not in model_server.requests[-1].body


async def test_a_change_of_effort_is_told_and_a_wrong_one_changes_nothing(opened):
    async with opened() as (parts, events):
        await parts.bench.set_effort("medium")
        with pytest.raises(ConfigError, match="low, medium, high and default"):
            await parts.bench.set_effort("extreme")
        assert parts.bench.effort() == "medium"
        assert [(event.model, event.effort) for event in events if isinstance(event, ModelChanged)] == [
            ("anthropic/claude-test", "medium")
        ]
