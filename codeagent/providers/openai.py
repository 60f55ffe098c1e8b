"""OpenAI's own models through the Responses protocol, the only one in which all of them use tools.

The protocol: https://platform.openai.com/docs/api-reference/responses. Nothing is
stored at the service: the history goes with each request, encrypted reasoning included.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from codeagent.core.json_types import JsonObject, JsonValue
from codeagent.core.messages import (
    AssistantBlock,
    AssistantMessage,
    ImageBlock,
    OpaqueBlock,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolResult,
    UserMessage,
)
from codeagent.core.protocols import ModelRequest, Provider, ToolSpec
from codeagent.core.text import storable
from codeagent.core.values import value
from codeagent.providers.catalog import Effort, Limits
from codeagent.providers.error_bodies import is_about_effort
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
from codeagent.providers.openai_reply import PHASE, ResponsesReply
from codeagent.providers.sse import as_text, parse_object, to_json

PREFIX = "openai"


@value
class _Form:
    """How this model wants to be asked; models that do not reason refuse to be asked about it."""

    effort: Effort | None = None
    wants_summary: bool = True
    keeps_reasoning: bool = True

    def corrected(self, refusal: str) -> _Form:
        """The form that answers the refusal; the same when that is about something else."""
        refusal = refusal.lower()
        is_about_encrypted = "encrypted" in refusal
        if not is_about_encrypted and is_about_effort(refusal) and self.effort:
            return replace(self, effort=None)
        if "summar" in refusal or (not is_about_encrypted and is_about_effort(refusal)):
            return replace(self, wants_summary=False)
        if is_about_encrypted:
            return replace(self, keeps_reasoning=False)
        return self

    def fields(self) -> list[bytes]:
        """The fields of a request that depend on it."""
        fields: list[bytes] = []
        reasoning: JsonObject = {"effort": self.effort} if self.effort else {}
        if self.wants_summary:
            reasoning["summary"] = "auto"
        if reasoning:
            fields.append(b'"reasoning":' + to_json(reasoning))
        if self.keeps_reasoning:
            fields.append(b'"include":["reasoning.encrypted_content"]')
        return fields


class OpenAIProvider(LiveProvider[_Form]):
    """A model behind ``/responses``.

    ``model`` is the service's own name for it; ``base_url`` None is OpenAI itself.
    Proxies and certificates come from the usual environment variables.
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
        self._cache_key = connection.cache_key
        super().__init__(
            full_name,
            "/responses",
            connection,
            Encoder(EncodedHistory(ResponsesDialect(full_name)), JoinedMessages(_write)),
            _Form(effort=limits.effort),
            before,
            limits,
        )

    def _reply(self, _: ModelRequest, /) -> ResponsesReply:
        return ResponsesReply(self.model, self._connection.service, self._encoder.history.call_ids)

    def _body(self, request: ModelRequest, messages: tuple[bytes, ...]) -> bytes:
        fields = [b'"model":' + to_json(self._name), b'"stream":true', b'"store":false', *self._form.fields()]
        fields += self._cache_key(request.system)
        length, end = self._length("max_output_tokens", request)
        fields += length
        if request.tools:
            fields.append(b'"tools":[' + b",".join(map(_tool, request.tools)) + b"]")
        if request.system.strip():
            fields.append(b'"instructions":' + to_json(request.system))
        return b"".join((b"{", b",".join(fields), b',"input":[', *messages, end))


def _tool(tool: ToolSpec) -> bytes:
    return b'{"type":"function","name":%b,"description":%b,"parameters":%b,"strict":false}' % (
        to_json(tool.name),
        to_json(tool.description),
        storable(tool.schema_json).encode(),
    )


def _write(turn: Turn) -> list[bytes]:
    """What was said to the model in a row becomes one message; all else is an item already."""
    return [b'{"role":"user","content":[%b]}' % b",".join(turn.parts)] if turn.role == "user" else turn.parts


class ResponsesDialect:
    """How the Responses protocol writes down what was said; ``model`` is whose reasoning may go back."""

    def __init__(self, model: str) -> None:
        self._model = model

    def user(self, message: UserMessage) -> tuple[Said, ...]:
        """Text and images as parts of a message."""
        parts = [to_json(part) for part in _parts(message.blocks)]
        return (Said(role="user", parts=tuple(parts or [to_json(_text(EMPTY_MESSAGE))])),)

    def reply(self, message: AssistantMessage) -> tuple[Said, ...]:
        """Text, calls, the model's own reasoning before the item that it led to, and all other items as they came.

        A message that is more than text goes back as it came too.

        What still waits for an output is left out, as the service refuses it.
        """
        items: list[bytes] = []
        pending: list[bytes] = []
        phase, answered = "", self._answered(message)
        for block, fields in with_fields(message.blocks, self._model):
            match block:
                case OpaqueBlock():
                    item = self._own(block)
                    if item.get("type") == PHASE:
                        phase = as_text(item.get("phase"))
                    elif item.get("type") == "reasoning":
                        pending.append(to_json(item))
                    elif item and as_text(item.get("call_id")) in answered:
                        items += [*pending, to_json(item)]
                        pending.clear()
                case TextBlock():
                    if block.text.strip():
                        said: JsonObject = {"role": "assistant", "content": block.text}
                        items += [*pending, to_json(fields or said | ({"phase": phase} if phase else {}))]
                        pending.clear()
                    phase = ""
                case ToolCall():
                    items += [*pending, _call(block, fields)]
                    pending.clear()
                case ThinkingBlock():
                    pass  # a summary for people
        return (Said(role="assistant", parts=tuple(items)),) if items else ()

    def _own(self, block: AssistantBlock) -> JsonObject:
        """An item that only this model's service understands."""
        if not isinstance(block, OpaqueBlock) or block.provider != self._model:
            return {}
        return parse_object(block.payload_json) or {}

    def _answered(self, message: AssistantMessage) -> set[str]:
        """The ids under which both a call and its output came; and none at all, which what has no such id bears."""
        found: dict[bool, set[str]] = {True: {""}, False: {""}}
        for item in map(self._own, message.blocks):
            found[as_text(item.get("type")).endswith("_output")].add(as_text(item.get("call_id")))
        return found[True] & found[False]

    def results(self, calls: Sequence[tuple[ToolCall, ToolResult]]) -> tuple[Said, ...]:
        """One output item for each call, images included."""
        return (Said(role="tool", parts=tuple(_result(call, result) for call, result in calls)),)


def _parts(blocks: Sequence[TextBlock | ImageBlock]) -> list[JsonValue]:
    return [
        _image(block) if isinstance(block, ImageBlock) else _text(block.text)
        for block in blocks
        if isinstance(block, ImageBlock) or block.text.strip()
    ]


def _text(text: str) -> JsonObject:
    return {"type": "input_text", "text": text}


def _image(block: ImageBlock) -> JsonObject:
    return {"type": "input_image", "image_url": f"data:{block.media_type};base64,{block.data}", "detail": "auto"}


def _call(call: ToolCall, fields: JsonObject) -> bytes:
    name, arguments = clean_name(call.name), sound_arguments(call.arguments_json)
    return to_json({**fields, "type": "function_call", "call_id": call.id, "name": name, "arguments": arguments})


def _result(call: ToolCall, result: ToolResult) -> bytes:
    text = "\n".join(result_texts(call, result))
    images = [block for block in result.blocks if isinstance(block, ImageBlock)]
    shown: list[JsonValue] = [_image(image) for image in images]
    output: JsonValue = [*([_text(text)] if text else []), *shown] if shown else text or NO_OUTPUT
    return to_json({"type": "function_call_output", "call_id": call.id, "output": output})
