"""One reply in Chat Completions, from the chunks of its stream to the message.

Compatible servers leave out indexes, ids, finish reasons and usage, send
arguments as objects, or pass on as text what the model wrote as thinking or as
a call; all of that is understood. What the model wrote as a call's arguments is
kept to the letter.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
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
from codeagent.providers.chat_pieces import KNOWN_FIELDS, ContentParts, GrowingCall, GrowingCalls, show_part
from codeagent.providers.failures import Service
from codeagent.providers.history import is_plain, kept_fields, own_block
from codeagent.providers.pieces import Display, GrowingText
from codeagent.providers.sse import as_count, as_list, as_object, as_text, is_empty, parse_object
from codeagent.providers.tally import OutputTally, output_of, usage_of
from codeagent.providers.written_text import WrittenText

REASONING_DETAILS = "reasoning_details"
"""OpenRouter's items of reasoning, which must come back as they were, with their signatures."""
MESSAGE_FIELDS = "message_fields"
"""What a server adds to its message and nobody else knows, such as ``annotations``."""
CONTENT = "content"
"""The list of parts that a server's content was, where there is more to it than text."""
_THINKING_KEYS = ("reasoning_content", "reasoning")
_KNOWN = frozenset({"role", "content", "tool_calls", "function_call", REASONING_DETAILS, *_THINKING_KEYS})
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

    def __init__(
        self, model: str, service: Service, call_ids: set[str], tools: AbstractSet[str], *, finds_written: bool
    ) -> None:
        """``call_ids`` are those the history has used up, ``tools`` those that the model was offered.

        With ``finds_written``, calls that the model wrote as text count too.
        """
        self._model = model
        self._service = service
        self._call_ids = call_ids
        self._content = _Content()
        self._written = WrittenText(tools if finds_written else frozenset(), self._content)
        self._details: list[JsonObject] = []
        self._parts = ContentParts()
        self._others: dict[str, list[JsonValue]] = {}
        self._calls = GrowingCalls(tools)
        self.usage = Usage()
        self._counts: dict[str, int] = {}
        self._output = OutputTally()
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
        if "choices" not in chunk and (chunk.get("detail") or chunk.get("message")):
            raise self._service.reported(chunk)
        choices = map(as_object, as_list(chunk.get("choices")))
        first = next((choice for choice in choices if not choice.get("index")), as_object(None))
        if first:
            self._take_choice(first)
        self._count(as_object(chunk.get("usage")), is_whole=bool(self._stop) and not first)
        self._count(as_object(first.get("usage")))

    def _take_choice(self, choice: JsonObject) -> None:
        if choice.get("error"):
            raise self._service.reported(choice["error"])
        self._grow(as_object(choice.get("delta") or choice.get("message")))
        self.is_over = "message" in choice and "delta" not in choice
        stop = as_text(choice.get("finish_reason"))
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
        if self._parts.says_more and not self._written.calls:
            blocks += self._opaque(CONTENT, self._parts.all())
        blocks += self._opaque(MESSAGE_FIELDS, {key: _joined(pieces) for key, pieces in self._others.items()})
        text = storable(str(content.text))
        if text := text.strip() if self._written.calls else text:
            blocks.append(TextBlock(text=text))
        for call in self._calls.all:
            blocks += [*kept_fields(self._model, "tool_call", call.others, KNOWN_FIELDS), self._made(call)]
        stop = stop or (StopReason.TOOL_USE if self._calls.all else StopReason.END_TURN)
        return AssistantMessage(blocks=tuple(blocks), stop=stop, model=self._model, usage=self.usage)

    def _count(self, reported: JsonObject, *, is_whole: bool = False) -> None:
        """Counts come at the end or in each chunk, in one piece or in several; those of the prompt never fall."""
        if not reported:
            return
        counts, before = _counts(reported), self._counts
        has_counted = bool(before.get("prompt") and before.get("completion"))
        is_added = has_counted and reported.get("prompt_tokens") == 0
        for name, count in counts.items():
            self._counts[name] = max(self._counts.get(name, 0), count)
        prompt, cached, stored = (self._counts[name] for name in ("prompt", "cached", "stored"))
        output = output_of(prompt, counts["completion"], cached + stored, counts["total"])
        calls = sum(call.arguments.size for call in self._calls.all)
        if is_whole and not is_added:
            self._output.report_whole(output)
        said = self._content.text.size + self._content.thinking.size + calls
        self._output.report(output, said, is_added=is_added)
        self.usage = usage_of(prompt, self._output.total, cached, stored, total=self._counts["total"])

    def _opaque(self, kind: str, kept: JsonValue) -> list[OpaqueBlock]:
        """What only this model's server understands, and may want back."""
        return own_block(self._model, {kind: kept}) if kept else []

    def _finish_text(self, *, is_cut: bool) -> None:
        """Calls that the model wrote as text count where the server found none itself."""
        self._written.finish()
        if self._written.unfinished and not is_cut:
            self._content.say(self._written.unfinished)
        if not self._calls.all:
            for written in self._written.calls:
                self._calls.add(written.name, written.arguments_json)

    def _grow(self, delta: JsonObject) -> None:
        for key in _THINKING_KEYS:
            if thinking := as_text(delta.get(key)):
                self._content.think(thinking, key)
                break
        for detail in as_list(delta.get(REASONING_DETAILS)):
            self._take_detail(as_object(detail))
        self._take_others(delta)
        content = delta.get("content")
        if isinstance(content, list):
            for part in map(as_object, content):
                self._parts.add(part)
                show_part(part, self._written.feed, self._content.think)
        elif text := as_text(content):
            self._parts.say(text)
            self._written.feed(text)
        elif refusal := as_text(delta.get("refusal")):
            self._content.say(refusal)
        pieces = list(map(as_object, as_list(delta.get("tool_calls"))))
        if old_form := as_object(delta.get("function_call")):
            pieces.append({"index": 0, "function": old_form})
        for piece in pieces:
            call = self._calls.grow(piece)
            self.display.call(call.name, call.arguments.size)

    def _take_others(self, delta: JsonObject) -> None:
        """Fields that nobody knows; a refusal too, which is shown as text, goes back as such."""
        for key, value in delta.items():
            if key not in _KNOWN and not is_empty(value) and is_plain(key):
                self._others.setdefault(key, []).append(value)

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

    def _made(self, call: GrowingCall) -> ToolCall:
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
    prompt = as_object(usage.get("prompt_tokens_details"))
    return {
        "prompt": as_count(usage.get("prompt_tokens")),
        "completion": as_count(usage.get("completion_tokens")),
        "total": as_count(usage.get("total_tokens")),
        "cached": as_count(prompt.get("cached_tokens")) or as_count(usage.get("prompt_cache_hit_tokens")),
        "stored": as_count(prompt.get("cache_write_tokens")),
    }


def _joined(pieces: list[JsonValue]) -> JsonValue:
    """A field that came with several chunks: repeated ones count once, texts and lists grow, else the last holds."""
    first, last = pieces[0], pieces[-1]
    if all(piece == first for piece in pieces):
        return first
    if isinstance(first, str):
        return "".join(map(as_text, pieces))
    if isinstance(first, list):
        return [item for piece in pieces for item in as_list(piece)]
    return last
