"""What happens in a session, told to the listeners and kept in the journal."""

from __future__ import annotations

from dataclasses import replace

from codeagent.core.approvals import DiffPreview, to_keep
from codeagent.core.context import CompactionStarted
from codeagent.core.events import (
    AgentEvent,
    ApprovalAsked,
    CallStreamed,
    ContextMeasured,
    Emit,
    ReplyEnded,
    RetryScheduled,
    TextStreamed,
    ThinkingStreamed,
    ToolPreviewed,
    ToolProgressed,
)
from codeagent.core.protocols import Journal

_PASSING = (
    TextStreamed,
    ThinkingStreamed,
    CallStreamed,
    ReplyEnded,
    RetryScheduled,
    ToolProgressed,
    CompactionStarted,
    ContextMeasured,
)


class Record:
    """Both ways out for an event; ``tell`` is an Emit that can be given to the gate as well."""

    def __init__(self, journal: Journal, emit: Emit) -> None:
        self._journal = journal
        self._emit = emit

    def tell(self, event: AgentEvent) -> None:
        """Tells the listeners; what is worth keeping is noted, pieces of streams are not."""
        if not isinstance(event, _PASSING):
            self._journal.note(_to_keep(event))
        self._emit(event)

    async def keep(self, event: AgentEvent) -> None:
        """Tells the listeners once the event is written; raises JournalError, and then nobody was told."""
        await self.write(event)
        self.announce(event)

    async def write(self, event: AgentEvent) -> None:
        """Only writes; raises JournalError."""
        await self._journal.append(event)

    def announce(self, event: AgentEvent) -> None:
        """Only tells: for what was written before, or can not be."""
        self._emit(event)


def _to_keep(event: AgentEvent) -> AgentEvent:
    """The event without whole files, which the checkpoints keep, each once."""
    match event:
        case ToolPreviewed():
            return replace(event, preview=to_keep(event.preview))
        case ApprovalAsked(request=request) if isinstance(request.preview, DiffPreview):
            return replace(event, request=replace(request, preview=to_keep(request.preview)))
        case _:
            return event
