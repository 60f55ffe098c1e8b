"""One line of a journal: an event with the time it happened, as JSON with a version."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from codeagent.core.errors import JournalError
from codeagent.core.events import AgentEvent
from codeagent.core.text import storable

VERSION = 1

_events: TypeAdapter[AgentEvent] = TypeAdapter(Annotated[AgentEvent, Field(discriminator="kind")])


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """An event, and when it was written (ISO 8601, UTC)."""

    at: str
    event: AgentEvent


def encode_record(record: Record) -> bytes:
    """The line for a record, with its line feed; what is no Unicode text is replaced."""
    try:
        event = _events.dump_json(record.event)
    except ValueError:
        event = _with_what_is_no_text_replaced(record.event)
    return b'{"v":%d,"at":%s,"event":%s}\n' % (VERSION, json.dumps(record.at).encode(), event)


def _with_what_is_no_text_replaced(event: AgentEvent) -> bytes:
    """The event's JSON where it holds halves of characters, as odd file names do."""
    return storable(json.dumps(_events.dump_python(event, mode="json"), ensure_ascii=False)).encode()


def decode_record(line: bytes) -> Record | None:
    """The record on a line; None when the line is damaged.

    Raises JournalError when a newer version of the program wrote it.
    """
    try:
        fields = json.loads(line)
        version, at, event = fields["v"], fields["at"], fields["event"]
    except (ValueError, KeyError, TypeError):
        return None
    if not isinstance(version, int) or not isinstance(at, str):
        return None
    if version > VERSION:
        raise JournalError(
            f"The session was written by a newer version of codeagent (format {version}).", hint="Update codeagent."
        )
    try:
        return Record(at=at, event=_events.validate_python(event))
    except ValidationError:
        return None
