"""Texts that a model's service refused: by what they are known, and what stands in their place."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from codeagent.core.json_types import JsonValue
from codeagent.core.messages import (
    AssistantMessage,
    ImageBlock,
    Message,
    ResultsMessage,
    TextBlock,
    ToolResult,
    UserMessage,
)

LEFT_OUT = "[left out: the service refused it]"
TEXTS = "texts"
"""Under this name a reply's ``learnt`` holds the keys of the refused texts."""
_DIGITS = 32


def without_refused(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages without the texts that were refused by the last reply that tells of any."""
    told = (one.learnt for one in reversed(messages) if isinstance(one, AssistantMessage) and TEXTS in one.learnt)
    learnt: JsonValue = json.loads(next(told, "{}"))
    keys = learnt.get(TEXTS) if isinstance(learnt, dict) else None
    refused = {key for key in keys if isinstance(key, str)} if isinstance(keys, list) else set[str]()
    return [without_texts(message, refused) for message in messages] if refused else messages


def without_texts(message: Message, refused: AbstractSet[str]) -> Message:
    """The message as it is sent: a note in the place of each refused text, calls without their arguments."""
    match message:
        case UserMessage():
            if key_of(message) not in refused:
                return message
            images = tuple(block for block in message.blocks if isinstance(block, ImageBlock))
            return replace(message, blocks=(*images, TextBlock(text=LEFT_OUT)))
        case ResultsMessage():
            note = (TextBlock(text=LEFT_OUT),)
            kept = (replace(one, blocks=note) if key_of(one) in refused else one for one in message.results)
            return replace(message, results=tuple(kept))
        case AssistantMessage():
            if key_of(message) not in refused:
                return message
            calls = (replace(call, arguments_json="{}") for call in message.calls)
            return replace(message, blocks=(TextBlock(text=LEFT_OUT), *calls))


def key_of(one: UserMessage | AssistantMessage | ToolResult) -> str:
    """What tells a text from all others, in the records of a session too."""
    match one:
        case UserMessage():
            text = f"said {one.text}"
        case ToolResult():
            text = f"result {one.call_id}"  # whatever is cut out of it later
        case AssistantMessage():
            text = f"reply {one.text} {[(call.id, call.arguments_json) for call in one.calls]}"
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:_DIGITS]
