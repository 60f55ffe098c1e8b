"""Asking a service about a key before it is kept."""

from __future__ import annotations

import socket

import pytest

from codeagent.config.settings import ModelSettings
from codeagent.core.errors import ConfigError
from codeagent.model_services import check_key
from tests.server.scripted_server import ScriptedServer

KEY = "test-key-0123456789"


@pytest.fixture
def server():
    with ScriptedServer(key="the-right-one") as server:
        yield server


def settings(url: str) -> ModelSettings:
    return ModelSettings(anthropic_base_url=url, openai_base_url=f"{url}/v1")


@pytest.mark.parametrize("service", ["anthropic", "openai-chat"])
def test_a_wrong_key_is_told_in_the_words_of_the_service_and_never_shown(server, service):
    problem = check_key(service, KEY, settings(server.url))
    assert problem
    assert problem.is_refused
    assert "does not accept the key" in problem.text
    assert KEY not in problem.text


def test_the_address_is_told_as_it_was_set(server):
    problem = check_key("anthropic", KEY, settings(server.url))
    assert problem
    assert problem.text.startswith(f"{server.url} does not")


@pytest.mark.parametrize("service", ["anthropic", "openai-chat"])
def test_a_password_in_the_address_is_not_told_but_that_it_may_be_what_is_refused(server, service):
    problem = check_key(service, KEY, settings(server.url.replace("//", "//me:pass-word@")))
    assert problem
    assert "does not accept the name and the password in its address, or the key" in problem.text
    assert "pass-word" not in problem.text


@pytest.mark.parametrize("service", ["anthropic", "openai-chat"])
def test_nothing_speaks_against_the_right_one(server, service):
    assert check_key(service, " the-right-one\n", settings(server.url)) is None


def test_a_service_that_is_not_there_refuses_nothing():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    problem = check_key("anthropic", KEY, settings(url))
    assert problem
    assert not problem.is_refused
    assert problem.text == f"Nothing answers at {url}: the connection was refused. The key was not checked."


def test_a_key_for_openai_is_not_sent_to_another_server(server, monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    problem = check_key("openai", KEY, settings(server.url))
    assert problem
    assert not problem.is_refused
    assert "api.openai.com" in problem.text or "proxy" in problem.text


def test_a_server_that_is_not_named_yet_cannot_be_asked():
    assert check_key("openai-chat", KEY, ModelSettings()) is None


@pytest.mark.parametrize("entered", ["", "two words", "ключ"])
def test_what_can_be_no_key_is_sent_nowhere(server, entered):
    with pytest.raises(ConfigError):
        check_key("anthropic", entered, settings(server.url))
