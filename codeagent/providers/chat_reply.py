"""One reply in Chat Completions, from the chunks of its stream to the message.

Compatible servers leave out indexes, ids, finish reasons and usage, send
arguments as objects, or pass on as text what the model wrote as thinking or as
a call; all of that is understood. What the model wrote as a call's arguments is
kept to the letter.
"""

from __future__ import annotations

import json
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from uuid import uuid4

from codeagent.core.errors import ProviderUnavailable
from codeagent.core.json_types import JsonObject, JsonValue
from codeagent.core.messages import (
    AssistantBlock,
    AssistantMessage,
    OpaqueBlock,
    StopReason,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    Usage,
)
from codeagent.core.text import storable
from codeagent.providers.failures import Service
from codeagent.providers.pieces import Display, GrowingText
from codeagent.providers.sse import as_count, as_list, as_object, as_text, parse_object
from codeagent.providers.written_text import WrittenText

REASONING_DETAILS = "reasoning_details"
"""OpenRouter's items of reasoning, which must come back as they were, with their signatures."""
CALL_FIELDS = "call_fields"
"""Fields that a server adds to a call and wants back, such as Gemini's ``extra_content`` with its signatures."""
_THINKING_KEYS = ("reasoning_content", "reasoning")
_KNOWN_CALL_FIELDS = frozenset({"index", "id", "type", "function"})
_STOPS = {
    "length": StopReason.MAX_TOKENS,
    "max_tokens": StopReason.MAX_TOKENS,
    "content_filter": StopReason.REFUSAL,
    "refusal": StopReason.REFUSAL,
    "sensitive": StopReason.REFUSAL,
    "model_length": StopReason.CONTEXT_EXCEEDED,
}
_BROKEN = frozenset({"error", "abort", "network_error", "insufficient_system_resource"})
"""Finish reasons of a reply that the server gave up."""


@dataclass(slots=True)
class _Call:
    """A call that is still growing."""

    id: str = ""
    name: str = ""
    arguments: GrowingText = field(default_factory=GrowingText)
    others: JsonObject = field(default_factory=dict[str, JsonValue])


class _Content:
    """Text and thinking so far, shown as they come."""

    def __init__(self) -> None:
        self.text = GrowingText()
        self.thinking = GrowingText()
        self.thinking_key = ""
        self.display = Display()

    def say(self, text: str) -> None:
        self.text.add(text)
        self.display.text(text)

    def think(self, text: str, key: str = "") -> None:
        self.thinking.add(text)
        self.thinking_key = key
        self.display.thinking(text)

    def rethink(self) -> None:
        self.thinking.add(str(self.text))
        self.text = GrowingText()

    def writes_call(self, name: str, size: int) -> None:
        self.display.call(name, size)


class ChatReply:
    """A reply that grows with each chunk; ``display`` holds what the screen has not been told yet.

    ``is_over`` says that nothing more comes; ``is_finished`` that what may come is no part of the message.
    """

    def __init__(self, model: str, service: Service, call_ids: set[str], tools: AbstractSet[str]) -> None:
        """``call_ids`` are those the history has used up, ``tools`` those that the model was offered."""
        self._model = model
        self._service = service
        self._call_ids = call_ids
        self._content = _Content()
        self._written = WrittenText(tools, self._content)
        self._details: list[JsonObject] = []
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self.usage = Usage()
        self._counts: dict[str, int] = {}
        self._stop = ""
        self.is_over = False

    @property
    def display(self) -> Display:
        """What to show now."""
        return self._content.display

    @property
    def is_finished(self) -> bool:
        """Whether the message is whole."""
        return self.is_over or bool(self._stop)

    def take(self, payload: bytes) -> None:
        """Adds one chunk; raises a ProviderError when it is an error."""
        if payload == b"[DONE]":
            self.is_over = True
            return
        chunk = parse_object(payload)
        if chunk is None:
            raise ProviderUnavailable(f"{self._service.name} sent a chunk that is not JSON.")
        if chunk.get("error"):
            raise self._service.reported(chunk["error"])
        self._count(as_object(chunk.get("usage")))
        for choice in as_list(chunk.get("choices"))[:1]:
            fields = as_object(choice)
            self._count(as_object(fields.get("usage")))
            self._grow(as_object(fields.get("delta") or fields.get("message")))
            self.is_over = "message" in fields and "delta" not in fields
            stop = as_text(fields.get("finish_reason"))
            if stop in _BROKEN:
                raise self._service.broke_off()
            self._stop = stop or self._stop

    def message(self) -> AssistantMessage:
        """The whole reply; raises ProviderUnavailable when the stream ended before it was whole."""
        if not self.is_finished:
            raise self._service.broke_off()
        stop = _STOPS.get(self._stop)
        self._finish_text(is_cut=stop is StopReason.MAX_TOKENS)
        content = self._content
        blocks: list[AssistantBlock] = []
        if content.thinking.size:
            thinking = storable(str(content.thinking))
            blocks.append(ThinkingBlock(text=thinking, signature=content.thinking_key, provider=self._model))
        blocks += self._opaque(REASONING_DETAILS, [*self._details])
        text = storable(str(content.text))
        if text := text.strip() if self._written.calls else text:
            blocks.append(TextBlock(text=text))
        for call in self._calls:
            blocks += [*self._opaque(CALL_FIELDS, call.others), self._made(call)]
        stop = stop or (StopReason.TOOL_USE if self._calls else StopReason.END_TURN)
        return AssistantMessage(blocks=tuple(blocks), stop=stop, model=self._model, usage=self.usage)

    def _count(self, counts: JsonObject) -> None:
        """Counts are cumulative, at the end or in each chunk, in one piece or in several; so none ever falls."""
        for name, count in _counts(counts).items() if counts else ():
            self._counts[name] = max(self._counts.get(name, 0), count)
        if counts:
            self.usage = _usage(self._counts)

    def _opaque(self, kind: str, kept: JsonValue) -> list[OpaqueBlock]:
        """What only this model's server understands, and may want back."""
        return [OpaqueBlock(provider=self._model, payload_json=json.dumps({kind: kept}))] if kept else []

    def _finish_text(self, *, is_cut: bool) -> None:
        """Calls that the model wrote as text count where the server found none itself."""
        self._written.finish()
        if self._written.unfinished and not is_cut:
            self._content.say(self._written.unfinished)
        if not self._calls:
            for written in self._written.calls:
                call = _Call(name=written.name)
                call.arguments.add(written.arguments_json)
                self._calls.append(call)

    def _grow(self, delta: JsonObject) -> None:
        for key in _THINKING_KEYS:
            if thinking := as_text(delta.get(key)):
                self._content.think(thinking, key)
                break
        for detail in as_list(delta.get(REASONING_DETAILS)):
            self._take_detail(as_object(detail))
        content = delta.get("content")
        if isinstance(content, list):
            self._take_parts(content)
        elif text := as_text(content):
            self._written.feed(text)
        elif refusal := as_text(delta.get("refusal")):
            self._content.say(refusal)
        for piece in as_list(delta.get("tool_calls")):
            self._grow_call(as_object(piece))

    def _take_detail(self, detail: JsonObject) -> None:
        """An item of reasoning, or more of the last one."""
        last = self._details[-1] if self._details else {}
        if not last or any(last.get(key) != detail.get(key) for key in ("type", "index")):
            self._details.append(detail)
            return
        for key, value in detail.items():
            if key in {"text", "summary", "data"}:
                last[key] = as_text(last.get(key)) + as_text(value)
            elif value is not None:
                last[key] = value

    def _take_parts(self, parts: list[JsonValue]) -> None:
        """Content as a list: text, and thinking that is a list of texts itself."""
        for part in map(as_object, parts):
            if part.get("type") == "thinking":
                for inner in map(as_object, as_list(part.get("thinking"))):
                    self._content.think(as_text(inner.get("text")))
            else:
                self._written.feed(as_text(part.get("text")))

    def _grow_call(self, piece: JsonObject) -> None:
        function = as_object(piece.get("function"))
        call = self._call_of(piece, as_text(function.get("name")))
        call.id = call.id or as_text(piece.get("id"))
        call.name = call.name or as_text(function.get("name"))
        call.others |= {key: value for key, value in piece.items() if key not in _KNOWN_CALL_FIELDS}
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            call.arguments.add(arguments)
        elif arguments is not None:
            call.arguments.add(json.dumps(arguments, ensure_ascii=False))
        self.display.call(call.name, call.arguments.size)

    def _call_of(self, piece: JsonObject, name: str) -> _Call:
        """The call a piece belongs to: by index, but a new id at an old index is a new call; without both, the last."""
        index, given = piece.get("index"), as_text(piece.get("id"))
        if isinstance(index, int):
            known = self._by_index.get(index)
        elif given:
            known = next((call for call in self._calls if call.id == given), None)
        else:
            known = self._calls[-1] if self._calls and not name else None
        if known is None or (given and known.id and given != known.id):
            known = _Call()
            self._calls.append(known)
        if isinstance(index, int):
            self._by_index[index] = known
        return known

    def _made(self, call: _Call) -> ToolCall:
        """Nothing at all as arguments means none, unless the reply was cut off there."""
        arguments = storable(str(call.arguments))
        if not arguments and _STOPS.get(self._stop) is not StopReason.MAX_TOKENS:
            arguments = "{}"
        return ToolCall(id=self._fresh_id(call.id), name=storable(call.name), arguments_json=arguments)

    def _fresh_id(self, given: str) -> str:
        """The server's id for the call; another one when it gave none, or gave it before."""
        chosen = given if given and given not in self._call_ids else f"call_{uuid4().hex[:24]}"
        self._call_ids.add(chosen)
        return chosen


def _counts(usage: JsonObject) -> dict[str, int]:
    """The counts under one name each; some servers name the cache in their own way."""
    prompt, completion = (
        as_object(usage.get("prompt_tokens_details")),
        as_object(usage.get("completion_tokens_details")),
    )
    return {
        "prompt": as_count(usage.get("prompt_tokens")),
        "completion": as_count(usage.get("completion_tokens")),
        "total": as_count(usage.get("total_tokens")),
        "reasoning": as_count(completion.get("reasoning_tokens")),
        "cached": as_count(prompt.get("cached_tokens")) or as_count(usage.get("prompt_cache_hit_tokens")),
        "stored": as_count(prompt.get("cache_write_tokens")),
    }


def _usage(counts: dict[str, int]) -> Usage:
    """The prompt's count includes what the cache served and stored, the completion's mostly what was reasoned."""
    prompt, completion, reasoning = counts["prompt"], counts["completion"], counts["reasoning"]
    # xAI and others count reasoning beside the completion, which only the total tells
    is_beside = counts["total"] == prompt + completion + reasoning
    return Usage(
        input_tokens=max(0, prompt - counts["cached"] - counts["stored"]),
        output_tokens=completion + (reasoning if is_beside else 0),
        cache_read_tokens=counts["cached"],
        cache_write_tokens=counts["stored"],
    )
