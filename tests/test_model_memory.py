"""Which model a resumed session goes on with, and how hard it thinks."""

from __future__ import annotations

from contextlib import asynccontextmanager

import pytest

from codeagent.config.launch import LATEST, Launch
from codeagent.config.places import find_places
from codeagent.core.errors import ConfigError, NoModel
from codeagent.core.events import ModelChanged, NoticeGiven, SessionStarted, TurnEnd, TurnStarted
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


@pytest.fixture
def script(tmp_path):
    """A script of three answers."""
    file = tmp_path / "three.jsonl"
    file.write_text("".join(f'{{"say": "{word}."}}\n' for word in ("One", "Two", "Three")))
    return file


async def test_a_resumed_session_goes_on_with_its_script_where_that_stopped(opened, script):
    async with opened(CODEAGENT_MODEL=f"scripted/{script}") as (parts, _):
        assert (await parts.session.send("Hi.")).text == "One."
    for answer in ("Two.", "Three."):
        async with opened(LATEST) as (parts, events):
            assert (await parts.session.send("And?")).text == answer
            assert [event.model for event in events if isinstance(event, SessionStarted)] == ["scripted/three"]
            assert not [event for event in events if isinstance(event, NoticeGiven)]


async def test_a_script_that_the_session_changed_to_is_found_again_under_its_name(opened, model_server, script):
    await switched(opened, model_server, f"scripted/{script}")
    async with opened(LATEST) as (parts, _):
        assert (await parts.session.send("Hi.")).text == "One."


@pytest.mark.parametrize("how", [{"flags": {"model": {"name": "scripted/{}"}}}, {"CODEAGENT_MODEL": "scripted/{}"}])
async def test_a_script_that_is_set_plays_from_its_beginning(opened, script, how):
    named = {name: told.format(script) for name, told in how.items() if name != "flags"}
    flags = {"model": {"name": f"scripted/{script}"}} if "flags" in how else None
    for _ in range(2):
        async with opened(LATEST if _ else None, flags, **named) as (parts, _):
            assert (await parts.session.send("Hi.")).text == "One."


async def test_a_model_that_cannot_be_used_any_more_is_told_and_another_answers(opened, model_server, script):
    await switched(opened, model_server, f"scripted/{script}")
    script.unlink()
    async with opened(LATEST) as (parts, events):
        assert await talk(parts, model_server) == "claude-test"
        [notice] = [event.text for event in events if isinstance(event, NoticeGiven)]
        assert f"This session last used scripted/{script}, which cannot be used now: There is no script" in notice
        assert "anthropic/claude-test answers instead." in notice


async def test_where_no_model_is_left_the_record_is_given_back(opened, model_server, script):
    await switched(opened, model_server, f"scripted/{script}")
    script.rename(script.with_suffix(".gone"))
    nothing = dict.fromkeys(("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "CODEAGENT_MODEL"), "")
    for _ in range(2):
        with pytest.raises(NoModel, match=r"last used scripted/.*, which cannot be used now.*No model yet"):
            async with opened(LATEST, **nothing):
                pass
    script.with_suffix(".gone").rename(script)
    async with opened(LATEST) as (parts, _):
        assert (await parts.session.send("Hi.")).text == "One."


@pytest.mark.parametrize("model", ["openai-chat/chat-test", "openai/gpt-test", "anthropic/another"])
async def test_a_server_on_this_machine_is_asked_again_without_the_setting_or_a_key(opened, model_server, model):
    await switched(opened, model_server, model)
    async with opened(LATEST, OPENAI_BASE_URL="", ANTHROPIC_BASE_URL="") as (parts, _):
        assert await talk(parts, model_server) == model.partition("/")[2]
        sent = model_server.requests[-1].headers
        assert sent.get("x-api-key", sent.get("authorization", "")).removeprefix("Bearer ") == "none"


@pytest.mark.parametrize("model", ["openai-chat/chat-test", "openai/gpt-test", "anthropic/another"])
async def test_what_was_said_to_a_server_elsewhere_goes_to_no_other_because_the_setting_is_missing(opened, model):
    servers = dict.fromkeys(("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"), "https://someone:word@models.example/v1")
    async with opened(CODEAGENT_MODEL=model, **servers) as (parts, events):
        await parts.record.keep(TurnStarted(turn=1, text="A secret."))
        assert [event.address for event in events if isinstance(event, SessionStarted)] == ["https://models.example/v1"]
    with pytest.raises(ConfigError) as refused:
        async with opened(LATEST, **dict.fromkeys(servers, "")):
            pass
    variable = "ANTHROPIC_BASE_URL" if model.startswith("anthropic") else "OPENAI_BASE_URL"
    assert str(refused.value) == (
        f"This session last used {model} at https://models.example/v1, which no setting names now. "
        f"Set {variable} to it, or go on with another model: --model PROVIDER/NAME."
    )
    async with opened(LATEST, {"model": {"name": "anthropic/claude-test"}}) as (parts, _):
        assert parts.bench.model() == "anthropic/claude-test"


@pytest.mark.parametrize("says_something", [True, False])
async def test_a_try_at_another_server_that_never_answered_changes_nothing(opened, model_server, says_something):
    async with opened(CODEAGENT_MODEL="openai-chat/chat-test") as (parts, _):
        await talk(parts, model_server)
    flags = {"model": {"retries": 0}}
    async with opened(LATEST, flags, OPENAI_BASE_URL="http://127.0.0.1:9/v1") as (parts, _):
        if says_something:
            assert (await parts.session.send("Hi.")).reason is TurnEnd.ERROR
    async with opened(LATEST, OPENAI_BASE_URL="") as (parts, events):
        [started] = [event for event in events if isinstance(event, SessionStarted)]
        assert started.address == model_server.openai_url
        assert await talk(parts, model_server) == "chat-test"


async def test_what_was_said_to_a_server_that_never_answered_goes_to_no_service(opened):
    nowhere = {"ANTHROPIC_BASE_URL": ""}
    async with opened(**nowhere) as (parts, _):
        await parts.record.keep(TurnStarted(turn=1, text="Known to the service."))
    async with opened(LATEST, ANTHROPIC_BASE_URL="https://models.example") as (parts, _):
        await parts.record.keep(TurnStarted(turn=2, text="A secret."))
    with pytest.raises(ConfigError, match=r"at https://models\.example, which no setting names now"):
        async with opened(LATEST, **nowhere):
            pass


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
