"""A field or a role that a service does not take is left out or changed, and the session goes on; through the SDKs."""

from __future__ import annotations

import pytest

from codeagent.core.messages import ImageBlock, TextBlock, UserMessage
from codeagent.core.protocols import ModelRequest
from codeagent.providers.anthropic import AnthropicProvider
from codeagent.providers.catalog import Limits
from codeagent.providers.openai_chat import OpenAIChatProvider
from tests.providers.conftest import ask, called, events_of, replied, result, results, said
from tests.server.replies import Refuse

SYSTEM = b'"role":"system"'
DEVELOPER = b'"role":"developer"'


@pytest.mark.parametrize(
    "message",
    [
        "cache_control: Extra inputs are not permitted",
        "messages.0.content.0.text.cache_control: Extra inputs are not permitted",
        "tools.0.custom.cache_control: Extra inputs are not permitted",
    ],
)
async def test_where_no_cache_breakpoints_are_taken_none_are_sent(model_server, claude, message):
    model_server.will_not_take = {b'"cache_control"': (400, message)}

    await ask(claude)
    await ask(claude, said("hello"), replied(called()), results(result()))

    assert [b"cache_control" in request.raw for request in model_server.requests] == [True, False, False]


async def test_a_session_that_is_resumed_sends_no_refused_breakpoints_either(model_server, claude):
    model_server.will_not_take = {b'"cache_control"': (400, "cache_control: Extra inputs are not permitted")}
    reply = await ask(claude)
    another = AnthropicProvider("claude-test", "test-key-123456", model_server.url)
    await ask(another, said("hello"), reply, said("and now?"))
    await another.aclose()
    assert len(model_server.requests) == 3


@pytest.mark.parametrize("limits", [Limits(thinks=True), Limits(has_budget=True, effort="high")])
@pytest.mark.parametrize(
    "message",
    [
        "thinking: Extra inputs are not permitted",
        "thinking.type: Input should be 'disabled'; this model does not support thinking",
        "'claude-3-5-sonnet-20241022' does not support thinking.",
        "adaptive thinking is not supported on this model",
        "thinking.adaptive.display: Extra inputs are not permitted",
    ],
)
async def test_a_model_that_cannot_be_asked_to_think_is_asked_without(model_server, limits, message):
    model_server.will_not_take = {b'"thinking":{"type"': (400, message)}
    provider = AnthropicProvider("claude-test", "test-key-123456", model_server.url, limits)

    await ask(provider)
    await ask(provider)
    await provider.aclose()

    assert ["thinking" in request.body for request in model_server.requests] == [True, False, False]


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "System role not supported"),
        (400, "Developer instruction is not enabled for models/gemma-3-27b-it"),
        (400, "developer instruction is not enabled for models/gemma-3-27b-it"),
        (500, "Jinja Exception: System role not supported"),
        (400, "unknown variant `system`, expected `user` or `assistant`"),
        (422, "body.messages.0.role: Input should be 'user' or 'assistant'"),
        (400, "Unsupported value: 'messages[0].role' does not support 'system' with this model."),
        (400, "Only user and assistant roles are supported!"),
    ],
)
async def test_where_no_system_role_is_taken_the_first_message_opens_with_the_system_prompt(
    model_server, chat, status, message
):
    model_server.will_not_take = {SYSTEM: (status, message)}

    await ask(chat)
    await ask(chat, said("hello"), replied("Hi."), said("and now?"))

    first, later = (request.messages for request in model_server.requests[1:])
    assert [(one["role"], one["content"]) for one in first] == [("user", "You help.\n\nhello")]
    assert [one["content"] for one in later] == ["You help.\n\nhello", "Hi.", "and now?"]


async def test_a_system_prompt_stands_before_an_image_too(model_server, chat):
    model_server.will_not_take = {SYSTEM: (400, "System role not supported")}
    image = ImageBlock(media_type="image/png", data="aGk=", name="shot.png")
    await ask(chat, UserMessage(blocks=(image, TextBlock(text="look"))))
    (message,) = model_server.requests[-1].messages
    assert [part["type"] for part in message["content"]] == ["text", "image_url", "text"]
    assert message["content"][0]["text"] == "You help."


async def test_a_developer_role_is_used_where_the_refusal_names_it_and_another_when_it_is_refused_too(
    model_server, chat
):
    refusal = "messages[0].role: system role not supported; use 'developer' or 'user'"
    model_server.will_not_take = {SYSTEM: (400, refusal)}
    reply = await ask(chat)
    assert [one["role"] for one in model_server.requests[-1].messages] == ["developer", "user"]

    model_server.will_not_take[DEVELOPER] = (400, "messages[0].role: 'developer' is not one of 'user', 'assistant'")
    again = await ask(chat, said("hello"), reply, said("and now?"))
    assert [one["role"] for one in model_server.requests[-1].messages] == ["user", "assistant", "user"]

    another = OpenAIChatProvider("chat-test", "test-key-123456", model_server.openai_url)
    await ask(another, said("hello"), reply, said("and now?"), again, said("and then?"))
    await another.aclose()
    assert len(model_server.requests) == 5


async def test_a_fault_that_says_nothing_of_the_form_is_left_to_the_retries(model_server, chat):
    model_server.reply(Refuse(status=500, message="Internal server error"))
    with pytest.raises(Exception, match="failed \\(HTTP 500\\)"):
        await events_of(chat, ModelRequest(system="You help.", messages=(said("hello"),), tools=()))
    assert len(model_server.requests) == 1
