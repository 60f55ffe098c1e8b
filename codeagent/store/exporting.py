"""A stored session as a text to share: Markdown, one HTML page, or JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import assert_never

from codeagent.core.approvals import Answer, Approve, Deny, Scope, Withdraw
from codeagent.core.archive import ExportForm, SessionSummary, local_minute
from codeagent.core.context import HistoryCompacted
from codeagent.core.diff import FileDiff
from codeagent.core.events import (
    AgentEvent,
    ApprovalSettled,
    ConversationRestored,
    ConversationRewound,
    HistoryAppended,
    MessageDelivered,
    ModeChanged,
    ModelChanged,
    NoticeGiven,
    SessionStarted,
    ToolPreviewed,
    TurnEnd,
    TurnEnded,
    TurnStarted,
)
from codeagent.core.json_types import JsonValue
from codeagent.core.messages import (
    AssistantMessage,
    ChangeDetails,
    CommandDetails,
    Origin,
    ResultsMessage,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolResult,
    UserMessage,
)
from codeagent.core.text import counted
from codeagent.store.export_html import as_html
from codeagent.store.export_markdown import as_markdown
from codeagent.store.passages import Did, Noted, Passage, Said, Thought, Wrote
from codeagent.store.records import Record, Redact, event_from, fields_of, redacted


def exported(summary: SessionSummary, records: Iterable[Record], form: ExportForm, redact: Redact) -> str:
    """The session in that form, with all that ``redact`` finds taken out."""
    told = [Record(at=record.at, event=event_from(redacted(fields_of(record.event), redact))) for record in records]
    read = tuple(passages(standing(record.event for record in told)))
    title = redact(summary.title) or "A session"
    match form:
        case ExportForm.MARKDOWN:
            return as_markdown(title, _facts(summary), read)
        case ExportForm.HTML:
            return as_html(title, _facts(summary), read)
        case ExportForm.JSON:
            about = redacted({**asdict(summary)}, redact)
            events: list[JsonValue] = [{"at": record.at, "event": fields_of(record.event)} for record in told]
            return json.dumps({"format": 1, "session": about, "events": events}, indent=1) + "\n"
        case _:
            assert_never(form)


def standing(events: Iterable[AgentEvent]) -> list[AgentEvent]:
    """The events without those of turns that were taken back, as a screen shows them."""
    kept: list[AgentEvent] = []
    begun: dict[int, int] = {}
    left: tuple[int, list[AgentEvent]] | None = None
    for event in events:
        match event:
            case TurnStarted(turn=turn):
                begun[turn], left = len(kept), None
            case ConversationRewound(turn=turn) if turn in begun:
                left = (begun[turn], kept[begun[turn] :])
                del kept[begun[turn] :]
            case ConversationRestored() if left is not None:
                at, taken = left
                kept[at:at], left = taken, None
            case _:
                pass
        kept.append(event)
    return kept


def passages(events: Sequence[AgentEvent]) -> Iterator[Passage]:
    """What there is to read: words, thoughts, calls with what they came to, notes."""
    labels = {event.call_id: event.label for event in events if isinstance(event, ToolPreviewed)}
    answers: dict[str, str] = {}
    calls: dict[str, ToolCall] = {}
    for event in events:
        match event:
            case ApprovalSettled(call_id=call_id, answer=answer):
                answers[call_id] = answered(answer)
            case TurnStarted(text=text) | MessageDelivered(text=text):
                yield Said(text=text)
            case HistoryAppended(message=AssistantMessage() as message):
                calls |= {call.id: call for call in message.calls}
                yield from _written(message)
            case HistoryAppended(message=ResultsMessage(results=results)):
                known = [(calls.pop(result.call_id, None), result) for result in results]
                for call, result in known:
                    if call is not None:
                        yield _done(call, labels.get(call.id, ""), result, answers.pop(call.id, ""))
            case HistoryAppended(message=UserMessage(origin=Origin.SHELL) as message):
                yield Said(text=message.text)
            case _:
                yield from _noted(event)


def _noted(event: AgentEvent) -> Iterator[Noted]:
    match event:
        case SessionStarted(mode=mode):
            yield Noted(text=f"The session began in {mode} mode.")
        case ModeChanged(mode=mode):
            yield Noted(text=f"From here on in {mode} mode.")
        case ModelChanged(model=model, effort=effort):
            yield Noted(text=f"From here on {model} answers" + (f", with {effort} effort." if effort else "."))
        case HistoryCompacted(summary=summary):
            yield Noted(text="The conversation was summed up to make room." + (f"\n\n{summary}" if summary else ""))
        case NoticeGiven(text=text):
            yield Noted(text=text)
        case TurnEnded(reason=TurnEnd.ERROR, text=text):
            yield Noted(text=text, is_trouble=True)
        case TurnEnded(reason=reason) if reason is not TurnEnd.DONE:
            yield Noted(text=f"The turn ended: {reason}.".replace("_", " "))
        case _:
            pass


def _written(message: AssistantMessage) -> Iterator[Passage]:
    for block in message.blocks:
        if isinstance(block, ThinkingBlock) and block.text.strip():
            yield Thought(text=block.text)
        elif isinstance(block, TextBlock) and block.text.strip():
            yield Wrote(text=block.text)


def answered(answer: Answer) -> str:
    """How a question about a call was answered, in words."""
    match answer:
        case Approve(scope=scope, hunks=hunks, edited=edited, feedback=feedback):
            kept = {Scope.SESSION: " for this session", Scope.PROJECT: " for this project", Scope.ALWAYS: " always"}
            words = f"you allowed it{kept.get(scope, '')}"
            words += "" if edited is None else ", edited"
            words += "" if hunks is None else ", in part"
        case Deny(feedback=feedback):
            words = "you denied it"
        case Withdraw(reason=feedback):
            words = "the question closed without an answer"
        case _:
            assert_never(answer)
    return f"{words}: {feedback}" if feedback else words


def _done(call: ToolCall, label: str, result: ToolResult, answer: str) -> Did:
    diffs: tuple[FileDiff, ...] = ()
    outcome = str(result.outcome)
    if isinstance(result.details, ChangeDetails):
        diffs = result.details.diffs
    elif isinstance(result.details, CommandDetails):
        diffs = result.details.changes
        outcome = result.details.ended if result.details.exit_code not in {0, None} else outcome
    return Did(
        tool=call.name,
        label=label or _first(call),
        outcome=outcome,
        text=result.text,
        diffs=diffs,
        answer=answer,
    )


def _first(call: ToolCall) -> str:
    """The first argument, which names what a call is about."""
    try:
        found: JsonValue = json.loads(call.arguments_json)
    except (ValueError, RecursionError):
        return ""
    first = next(iter(found.values()), "") if isinstance(found, dict) else ""
    return first if isinstance(first, str) else ""


def _facts(summary: SessionSummary) -> str:
    turns = counted(summary.turns, "turn")
    when = local_minute(summary.updated_at)
    return " · ".join(fact for fact in (when, summary.model, turns, summary.price, summary.session_id) if fact)
