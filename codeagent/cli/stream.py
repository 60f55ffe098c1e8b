"""Events as JSON for scripts: what ``--output-format json`` and ``stream-json`` print."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
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
from codeagent.core.json_types import JsonObject, JsonValue


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
        case UsageReported(usage=usage, window=window, cost=cost, context=context):
            return {"usage": asdict(usage), "window": window, "cost": cost, "context": context}
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
        return json.loads(text or "{}")
    except ValueError:
        return text
