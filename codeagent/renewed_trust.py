"""Keeps a project trusted when the only thing that changed in it is what the person just approved."""

from __future__ import annotations

import asyncio
from pathlib import Path

from codeagent.core.approvals import Access, DiffPreview
from codeagent.core.diff import FileDiff, apply_hunks
from codeagent.core.errors import CodeagentError
from codeagent.core.events import Emit, NoticeGiven
from codeagent.core.messages import ChangeDetails, ToolCall, ToolResult
from codeagent.core.project import Brings, ProjectFile, Trust
from codeagent.core.protocols import Plan
from codeagent.policy.trust import INSTRUCTIONS, SETTINGS, read_project, standing, trust

_FOLDER = Path(SETTINGS).parent.name


class RenewedTrust:
    """The hook around each write of a file that steers the program, which a person is asked about every time.

    ``store`` keeps the answers on trust. Where nothing was there to trust before, an approved
    AGENTS.md is trusted as well; settings and commands are asked about once more, all together.
    """

    def __init__(self, root: Path, store: Path, tell: Emit) -> None:
        self._root = root
        self._store = store
        self._tell = tell
        self._before: dict[str, tuple[ProjectFile, ...]] = {}

    async def before(self, call: ToolCall, plan: Plan) -> str:
        """Remembers the project's files where the person trusts them; denies nothing."""
        written = [touch.path for touch in plan.touches if touch.access is Access.WRITE and touch.path is not None]
        if isinstance(plan.preview, DiffPreview) and any(map(_may_steer, written)):
            files = await asyncio.to_thread(self._trusted)
            if files is not None:
                self._before[call.id] = files
        return ""

    async def after(self, call: ToolCall, result: ToolResult) -> ToolResult:
        """Trusts the files as they are now when they differ by nothing but the change that was approved."""
        before = self._before.pop(call.id, None)
        if before is not None and isinstance(result.details, ChangeDetails) and not result.is_error:
            name = await asyncio.to_thread(self._renew, before, result.details.diffs)
            if name:
                self._tell(NoticeGiven(text=f"{name} is trusted as you approved it. /new takes it up."))
        return result

    async def dropped(self, call: ToolCall) -> str:
        """Nobody knows what was written: the next start asks."""
        self._before.pop(call.id, None)
        return ""

    def _trusted(self) -> tuple[ProjectFile, ...] | None:
        files = read_project(self._root)
        found = standing(files, self._root, self._store).trust
        return files if found in {Trust.TRUSTED, Trust.NOTHING_TO_TRUST} else None

    def _renew(self, before: tuple[ProjectFile, ...], diffs: tuple[FileDiff, ...]) -> str:
        """The name of the file that is trusted anew; empty when there is none."""
        now = read_project(self._root)
        changed = [file for file in now if file not in before]
        gone = {file.name for file in before} - {file.name for file in now}
        if len(changed) != 1 or gone or len(diffs) != 1 or changed[0].problem:
            return ""
        file = changed[0]
        old = next((one for one in before if one.name == file.name), None)
        is_first = all(one.problem for one in before)
        try:
            is_approved = apply_hunks(old.text if old else "", diffs[0]) == file.text
            if not is_approved or (old and old.problem) or (is_first and file.brings is not Brings.INSTRUCTIONS):
                return ""
            trust(self._root, self._store, now)
        except (CodeagentError, OSError):
            return ""
        return file.name


def _may_steer(path: Path) -> bool:
    return path.name in INSTRUCTIONS or _FOLDER in path.parts
