"""Keys in a whole session: where they come from, what is said of a wrong one, and where they never go."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from codeagent.config.launch import Launch
from codeagent.config.places import find_places
from codeagent.core.approvals import Access
from codeagent.core.errors import NoModel, PathRefused
from codeagent.keys import find_keys
from codeagent.providers.scripted import ScriptedProvider
from codeagent.wiring import assemble
from codeagent.workspace.paths import PathSandbox
from tests.server.replies import Refuse, say

SECRET = "wholly-unlikely-0123456789"


@pytest.fixture
def environ(tmp_path, model_server):
    return {"CODEAGENT_HOME": str(tmp_path / "home"), "ANTHROPIC_BASE_URL": model_server.url}


def keep(environ, service):
    return find_keys(environ, find_places(environ)).keep(service, SECRET)


def keep_open(environ) -> Path:
    """A key in a file that others can read."""
    file = Path(keep(environ, "anthropic"))
    file.chmod(0o644)
    return file


async def asked(tmp_path, environ, model):
    root = tmp_path / "work"
    root.mkdir()
    flags = {"model": {"name": model, "retries": 0}}
    launch = Launch(root=root, places=find_places(environ), environ=environ, flags=flags)
    parts = assemble(launch, lambda event: None, None)
    try:
        return await parts.session.send(f"My key is {SECRET}.")
    finally:
        await parts.session.set_provider(ScriptedProvider([])).aclose()
        parts.close()


async def test_a_kept_key_opens_the_service_and_is_in_no_record(tmp_path, environ, model_server):
    keep(environ, "anthropic")
    model_server.reply(say("Hello."))
    assert (await asked(tmp_path, environ, "anthropic/claude-test")).text == "Hello."
    assert SECRET in json.dumps(dict(model_server.requests[0].headers))
    written = [path for path in (tmp_path / "home").rglob("*") if path.is_file() and path.name != "keys.json"]
    assert written
    assert [path for path in written if SECRET.encode() in path.read_bytes()] == []


@pytest.mark.parametrize("status", [401, 403])
async def test_a_kept_key_that_is_not_accepted_is_told_with_its_file(tmp_path, environ, model_server, status):
    file = keep(environ, "anthropic")
    model_server.reply(Refuse(status=status, message="invalid x-api-key"))
    told = (await asked(tmp_path, environ, "anthropic/claude-test")).text
    assert f"It comes from {file}: codeagent config set-key anthropic replaces it." in told


async def test_a_key_of_the_environment_that_is_not_accepted_is_told_with_its_variable(tmp_path, environ, model_server):
    keep(environ, "openai-chat")
    model_server.reply(Refuse(status=401, message="bad key"))
    environ |= {"OPENAI_API_KEY": "wrong", "OPENAI_BASE_URL": model_server.openai_url}
    told = (await asked(tmp_path, environ, "openai-chat/chat-test")).text
    assert "It comes from OPENAI_API_KEY in the environment: set it anew" in told


async def test_a_broken_key_of_the_environment_is_told_with_its_variable_and_sent_nowhere(
    tmp_path, environ, model_server
):
    environ |= {"OPENAI_API_KEY": "abc\ndef", "OPENAI_BASE_URL": model_server.openai_url}
    told = (await asked(tmp_path, environ, "openai-chat/chat-test")).text
    assert "It comes from OPENAI_API_KEY in the environment: set it anew" in told
    assert "def" not in told
    assert not model_server.requests


async def test_a_key_file_that_others_could_read_is_told_of_at_the_start_once(tmp_path, environ):
    file = keep_open(environ)
    flags = {"model": {"name": "anthropic/claude-test"}}
    launch = Launch(root=tmp_path, places=find_places(environ), environ=environ, flags=flags)
    told = []
    for _ in range(2):
        parts = assemble(launch, lambda event: None, None)
        told += [notice.text for notice in parts.notices if "could be read by others" in notice.text]
        await parts.session.set_provider(ScriptedProvider([])).aclose()
        parts.close()
    assert len(told) == 1
    assert told[0].startswith(f"{file} could be read by others; now")


async def test_a_line_end_after_a_kept_key_is_no_part_of_it(tmp_path, environ, model_server):
    find_keys(environ, find_places(environ)).store.keep("anthropic", f"{SECRET}\n")
    model_server.reply(say("Hello."))
    assert (await asked(tmp_path, environ, "anthropic/claude-test")).text == "Hello."


async def test_a_server_that_wants_a_key_is_told_how_to_get_one(tmp_path, environ, model_server):
    model_server.reply(Refuse(status=401, message="key required"))
    environ["OPENAI_BASE_URL"] = model_server.openai_url
    told = (await asked(tmp_path, environ, "openai-chat/chat-test")).text
    assert "No key was sent: codeagent config set-key openai-chat keeps one" in told


async def test_a_key_kept_for_openai_is_never_sent_to_another_server(tmp_path, environ, model_server):
    keep(environ, "openai")
    environ["OPENAI_BASE_URL"] = model_server.openai_url
    model_server.reply(say("Hello."))
    await asked(tmp_path, environ, "openai/gpt-test")
    assert SECRET not in json.dumps(dict(model_server.requests[0].headers))


async def test_a_missing_key_is_told_with_the_command_that_keeps_one(tmp_path, environ):
    with pytest.raises(NoModel, match="codeagent config set-key openai keeps one, or set OPENAI_API_KEY"):
        await asked(tmp_path, environ, "openai/gpt-test")


def test_the_key_file_is_asked_about_before_it_is_read_and_never_written(tmp_path, environ):
    places = find_places(environ)
    keep(environ, "openai")
    sandbox = PathSandbox(tmp_path, protected=places.own, secrets=[places.keys_file])
    assert "secrets" in sandbox.resolve("home/config/keys.json", Access.READ).concern.reason
    with pytest.raises(PathRefused):
        sandbox.resolve("home/config/keys.json", Access.WRITE)
