"""Fields of a service's own that it names in a refusal: found there, and taken out of what is sent."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from codeagent.core.json_types import JsonValue
from codeagent.core.messages import AssistantBlock, AssistantMessage, Message, OpaqueBlock, ThinkingBlock
from codeagent.providers.sse import as_object, as_text, parse_object

_TOLD_TOGETHER = frozenset({
    "", "type", "role", "content", "text", "id", "index", "name", "input", "data", "status", "summary", "msg", "loc",
    "thinking", "redacted_thinking", "signature", "reasoning", "encrypted_content",
})  # fmt: skip
"""Names that say nothing on their own, or stand for thinking as a whole."""


def named_in(refusal: str, messages: Iterable[Message]) -> frozenset[str]:
    """Which fields and kinds of what the messages keep for a service its refusal names, as fields are written there."""
    names = {name for message in messages if isinstance(message, AssistantMessage) for name in _names_of(message)}
    return frozenset(name for name in names - _TOLD_TOGETHER if re.search(_written(name), refusal))


def without_fields(blocks: Iterable[AssistantBlock], names: frozenset[str]) -> tuple[AssistantBlock, ...]:
    """The blocks without the fields, parts and items of these names."""
    return tuple(kept for block in blocks if (kept := _cut(block, names)) is not None)


def _written(name: str) -> str:
    """In quotes, at the end of a path, or behind a colon."""
    return rf"(?:['\"`.\]]|: ){re.escape(name)}(?!\w)"


def _names_of(message: AssistantMessage) -> Iterator[str]:
    for block in message.blocks:
        if isinstance(block, OpaqueBlock):
            yield from _names_in(parse_object(block.payload_json))
        elif isinstance(block, ThinkingBlock):
            yield block.signature  # in Chat Completions the name of the field that it came in


def _names_in(value: JsonValue) -> Iterator[str]:
    if isinstance(value, dict):
        yield as_text(value.get("type"))
        yield from value
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in parts:
        yield from _names_in(part)


def _cut(block: AssistantBlock, names: frozenset[str]) -> AssistantBlock | None:
    """The block as it is sent; None when nothing of it is left."""
    if isinstance(block, ThinkingBlock):
        return None if block.signature in names else block
    if not isinstance(block, OpaqueBlock) or (payload := parse_object(block.payload_json)) is None:
        return block
    if _is_one(payload, names):
        return None
    left = as_object(_without(payload, names))
    if left == payload:
        return block
    is_wrapping = len(payload) == 1 and not all(left.values())  # such as the fields of a text, all of them gone
    return None if is_wrapping else OpaqueBlock(provider=block.provider, payload_json=json.dumps(left))


def _is_one(value: JsonValue, names: frozenset[str]) -> bool:
    """Whether it is of a kind with one of the names."""
    return as_text(as_object(value).get("type")) in names


def _without(value: JsonValue, names: frozenset[str]) -> JsonValue:
    """The value without what bears one of the names."""
    if isinstance(value, dict):
        return {
            key: _without(part, names) for key, part in value.items() if key not in names and not _is_one(part, names)
        }
    if isinstance(value, list):
        return [_without(part, names) for part in value if not _is_one(part, names)]
    return value
