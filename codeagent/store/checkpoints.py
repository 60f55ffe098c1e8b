"""Keeps the files before each changing call and finds out afterwards what the call changed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from codeagent.core.approvals import Access, CommandPreview, DiffPreview, Mode
from codeagent.core.diff import FileDiff
from codeagent.core.errors import CheckpointError, FileProblem
from codeagent.core.events import (
    AgentEvent,
    CheckpointTaken,
    Emit,
    JobChanged,
    Level,
    NoticeGiven,
    ToolStarted,
    TurnStarted,
)
from codeagent.core.jobs import Job, JobState
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
        self._places: dict[str, int] = {}
        self._last_place = store.log.last_place
        self._begun: dict[str, Pending] = {}
        self._warned: set[str] = set()
        self._has_told_stake = False
        self._jobs: dict[int, Job] = {}
        self.busy = asyncio.Lock()

    def listen(self, event: AgentEvent) -> None:
        """Learns which turn it is, in which order its calls stand, and of jobs."""
        match event:
            case TurnStarted(turn=turn):
                self._turn = turn
                self._places = {}
            case ToolStarted(call_id=call_id):
                self._last_place += 1
                self._places[call_id] = self._last_place
            case JobChanged(job=job) if job.number in self._jobs or (job.is_running and self._has_begun_command()):
                self._jobs[job.number] = job  # one that surely only reads began no call that is kept
            case _:
                pass

    async def keep_changes(self, number: int, by_itself: bool) -> str:  # noqa: FBT001 - a callback's
        """Keeps what a job, which is over, changed since the last look, and says it.

        What happened when it had to be stopped may as well be the person's doing. While a
        call is under way nothing is said: what it does cannot be told apart, and its own
        look finds both.
        """
        async with self.busy:
            job = self._jobs.get(number)
            if job is None or self._begun:
                return ""
            try:
                look, diffs = await asyncio.to_thread(self._look_at, [job], [number], is_sure=by_itself)
            except (CheckpointError, OSError) as error:
                self._warn(error)
                return ""
            self._jobs.pop(number)
            beside = [other.name for other in self._jobs.values()]
        named = _named(look, diffs)
        return f"{named} (by it or by {' or '.join(beside)}, which ran beside it)" if named and beside else named

    def close(self) -> None:
        """Keeps what jobs changed that ran until now, when the session ends; blocks for a moment."""
        if self._jobs and not self._begun and not self.busy.locked():
            with suppress(CheckpointError, OSError):
                self._look_at([*self._jobs.values()], [*self._jobs], is_sure=False)

    def start_anew(self) -> None:
        """No job of an earlier run of the program runs any more."""
        self._jobs = {}

    async def before(self, call: ToolCall, plan: Plan) -> str:
        """Keeps what the call may change; denies only what was let through because it would be kept."""
        changing = [touch for touch in plan.touches if touch.access is Access.WRITE]
        preview = plan.preview
        place = self._places.get(call.id, 0)
        pending = Pending(id="", call_id=call.id, turn=self._turn, what=call.name, place=place)
        if not changing:
            return ""
        must_be_kept = self._cover.is_promised(call.id)
        async with self.busy:
            await self._tell_stake()  # nothing changes before: what a call beside this one writes is nobody's stake
            try:
                if isinstance(preview, DiffPreview):
                    path = next((touch.path for touch in changing if touch.path is not None), None)
                    begun = await asyncio.to_thread(self._keep_file, pending, path, preview)
                elif isinstance(preview, CommandPreview):
                    pending = replace(pending, what=f"{call.name} {_first_line(preview.command)}")
                    over = self._jobs_over()
                    begun = await asyncio.to_thread(self._keep_all, pending, over)
                    self._forget(over)
                else:
                    return ""
            except (CheckpointError, OSError) as error:
                self._warn(error, is_file=isinstance(preview, DiffPreview))
                return f"The files that it would delete could not be kept before: {error}" if must_be_kept else ""
            self._begun[call.id] = begun
        self._tell(CheckpointTaken(checkpoint=begun.id, before_call=call.id))
        return ""

    async def _tell_stake(self) -> None:
        """Where nobody is asked, says once what was not committed when the first change came."""
        if self._mode() is not Mode.AUTO or self._has_told_stake:
            return
        self._has_told_stake = True
        found = await asyncio.to_thread(uncommitted, self._store.root)
        if found and (text := uncommitted_in_words(found, self._show)):
            large = await asyncio.to_thread(self._cover.too_large, (*found.changed, *found.new))
            save = f", save {self._shown_some(large)}, too large for that" if large else ""
            kept = f"All of it is kept before each change{save}; /undo and /rewind bring it back."
            self._tell(NoticeGiven(text=f"{text}. {kept}"))

    def _shown_some(self, paths: Sequence[Path]) -> str:
        more = f" and {len(paths) - _MOST_NAMED:,} more" if len(paths) > _MOST_NAMED else ""
        return ", ".join(show_invisible(self._show(path)) for path in paths[:_MOST_NAMED]) + more

    async def after(self, call: ToolCall, result: ToolResult) -> ToolResult:
        """Adds to a command's result what it changed."""
        found = await self._end_of(call, is_done=not result.is_error)
        return result if found is None else _with_changes(result, *found)

    async def dropped(self, call: ToolCall) -> str:
        """The call was stopped: what it did until then is kept, and told, all the same."""
        found = await self._end_of(call, is_done=False)
        return "" if found is None else _told(*found)

    async def _end_of(self, call: ToolCall, *, is_done: bool) -> tuple[Look, tuple[FileDiff, ...]] | None:
        """What a command changed, kept; None for every other call, and when that failed, which is told."""
        begun = self._begun.get(call.id)
        if begun is None:
            return None
        async with self.busy:
            over = [] if begun.name else self._jobs_over()
            try:
                found = await asyncio.to_thread(self._settle, begun, over, is_done=is_done)
            except (CheckpointError, OSError) as error:
                self._warn(error, is_file=bool(begun.name))
                return None
            finally:
                self._begun.pop(begun.call_id, None)
            self._forget(over)
        return None if begun.name else found

    def _has_begun_command(self) -> bool:
        return any(not begun.name for begun in self._begun.values())

    def _jobs_over(self) -> list[int]:
        """The jobs that a look from now on finds whole."""
        return [number for number, job in self._jobs.items() if not job.is_running]

    def _forget(self, jobs: Sequence[int]) -> None:
        for number in jobs:
            self._jobs.pop(number, None)

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

    def _keep_all(self, pending: Pending, over: Sequence[int]) -> Pending:
        store = self._store
        if jobs := [*self._jobs.values()]:
            self._look_at(jobs, over, is_sure=all(map(_ended_by_itself, jobs)))
        else:
            store.look_before()
        begun = replace(pending, id=store.log.next_id())
        store.begin(begun)
        return begun

    def _look_at(self, jobs: Sequence[Job], over: Sequence[int], *, is_sure: bool) -> tuple[Look, tuple[FileDiff, ...]]:
        """What changed while jobs ran, by them or by the person, and by no call."""
        what = ", ".join(map(_named_job, jobs))
        look = self._store.look_at_jobs(what, self._turn, is_sure=is_sure)
        self._note_running(over)
        look = replace(look, changes=worth_showing(look.changes))
        return look, diffs_of(look.changes, self._store.blobs)

    def _note_running(self, over: Sequence[int]) -> None:
        """Keeps over a kill of the program which jobs run besides those that are over."""
        running = [job for number, job in self._jobs.items() if number not in over]
        self._store.note_jobs([*map(_named_job, running)], self._turn)

    def _settle(self, begun: Pending, over: Sequence[int], *, is_done: bool) -> tuple[Look, tuple[FileDiff, ...]]:
        self._note_running(())  # first: what the call started may outlive this program from now on
        look = self._store.settle(begun, is_done=is_done)
        if over:
            self._note_running(over)
        shown = replace(look, changes=worth_showing(look.changes))
        return shown, diffs_of(shown.changes, self._store.blobs) if shown.changes and not begun.name else ()

    def _warn(self, error: CheckpointError | OSError, *, is_file: bool = False) -> None:
        """Says once of commands, and once of files written or edited, that undo will not bring them back, and why."""
        _log.warning("no checkpoint: %s", error)
        what = "What is written and edited here" if is_file else "What commands change here"
        if what not in self._warned:
            self._warned.add(what)
            self._tell(NoticeGiven(text=f"{what} cannot be undone: {error}", level=Level.WARNING))


def _with_changes(result: ToolResult, look: Look, diffs: Sequence[FileDiff]) -> ToolResult:
    """The result with the changed files in its details, and in a line or two for the model."""
    told = _told(look, diffs)
    if not told:
        return result
    details = result.details
    if isinstance(details, CommandDetails):
        details = replace(
            details, changes=tuple(diffs), changed_files=len(look.changes), uncovered=look.uncovered[:_MOST_NAMED]
        )
    return replace(result, blocks=(*result.blocks, TextBlock(text=told)), details=details)


def _told(look: Look, diffs: Sequence[FileDiff]) -> str:
    notes: list[str] = []
    if look.changes:
        notes.append(f"[changed files: {_named(look, diffs)}]")
    if look.uncovered:
        names = ", ".join(show_invisible(name) for name in look.uncovered[:_MOST_NAMED])
        notes.append(f"[too large to be undone: {names}]")
    return "\n".join(notes)


def _named_job(job: Job) -> str:
    return f"{job.name} ({_first_line(job.command)})"


def _ended_by_itself(job: Job) -> bool:
    return job.state is JobState.ENDED and not job.ended.startswith("timed out")


def _named(look: Look, diffs: Sequence[FileDiff]) -> str:
    named = "; ".join(show_invisible(summary(diff)) for diff in diffs[:_MOST_NAMED])
    return named + (f"; and {len(look.changes) - _MOST_NAMED:,} more" if len(look.changes) > _MOST_NAMED else "")


def _first_line(command: str) -> str:
    first, *more = command.strip().split("\n")
    return show_invisible(first[:80] + ("…" if more or len(first) > 80 else ""))  # noqa: PLR2004 - a line of a list
