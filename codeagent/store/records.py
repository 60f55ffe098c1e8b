"""One line of a journal: an event with the time it happened, as JSON with the version of the format."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from pathlib import PurePath
from typing import get_args

from pydantic import TypeAdapter

from codeagent.core.errors import JournalError
from codeagent.core.events import AgentEvent
from codeagent.core.json_types import JsonObject, JsonValue
from codeagent.core.text import show_bytes, storable
from codeagent.store.beside import LARGE, Beside, has_references

VERSION = 2

Upgrade = Callable[[JsonObject], JsonObject]
Redact = Callable[[str], str]

_START = b'{"v":'
_MOST_STARTS = 8
_HALF_CHARACTER = re.compile(rb"\\u[dD][89a-fA-F]")
"""How JSON writes what may be half a character, which no other text can hold."""

_CLASSES: dict[str, type[AgentEvent]] = {made.kind: made for made in get_args(AgentEvent)}


@cache
def _adapter(made: type[AgentEvent]) -> TypeAdapter[AgentEvent]:
    """What makes one kind of event of JSON; made when first needed, as making all takes long."""
    return TypeAdapter(made)


def _plain(held: object) -> object:
    """What JSON has no word for, in its words: the fields of a value, a path as text, a set as a list."""
    if is_dataclass(held) and not isinstance(held, type):
        return {one.name: getattr(held, one.name) for one in fields(held)}
    if isinstance(held, PurePath):
        return str(held)
    if isinstance(held, frozenset):
        return [*held]  # pyright: ignore[reportUnknownVariableType] - of whatever
    raise TypeError(f"{held!r} cannot be written down.")


_encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_plain)
"""Writes events; pydantic, which reads them, would have to be prepared for each kind of event first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """An event, and when it was written (ISO 8601, UTC)."""

    at: str
    event: AgentEvent


def encode_record(record: Record) -> bytes:
    """The line for a record, with its line feed; what is no Unicode text is replaced."""
    try:
        event = _encoder.encode(record.event).encode()
    except ValueError:
        event = _with_what_is_no_text_replaced(record.event)
    return b'{"v":%d,"at":%s,"event":%s}\n' % (VERSION, json.dumps(record.at).encode(), event)


def kept_line(record: Record, redact: Redact, beside: Beside) -> bytes:
    """The line for a record of megabytes as it is kept, made on a thread: without secrets, its large parts in files.

    The same as ``encode_record``, ``redacted_line`` and ``lightened`` one after the other, but each text is gone
    through by itself: for as long as one step goes through all of them, every other thread stands still.
    """
    try:
        event = beside.without_large(redacted(_plain_all(record.event), redact))
        return _dumped({"v": VERSION, "at": record.at, "event": event}) + b"\n"
    except (ValueError, OSError):  # what is no text, or a disk that takes no files
        return lightened(redacted_line(encode_record(record), redact), beside)


def _plain_all(held: object) -> JsonValue:
    """The value as plain JSON values, all through."""
    match held:
        case None | str() | int() | float():
            return held
        case list() | tuple():
            return [*map(_plain_all, held)]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] - of whatever
        case dict():
            return {key: _plain_all(one) for key, one in held.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType, reportUnknownArgumentType] - of whatever
        case _:
            return _plain_all(_plain(held))


def redacted_line(line: bytes, redact: Redact) -> bytes:
    """The line without what ``redact`` finds."""
    if redact(text := line.decode()) == text:
        return line
    fields: JsonObject = json.loads(text)
    return _dumped({**fields, "event": redacted(fields["event"], redact)}) + b"\n"


def fields_of(event: AgentEvent) -> JsonObject:
    """The event as plain JSON values."""
    return json.loads(_encoder.encode(event))


def event_from(fields: JsonValue) -> AgentEvent:
    """The event that ``fields_of`` gave the fields of; raises ValueError for what is none."""
    made = _CLASSES.get(str(fields.get("kind"))) if isinstance(fields, dict) else None
    if made is None:
        raise ValueError("This is no event.")
    return _adapter(made).validate_python(fields)


def redacted(value: JsonValue, redact: Redact) -> JsonValue:
    """The value with each of its texts redacted by itself, so that what is taken out never reaches beyond one."""
    match value:
        case str():
            return redact(value)
        case list():
            return [redacted(item, redact) for item in value]
        case dict():
            changed = {key: redacted(item, redact) for key, item in value.items()}
            if changed.get("kind") == "thinking" and changed != value:
                changed["signature"] = ""  # it stands for the words as they were; a service refuses it with others
            return changed
        case _:
            return value


def lightened(line: bytes, beside: Beside) -> bytes:
    """The line with its large parts put into files; as it is when it is short, or when they cannot be written."""
    if len(line) <= LARGE:
        return line
    fields: JsonObject = json.loads(line)
    try:
        event = beside.without_large(fields["event"])
    except OSError:
        return line
    return _dumped({**fields, "event": event}) + b"\n"


def decode_record(line: bytes, beside: Beside | None = None) -> Record | None:
    """The record on a line, of whatever version until now; None when the line is damaged.

    Where half a record or zeros stand before a whole one, as a crash can leave it,
    the whole one counts. ``beside`` holds the large parts. Raises JournalError
    when a newer version of the program wrote the line.
    """
    record = _decoded(line, beside)
    at = 0
    for _ in range(_MOST_STARTS):
        if record is not None or (at := line.find(_START, at + 1)) < 0:
            break
        record = _decoded(line[at:], beside)
    return record


def upgraded(fields: JsonObject, version: int, upgrades: Sequence[Upgrade]) -> JsonObject:
    """An event as it would be written today; ``upgrades`` lead from each version to the next, from version 1 on."""
    for upgrade in upgrades[version - 1 :]:
        fields = upgrade(fields)
    return fields


def _from_1_to_2(event: JsonObject) -> JsonObject:
    """Version 2 may keep large parts in files of their own; what held them itself stays as it is."""
    return event


_UPGRADES: tuple[Upgrade, ...] = (_from_1_to_2,)


def _decoded(line: bytes, beside: Beside | None) -> Record | None:
    try:
        fields: JsonObject = json.loads(line)
        version, at, event = fields["v"], fields["at"], fields["event"]
        if _HALF_CHARACTER.search(line):
            event = redacted(event, storable)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if type(version) is not int or version < 1 or not isinstance(at, str):
        return None
    if version > VERSION:
        raise JournalError(
            f"The session was written by a newer version of codeagent (format {version}).", hint="Update codeagent."
        )
    if version < VERSION and isinstance(event, dict):
        event = upgraded(event, version, _UPGRADES)
    if beside is not None and has_references(line):
        event = beside.with_large(event)
    try:
        return Record(at=at, event=event_from(event))
    except ValueError:  # pydantic's own is one
        return None


def _with_what_is_no_text_replaced(event: AgentEvent) -> bytes:
    """The event's JSON where it holds halves of characters, as odd file names do."""
    return storable(show_bytes(_encoder.encode(event), in_json=True)).encode()


def _dumped(value: JsonValue) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
