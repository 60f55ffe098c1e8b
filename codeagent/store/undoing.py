"""Everything that makes a session's changes undoable, put together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from codeagent.core.approvals import Mode
from codeagent.core.errors import CheckpointError, FileProblem
from codeagent.core.events import AgentEvent, Emit
from codeagent.core.text import show_invisible
from codeagent.store.change_store import ChangeStore
from codeagent.store.checkpoints import Checkpoints
from codeagent.store.cover import UndoCover
from codeagent.store.timeline import ChangeTimeline
from codeagent.workspace.files import read_bytes
from codeagent.workspace.seen import SeenFiles

_MOST_NAMED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Undoing:
    """The hook that keeps, the timeline that takes back, and the news of it for the model."""

    hook: Checkpoints
    cover: UndoCover
    timeline: ChangeTimeline
    seen: SeenFiles
    show: Callable[[Path], str]

    def listen(self, event: AgentEvent) -> None:
        """Learns which turn it is and what it is about."""
        self.hook.listen(event)
        self.timeline.listen(event)

    def caught_up(self, past: tuple[AgentEvent, ...]) -> Undoing:
        """Itself, once it has learnt the same of a resumed session's events."""
        for event in past:
            self.listen(event)
        self.hook.start_anew()
        return self

    async def news(self) -> Sequence[str]:
        """What happened to the files between the turns: taken back, or changed by somebody else."""
        try:
            texts, known = await self.timeline.take_news()
        except CheckpointError:
            texts, known = (), ()
        changed = await asyncio.to_thread(self.seen.changed, _content)
        names = [show_invisible(self.show(path)) for path in changed if path not in known]
        if names:
            more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
            files = ", ".join(names[:_MOST_NAMED]) + more
            told = f"Since you last looked, files that you had read have changed: {files}."
            texts = (*texts, f"{told} Read again what you need of them.")
        return texts


def open_undoing(
    store: ChangeStore,
    seen: SeenFiles,
    tell: Emit,
    show: Callable[[Path], str],
    *,
    is_running: Callable[[], bool],
    mode: Callable[[], Mode],
) -> Undoing:
    """The parts around one session's store; ``show`` gives a path as people read it."""
    cover = UndoCover(store)
    hook = Checkpoints(store, cover, tell, show, mode)
    timeline = ChangeTimeline(store, hook.busy, is_running, tell)
    return Undoing(hook=hook, cover=cover, timeline=timeline, seen=seen, show=show)


def _content(path: Path) -> bytes | None:
    try:
        return read_bytes(path)
    except FileProblem:
        return None
