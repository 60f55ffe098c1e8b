"""The history in the shape that model services insist on, encoded once for each message.

Services refuse a request whose calls and results do not pair up, whose roles do
not take turns, or that ends with the model's own words. A history may be all of
that: after a crash, a switch of models, a compaction. Here it is put right on
the way out, always in the same way, so that the bytes of earlier messages never
change between two requests and prompt caches hit.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, assert_never

from codeagent.core.messages import (
    AssistantMessage,
    Message,
    Outcome,
    ResultsMessage,
    TextBlock,
    ToolCall,
    ToolResult,
    UserMessage,
)
from codeagent.core.protocols import JsonObject, JsonValue
from codeagent.core.text import storable

NO_OUTPUT = "(no output)"
NO_RESULT = "No result was recorded for this call; it may or may not have run."
EMPTY_MESSAGE = "(empty message)"
CONTINUE = "Continue."
_LONGEST_RAW_ARGUMENTS = 4_000

_CALL_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST_NAME = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """Encoded content for one message of the service; neighbours of one role may share a message."""

    role: Literal["user", "assistant", "tool"]
    parts: tuple[bytes, ...]


class Dialect(Protocol):
    """How one service writes down what was said."""

    def user(self, message: UserMessage) -> tuple[Said, ...]:
        """Something said to the model; never nothing."""
        ...

    def reply(self, message: AssistantMessage) -> tuple[Said, ...]:
        """One reply of the model; nothing when nothing of it can be sent."""
        ...

    def results(self, calls: Sequence[tuple[ToolCall, ToolResult]]) -> tuple[Said, ...]:
        """The results of all calls of the reply before."""
        ...


@dataclass(frozen=True, slots=True)
class _Encoded:
    """A message with what became of it."""

    message: Message
    said: tuple[Said, ...]


class EncodedHistory:
    """A history in one dialect; what was encoded for the request before is taken over as it is."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._known: list[_Encoded] = []
        self.call_ids: set[str] = set()

    def missing(self, messages: Sequence[Message]) -> int:
        """How many messages still have to be encoded."""
        return len(messages) - self._same(messages)

    def encode(self, messages: Sequence[Message]) -> list[Said]:
        """The whole history; safe to call in a thread."""
        same = self._same(messages)
        entries = self._known[:same]
        previous = messages[same - 1] if same else None
        for message in messages[same:]:
            entries.append(_Encoded(message, self._encode(previous, message)))
            previous = message
        self._known = entries
        said = [said for entry in entries for said in entry.said]
        return said + list(self._closing(previous))

    def _same(self, messages: Sequence[Message]) -> int:
        count = 0
        for entry, message in zip(self._known, messages, strict=False):
            if entry.message is not message:
                break
            count += 1
        return count

    def _encode(self, previous: Message | None, message: Message) -> tuple[Said, ...]:
        calls = previous.calls if isinstance(previous, AssistantMessage) else ()
        match message:
            case UserMessage():
                return (*self._results(calls, ()), *self._dialect.user(message))
            case AssistantMessage():
                self.call_ids.update(call.id for call in message.calls)
                return (*self._before_reply(previous, calls), *self._dialect.reply(message))
            case ResultsMessage():
                return self._results(calls, message.results)
            case _:
                assert_never(message)

    def _before_reply(self, previous: Message | None, calls: tuple[ToolCall, ...]) -> tuple[Said, ...]:
        if calls:
            return self._results(calls, ())
        return self._note(CONTINUE) if previous is None or isinstance(previous, AssistantMessage) else ()

    def _closing(self, last: Message | None) -> tuple[Said, ...]:
        """A request ends with something for the model to answer."""
        if last is None or isinstance(last, AssistantMessage):
            return self._before_reply(last, last.calls if last else ())
        return ()

    def _results(self, calls: tuple[ToolCall, ...], results: tuple[ToolResult, ...]) -> tuple[Said, ...]:
        by_id = {result.call_id: result for result in results}
        pairs = [(call, by_id.pop(call.id, None) or _no_result(call)) for call in calls]
        said = self._dialect.results(pairs) if pairs else ()
        for stray in by_id.values():
            said += self._note(f"Result of an earlier tool call:\n{stray.text or NO_OUTPUT}")
        return said

    def _note(self, text: str) -> tuple[Said, ...]:
        return self._dialect.user(UserMessage(blocks=(TextBlock(text=text),)))


def _no_result(call: ToolCall) -> ToolResult:
    return ToolResult(call_id=call.id, blocks=(TextBlock(text=NO_RESULT),), outcome=Outcome.CANCELLED)


def clean_id(call_id: str) -> str:
    """The call's id as every service takes it: at most 40 letters, digits, ``_`` and ``-``."""
    if _CALL_ID.fullmatch(call_id):
        return call_id
    return "call_" + hashlib.sha256(storable(call_id).encode()).hexdigest()[:24]


def clean_name(name: str) -> str:
    """The tool's name as every service takes it, also when the model made it up."""
    return _NOT_IN_NAMES.sub("_", name)[:_LONGEST_NAME] or "unknown"


def parse_arguments(arguments_json: str) -> JsonObject | None:
    """The arguments as an object, or None when the model wrote anything else."""
    try:
        value: JsonValue = json.loads(arguments_json, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def result_texts(call: ToolCall, result: ToolResult) -> list[str]:
    """The result's texts for the model.

    Arguments that were not a JSON object can not be sent back as such; they are
    quoted here, unless the result does so.
    """
    texts = [block.text for block in result.blocks if isinstance(block, TextBlock) and block.text.strip()]
    raw = call.arguments_json
    if raw.strip() and parse_arguments(raw) is None and not any(raw in text for text in texts):
        quoted = raw if len(raw) <= _LONGEST_RAW_ARGUMENTS else raw[:_LONGEST_RAW_ARGUMENTS] + " …"
        texts.insert(0, f"The arguments of this call were not a JSON object. As written: {quoted}")
    return texts
