"""OpenAI Chat Completions, and every server that speaks it: llama.cpp, Ollama, vLLM, LM Studio, gateways.

The protocol: https://platform.openai.com/docs/api-reference/chat.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from codeagent.core.json_types import JsonObject, JsonValue
from codeagent.core.messages import (
    AssistantMessage,
    ImageBlock,
    OpaqueBlock,
    ThinkingBlock,
    ToolCall,
    ToolResult,
    UserMessage,
)
from codeagent.core.protocols import ModelRequest, Provider, ToolSpec
from codeagent.core.seldom import seldom
from codeagent.core.text import storable
from codeagent.core.values import value
from codeagent.providers.catalog import Effort, Limits
from codeagent.providers.chat_pieces import said_by
from codeagent.providers.chat_reply import CONTENT, MESSAGE_FIELDS, REASONING_DETAILS, ChatReply
from codeagent.providers.error_bodies import is_about_effort, is_about_system, offers_developer
from codeagent.providers.history import (
    EMPTY_MESSAGE,
    NO_OUTPUT,
    EncodedHistory,
    Said,
    clean_name,
    result_texts,
    sound_arguments,
    with_fields,
)
from codeagent.providers.joined import JoinedMessages, Turn
from codeagent.providers.live import Encoder, LiveProvider
from codeagent.providers.openai_connection import OpenAIConnection
from codeagent.providers.sse import as_list, as_object, as_text, parse_object, to_json

PREFIX = "openai-chat"
"""The role that the system prompt is sent in, as the first message."""
_Role = Literal["system", "developer", "user"]
_USER = b'{"role":"user","content":'
_MOST_CALLS = 128
"""In one message: OpenAI refuses longer lists, also in what another model once said."""
_CALLS_NAMED = seldom(r"tool_calls\b.{0,60}?\b(?:maximum length|at most|no more than|up to) (\d+)", re.IGNORECASE)


@value
class _Form:
    """How this server wants to be asked; servers differ, and tell when it was wrong."""

    counts_usage: bool = True
    effort: Effort | Literal["none"] | None = None
    limit_key: str = "max_tokens"
    system_role: _Role = "system"
    most_calls: int = _MOST_CALLS

    def corrected(self, refusal: str) -> _Form:  # noqa: PLR0911 - one return a cause
        """The form that answers the refusal; the same when that is about something else."""
        if (named := _CALLS_NAMED().search(refusal)) and 0 < int(named[1]) < self.most_calls:
            return replace(self, most_calls=int(named[1]))
        if "stream_options" in refusal:
            return replace(self, counts_usage=False)
        if "reasoning_effort" in refusal and self.effort is None:
            return replace(self, effort="none")  # OpenAI: the only one that goes with tools here
        if self.effort not in (None, "none") and is_about_effort(refusal):
            return replace(self, effort=None)
        if "max_completion_tokens" in refusal and self.limit_key == "max_tokens":
            return replace(self, limit_key="max_completion_tokens")
        if self.system_role != "user" and is_about_system(refusal):
            takes_developer = self.system_role == "system" and offers_developer(refusal)
            return replace(self, system_role="developer" if takes_developer else "user")
        return self

    def fields(self) -> list[bytes]:
        """The fields of a request that depend on it."""
        fields: list[bytes] = []
        if self.counts_usage:
            fields.append(b'"stream_options":{"include_usage":true}')
        if self.effort:
            fields.append(b'"reasoning_effort":"%b"' % self.effort.encode())
        return fields


class OpenAIChatProvider(LiveProvider[_Form]):
    """A model behind ``/chat/completions``.

    ``model`` is the service's own name for it; ``base_url`` None is OpenAI itself,
    other servers need no key. Proxies and certificates come from the usual
    environment variables.
    """

    def __init__(
        self,
        model: str,
        api_key: str,
        base_url: str | None = None,
        limits: Limits | None = None,
        key_remedy: str = "",
        before: Provider | None = None,
    ) -> None:
        self._name = model
        limits = limits or Limits()
        full_name = f"{PREFIX}/{model}"
        connection = OpenAIConnection(model, api_key, base_url, limits, key_remedy)
        self._is_openai, self._cache_key = connection.is_openai, connection.cache_key
        limit_key = "max_completion_tokens" if self._is_openai else "max_tokens"
        super().__init__(
            full_name,
            "/chat/completions",
            connection,
            Encoder(EncodedHistory(ChatDialect(full_name)), JoinedMessages(_write)),
            _Form(effort=limits.effort, limit_key=limit_key),
            before,
            limits,
        )

    def _correct(self, *refusals: str) -> bool:
        most = self._form.most_calls
        is_other = super()._correct(*refusals)
        if self._form.most_calls != most:
            self._encoder.history.renew(ChatDialect(self.model, self._form.most_calls))
        return is_other

    def _reply(self, request: ModelRequest, /) -> ChatReply:
        tools, used = frozenset(tool.name for tool in request.tools), self._encoder.history.call_ids
        return ChatReply(self.model, self._connection.service, used, tools, finds_written=not self._is_openai)

    def _body(self, request: ModelRequest, messages: tuple[bytes, ...]) -> bytes:
        fields = [b'"model":' + to_json(self._name), b'"stream":true']
        length, end = self._length(self._form.limit_key, request)
        fields += [*self._cache_key(request.system), *self._form.fields(), *length]
        if request.tools:
            fields.append(b'"tools":[' + b",".join(map(_tool, request.tools)) + b"]")
        if request.system.strip():
            messages = _with_system(self._form.system_role, request.system, messages)
        return b"".join((b"{", b",".join(fields), b',"messages":[', *messages, end))


def _with_system(role: _Role, system: str, messages: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """The messages behind the system prompt; where no role is left for it, it opens the first one, the user's."""
    if role != "user":
        return (to_json({"role": role, "content": system}), b",", *messages)
    first, *others = messages
    text, content = to_json(system), first.removeprefix(_USER)
    if content.startswith(b"["):
        return (_USER, b'[{"type":"text","text":%b},' % text, content[1:], *others)
    return (_USER, text[:-1], b"\\n\\n", content[1:], *others)


def _tool(tool: ToolSpec) -> bytes:
    return b'{"type":"function","function":{"name":%b,"description":%b,"parameters":%b}}' % (
        to_json(tool.name),
        to_json(tool.description),
        storable(tool.schema_json).encode(),
    )


def _write(turn: Turn) -> list[bytes]:
    """What was said to the model in a row becomes one message."""
    return [b"%b%b}" % (_USER, _joined(turn.parts))] if turn.role == "user" else turn.parts


def _joined(parts: Sequence[bytes]) -> bytes:
    """Text alone as one string, which every server takes; with images, a list of parts."""
    if all(part.startswith(b'"') for part in parts):
        return b'"' + b"\\n\\n".join(part[1:-1] for part in parts) + b'"'
    return b"[%b]" % b",".join(b'{"type":"text","text":%b}' % part if part[:1] == b'"' else part for part in parts)


class ChatDialect:
    """How Chat Completions writes down what was said; ``model`` is whose thinking may go back.

    One message holds at most so many calls as ``most_calls`` says.
    """

    def __init__(self, model: str, most_calls: int = _MOST_CALLS) -> None:
        self._model = model
        self._most_calls = most_calls
        self._further: dict[str, JsonValue] = {}

    def user(self, message: UserMessage) -> tuple[Said, ...]:
        """Text parts as JSON strings, images as objects; joined when the request is put together."""
        parts = [
            _image(block) if isinstance(block, ImageBlock) else to_json(block.text)
            for block in message.blocks
            if isinstance(block, ImageBlock) or block.text.strip()
        ]
        return (Said(role="user", parts=tuple(parts or [to_json(EMPTY_MESSAGE)])),)

    def reply(self, message: AssistantMessage) -> tuple[Said, ...]:
        """Text and calls with the server's own fields, and with calls the thinking that led to them.

        Of more calls than one message may hold, the others stand behind the results of these.

        Thinking in plain text goes back with calls alone, as DeepSeek's documentation asks for.
        """
        kept = self._own(message)
        encoded: JsonObject = {**as_object(kept.get(MESSAGE_FIELDS)), "role": "assistant"}
        parts = as_list(kept.get(CONTENT))
        is_same = bool(parts) and storable("".join(said_by(as_object(part)) for part in parts)) == message.text
        encoded["content"] = parts if is_same else message.text if message.text.strip() else None
        if details := kept.get(REASONING_DETAILS):
            encoded[REASONING_DETAILS] = details
        every = self._calls(message)
        calls, further = every[: self._most_calls], every[self._most_calls :]
        self._further |= {as_text(as_object(call).get("id")): call for call in further}
        if calls:
            encoded |= {} if details else self._thinking(message)
            encoded["tool_calls"] = calls
        return (Said(role="assistant", parts=(to_json(encoded),)),) if calls or encoded["content"] else ()

    def results(self, calls: Sequence[tuple[ToolCall, ToolResult]]) -> tuple[Said, ...]:
        """One ``tool`` message for each call; their images, which it cannot hold, follow as the user's.

        Calls that the reply's message had no room for come in further ones, each before its own results.
        """
        said: list[Said] = []
        images: list[bytes] = []
        for start in range(0, len(calls), self._most_calls):
            some = calls[start : start + self._most_calls]
            if start:
                more: JsonObject = {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [self._further.get(call.id) or _call(call) for call, _ in some],
                }
                said.append(Said(role="assistant", parts=(to_json(more),)))
            said.append(Said(role="tool", parts=tuple(_result(call, result) for call, result in some)))
        for call, result in calls:
            if shown := _images(result):
                images += [to_json(f"The image that {clean_name(call.name)} gave:"), *shown]
        return (*said, Said(role="user", parts=tuple(images))) if images else tuple(said)

    def _calls(self, message: AssistantMessage) -> list[JsonValue]:
        """The calls, each with the fields that its server added to it, such as the signature of a thought."""
        blocks = with_fields(message.blocks, self._model)
        return [{**fields, **_call(block)} for block, fields in blocks if isinstance(block, ToolCall)]

    def _thinking(self, message: AssistantMessage) -> JsonObject:
        """Thinking in plain text goes back under the name it came with, kept as its signature."""
        own = [
            block
            for block in message.blocks
            if isinstance(block, ThinkingBlock) and block.provider == self._model and block.signature and block.text
        ]
        return {own[0].signature: "".join(block.text for block in own)} if own else {}

    def _own(self, message: AssistantMessage) -> JsonObject:
        """What blocks keep for the model that they came from."""
        kept: JsonObject = {}
        for block in message.blocks:
            if isinstance(block, OpaqueBlock) and block.provider == self._model:
                kept |= parse_object(block.payload_json) or {}
        return kept


def _image(block: ImageBlock) -> bytes:
    url = f"data:{block.media_type};base64,{block.data}"
    return to_json({"type": "image_url", "image_url": {"url": url}})


def _images(result: ToolResult) -> list[bytes]:
    return [_image(block) for block in result.blocks if isinstance(block, ImageBlock)]


def _result(call: ToolCall, result: ToolResult) -> bytes:
    text = "\n".join(result_texts(call, result)) or ("(see the image below)" if _images(result) else NO_OUTPUT)
    return to_json({"role": "tool", "tool_call_id": call.id, "content": text})


def _call(call: ToolCall) -> JsonObject:
    function: JsonObject = {"name": clean_name(call.name), "arguments": sound_arguments(call.arguments_json)}
    return {"id": call.id, "type": "function", "function": function}
