"""How hard a model should think, and how long it may answer, in each of the protocols."""

from __future__ import annotations

import pytest

from codeagent.core.messages import StopReason
from codeagent.providers.anthropic import AnthropicProvider
from codeagent.providers.catalog import Limits
from codeagent.providers.openai import OpenAIProvider
from codeagent.providers.openai_chat import OpenAIChatProvider
from tests.server.replies import Refuse, say

FIELDS = "reasoning.effort, reasoning_effort, output_config"
LIMITS = Limits(effort="high", max_output=1_234)


@pytest.fixture(params=["messages", "chat", "responses"])
async def wanting(request, model_server):
    match request.param:
        case "messages":
            provider = AnthropicProvider("claude-test", "key", model_server.url, LIMITS)
        case "chat":
            provider = OpenAIChatProvider("chat-test", "key", model_server.openai_url, LIMITS)
        case _:
            provider = OpenAIProvider("gpt-test", "key", model_server.openai_url, LIMITS)
    yield provider
    await provider.aclose()


def effort_of(body: dict) -> object:
    nested = body.get("output_config") or body.get("reasoning") or {}
    return body.get("reasoning_effort") or nested.get("effort")


async def test_effort_and_length_go_out_in_the_words_of_the_protocol(wanting, model_server, ask_for):
    model_server.reply(say("Ok."))
    assert (await ask_for(wanting)).stop is StopReason.END_TURN
    [request] = model_server.requests
    assert effort_of(request.body) == "high"
    assert 1_234 in request.body.values()
    assert model_server.refusals == []


async def test_a_model_that_knows_no_effort_is_asked_without_one(wanting, model_server, ask_for):
    refused = Refuse(status=400, message=f"{FIELDS}: this model does not support effort")
    model_server.reply(refused, say("Ok."), say("Again."))
    assert (await ask_for(wanting)).text == "Ok."
    assert (await ask_for(wanting)).text == "Again."
    assert [effort_of(request.body) for request in model_server.requests] == ["high", None, None]
