"""Keeps the files before each changing call and finds out afterwards what the call changed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from codeagent.core.approvals import Access, CommandPreview, DiffPreview, Mode
from codeagent.core.diff import FileDiff
from codeagent.core.errors import CheckpointError, FileProblem
from codeagent.core.events import AgentEvent, CheckpointTaken, Emit, Level, NoticeGiven, TurnStarted
from codeagent.core.messages import CommandDetails, TextBlock, ToolCall, ToolResult
from codeagent.core.protocols import Plan
from codeagent.core.text import show_invisible
from codeagent.store.change_store import ChangeStore, Pending, digest
from codeagent.store.cover import UndoCover
from codeagent.store.difference import diffs_of, summary, worth_showing
from codeagent.store.file_states import state_of
from codeagent.store.snapshots import Look
from codeagent.workspace.git import uncommitted, uncommitted_in_words

_log = logging.getLogger(__name__)
_MOST_NAMED = 10


class Checkpoints:
    """The hook around every changing call of a session."""

    def __init__(
        self, store: ChangeStore, cover: UndoCover, tell: Emit, show: Callable[[Path], str], mode: Callable[[], Mode]
    ) -> None:
        """``show`` gives a path as people read it, ``mode`` the permission mode in force."""
        self._store = store
        self._cover = cover
        self._mode = mode
        self._tell = tell
        self._show = show
        self._turn = 0
        self._begun: dict[str, Pending] = {}
        self._has_warned = False
        self._has_told_stake = False
        self.busy = asyncio.Lock()

    def listen(self, event: AgentEvent) -> None:
        """Learns which turn it is."""
        if isinstance(event, TurnStarted):
            self._turn = event.turn

    async def before(self, call: ToolCall, plan: Plan) -> str:
        """Keeps what the call may change; denies only what was let through because it would be kept."""
        changing = [touch for touch in plan.touches if touch.access is Access.WRITE]
        preview = plan.preview
        pending = Pending(id="", call_id=call.id, turn=self._turn, what=call.name)
        if not changing:
            return ""
        must_be_kept = self._cover.is_promised(call.id)
        async with self.busy:
            try:
                if isinstance(preview, DiffPreview):
                    path = next((touch.path for touch in changing if touch.path is not None), None)
                    begun = await asyncio.to_thread(self._keep_file, pending, path, preview)
                elif isinstance(preview, CommandPreview):
                    pending = replace(pending, what=f"{call.name} {_first_line(preview.command)}")
                    begun = await asyncio.to_thread(self._keep_all, pending)
                else:
                    return ""
            except (CheckpointError, OSError) as error:
                self._warn(error)
                return f"The files that it would delete could not be kept before: {error}" if must_be_kept else ""
        self._begun[call.id] = begun
        self._tell(CheckpointTaken(checkpoint=begun.id, before_call=call.id))
        await self._tell_stake()
        return ""

    async def _tell_stake(self) -> None:
        """Where nobody is asked, says once what was not committed when the first change came."""
        if self._mode() is not Mode.AUTO or self._has_told_stake:
            return
        self._has_told_stake = True
        found = await asyncio.to_thread(uncommitted, self._store.root)
        if found and (text := uncommitted_in_words(found, self._show)):
            self._tell(NoticeGiven(text=f"{text}. It is kept before each change; /undo and /rewind bring it back."))

    async def after(self, call: ToolCall, result: ToolResult) -> ToolResult:
        """Adds to a command's result what it changed."""
        begun = self._begun.pop(call.id, None)
        if begun is None:
            return result
        try:
            async with self.busy:
                look, diffs = await asyncio.to_thread(self._settle, begun, is_done=not result.is_error)
        except (CheckpointError, OSError) as error:
            self._warn(error)
            return result
        return result if begun.name else _with_changes(result, look, diffs)

    async def dropped(self, call: ToolCall) -> None:
        """The call was stopped: what it did until then is kept all the same."""
        begun = self._begun.pop(call.id, None)
        if begun is not None:
            try:
                async with self.busy:
                    await asyncio.to_thread(self._settle, begun, is_done=False)
            except (CheckpointError, OSError) as error:
                self._warn(error)

    def _keep_file(self, pending: Pending, path: Path | None, preview: DiffPreview) -> Pending:
        if path is None:
            raise CheckpointError("A change of no file.")
        store = self._store
        try:
            before = state_of(path, store.blobs)
        except FileProblem as problem:
            raise CheckpointError(str(problem)) from problem
        made: list[str] = []
        folder = path.parent
        while not folder.exists() and folder != folder.parent:
            made.insert(0, store.name_of(folder))
            folder = folder.parent
        begun = replace(
            pending,
            id=store.log.next_id(),
            what=f"{pending.what} {show_invisible(self._show(path))}",
            name=store.name_of(path),
            before=before,
            proposal=digest(preview.proposal),
            made=tuple(made),
        )
        store.begin(begun)
        return begun

    def _keep_all(self, pending: Pending) -> Pending:
        store = self._store
        store.look_before()
        begun = replace(pending, id=store.log.next_id())
        store.begin(begun)
        return begun

    def _settle(self, begun: Pending, *, is_done: bool) -> tuple[Look, tuple[FileDiff, ...]]:
        look = self._store.settle(begun, is_done=is_done)
        shown = replace(look, changes=worth_showing(look.changes))
        return shown, diffs_of(shown.changes, self._store.blobs) if shown.changes and not begun.name else ()

    def _warn(self, error: CheckpointError | OSError) -> None:
        _log.warning("no checkpoint: %s", error)
        if not self._has_warned:
            self._has_warned = True
            text = f"What commands change here cannot be undone: {error}"
            self._tell(NoticeGiven(text=text, level=Level.WARNING))


def _with_changes(result: ToolResult, look: Look, diffs: Sequence[FileDiff]) -> ToolResult:
    """The result with the changed files in its details, and in a line or two for the model."""
    notes: list[str] = []
    if look.changes:
        named = "; ".join(show_invisible(summary(diff)) for diff in diffs[:_MOST_NAMED])
        more = f"; and {len(look.changes) - _MOST_NAMED} more" if len(look.changes) > _MOST_NAMED else ""
        notes.append(f"[changed files: {named}{more}]")
    if look.uncovered:
        names = ", ".join(show_invisible(name) for name in look.uncovered[:_MOST_NAMED])
        notes.append(f"[too large to be undone: {names}]")
    if not notes:
        return result
    details = result.details
    if isinstance(details, CommandDetails):
        details = replace(
            details, changes=tuple(diffs), changed_files=len(look.changes), uncovered=look.uncovered[:_MOST_NAMED]
        )
    return replace(result, blocks=(*result.blocks, TextBlock(text="\n".join(notes))), details=details)


def _first_line(command: str) -> str:
    first, *more = command.strip().split("\n")
    return show_invisible(first[:80] + ("…" if more or len(first) > 80 else ""))  # noqa: PLR2004 - a line of a list
