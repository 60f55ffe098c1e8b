"""Claude and everything else that speaks the Anthropic Messages protocol.

The protocol: https://docs.anthropic.com/en/api/messages and its streaming page.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing

import anthropic
import httpx2

from codeagent.core.errors import ProviderRejected
from codeagent.core.json_types import JsonObject, JsonValue
from codeagent.core.messages import (
    AssistantMessage,
    ImageBlock,
    Message,
    OpaqueBlock,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolResult,
    UserMessage,
)
from codeagent.core.protocols import ModelEvent, ModelRequest, ReplyFinished, ToolSpec
from codeagent.core.text import storable
from codeagent.providers.anthropic_reply import PROVIDER, MessagesReply
from codeagent.providers.catalog import Limits
from codeagent.providers.connection import HEADERS, MANY_MESSAGES, read_payloads, read_to_end, timeouts
from codeagent.providers.failures import Service
from codeagent.providers.history import (
    EMPTY_MESSAGE,
    NO_OUTPUT,
    EncodedHistory,
    Said,
    clean_name,
    parse_arguments,
    result_texts,
    tools_used,
)
from codeagent.providers.joined import JoinedMessages, Turn
from codeagent.providers.sse import parse_object, to_json

DEFAULT_URL = "https://api.anthropic.com"
DEFAULT_MAX_TOKENS = 16_384
_MARKED_TURNS = 2
_MARK = b',"cache_control":{"type":"ephemeral"}}'


class AnthropicProvider:
    """A model behind ``/v1/messages``; nothing is connected before the first request.

    ``model`` is the service's own name for it; ``base_url`` None is Anthropic
    itself. Proxies and certificates come from the usual environment variables.
    """

    def __init__(self, model: str, api_key: str, base_url: str | None = None, limits: Limits | None = None) -> None:
        self._name = model
        self._key = api_key
        self._url = (base_url or DEFAULT_URL).rstrip("/").removesuffix("/v1")
        self._limits = limits or Limits()
        self._effort = self._limits.effort
        self._client: anthropic.AsyncAnthropic | None = None
        self._connecting = asyncio.Lock()
        self._encoding = asyncio.Lock()
        self._history = EncodedHistory(MessagesDialect())
        self._joined = JoinedMessages(_write, _mark)
        self._service = Service(
            name="Anthropic" if base_url is None else self._url,
            url=self._url,
            model=model,
            key_variable="ANTHROPIC_API_KEY",
            url_variable="ANTHROPIC_BASE_URL",
            secret=api_key,
        )

    @property
    def model(self) -> str:
        """Its name in the form that ``--model`` takes."""
        return f"{PROVIDER}/{self._name}"

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Streams one reply; raises ProviderErrors. Closing the iterator ends the request."""
        response = await self._ask(request)
        reply = MessagesReply(self.model, self._service, self._history.call_ids)
        try:
            async with aclosing(read_payloads(response, self._service)) as reads:
                async for payloads in reads:
                    for payload in payloads:
                        reply.take(payload)
                    for event in reply.display.drain():
                        yield event
                    if reply.is_over:
                        await read_to_end(reads)
                        break
        finally:
            await response.aclose()
        yield ReplyFinished(message=reply.message())

    async def aclose(self) -> None:
        """Closes the connections that are kept for the next request."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _ask(self, request: ModelRequest) -> httpx2.Response:
        """Sends the request, and once more without an effort where the model does not let itself be told."""
        try:
            return await self._send(await self.body(request))
        except ProviderRejected as refusal:
            if self._effort is None or not ("effort" in refusal.message or "output_config" in refusal.message):
                raise
        self._effort = None
        return await self._send(await self.body(request))

    async def _send(self, body: bytes) -> httpx2.Response:
        async with self._connecting:
            client = self._client or await asyncio.to_thread(self._connect)
            self._client = client
        try:
            return await client.post(
                "/v1/messages", cast_to=httpx2.Response, content=body, options={"headers": HEADERS}
            )
        except anthropic.APIStatusError as error:
            raise self._service.refused(error.status_code, error.response.headers, error.response.text) from error
        except (anthropic.AnthropicError, httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise self._service.unreachable(error) from error

    def _connect(self) -> anthropic.AsyncAnthropic:
        """The SDK's client; loading certificates makes it slow, so it is made in a thread."""
        if not self._key and self._url == DEFAULT_URL:
            raise ProviderRejected("There is no key for Anthropic.", hint="Set ANTHROPIC_API_KEY.")
        try:
            return anthropic.AsyncAnthropic(
                api_key=self._key or "none", base_url=self._url, max_retries=0, timeout=timeouts(self._limits)
            )
        except (httpx2.InvalidURL, ValueError, OSError) as error:
            raise self._service.unreachable(error) from error

    async def body(self, request: ModelRequest) -> bytes:
        """The request as it is sent."""
        async with self._encoding:
            if self._history.missing(request.messages) > MANY_MESSAGES:
                messages = await asyncio.to_thread(self._messages, request.messages)
            else:
                messages = self._messages(request.messages)
        max_tokens = request.max_tokens or self._limits.max_output or DEFAULT_MAX_TOKENS
        fields = [
            b'"model":' + to_json(self._name),
            b'"max_tokens":%d' % max_tokens,
            b'"stream":true',
        ]
        if self._limits.thinks:
            fields.append(b'"thinking":{"type":"adaptive","display":"summarized"}')
        if self._effort:
            fields.append(b'"output_config":{"effort":"%b"}' % self._effort.encode())
        if tools := request.tools or tools_used(request.messages):
            fields.append(b'"tools":[' + b",".join(_tools(tools)) + b"]")
        if not request.tools and tools:
            fields.append(b'"tool_choice":{"type":"none"}')
        if request.system.strip():
            system = to_json({"type": "text", "text": request.system})
            fields.append(b'"system":[' + _marked(system) + b"]")
        return b"".join((b"{", b",".join(fields), b',"messages":[', *messages, b"]}"))

    def _messages(self, messages: Sequence[Message]) -> tuple[bytes, ...]:
        return self._joined.join(self._history.encode(messages))


def _tools(tools: Sequence[ToolSpec]) -> list[bytes]:
    encoded = [
        b'{"name":%b,"description":%b,"input_schema":%b}'
        % (to_json(tool.name), to_json(tool.description), storable(tool.schema_json).encode())
        for tool in tools
    ]
    return [*encoded[:-1], _marked(encoded[-1])]


def _write(turn: Turn) -> list[bytes]:
    return [b'{"role":"%b","content":[%b]}' % (turn.role.encode(), b",".join(turn.parts))]


def _mark(turns: Sequence[Turn]) -> None:
    """Sets cache breakpoints at the ends of the last turns of the user's side."""
    for turn in [turn for turn in turns if turn.role == "user"][-_MARKED_TURNS:]:
        turn.parts[-1] = _marked(turn.parts[-1])


def _marked(block: bytes) -> bytes:
    """The encoded object with a cache breakpoint at its end; no earlier byte changes."""
    return block[:-1] + _MARK


class MessagesDialect:
    """How the Messages protocol writes down what was said."""

    def user(self, message: UserMessage) -> tuple[Said, ...]:
        """Text and images; empty texts are refused by the service and left out."""
        parts = [to_json(block) for block in _content(message.blocks)]
        return (Said(role="user", parts=tuple(parts or [to_json({"type": "text", "text": EMPTY_MESSAGE})])),)

    def reply(self, message: AssistantMessage) -> tuple[Said, ...]:
        """Text, thinking that bears this provider's signature, and calls."""
        parts: list[bytes] = []
        for block in message.blocks:
            match block:
                case TextBlock():
                    if text := block.text.rstrip():
                        parts.append(to_json({"type": "text", "text": text}))
                case ThinkingBlock():
                    if block.provider == PROVIDER and block.signature:
                        thinking: JsonObject = {"thinking": block.text, "signature": block.signature}
                        parts.append(to_json({"type": "thinking", **thinking}))
                case OpaqueBlock():
                    if block.provider == PROVIDER and (item := parse_object(block.payload_json)):
                        parts.append(to_json(item))
                case ToolCall():
                    parts.append(_call(block))
        return (Said(role="assistant", parts=tuple(parts)),) if parts else ()

    def results(self, calls: Sequence[tuple[ToolCall, ToolResult]]) -> tuple[Said, ...]:
        """One ``tool_result`` for each call, in call order."""
        return (Said(role="user", parts=tuple(_result(call, result) for call, result in calls)),)


def _content(blocks: Sequence[TextBlock | ImageBlock]) -> list[JsonObject]:
    return [_image(block) if isinstance(block, ImageBlock) else {"type": "text", "text": block.text}
            for block in blocks if isinstance(block, ImageBlock) or block.text.strip()]  # fmt: skip


def _image(block: ImageBlock) -> JsonObject:
    return {"type": "image", "source": {"type": "base64", "media_type": block.media_type, "data": block.data}}


def _call(call: ToolCall) -> bytes:
    arguments = parse_arguments(call.arguments_json) or {}
    return to_json({"type": "tool_use", "id": call.id, "name": clean_name(call.name), "input": arguments})


def _result(call: ToolCall, result: ToolResult) -> bytes:
    content: list[JsonValue] = [{"type": "text", "text": text} for text in result_texts(call, result)]
    content += [_image(block) for block in result.blocks if isinstance(block, ImageBlock)]
    encoded: JsonObject = {
        "type": "tool_result",
        "tool_use_id": call.id,
        "content": content or [{"type": "text", "text": NO_OUTPUT}],
    }
    if result.is_error:
        encoded["is_error"] = True
    return to_json(encoded)
