"""One reply in the Responses protocol, from the events of its stream to the message."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from uuid import uuid4

from codeagent.core.errors import ProviderUnavailable
from codeagent.core.json_types import JsonObject
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
from codeagent.providers.history import kept_fields, own_block
from codeagent.providers.pieces import Display, GrowingText
from codeagent.providers.sse import as_count, as_list, as_object, as_text, as_written, is_empty, parse_object
from codeagent.providers.tally import output_of, usage_of

PHASE = "phase"
_COUNTS = ("input", "output", "total", "cached", "stored")
_KNOWN_CALL = frozenset({"type", "id", "call_id", "name", "arguments", "status"})
_KNOWN_MESSAGE = frozenset({"type", "id", "role", "content", "status", PHASE})
_KNOWN_PART = frozenset({"type", "text"})
_INCOMPLETE = {
    "max_output_tokens": StopReason.MAX_TOKENS,
    "max_tokens": StopReason.MAX_TOKENS,
    "content_filter": StopReason.REFUSAL,
    "model_context_window_exceeded": StopReason.CONTEXT_EXCEEDED,
}


@dataclass(slots=True)
class _Item:
    """An output item that is still growing; ``fields`` is what the service last said it was."""

    fields: JsonObject
    text: GrowingText = field(default_factory=GrowingText)
    is_done: bool = False


class ResponsesReply:
    """A reply that grows with each event; ``display`` holds what the screen has not been told yet."""

    def __init__(self, model: str, service: Service, call_ids: set[str]) -> None:
        """``call_ids`` are those the history has used up."""
        self._model = model
        self._service = service
        self._call_ids = call_ids
        self._items: dict[int, _Item] = {}
        self._response: JsonObject = {}
        self._tokens: dict[str, int] = {}
        self.is_over = False
        self.display = Display()

    @property
    def is_finished(self) -> bool:
        """Whether the message is whole: its last event is its end."""
        return self.is_over

    def take(self, payload: bytes) -> None:
        """Adds one event; raises a ProviderError when it is an error."""
        if payload == b"[DONE]":
            return
        event = parse_object(payload)
        if event is None:
            raise ProviderUnavailable(f"{self._service.name} sent an event that is not JSON.")
        if counts := as_object(as_object(event.get("response")).get("usage")):
            self._count(counts)
        delta, identity = as_text(event.get("delta")), as_text(event.get("item_id"))
        match event.get("type"):
            case "response.output_text.delta" | "response.refusal.delta":
                self._item(event, identity).text.add(delta)
                self.display.text(delta)
            case "response.function_call_arguments.delta":
                item = self._item(event, identity)
                item.text.add(delta)
                self.display.call(as_text(item.fields.get("name")), item.text.size)
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                self._item(event, identity).text.add(delta)
                self.display.thinking(delta)
            case "response.output_item.added" | "response.output_item.done":
                self._describe(event)
            case "response.completed" | "response.incomplete":
                self._end(as_object(event.get("response")))
            case "response.failed":
                raise self._service.reported(as_object(event.get("response")).get("error"))
            case _:
                self._take_other(event)

    def _take_other(self, event: JsonObject) -> None:
        """Errors, and the answer of a server that does not stream; parts opened and closed, and what may come, pass."""
        if event.get("error") or event.get("type") == "error":
            raise self._service.reported(event.get("error") or event)
        if event.get("object") == "response":
            self._end(event)

    def message(self) -> AssistantMessage:
        """The whole reply; raises ProviderUnavailable when the stream ended before it was whole."""
        if not self.is_over:
            raise self._service.broke_off()
        blocks: list[AssistantBlock] = []
        for _, item in sorted(self._items.items()):
            blocks += self._made(item)
        has_calls = any(isinstance(block, ToolCall) for block in blocks)
        return AssistantMessage(
            blocks=tuple(blocks), stop=self._stop(has_calls=has_calls), model=self._model, usage=self.usage
        )

    def _end(self, response: JsonObject) -> None:
        """The response as a whole; its items count where they were not streamed to their end, or not at all.

        They are told apart by their kind and their place among that kind, as ids
        and indexes differ at some servers.
        """
        streamed = [item for _, item in sorted(self._items.items())]
        for whole in map(as_object, as_list(response.get("output"))):
            kind = whole.get("type")
            known = next((item for item in streamed if item.fields.get("type") == kind), None)
            if known is None:
                known = self._items[self._next_index] = _Item({})
            else:
                streamed.remove(known)
            if not known.is_done:
                self._finish(known, whole)
        self._count(as_object(response.get("usage")))
        self._response = response
        self.is_over = True

    @property
    def _next_index(self) -> int:
        return max(self._items, default=-1) + 1

    def _item(self, event: JsonObject, identity: str) -> _Item:
        """The item that an event is about: by index, by id where there is none, else the last."""
        index = event.get("output_index")
        if not isinstance(index, int):
            same = (at for at, item in self._items.items() if identity and item.fields.get("id") == identity)
            is_new = event.get("type") == "response.output_item.added"
            index = next(same, self._next_index if is_new or not self._items else self._next_index - 1)
        return self._items.setdefault(index, _Item({}))

    def _describe(self, event: JsonObject) -> None:
        fields = as_object(event.get("item"))
        item = self._item(event, as_text(fields.get("id")))
        if event.get("type") == "response.output_item.done":
            self._finish(item, fields)
            return
        item.fields = fields
        if fields.get("type") == "function_call":
            self.display.call(as_text(fields.get("name")), 0)

    def _finish(self, item: _Item, fields: JsonObject) -> None:
        """An item as it is in the end; its text is shown where none was streamed."""
        item.fields, item.is_done = fields, True
        if fields.get("type") == "message" and not item.text.size:
            text = _texts(fields, "content")
            item.text.add(text)
            self.display.text(text)

    def _count(self, counts: JsonObject) -> None:
        """Counts are of the whole so far; what a later event leaves out stays."""
        details = as_object(counts.get("input_tokens_details"))
        keys = ((counts, "input_tokens"), (counts, "output_tokens"), (counts, "total_tokens"),
                (details, "cached_tokens"), (details, "cache_write_tokens"))  # fmt: skip
        for name, count in zip(_COUNTS, (table.get(key) for table, key in keys), strict=True):
            self._tokens[name] = max(self._tokens.get(name, 0), as_count(count))

    def _made(self, item: _Item) -> list[AssistantBlock]:
        fields = item.fields
        match fields.get("type"):
            case "message":
                return self._made_message(item)
            case "function_call":
                return [*kept_fields(self._model, "tool_call", fields, _KNOWN_CALL), self._made_call(item)]
            case "reasoning":
                summary = storable(str(item.text) or _texts(fields, "summary"))
                shown = [ThinkingBlock(text=summary, provider=self._model)] if summary else []
                kept = {key: value for key, value in fields.items() if key != "status"}
                is_whole = item.is_done and bool(kept.get("encrypted_content"))
                return [*shown, *(own_block(self._model, kept) if is_whole else [])]
            case _:  # such as a call of the service's own tools, or a compaction of its own
                is_whole = item.is_done and bool(as_text(fields.get("type")))
                return [*own_block(self._model, item.fields)] if is_whole else []

    def _made_message(self, item: _Item) -> list[AssistantBlock]:
        """The text; before it all of the item when there is more to it, such as annotations, else its phase alone."""
        text = storable(str(item.text) or _texts(item.fields, "content"))
        if item.is_done and _says_more(item.fields):
            own, is_blank = self._model, not text.strip()
            whole = own_block(own, item.fields) if is_blank else kept_fields(own, "text", item.fields, frozenset())
            return [*whole, TextBlock(text=text)] if text else [*whole]
        phase = as_text(item.fields.get(PHASE))
        marker = json.dumps({"type": PHASE, "phase": phase})
        opaque = [OpaqueBlock(provider=self._model, payload_json=marker)] if phase and text else []
        return [*opaque, TextBlock(text=text)] if text else []

    def _made_call(self, item: _Item) -> ToolCall:
        """Arguments as they streamed; without any, those the finished item has."""
        arguments = storable(str(item.text) or as_written(item.fields.get("arguments")))
        if not arguments and self._stop(has_calls=True) is StopReason.TOOL_USE:
            arguments = "{}"
        given = as_text(item.fields.get("call_id"))
        chosen = given if given and given not in self._call_ids else f"call_{uuid4().hex[:24]}"
        self._call_ids.add(chosen)
        return ToolCall(id=chosen, name=storable(as_text(item.fields.get("name"))), arguments_json=arguments)

    def _stop(self, *, has_calls: bool) -> StopReason:
        reason = as_text(as_object(self._response.get("incomplete_details")).get("reason"))
        if reason or self._response.get("status") == "incomplete":
            return _INCOMPLETE.get(reason, StopReason.MAX_TOKENS)
        return StopReason.TOOL_USE if has_calls else StopReason.END_TURN

    @property
    def usage(self) -> Usage:
        """What the service has counted so far; the input's count includes what the cache served and stored."""
        if not self._tokens:
            return Usage()
        read, written, total, cached, stored = (self._tokens[name] for name in _COUNTS)
        return usage_of(read, output_of(read, written, cached + stored, total), cached, stored, total=total)


def _texts(fields: JsonObject, key: str) -> str:
    """The texts in an item's list of parts, for servers that do not stream them."""
    parts = map(as_object, as_list(fields.get(key)))
    return "".join(as_text(part.get("text")) or as_text(part.get("refusal")) for part in parts)


def _says_more(message: JsonObject) -> bool:
    """Whether a message has more to it than text and a phase.

    Its id and status say nothing where the service stores nothing, nor does what is empty.
    """
    fields = [value for key, value in message.items() if key not in _KNOWN_MESSAGE]
    for part in map(as_object, as_list(message.get("content"))):
        fields += [value for key, value in part.items() if key not in _KNOWN_PART]
    return not all(map(is_empty, fields))
