"""What is offered after a command that changed what makes programs run by themselves: to put it back as it was."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from codeagent.core.approvals import Access, Concern, ConcernKind, DiffPreview, Touch
from codeagent.core.diff import make_diff
from codeagent.core.errors import FileProblem, PlanFixed, StaleFile
from codeagent.core.events import Progress
from codeagent.core.messages import TextBlock, ToolResult
from codeagent.core.protocols import Plan
from codeagent.workspace.git_guard import GitChange, undo_git_change
from codeagent.workspace.git_watched import Entry

_LONGEST_SHOWN = 20_000


def named(changes: Sequence[GitChange], root: Path) -> str:
    """The changed files in a few words."""
    return ", ".join(_shown(change.path, root) for change in changes)


def _shown(path: Path, root: Path) -> str:
    return str(path.relative_to(root) if path.is_relative_to(root) else path)


def put_back(changes: Sequence[GitChange], root: Path) -> str:
    """Puts the changed files back without asking; says what came of it. Blocks on the disk."""
    kept: list[str] = []
    for change in changes:
        try:
            if undo_git_change(change):
                continue
            kept.append(named((change,), root))
        except OSError as error:
            kept.append(f"{named((change,), root)} ({error.strerror})")
    if kept:
        return f"what could be was put back as it was, as nobody can be asked; not put back: {', '.join(kept)}"
    return "it was put back as it was, as nobody can be asked; do not change it again"


@dataclass(frozen=True, slots=True, kw_only=True)
class GitUndoPlan:
    """Puts back the changed parts of git; ``result`` is what the command came to, ``undone`` is told at the end."""

    changes: tuple[GitChange, ...]
    root: Path
    result: ToolResult
    undone: Callable[[], None]

    @property
    def preview(self) -> DiffPreview:
        """All that would be put back, one file after the other."""
        now = "".join(self._text(change, change.after) for change in self.changes)
        then = "".join(self._text(change, change.before) for change in self.changes)
        return DiffPreview(diff=make_diff(self._title, now, then), proposal=then)

    @property
    def _title(self) -> str:
        first = self.changes[0].path
        return ".git" if any(".git" in change.path.parts for change in self.changes) else _shown(first, self.root)

    @property
    def touches(self) -> tuple[Touch, ...]:
        """Each changed file, with the reason to ask."""
        reason = (
            f"The command changed {named(self.changes, self.root)}, which can make programs run later. "
            "Approving puts back what was there; denying keeps the change."
        )
        concern = Concern(kind=ConcernKind.SENSITIVE, reason=reason)
        return tuple(
            Touch(path=change.path, access=Access.WRITE, written=_shown(change.path, self.root), concern=concern)
            for change in self.changes
        )

    async def run(self, progress: Progress) -> ToolResult:
        """Puts it back; raises StaleFile when it was changed again meanwhile, and FileProblem."""
        del progress
        try:
            undone = await asyncio.to_thread(lambda: [undo_git_change(change) for change in self.changes])
            await asyncio.to_thread(self.undone)
        except OSError as error:
            raise FileProblem(f"It could not be put back: {error.strerror}.") from error
        if not all(undone):
            raise StaleFile("It is no longer as the command left it.")
        note = TextBlock(text=f"[the person had this put back as it was: {named(self.changes, self.root)}]")
        return replace(self.result, blocks=(*self.result.blocks, note))

    async def is_stale(self) -> bool:
        """Never: the run looks."""
        return False

    async def rebuilt(self) -> Plan:
        """Raises StaleFile: it was changed again, by somebody else."""
        raise StaleFile("It is no longer as the command left it.")

    def narrowed(self, hunks: frozenset[int]) -> Plan:
        """Raises PlanFixed: all of it, or nothing."""
        raise PlanFixed(f"This is put back whole or not at all ({len(hunks)} parts chosen).")

    async def edited(self, text: str) -> Plan:
        """Raises PlanFixed: what was there is put back, nothing else."""
        raise PlanFixed(f"What was there is put back, nothing else ({len(text)} characters sent).")

    def _text(self, change: GitChange, entry: Entry | None) -> str:
        name = _shown(change.path, self.root)
        if entry is None:
            return ""
        if stat.S_ISDIR(entry.mode):
            return f"=== {name} (folder {entry.stamp[1]})\n"
        if entry.data is None:
            return f"=== {name} (large)\n"
        if b"\0" in entry.data:
            return f"=== {name} (binary, {len(entry.data):,} bytes)\n"
        text = entry.data.decode("utf-8", "replace")[:_LONGEST_SHOWN]
        return f"=== {name} (mode {entry.mode & 0o7777:o})\n{text}" + ("" if text.endswith("\n") else "\n")
