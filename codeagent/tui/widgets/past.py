"""A stored session as blocks: what its events left behind, without playing them again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from codeagent.core.approvals import Deny
from codeagent.core.context import HistoryCompacted
from codeagent.core.events import (
    REFUSED,
    AgentEvent,
    ApprovalSettled,
    ConversationRestored,
    ConversationRewound,
    HistoryAppended,
    Level,
    MessageDelivered,
    ModelChanged,
    NoticeGiven,
    SessionStarted,
    ToolEnded,
    ToolPreviewed,
    ToolStarted,
    TurnEnd,
    TurnEnded,
    TurnStarted,
)
from codeagent.core.messages import (
    BEFORE_OWN_COMMAND,
    STOPPED,
    AssistantMessage,
    Message,
    Origin,
    Outcome,
    ResultsMessage,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolResult,
    UserMessage,
)
from codeagent.core.values import value
from codeagent.tui.widgets import blocks
from codeagent.tui.widgets.compaction_block import CompactionBlock
from codeagent.tui.widgets.markdown_stream import MarkdownStream
from codeagent.tui.widgets.tool_panel import ToolPanel

# A longer text is cut into its parts, so that a look at its end does not draw all of it.
_DRAWN_WHOLE = 4_000
_ENDS = {
    TurnEnd.CANCELLED: "Stopped.",
    TurnEnd.STEP_LIMIT: "The step limit is reached. Say “go on” to continue.",
    TurnEnd.BUDGET: "The cost limit is reached.",
    TurnEnd.REFUSED: REFUSED,
}


def end_note(reason: TurnEnd, text: str) -> tuple[str, Level] | None:
    """What the end of a turn leaves to see; nothing when all went well."""
    if reason is TurnEnd.DONE:
        return None
    if reason is TurnEnd.CANCELLED:
        return _ENDS[reason], Level.INFO
    if reason is TurnEnd.REFUSED:  # its own words stand above
        return _ENDS[reason], Level.WARNING
    return text or _ENDS.get(reason, ""), Level.ERROR if reason is TurnEnd.ERROR else Level.WARNING


def rewind_note(event: ConversationRewound | ConversationRestored) -> str:
    """What a rewind, or its end, leaves to see."""
    if isinstance(event, ConversationRestored):
        return "The conversation is whole again."
    return f"The conversation goes on from before message {event.turn}; the model no longer knows what came after."


def model_note(before: tuple[str, str], now: tuple[str, str]) -> str:
    """What a change of the model, or of the effort beside its name, leaves to see; empty where it is none."""
    efforts = (before[1] or "default", now[1] or "default")
    changes = (("model", before[0], now[0]), ("effort", *efforts))
    return " · ".join(f"{what}: {old} → {new}" for what, old, new in changes if before[0] and old != new)


def _note(event: NoticeGiven | ConversationRewound | ConversationRestored) -> blocks.NoteBlock:
    if isinstance(event, NoticeGiven):
        return blocks.NoteBlock(event.text, event.level)
    return blocks.NoteBlock(rewind_note(event))


@value
class OwnCommand:
    """A shell command of the person's own, and what came of it in so many ``seconds``."""

    command: str
    result: ToolResult
    seconds: float

    @property
    def arguments_json(self) -> str:
        """As if it were a call of the model."""
        return json.dumps({"command": self.command})


def own_command(message: UserMessage, call_id: str) -> OwnCommand:
    """What the model was told of one: words, the command, its output; of an old record how it ended is not known."""
    told, ran = message.text.removeprefix(BEFORE_OWN_COMMAND), message.ran
    if ran is not None and told.startswith(f"{ran.command}\n"):
        command, output = ran.command, told[len(ran.command) + 1 :]
    else:
        command, _, output = told.partition("\n")
    ended = ran.ended if ran is not None else ""
    outcome = (
        Outcome.TIMED_OUT if ended.startswith("timed out") else Outcome.CANCELLED if ended == STOPPED else Outcome.OK
    )
    result = ToolResult(call_id=call_id, blocks=(TextBlock(text=output),), outcome=outcome, details=ran)
    return OwnCommand(command=command, result=result, seconds=ran.seconds if ran is not None else 0.0)


Boundary = TurnStarted | ConversationRewound | ConversationRestored
"""An event with which another part of the transcript begins, or at which parts leave it or come back."""


def past_parts(events: Iterable[AgentEvent]) -> Iterator[tuple[Boundary | None, list[tuple[int, blocks.Block]]]]:
    """The blocks of a session that is over, in order, each with the number of its event; None begins the first part.

    A call without an end shows as stopped.
    """
    past, begun = _Past(), None
    numbers: list[int] = []
    for number, event in enumerate(events):
        if isinstance(event, TurnStarted | ConversationRewound | ConversationRestored):
            past.close()
            numbers += [number] * (len(past.blocks) - len(numbers))
            yield begun, list(zip(numbers, past.blocks, strict=True))
            past, begun, numbers = _Past(past), event, []
        past.take(event)
        numbers += [number] * (len(past.blocks) - len(numbers))
    past.close()
    numbers += [numbers[-1] if numbers else 0] * (len(past.blocks) - len(numbers))
    yield begun, list(zip(numbers, past.blocks, strict=True))


def past_blocks(events: Iterable[AgentEvent]) -> list[blocks.Block]:
    """All blocks of a session that is over, in order, those of turns that were taken back among them."""
    return [block for _, found in past_parts(events) for _, block in found]


class _Past:
    """Collects blocks; panels are found again by their call."""

    def __init__(self, before: _Past | None = None) -> None:
        """``before`` is the part before this one."""
        self.answering = before.answering if before else ("", "")
        self._is_first = before is None
        self.blocks: list[blocks.Block] = []
        self._open: dict[str, ToolPanel] = {}
        self._announced: dict[str, ToolCall] = {}

    def take(self, event: AgentEvent) -> None:
        """One event; those that leave nothing to see are passed over."""
        match event:
            case TurnStarted(text=text):
                self.blocks.append(blocks.said_block(text))
            case MessageDelivered(text=text, step=step):
                self.blocks.append(blocks.said_block(text, f"seen before step {step}"))
            case HistoryAppended(message=message):
                self._message(message)
            case ToolStarted() | ToolPreviewed() | ApprovalSettled() | ToolEnded():
                self._call(event)
            case HistoryCompacted():
                self.blocks.append(CompactionBlock(event))
            case NoticeGiven() | ConversationRewound() | ConversationRestored():
                self.blocks.append(_note(event))
            case SessionStarted() | ModelChanged():
                self._answers(event)
            case TurnEnded(reason=reason, text=text):
                self._turn_ended(reason, text)
            case _:
                pass

    def _call(self, event: ToolStarted | ToolPreviewed | ApprovalSettled | ToolEnded) -> None:
        match event:
            case ToolStarted(call_id=call_id, name=name, arguments_json=arguments):
                self._start(call_id, name, arguments)
            case ToolPreviewed(call_id=call_id, preview=preview, label=label) if call_id in self._open:
                self._open[call_id].show_preview(preview, label)
            case ApprovalSettled(call_id=call_id, answer=Deny(feedback=feedback)) if call_id in self._open:
                self._open[call_id].deny(feedback)
            case ToolEnded(result=result, seconds=seconds):
                self._end(result, seconds)
            case _:
                pass

    def _answers(self, event: SessionStarted | ModelChanged) -> None:
        """Who answers from now on, which is told once there is something above it."""
        before, self.answering = self.answering, (event.model, event.effort)
        is_told = isinstance(event, ModelChanged) and bool(self.blocks or not self._is_first)
        if is_told and (note := model_note(before, self.answering)):
            self.blocks.append(blocks.NoteBlock(note))

    def close(self) -> None:
        """The session is over: nothing runs any more.

        What the program could not write down of a call before a crash is made up
        for: the call was made, and it has an end.
        """
        for call in list(self._announced.values()):
            self._start(call.id, call.name, call.arguments_json)
        for call_id in list(self._open):
            self._end(ToolResult(call_id=call_id, blocks=(), outcome=Outcome.CANCELLED), 0.0)

    def _message(self, message: Message) -> None:
        match message:
            case AssistantMessage():
                self._announced |= {call.id: call for call in message.calls}
                for block in message.blocks:
                    if isinstance(block, ThinkingBlock) and block.text.strip():
                        self.blocks.append(blocks.ThinkingBlock(block.text))
                    elif isinstance(block, TextBlock) and block.text.strip():
                        self._text(block.text)
            case ResultsMessage(results=results):
                for result in results:
                    self._end(result, 0.0)
            case UserMessage(origin=Origin.SHELL):
                self._own_command(message)
            case UserMessage():
                pass

    def _own_command(self, message: UserMessage) -> None:
        own = own_command(message, f"own past {len(self.blocks)}")
        self.blocks.append(blocks.said_block(f"!{own.command}"))
        self._start(own.result.call_id, "bash", own.arguments_json, is_open=True)
        self._end(own.result, own.seconds)

    def _text(self, text: str) -> None:
        if len(text) <= _DRAWN_WHOLE:
            self.blocks.append(blocks.TextBlock(text))
            return
        stream = MarkdownStream()
        parts = [*stream.feed(text), *stream.finish()]
        self.blocks += [blocks.TextBlock(part.source, number=part.number) for part in parts]

    def _start(self, call_id: str, name: str, arguments_json: str, *, is_open: bool = False) -> None:
        self._announced.pop(call_id, None)
        self._open[call_id] = panel = ToolPanel(call_id, name, arguments_json, is_open=is_open)
        self.blocks.append(panel)

    def _end(self, result: ToolResult, seconds: float) -> None:
        if (call := self._announced.get(result.call_id)) is not None:
            self._start(call.id, call.name, call.arguments_json)
        panel = self._open.pop(result.call_id, None)
        if panel is not None:
            panel.end(result, seconds)

    def _turn_ended(self, reason: TurnEnd, text: str) -> None:
        self.close()
        if (note := end_note(reason, text)) is not None:
            self.blocks.append(blocks.NoteBlock(*note))
