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
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, Protocol, assert_never

from codeagent.core.json_types import JsonObject, JsonValue, is_too_deep
from codeagent.core.messages import (
    AssistantBlock,
    AssistantMessage,
    Message,
    OpaqueBlock,
    Outcome,
    ResultsMessage,
    StopReason,
    TextBlock,
    ToolCall,
    ToolResult,
    UserMessage,
)
from codeagent.core.protocols import ToolSpec
from codeagent.core.text import storable
from codeagent.providers.left_out import LeftOut
from codeagent.providers.sse import as_object, as_text, parse_object, to_json

NO_OUTPUT = "(no output)"
NO_RESULT = "No result was recorded for this call; it may or may not have run."
EMPTY_MESSAGE = "(empty message)"
CONTINUE = "Continue."
UNDERSTOOD = "Understood."
_LONGEST_RAW_ARGUMENTS = 4_000
_FIELDS: Mapping[str, str] = {"text": "text_fields", "thinking": "thinking_fields", "tool_call": "call_fields"}

_CALL_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST_NAME = 64
_PLAIN = re.compile(r"[A-Za-z_$@][\w$@.:/-]{0,99}", re.ASCII)
_BROKEN = "\N{REPLACEMENT CHARACTER}"
_NOTHING = LeftOut()


Role = Literal["user", "assistant", "tool"]


@dataclass(slots=True, kw_only=True)
class Said:
    """Encoded content for one message of the service; neighbours of one role may share a message.

    ``parts`` are let go when they are joined for good.
    """

    role: Role
    parts: tuple[bytes, ...]


class Dialect(Protocol):
    """How one service writes down what was said; call ids come to it in a form that every service takes."""

    def user(self, message: UserMessage) -> tuple[Said, ...]:
        """Something said to the model; never nothing."""
        ...

    def reply(self, message: AssistantMessage) -> tuple[Said, ...]:
        """One reply of the model; nothing when nothing of it can be sent."""
        ...

    def results(self, calls: Sequence[tuple[ToolCall, ToolResult]]) -> tuple[Said, ...]:
        """The results of all calls of the reply before."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Encoded:
    """What became of a message.

    ``calls`` are its calls as they were sent, beside their own ids; ``count`` is
    how much was said up to here, ``role`` by whom last.
    """

    count: int
    role: Role | None
    calls: tuple[tuple[str, ToolCall], ...]


class EncodedHistory:
    """A history in one dialect; what was encoded for the request before is taken over as it is.

    No step of the interpreter's is made for each message that is known: a turn late in a long
    session takes no longer than an early one.
    """

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._next: Dialect | None = None
        self._known: list[_Encoded] = []
        self._messages: tuple[Message, ...] = ()
        self._said: list[Said] = []
        self._released = 0
        self._used: set[str] = set()
        self._left_out = _NOTHING
        self.call_ids: set[str] = set()

    def renew(self, dialect: Dialect) -> None:
        """From the next request on all of it is encoded in another dialect."""
        self._next = dialect

    def missing(self, messages: Sequence[Message], left_out: LeftOut = _NOTHING) -> int:
        """How many messages still have to be encoded."""
        is_as_before = self._next is None and left_out == self._left_out
        return len(messages) - (self._same(messages) if is_as_before else 0)

    def encode(self, messages: Sequence[Message], left_out: LeftOut = _NOTHING) -> list[Said]:
        """The whole history but for what is left out; safe to call in a thread."""
        if self._next is not None or left_out != self._left_out:
            self._dialect, self._next = self._next or self._dialect, None
            self._left_out, self._known, self._messages = left_out, [], ()
            self._said, self._used = [], set()
        same = self._same(messages)
        self._released = self._released if same else 0
        entries = self._known[:same]
        said = self._said[: entries[-1].count if entries else 0]
        used = self._used if same == len(self._known) else {call.id for entry in entries for _, call in entry.calls}
        for message in messages[same:]:
            previous = entries[-1] if entries else None
            fresh, calls = self._encode(previous, message, used)
            said += self._taking_turns(previous.role if previous else None, fresh)
            role = said[-1].role if said else None
            entries.append(_Encoded(count=len(said), role=role, calls=calls))
            self.call_ids.update(call.id for _, call in calls)
        self._known, self._said, self._used, self._messages = entries, said, used, tuple(messages)
        return said + self._closing(entries[-1] if entries else None)

    def release(self, count: int) -> None:
        """Lets go of the bytes of what was said first, so many: they are joined, and never asked for again."""
        for one in self._said[self._released : count]:
            one.parts = ()
        self._released = count

    def _same(self, messages: Sequence[Message]) -> int:
        """How many messages are as they were; none when the history changed before what was let go."""
        count = len(self._messages)
        if tuple(messages[:count]) != self._messages:
            pairs = zip(self._messages, messages, strict=False)
            count = next((at for at, (one, other) in enumerate(pairs) if one is not other), len(messages))
        said = self._known[count - 1].count if count else 0
        return count if said >= self._released else 0

    def _encode(
        self, previous: _Encoded | None, message: Message, used: set[str]
    ) -> tuple[tuple[Said, ...], tuple[tuple[str, ToolCall], ...]]:
        waiting = previous.calls if previous else ()
        message = self._left_out.without(message) if self._left_out else message
        match message:
            case UserMessage():
                return (*self._results(waiting, ()), *self._dialect.user(message)), ()
            case ResultsMessage():
                return self._results(waiting, message.results), ()
            case AssistantMessage():
                sent = _with_sound_ids(message, used)
                calls = tuple((call.id, fresh) for call, fresh in zip(message.calls, sent.calls, strict=True))
                return (*self._results(waiting, ()), *self._dialect.reply(sent)), calls
            case _:
                assert_never(message)

    def _taking_turns(self, role: Role | None, said: Sequence[Said]) -> list[Said]:
        """The model speaks only when spoken to: a word of the user's side wherever that is missing, or of its own."""
        turns: list[Said] = []
        for one in said:
            if one.role == "assistant" and role in {None, "assistant"}:
                turns += self._note(CONTINUE)
            if one.role == "user" and role == "tool" and self._left_out.has_bridges:
                bridge = AssistantMessage(blocks=(TextBlock(text=UNDERSTOOD),), stop=StopReason.END_TURN)
                turns += self._dialect.reply(bridge)
            turns.append(one)
            role = one.role
        return turns

    def _closing(self, last: _Encoded | None) -> list[Said]:
        """What a request needs at its end: results for open calls, and something for the model to answer."""
        said = list(self._results(last.calls, ())) if last else []
        if not said and (last is None or last.role in {None, "assistant"}):
            said += self._note(CONTINUE)
        return said

    def _results(self, calls: tuple[tuple[str, ToolCall], ...], results: tuple[ToolResult, ...]) -> tuple[Said, ...]:
        waiting = list(results)
        pairs: list[tuple[ToolCall, ToolResult]] = []
        for own_id, call in calls:
            found = next((result for result in waiting if result.call_id == own_id), None)
            if found is not None:
                waiting.remove(found)
            pairs.append((call, found or _no_result(call)))
        said = self._dialect.results(pairs) if pairs else ()
        for stray in waiting:
            said += self._note(f"Result of an earlier tool call:\n{stray.text or NO_OUTPUT}")
        return said

    def _note(self, text: str) -> tuple[Said, ...]:
        return self._dialect.user(UserMessage(blocks=(TextBlock(text=text),)))


def _no_result(call: ToolCall) -> ToolResult:
    return ToolResult(call_id=call.id, blocks=(TextBlock(text=NO_RESULT),), outcome=Outcome.CANCELLED)


def tools_used(messages: Sequence[Message]) -> tuple[ToolSpec, ...]:
    """Bare descriptions of the tools that a history calls, for requests that offer none but must name these."""
    names = {clean_name(call.name) for message in messages if message.kind == "assistant" for call in message.calls}
    return tuple(
        ToolSpec(name=name, description="Was used earlier.", schema_json='{"type":"object"}') for name in sorted(names)
    )


def _with_sound_ids(message: AssistantMessage, used: set[str]) -> AssistantMessage:
    """The reply with call ids that every service takes and that were not used before; they are added to ``used``."""
    blocks: list[AssistantBlock] = []
    for block in message.blocks:
        sound = block
        if isinstance(block, ToolCall):
            sound_id = clean_id(block.id)
            if sound_id in used:
                sound_id = clean_id(f"{block.id} again, {len(used)}")
            used.add(sound_id)
            sound = block if sound_id == block.id else replace(block, id=sound_id)
        blocks.append(sound)
    return replace(message, blocks=tuple(blocks))


def clean_id(call_id: str) -> str:
    """The call's id as every service takes it: at most 40 letters, digits, ``_`` and ``-``."""
    if _CALL_ID.fullmatch(call_id):
        return call_id
    return "call_" + hashlib.sha256(storable(call_id).encode()).hexdigest()[:24]


def clean_name(name: str) -> str:
    """The tool's name as every service takes it, also when the model made it up."""
    return _NOT_IN_NAMES.sub("_", name)[:_LONGEST_NAME] or "unknown"


def parse_arguments(arguments_json: str) -> JsonObject | None:
    """The arguments as an object, or None when the model wrote anything else, or what no service takes back."""
    try:
        value: JsonValue = json.loads(arguments_json, parse_constant=_no_number, parse_float=_finite)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and not is_too_deep(value, arguments_json) else None


def sound_arguments(arguments_json: str) -> str:
    """The arguments as the model wrote them when they are a sound JSON object; else made one.

    Servers that fill chat templates fail on anything but an object, and on half of
    a surrogate pair, written out or escaped.
    """
    arguments = parse_arguments(arguments_json)
    if arguments is not None and "\\ud" not in arguments_json.lower() and storable(arguments_json) == arguments_json:
        return arguments_json
    return to_json(arguments or {}).decode()


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _no_number(digits)


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


def kept_fields(
    owner: str, kind: Literal["text", "thinking", "tool_call"], fields: JsonObject, known: frozenset[str]
) -> list[OpaqueBlock]:
    """What stands before a block of ``owner`` of this kind; nothing where its fields are all ``known`` or null."""
    others: JsonObject = {
        key: value for key, value in fields.items() if key not in known and value is not None and is_plain(key)
    }
    return own_block(owner, {_FIELDS[kind]: others}) if others else []


def own_block(owner: str, item: JsonObject) -> list[OpaqueBlock]:
    """What only ``owner`` understands, as it came; nothing where not even its kind can be told.

    Fields whose names were broken on the way are left out, as the service would refuse them.
    """
    if not _PLAIN.fullmatch(as_text(item.get("type")) or "type"):
        return []
    return [OpaqueBlock(provider=owner, payload_json=json.dumps(_without_broken(item)))]


def is_plain(name: str) -> bool:
    """Whether a service may have given the name to a field, and no broken byte made it."""
    return _PLAIN.fullmatch(name) is not None


def _without_broken(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {key: _without_broken(part) for key, part in value.items() if _BROKEN not in key}
    return list(map(_without_broken, value)) if isinstance(value, list) else value


def with_fields(blocks: Iterable[AssistantBlock], owner: str) -> Iterator[tuple[AssistantBlock, JsonObject]]:
    """The blocks but for those that keep fields, each with the fields that ``owner`` had added to it.

    Fields whose own block is no longer there, such as a call that was cut off, are left out.
    """
    for before, block in pairwise((None, *blocks)):
        if block is not None and not _kept(block, owner):
            fields = as_object(_kept(before, owner).get(_FIELDS.get(block.kind, "")))
            yield block, {key: value for key, value in fields.items() if is_plain(key)}


def _kept(block: AssistantBlock | None, owner: str) -> JsonObject:
    """Fields under the name of the kind of block that they belong to; none where it is another block, or another's."""
    if not isinstance(block, OpaqueBlock) or block.provider != owner:
        return {}
    payload = parse_object(block.payload_json) or {}
    return payload if len(payload) == 1 and payload.keys() <= set(_FIELDS.values()) else {}
