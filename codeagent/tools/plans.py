"""What tools plan: a look that changes nothing, or a change of one file that writes what its diff shows."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from codeagent.core.approvals import DiffPreview, NoPreview, Preview, Touch
from codeagent.core.diff import FileDiff, apply_hunks, make_diff
from codeagent.core.errors import FileProblem, PlanFixed
from codeagent.core.events import Progress
from codeagent.core.messages import ChangeDetails, ToolResult
from codeagent.core.protocols import Plan
from codeagent.tools.output import line_ranges, say, short_diff
from codeagent.workspace.atomic import write_atomic
from codeagent.workspace.files import Encoding, decode, encode, read_bytes
from codeagent.workspace.seen import SeenFiles

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedPlan:
    """A call of which there is nothing to show or to choose: it is about what is there when ``carry_out`` runs."""

    touches: tuple[Touch, ...] = ()
    carry_out: Callable[[], Awaitable[ToolResult]]

    @property
    def preview(self) -> Preview:
        """Nothing to show."""
        return NoPreview()

    async def run(self, progress: Progress) -> ToolResult:
        """Does it."""
        del progress
        return await self.carry_out()

    async def is_stale(self) -> bool:
        """Never."""
        return False

    async def rebuilt(self) -> Plan:
        """The same plan."""
        return self

    def narrowed(self, hunks: frozenset[int]) -> Plan:
        """Raises PlanFixed: there is nothing to choose from."""
        raise PlanFixed(f"This call has no hunks to choose ({len(hunks)} chosen).")

    async def edited(self, text: str) -> Plan:
        """Raises PlanFixed: there is nothing to edit."""
        raise PlanFixed(f"This call has no text to edit ({len(text)} characters sent).")


def look_plan(touch: Touch, look: Callable[[threading.Event], ToolResult]) -> FixedPlan:
    """A call that only reads; ``look`` does it in a thread, and stops early when the event is set."""

    async def carry_out() -> ToolResult:
        stop = threading.Event()
        try:
            return await asyncio.to_thread(look, stop)
        finally:
            stop.set()

    return FixedPlan(touches=(touch,), carry_out=carry_out)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """New content for one file.

    ``before`` is what the change was made from (None: no file), ``text`` the new text
    in the file's own line endings, stored as ``encoding`` says. ``shown`` is the path
    for people, ``done`` says in words what was done. ``is_rewrite``: the model gave the
    whole text and so knows every line of it.
    """

    path: Path
    shown: str
    before: bytes | None
    text: str
    encoding: Encoding
    done: str
    level: str = "exact"
    notes: tuple[str, ...] = ()
    is_rewrite: bool = False

    @property
    def before_text(self) -> str | None:
        """The text it was made from."""
        return None if self.before is None else decode(self.before).text

    def diff(self) -> FileDiff:
        """What it changes."""
        return make_diff(self.shown, self.before_text, self.text, notes=self.notes)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePlan:
    """Writes one file after checking that it still is what the diff was made from.

    ``remark`` tells the model what went otherwise than it asked. ``is_on_unseen_text``:
    the file holds what only the person saw, so nothing but the lines written is known.
    ``is_edited``: the text is not the model's, since the person changed it. ``hunks``
    are written of ``hunks_of`` where the person left some out.
    """

    call_id: str
    touches: tuple[Touch, ...]
    change: Change
    diff: FileDiff
    seen: SeenFiles
    replan: Callable[[], Awaitable[Plan]]
    remark: str = ""
    is_on_unseen_text: bool = False
    is_edited: bool = False
    hunks: int = 0
    hunks_of: int = 0

    @property
    def preview(self) -> Preview:
        """The diff, the new text to edit, and what is out of the ordinary about it."""
        notes: list[str] = []
        if self.change.level != "exact":
            notes.append(f"The text to replace was not there exactly; overlooked: {self.change.level}.")
        if self.is_on_unseen_text:
            notes.append("The file was changed meanwhile; this is the change of what it holds now.")
        return DiffPreview(diff=self.diff, proposal=self.change.text, level=self.change.level, notes=tuple(notes))

    async def run(self, progress: Progress) -> ToolResult:
        """Writes it."""
        del progress
        return await asyncio.to_thread(self._write)

    async def is_stale(self) -> bool:
        """Whether the file holds something else than what the diff was made from."""
        return await asyncio.to_thread(lambda: present(self.change.path) != self.change.before)

    async def rebuilt(self) -> Plan:
        """The same call on what the file holds now."""
        return await self.replan()

    def narrowed(self, hunks: frozenset[int]) -> Plan:
        """Only the chosen hunks; the model is told which were refused."""
        total = frozenset(range(len(self.diff.hunks)))
        if not hunks or hunks - total:
            raise PlanFixed(f"Choose hunks from 0 to {len(total) - 1}; to refuse all of them, deny the call.")
        if hunks == total:
            return self
        text = apply_hunks(self.change.before_text or "", self.diff, hunks)
        refused = [self.diff.hunks[index].old_range for index in sorted(total - hunks)]
        remark = (
            f"The person approved {len(hunks)} of {len(total)} parts of this change. Not applied, at "
            f"{line_ranges(refused)} of the old file; do not try them again unless asked."
        )
        narrowed = self._with_text(text, remark)
        return replace(narrowed, hunks=len(hunks), hunks_of=len(total))

    async def edited(self, text: str) -> Plan:
        """The person's own text in place of the proposed one; the model is told the difference."""
        if "\r" not in text:
            text = with_line_endings(text, line_ending(self.change.text))
        difference = make_diff(self.change.shown, self.change.text, text)
        if not difference.hunks:
            return self
        remark = f"The person edited your text before it was written. Their changes to it:\n{short_diff(difference)}"
        return replace(await asyncio.to_thread(self._with_text, text, remark), is_edited=True)

    def _with_text(self, text: str, remark: str) -> ChangePlan:
        encode(text, self.change.encoding)
        change = replace(self.change, text=text, is_rewrite=False)
        remarks = f"{self.remark}\n{remark}".strip()
        return replace(self, change=change, diff=change.diff(), remark=remarks)

    def _write(self) -> ToolResult:
        change = self.change
        data = encode(change.text, change.encoding)
        notes = write_atomic(change.path, data, expected=change.before)
        if self.is_on_unseen_text:
            self.seen.forget(change.path)
        self.seen.wrote(change.path, data, None if change.is_rewrite else self.diff, call_id=self.call_id)
        first = change.done if not self.remark else f"Wrote {change.shown}."
        shown = change.notes if change.is_rewrite else (short_diff(self.diff),)
        parts = [first, *shown, *notes, self.remark]
        text = "\n".join(part for part in parts if part)
        details = ChangeDetails(
            diffs=(self.diff,),
            level=change.level,
            is_edited=self.is_edited,
            hunks=self.hunks,
            hunks_of=self.hunks_of,
        )
        return say(self.call_id, text, details=details)


def plan_change(
    call_id: str, touch: Touch, change: Change, seen: SeenFiles, replan: Callable[[], Awaitable[Plan]]
) -> ChangePlan:
    """The plan for a change; takes as long as its diff. Raises FileProblem for text that cannot be stored."""
    encode(change.text, change.encoding)
    return ChangePlan(call_id=call_id, touches=(touch,), change=change, diff=change.diff(), seen=seen, replan=replan)


def present(path: Path) -> bytes | None:
    """What a file holds; None when there is none. Raises FileProblem when it cannot be read."""
    with suppress(PermissionError):
        try:
            path.lstat()
        except (FileNotFoundError, NotADirectoryError):
            return None
    return read_bytes(path)


def present_or_none(path: Path) -> bytes | None:
    """What a file holds; None also when it cannot be read."""
    try:
        return present(path)
    except FileProblem:
        return None


def line_ending(text: str) -> str:
    """The line ending that most lines of a text have; LF for a text of one line."""
    crlf = text.count("\r\n")
    lf = text.count("\n") - crlf
    if not crlf and not lf and "\r" in text:
        return "\r"
    return "\r\n" if crlf > lf else "\n"


def with_line_endings(text: str, ending: str) -> str:
    """A text that has LF only, with another line ending."""
    return text if ending == "\n" else text.replace("\n", ending)
