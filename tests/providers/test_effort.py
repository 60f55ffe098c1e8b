"""How hard a model should think, and how long it may answer, in each of the protocols."""

from __future__ import annotations

import pytest

from codeagent.core.messages import (
    AssistantMessage,
    Origin,
    ResultsMessage,
    StopReason,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolResult,
    UserMessage,
)
from codeagent.core.protocols import ModelRequest, NoticePiece
from codeagent.providers.anthropic import AnthropicProvider
from codeagent.providers.catalog import Catalog, Limits
from codeagent.providers.error_bodies import error_of, is_about_effort
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


async def test_a_model_that_knows_no_effort_is_asked_without_one_and_the_person_is_told_once(wanting, model_server):
    refused = Refuse(status=400, message=f"{FIELDS}: this model does not support effort")
    model_server.reply(refused, say("Ok."), say("Again."))
    request = ModelRequest(system="", messages=(said("Go."),), tools=())
    events = [event for _ in range(2) async for event in wanting.stream(request)]
    assert [effort_of(request.body) for request in model_server.requests] == ["high", None, None]
    [notice] = [event.text for event in events if isinstance(event, NoticePiece)]
    assert notice.startswith(f"{wanting.model} is asked without the effort that is set")
    assert notice.endswith("does not support effort.")


@pytest.mark.parametrize(
    "words",
    [
        '"gemma3:4b" does not support thinking',
        "Model grok-4 does not support parameter reasoningEffort.",
        "Reasoning is not supported with this model.",
        "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
        "Unsupported parameter: 'reasoning' is not supported with this model.",
        "`reasoning_effort` is not supported with this model",
        "Thinking level is not supported for this model.",
        "Unrecognized request argument supplied: reasoning_effort",
    ],
)
def test_services_say_in_many_words_that_they_take_no_effort(words):
    assert is_about_effort(words)


@pytest.mark.parametrize(
    "words",
    [
        "The model grok-4-fast-non-reasoning is not available in your region",
        "messages.1: property 'reasoning_content' is not supported",
        "thinking blocks cannot be modified",
        "gemma does not support tools",
    ],
)
def test_words_about_other_things_are_not_about_effort(words):
    assert not is_about_effort(words)


def test_the_field_of_a_refused_effort_is_read_where_the_words_leave_it_out():
    error = {"message": "Unsupported value: 'low' is not supported with this model.", "param": "reasoning.effort"}
    assert is_about_effort(error_of({"error": error})[1])


@pytest.fixture
async def budgeted(model_server):
    limits = Limits(effort="medium", max_output=20_000, has_budget=True)
    provider = AnthropicProvider("claude-test", "key", model_server.url, limits)
    yield provider
    await provider.aclose()


async def test_a_model_with_a_budget_is_told_its_effort_in_tokens(budgeted, model_server, ask_for):
    model_server.reply(say("Ok."))
    await ask_for(budgeted)
    body = model_server.requests[0].body
    assert body["thinking"] == {"type": "enabled", "budget_tokens": 10_000}
    assert "output_config" not in body


async def test_a_reply_that_may_be_short_only_is_not_thought_about(budgeted, model_server):
    model_server.reply(say("Ok."))
    message = UserMessage(blocks=(TextBlock(text="Sum up."),), origin=Origin.HARNESS)
    request = ModelRequest(system="", messages=(message,), tools=(), max_tokens=4_000)
    async for _ in budgeted.stream(request):
        pass
    assert "thinking" not in model_server.requests[0].body


@pytest.mark.parametrize("signature", ["", "signed"])
async def test_thinking_within_a_chain_of_calls_goes_on_only_where_it_was_thought_at_its_beginning(
    budgeted, model_server, signature
):
    thought = ThinkingBlock(text="Hm.", signature=signature or "signed", provider="anthropic")
    opening, later = ((thought,), ()) if signature else ((), (thought,))
    asked = said("Read.")
    steered = (*called("c1", *opening), said("Look at the end."), *called("c2", *later))
    answered = AssistantMessage(blocks=(TextBlock(text="Done."),), stop=StopReason.END_TURN)
    model_server.reply(*[say("Ok.")] * 3)
    for messages in ((asked, *called("c1", *opening)), (asked, *steered), (asked, *steered, answered, said("And?"))):
        async for _ in budgeted.stream(ModelRequest(system="", messages=messages, tools=())):
            pass
    assert ["thinking" in request.body for request in model_server.requests] == [bool(signature)] * 2 + [True]
    assert model_server.refusals == []


def said(text: str) -> UserMessage:
    return UserMessage(blocks=(TextBlock(text=text),), origin=Origin.PROMPT)


def called(identity: str, *thoughts: ThinkingBlock) -> tuple[AssistantMessage, ResultsMessage]:
    blocks = (*thoughts, ToolCall(id=identity, name="read", arguments_json="{}"))
    result = ToolResult(call_id=identity, blocks=(TextBlock(text="text"),))
    reply = AssistantMessage(blocks=blocks, stop=StopReason.TOOL_USE, model="anthropic/claude-test")
    return reply, ResultsMessage(results=(result,))


def test_models_with_a_budget_are_known():
    catalog = Catalog()
    assert catalog.limits("anthropic/claude-haiku-4-5-20251001").has_budget
    assert not catalog.limits("anthropic/claude-opus-5-5").has_budget
