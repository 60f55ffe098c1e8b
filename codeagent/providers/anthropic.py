"""Claude and everything else that speaks the Anthropic Messages protocol.

The protocol: https://docs.anthropic.com/en/api/messages and its streaming page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

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
from codeagent.core.protocols import ModelRequest, Provider, ToolSpec
from codeagent.core.seldom import seldom
from codeagent.core.text import storable
from codeagent.core.values import value
from codeagent.providers.anthropic_connection import AnthropicConnection
from codeagent.providers.anthropic_reply import PROVIDER, MessagesReply
from codeagent.providers.catalog import Effort, Limits
from codeagent.providers.history import (
    EMPTY_MESSAGE,
    NO_OUTPUT,
    EncodedHistory,
    Said,
    clean_name,
    parse_arguments,
    result_texts,
    tools_used,
    with_fields,
)
from codeagent.providers.joined import JoinedMessages, Mark, Turn
from codeagent.providers.left_out import LeftOut
from codeagent.providers.live import Encoder, LiveProvider
from codeagent.providers.sse import parse_object, to_json

DEFAULT_MAX_TOKENS = 16_384
_MARKED_TURNS = 2
_BUDGETS: Mapping[Effort, int] = {"low": 4_096, "medium": 12_288, "high": 32_000}
_LEAST_BUDGET = 1_024  # what the service takes
_THOUGHTS = frozenset({"thinking", "redacted_thinking"})
_MARK = b',"cache_control":{"type":"ephemeral"}}'
_ABOUT_ASKING_TO_THINK = seldom(
    r"(?:^|: )thinking(?:\.\w+)*: |thinking\.type|not support\w*\b.{0,40}\bthinking"
    r"|\bthinking\b.{0,20}\bnot (?:supported|available|enabled)",
    re.IGNORECASE,
)
"""The field that asks for thinking, which stands at the top of a request; thinking in messages is another matter."""


@value
class _Form:
    """How this model wants to be asked; not each lets itself be told how hard to think, or to think at all.

    ``is_marked``: the service takes cache breakpoints. ``has_budget``: the effort is told as a number of tokens.
    """

    effort: Effort | None = None
    thinks: bool = False
    has_budget: bool = False
    is_marked: bool = True

    def corrected(self, refusal: str) -> _Form:
        """The form that answers the refusal; the same when that is about something else."""
        if "cache_control" in refusal:
            return replace(self, is_marked=False)
        if self.effort and any(word in refusal for word in ("effort", "output_config", "budget_tokens")):
            return replace(self, effort=None)
        if not _ABOUT_ASKING_TO_THINK().search(refusal):
            return self
        return replace(self, thinks=False, effort=None if self.has_budget else self.effort)


class AnthropicProvider(LiveProvider[_Form]):
    """A model behind ``/v1/messages``.

    ``model`` is the service's own name for it; ``base_url`` None is Anthropic
    itself; ``key_remedy`` is what to do when the key is not accepted; ``before`` is
    the last client of the same model, whose encoded history is gone on with. Proxies
    and certificates come from the usual environment variables.
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
        super().__init__(
            f"{PROVIDER}/{model}",
            "/v1/messages",
            AnthropicConnection(model, api_key, base_url, limits, key_remedy),
            Encoder(EncodedHistory(MessagesDialect()), JoinedMessages(_write)),
            _Form(effort=limits.effort, thinks=limits.thinks, has_budget=limits.has_budget),
            before,
            limits,
        )

    def _thinking(self, request: ModelRequest, max_tokens: int) -> Iterator[bytes]:
        """How hard to think, in the words that the model takes: an effort, or a number of tokens."""
        effort = self._form.effort
        if self._form.has_budget:
            budget = min(_BUDGETS[effort], max_tokens // 2) if effort else 0
            if (
                budget >= _LEAST_BUDGET
                and request.max_tokens is None
                and _may_think(request.messages, self._taken.left_out)
            ):
                yield b'"thinking":{"type":"enabled","budget_tokens":%d}' % budget
            return
        if self._form.thinks:
            yield b'"thinking":{"type":"adaptive","display":"summarized"}'
        if effort:
            yield b'"output_config":{"effort":"%b"}' % effort.encode()

    @property
    def _mark(self) -> Mark | None:
        """Cache breakpoints at the ends of the last turns of the user's side."""
        return _mark if self._form.is_marked else None

    def _reply(self, _: ModelRequest, /) -> MessagesReply:
        return MessagesReply(self.model, self._connection.service, self._encoder.history.call_ids)

    def _body(self, request: ModelRequest, messages: tuple[bytes, ...]) -> bytes:
        max_tokens = self._output_of(request, DEFAULT_MAX_TOKENS) or DEFAULT_MAX_TOKENS
        length, end = self._length("max_tokens", request, DEFAULT_MAX_TOKENS)
        fields = [b'"model":' + to_json(self._name), *length, b'"stream":true']
        fields += self._thinking(request, max_tokens)
        if tools := request.tools or tools_used(request.messages):
            encoded = [*map(_tool, tools)]
            encoded[-1] = self._marked(encoded[-1])
            fields.append(b'"tools":[' + b",".join(encoded) + b"]")
        if not request.tools and tools:
            fields.append(b'"tool_choice":{"type":"none"}')
        if request.system.strip():
            system = to_json({"type": "text", "text": request.system})
            fields.append(b'"system":[' + self._marked(system) + b"]")
        return b"".join((b"{", b",".join(fields), b',"messages":[', *messages, end))

    def _marked(self, block: bytes) -> bytes:
        return _marked(block) if self._form.is_marked else block


def _may_think(messages: Sequence[Message], left_out: LeftOut) -> bool:
    """Whether thinking can be asked for: once calls were made, only where signed thinking began the turn.

    Calls and what comes of them are one turn and are thought about or not as a whole; a
    message that stands behind results is sent with them and does not end it.
    https://platform.claude.com/docs/en/build-with-claude/thinking-tool-workflows
    """
    opening = _opening(messages)
    if opening is None:
        return True
    sent = left_out.without(opening) if left_out.texts else opening
    if left_out.thinking or not isinstance(sent, AssistantMessage):
        return False
    first, _ = next(with_fields(sent.blocks, PROVIDER), (None, None))
    match first:
        case ThinkingBlock(provider=provider, signature=signature):
            return provider == PROVIDER and bool(signature)
        case OpaqueBlock(provider=provider, payload_json=payload):
            return provider == PROVIDER and (parse_object(payload) or {}).get("type") == "redacted_thinking"
        case _:
            return False


def _opening(messages: Sequence[Message]) -> AssistantMessage | None:
    """The first message of the model's in the turn that is going on; None where it has said nothing yet."""
    opening = last = None
    for message in messages:
        if isinstance(message, AssistantMessage):
            opening, last = opening or message, message
        elif isinstance(message, UserMessage) and last and not last.calls:
            opening = None
    return opening


def _tool(tool: ToolSpec) -> bytes:
    return b'{"name":%b,"description":%b,"input_schema":%b}' % (
        to_json(tool.name),
        to_json(tool.description),
        storable(tool.schema_json).encode(),
    )


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
        """Text, thinking that bears this provider's signature, and calls; a message that ends in thought is refused."""
        parts: list[JsonObject] = []
        for block, fields in with_fields(message.blocks, PROVIDER):
            match block:
                case TextBlock():
                    if text := block.text.rstrip():
                        parts.append({**fields, "type": "text", "text": text})
                case ThinkingBlock():
                    if block.provider == PROVIDER and block.signature:
                        thinking: JsonObject = {"thinking": block.text, "signature": block.signature}
                        parts.append({**fields, "type": "thinking", **thinking})
                case OpaqueBlock():
                    if block.provider == PROVIDER and (item := parse_object(block.payload_json)):
                        parts.append(item)
                case ToolCall():
                    parts.append(_call(block, fields))
        while parts and parts[-1].get("type") in _THOUGHTS:
            parts.pop()
        return (Said(role="assistant", parts=tuple(map(to_json, parts))),) if parts else ()

    def results(self, calls: Sequence[tuple[ToolCall, ToolResult]]) -> tuple[Said, ...]:
        """One ``tool_result`` for each call, in call order."""
        return (Said(role="user", parts=tuple(_result(call, result) for call, result in calls)),)


def _content(blocks: Sequence[TextBlock | ImageBlock]) -> list[JsonObject]:
    return [_image(block) if isinstance(block, ImageBlock) else {"type": "text", "text": block.text}
            for block in blocks if isinstance(block, ImageBlock) or block.text.strip()]  # fmt: skip


def _image(block: ImageBlock) -> JsonObject:
    return {"type": "image", "source": {"type": "base64", "media_type": block.media_type, "data": block.data}}


def _call(call: ToolCall, fields: JsonObject) -> JsonObject:
    arguments = parse_arguments(call.arguments_json) or {}
    return {**fields, "type": "tool_use", "id": call.id, "name": clean_name(call.name), "input": arguments}


def _result(call: ToolCall, result: ToolResult) -> bytes:
    content: list[JsonValue] = [{"type": "text", "text": text} for text in result_texts(call, result)]
    images: list[JsonValue] = [_image(block) for block in result.blocks if isinstance(block, ImageBlock)]
    content += images
    encoded: JsonObject = {
        "type": "tool_result",
        "tool_use_id": call.id,
        "content": content or [{"type": "text", "text": NO_OUTPUT}],
    }
    if result.is_error and not images:  # the service wants an error to be text alone
        encoded["is_error"] = True
    return to_json(encoded)
