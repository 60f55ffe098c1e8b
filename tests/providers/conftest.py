"""Talking to the scripted server through a provider, and histories to send."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing

import pytest

from codeagent.core.messages import (
    AssistantBlock,
    AssistantMessage,
    Message,
    Outcome,
    ResultsMessage,
    StopReason,
    TextBlock,
    ToolCall,
    ToolResult,
    UserMessage,
)
from codeagent.core.protocols import ModelEvent, ModelRequest, ReplyFinished, ToolSpec
from codeagent.providers.anthropic import AnthropicProvider
from codeagent.providers.openai import OpenAIProvider
from codeagent.providers.openai_chat import OpenAIChatProvider
from tests.server.scripted_server import ScriptedServer

READ = ToolSpec(name="read", description="Reads a file", schema_json='{"type":"object","properties":{}}')

LiveProvider = AnthropicProvider | OpenAIChatProvider | OpenAIProvider
Ask = Callable[..., Awaitable[AssistantMessage]]


@pytest.fixture
async def claude(model_server: ScriptedServer) -> AsyncIterator[AnthropicProvider]:
    provider = AnthropicProvider("claude-test", "test-key-123456", model_server.url)
    yield provider
    await provider.aclose()


@pytest.fixture
async def chat(model_server: ScriptedServer) -> AsyncIterator[OpenAIChatProvider]:
    provider = OpenAIChatProvider("chat-test", "test-key-123456", model_server.openai_url)
    yield provider
    await provider.aclose()


@pytest.fixture
async def responses(model_server: ScriptedServer) -> AsyncIterator[OpenAIProvider]:
    provider = OpenAIProvider("gpt-test", "test-key-123456", model_server.openai_url)
    yield provider
    await provider.aclose()


@pytest.fixture(params=["claude", "chat", "responses"])
def provider(request: pytest.FixtureRequest) -> LiveProvider:
    """Each of the live providers in turn."""
    return request.getfixturevalue(request.param)


async def events_of(provider: LiveProvider, request: ModelRequest) -> list[ModelEvent]:
    async with aclosing(provider.stream(request)) as stream:
        return [event async for event in stream]


async def ask(provider: LiveProvider, *messages: Message, tools: Sequence[ToolSpec] = (READ,)) -> AssistantMessage:
    """The reply to a history (a greeting when there is none)."""
    events = await events_of(
        provider, ModelRequest(system="You help.", messages=messages or (said("hello"),), tools=tuple(tools))
    )
    last = events[-1]
    assert isinstance(last, ReplyFinished)
    return last.message


def said(text: str) -> UserMessage:
    return UserMessage(blocks=(TextBlock(text=text),))


def replied(*blocks: AssistantBlock | str, stop: StopReason = StopReason.END_TURN, model: str = "") -> AssistantMessage:
    made = tuple(TextBlock(text=block) if isinstance(block, str) else block for block in blocks)
    return AssistantMessage(blocks=made, stop=stop, model=model)


def called(call_id: str = "call_1", name: str = "read", arguments: str = "{}") -> ToolCall:
    return ToolCall(id=call_id, name=name, arguments_json=arguments)


def result(call_id: str = "call_1", text: str = "done", outcome: Outcome = Outcome.OK) -> ToolResult:
    return ToolResult(call_id=call_id, blocks=(TextBlock(text=text),) if text else (), outcome=outcome)


def results(*items: ToolResult) -> ResultsMessage:
    return ResultsMessage(results=items)


@pytest.fixture
def ask_for() -> Ask:
    """Asks a provider and gives the whole reply."""
    return ask
