"""Events as JSON for scripts: what ``--output-format json`` and ``stream-json`` print, without the keys of services."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from typing import assert_never

from codeagent.core.archive import SessionNamed
from codeagent.core.context import CompactionStarted, HistoryCompacted, PinsChanged
from codeagent.core.events import (
    AgentEvent,
    ApprovalAsked,
    ApprovalSettled,
    CallStreamed,
    CheckpointTaken,
    ContextMeasured,
    ConversationRestored,
    ConversationRewound,
    HistoryAppended,
    JobChanged,
    MessageDelivered,
    MessageQueued,
    MessagesReturned,
    ModeChanged,
    ModelChanged,
    NoticeGiven,
    ReplyEnded,
    RetryScheduled,
    SessionStarted,
    StepStarted,
    TextStreamed,
    ThinkingStreamed,
    ToolEnded,
    ToolPreviewed,
    ToolProgressed,
    ToolRunning,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    UsageReported,
)
from codeagent.core.json_types import JsonObject, JsonValue, is_too_deep
from codeagent.core.text import Redactor


def event_line(event: AgentEvent, without_keys: Callable[[JsonValue], JsonValue]) -> str | None:
    """The JSON line for an event, ASCII only; None for events that say nothing new to a script."""
    fields = _fields(event)
    return None if fields is None else json.dumps(without_keys({"type": event.kind, **fields}))


def _ended(event: TurnEnded) -> JsonObject:
    return {
        "turn": event.turn,
        "reason": str(event.reason),
        "text": event.text,
        "usage": asdict(event.usage),
        "cost": event.cost,
        "unpriced": [asdict(one) for one in event.unpriced],
        "denials": list(event.denials),
    }


def _fields(event: AgentEvent) -> JsonObject | None:  # noqa: PLR0911 - one case an event
    match event:
        case ToolStarted(call_id=call_id, name=name, arguments_json=text):
            return {"call_id": call_id, "name": name, "arguments": _parsed(text)}
        case ToolEnded(result=result, seconds=seconds):
            return {
                "call_id": result.call_id,
                "outcome": str(result.outcome),
                "code": result.code,
                "text": result.text,
                "seconds": round(seconds, 3),
            }
        case ToolRunning(call_id=call_id):  # nothing is said meanwhile that would end it
            return {"call_id": call_id}
        case ApprovalSettled(call_id=call_id, answer=answer):
            return {"call_id": call_id, "answer": answer.kind}
        case TurnEnded():
            return _ended(event)
        case JobChanged(job=job):
            state = {"state": str(job.state), "ended": job.ended, "changed": job.changed}
            return {"number": job.number, "command": job.command, **state}
        case UsageReported():
            return {name: value for name, value in asdict(event).items() if name != "kind"}
        case (
            SessionStarted()
            | SessionNamed()
            | TurnStarted()
            | StepStarted()
            | TextStreamed()
            | ThinkingStreamed()
            | RetryScheduled()
            | ReplyEnded()
            | ToolProgressed()
            | MessageQueued()
            | MessageDelivered()
            | MessagesReturned()
            | CheckpointTaken()
            | ConversationRewound()
            | ConversationRestored()
            | ModeChanged()
            | ModelChanged()
            | CompactionStarted()
            | HistoryCompacted()
            | PinsChanged()
            | ContextMeasured()
            | NoticeGiven()
        ):
            return {name: value for name, value in asdict(event).items() if name != "kind"}
        case ToolPreviewed() | ApprovalAsked() | CallStreamed() | HistoryAppended():
            return None
        case _:
            assert_never(event)


def _parsed(text: str) -> JsonValue:
    try:
        found: JsonValue = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return text
    return text if is_too_deep(found, text) else found


Piece = TextStreamed | ThinkingStreamed | ToolProgressed


class KeyFilter:
    """Knows the keys that the program holds; other texts, even those shaped like a key, are the person's to see."""

    def __init__(self, keys: Sequence[str] = ()) -> None:
        self._redactor = Redactor(keys)
        self._waiting: dict[str, Piece] = {}

    def text(self, text: str) -> str:
        """The text without the keys."""
        return self._redactor.redact_known(text)

    def json(self, found: JsonValue) -> JsonValue:
        """The value without the keys in any of its texts."""
        match found:
            case str():
                return self.text(found)
            case list():
                return [self.json(item) for item in found]
            case dict():
                return {name: self.json(item) for name, item in found.items()}
            case _:
                return found

    def events(self, event: AgentEvent) -> Iterator[AgentEvent]:
        """The event, behind what waited for it; the end of a piece that may be the beginning of a key waits."""
        if not isinstance(event, Piece):
            yield from self._over(event)
            yield event
            return
        stream = event.call_id if isinstance(event, ToolProgressed) else event.kind
        before = self._waiting.pop(stream, None)
        text = (before.text if before else "") + event.text
        cut = len(text) - self._redactor.begun(text)
        if cut < len(text):
            self._waiting[stream] = replace(event, text=text[cut:])
        if cut or not text:
            yield replace(event, text=text[:cut])

    def _over(self, event: AgentEvent) -> Iterator[AgentEvent]:
        """What waited for more of the reply, or of a call that is over."""
        ended = event.result.call_id if isinstance(event, ToolEnded) else ""
        for stream, piece in tuple(self._waiting.items()):
            if stream == ended or not isinstance(piece, ToolProgressed):
                yield self._waiting.pop(stream)
