"""One reply in the Messages protocol, from the events of its stream to the message."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from uuid import uuid4

from codeagent.core.errors import ProviderUnavailable
from codeagent.core.json_types import JsonObject, JsonValue
from codeagent.core.messages import (
    AssistantBlock,
    AssistantMessage,
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
from codeagent.providers.sse import as_count, as_list, as_object, as_text, parse_object
from codeagent.providers.tally import OutputTally

PROVIDER = "anthropic"
_KNOWN_CALL = frozenset({"type", "id", "name", "input", "cache_control"})
_KNOWN_TEXT = frozenset({"type", "text", "cache_control"})
_KNOWN_THINKING = frozenset({"type", "thinking", "signature", "cache_control"})
_STOPS = {
    "end_turn": StopReason.END_TURN,
    "stop_sequence": StopReason.END_TURN,
    "tool_use": StopReason.TOOL_USE,
    "max_tokens": StopReason.MAX_TOKENS,
    "pause_turn": StopReason.PAUSE_TURN,
    "refusal": StopReason.REFUSAL,
    "model_context_window_exceeded": StopReason.CONTEXT_EXCEEDED,
}


@dataclass(slots=True)
class _Block:
    """A content block that is still growing; ``start`` is what it began as, ``others`` deltas that nobody knows."""

    kind: str
    start: JsonObject
    text: GrowingText = field(default_factory=GrowingText)
    signature: str = ""
    citations: list[JsonValue] = field(default_factory=list[JsonValue])
    others: list[JsonObject] = field(default_factory=list[JsonObject])
    is_closed: bool = False


class MessagesReply:
    """A reply that grows with each event; ``display`` holds what the screen has not been told yet."""

    def __init__(self, model: str, service: Service, call_ids: set[str]) -> None:
        """``call_ids`` are those the history has used up."""
        self._model = model
        self._service = service
        self._call_ids = call_ids
        self._blocks: dict[int, _Block] = {}
        self._tokens: dict[str, int] = {}
        self._output = OutputTally()
        self._stop = ""
        self.is_over = False
        self.display = Display()

    @property
    def is_finished(self) -> bool:
        """Whether the message is whole."""
        return self.is_over or bool(self._stop and all(block.is_closed for block in self._blocks.values()))

    def take(self, payload: bytes) -> None:
        """Adds one event; raises a ProviderError when it is an error."""
        event = parse_object(payload)
        if event is None:
            raise ProviderUnavailable(f"{self._service.name} sent an event that is not JSON.")
        match event.get("type"):
            case "content_block_delta":
                self._grow(event)
            case "content_block_start":
                self._open(event)
            case "content_block_stop":
                self._block(event).is_closed = True
            case "message_start":
                self._blocks.clear()  # a gateway that asked its service again begins anew
                self._count(as_object(as_object(event.get("message")).get("usage")))
            case "message_delta":
                self._stop = as_text(as_object(event.get("delta")).get("stop_reason")) or self._stop
                self._count(as_object(event.get("usage")))
            case "message_stop":
                self.is_over = True
            case "message":
                self._take_whole(event)
            case _:
                # pings, and unknown events, which the protocol asks clients to let pass
                if event.get("error"):
                    raise self._service.reported(event["error"])

    def message(self) -> AssistantMessage:
        """The whole reply; raises ProviderUnavailable when the stream ended before it was whole."""
        if not self.is_finished:
            raise self._service.broke_off()
        blocks = tuple(made for block in self._blocks.values() for made in self._made(block))
        has_calls = any(isinstance(block, ToolCall) for block in blocks)
        usual = StopReason.TOOL_USE if has_calls else StopReason.END_TURN
        return AssistantMessage(blocks=blocks, stop=_STOPS.get(self._stop, usual), model=self._model, usage=self.usage)

    def _take_whole(self, message: JsonObject) -> None:
        """The answer of a server that does not stream."""
        for index, block in enumerate(as_list(message.get("content"))):
            event: JsonObject = {"index": index, "content_block": block}
            self._open(event)
            self._block(event).is_closed = True
        self._stop = as_text(message.get("stop_reason"))
        self._count(as_object(message.get("usage")))
        self.is_over = True

    def _block(self, event: JsonObject) -> _Block:
        index = as_count(event.get("index"))
        return self._blocks.setdefault(index, _Block("text", {}))

    def _open(self, event: JsonObject) -> None:
        start = as_object(event.get("content_block"))
        block = _Block(as_text(start.get("type")), start)
        self._blocks[as_count(event.get("index"))] = block
        if block.kind == "tool_use":
            self.display.call(as_text(start.get("name")), 0)
        for key in ("text", "thinking"):
            if text := as_text(start.get(key)):
                self._add(block, text)
        block.signature = as_text(start.get("signature"))

    def _grow(self, event: JsonObject) -> None:
        block = self._block(event)
        delta = as_object(event.get("delta"))
        match delta.get("type"):
            case "text_delta":
                self._add(block, as_text(delta.get("text")))
            case "thinking_delta":
                self._add(block, as_text(delta.get("thinking")))
            case "input_json_delta":
                block.text.add(as_text(delta.get("partial_json")))
                if block.kind == "tool_use":
                    self.display.call(as_text(block.start.get("name")), block.text.size)
            case "signature_delta":
                block.signature += as_text(delta.get("signature"))
            case "citations_delta":
                block.citations.append(delta.get("citation"))
            case _:
                block.others.append(delta)

    def _add(self, block: _Block, text: str) -> None:
        block.text.add(text)
        if block.kind == "thinking":
            self.display.thinking(text)
        elif block.kind == "text":
            self.display.text(text)

    def _made(self, block: _Block) -> list[AssistantBlock]:
        text = storable(str(block.text))
        match block.kind:
            case "text":
                if not text.strip():  # would not be sent, nor what was said of it
                    return [TextBlock(text=text)] if text else []
                cited = [*as_list(block.start.get("citations")), *block.citations]
                fields: JsonObject = {**block.start, "citations": cited} if block.citations else block.start
                return [*kept_fields(PROVIDER, "text", fields, _KNOWN_TEXT), TextBlock(text=text)]
            case "thinking":
                thinking = ThinkingBlock(text=text, signature=block.signature, provider=PROVIDER)
                return [*kept_fields(PROVIDER, "thinking", block.start, _KNOWN_THINKING), thinking]
            case "tool_use":
                call = ToolCall(
                    id=self._fresh_id(as_text(block.start.get("id"))),
                    name=storable(as_text(block.start.get("name"))),
                    arguments_json=text or self._arguments_at_start(block),
                )
                return [*kept_fields(PROVIDER, "tool_call", block.start, _KNOWN_CALL), call]
            case _:
                return [*own_block(PROVIDER, _as_it_came(block, text))]

    def _arguments_at_start(self, block: _Block) -> str:
        """A call that streams no arguments has those it began with, unless it was cut off before any came."""
        given = as_object(block.start.get("input"))
        return "" if not given and self._stop == "max_tokens" else json.dumps(given, ensure_ascii=False)

    def _fresh_id(self, given: str) -> str:
        """The service's id for the call; another one when it gave none, or gave it before."""
        chosen = given if given and given not in self._call_ids else f"toolu_{uuid4().hex[:24]}"
        self._call_ids.add(chosen)
        return chosen

    def _count(self, usage: JsonObject) -> None:
        """What a later event leaves out or reports as zero stays."""
        for key in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"):
            self._tokens[key] = max(self._tokens.get(key, 0), as_count(usage.get(key)))
        self._output.report(
            as_count(usage.get("output_tokens")), sum(block.text.size for block in self._blocks.values())
        )

    @property
    def usage(self) -> Usage:
        """What the service has counted so far."""
        return Usage(
            input_tokens=self._tokens.get("input_tokens", 0),
            output_tokens=self._output.total,
            cache_read_tokens=self._tokens.get("cache_read_input_tokens", 0),
            cache_write_tokens=self._tokens.get("cache_creation_input_tokens", 0),
        )


def _as_it_came(block: _Block, written: str) -> JsonObject:
    """A block that only the service understands, with what streamed of it.

    That is the input of a tool of its own, or fields that come whole, such as
    the ``content`` and ``encrypted_content`` of a compaction.
    """
    streamed = parse_object(written) if written else None
    whole: JsonObject = {**block.start} if streamed is None else {**block.start, "input": streamed}
    for delta in block.others:
        whole.update((key, value) for key, value in delta.items() if key != "type")
    return whole
