"""The glob tool: files whose path fits a pattern, newest first."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from codeagent.core.approvals import Access
from codeagent.core.errors import FileProblem
from codeagent.core.messages import SearchDetails, ToolResult
from codeagent.core.protocols import Plan, ToolContext
from codeagent.core.text import counted
from codeagent.tools.left_out import LeftOut, RuleAgainst, no_rule
from codeagent.tools.output import say, show_name
from codeagent.tools.path_tools import LookingTool
from codeagent.tools.pattern import compile_glob
from codeagent.tools.plans import look_plan
from codeagent.tools.walk import find_ripgrep, list_files
from codeagent.workspace.files import is_folder
from codeagent.workspace.paths import PathSandbox

MOST_FILES = 200
_MOST_NAMED = 5


class GlobArguments(BaseModel):
    """Which files, and where."""

    model_config = ConfigDict(extra="forbid")
    pattern: str = Field(description="`*.py` (at any depth), `src/**/*.{ts,tsx}`")
    path: str = Field(default=".", description="Folder that the pattern starts in")


class GlobTool(LookingTool[GlobArguments]):
    """Finds files by name among those that are neither ignored nor sensitive."""

    name = "glob"
    description = f"Find files by path. Ignored ones are left out. Shows {MOST_FILES}, the newest first."
    Arguments = GlobArguments

    def __init__(self, sandbox: PathSandbox, ripgrep: str | None = None, rule_against: RuleAgainst = no_rule) -> None:
        """``ripgrep`` is the program's path; None looks for it, an empty text does without."""
        super().__init__(sandbox, rule_against)
        self._ripgrep = find_ripgrep() if ripgrep is None else ripgrep

    def label(self, arguments: object) -> str:
        """The pattern."""
        return arguments.pattern if isinstance(arguments, GlobArguments) else ""

    async def plan(self, arguments: GlobArguments, context: ToolContext) -> Plan:
        """Searches when it is run; raises BadArguments for a pattern that cannot be used."""
        touch = self._sandbox.resolve(arguments.path, Access.READ)
        folder = touch.path or self._sandbox.root
        wanted = compile_glob(arguments.pattern, folder)

        def look(stop: threading.Event) -> ToolResult:
            if not is_folder(folder):
                raise FileProblem(f"{arguments.path} is no folder.")
            left_out = LeftOut(self._rule_against, folder)
            found = (name for name in list_files(folder, stop, self._ripgrep or None) if wanted.fullmatch(name))
            names = [name for name in found if not left_out.takes(folder / name)]
            secret = [name for name in names if self._sandbox.is_sensitive(folder / name)]
            hidden = set(secret)
            return self._result(
                folder, [name for name in names if name not in hidden], secret, left_out.note(), context.call_id
            )

        return look_plan(touch, look)

    def _result(self, folder: Path, names: list[str], secret: list[str], note: str, call_id: str) -> ToolResult:
        newest = sorted(names, key=lambda name: (-_changed_at(folder / name), name))[:MOST_FILES]
        lines = [show_name(self._sandbox.show(folder / name)) for name in newest]
        if len(names) > MOST_FILES:
            lines.append(f"[{counted(len(names) - MOST_FILES, 'more file')}; narrow the pattern or path]")
        if secret:
            named = ", ".join(show_name(name) for name in secret[:_MOST_NAMED])
            lines.append(f"[left out as secret: {named}{' …' if len(secret) > _MOST_NAMED else ''}]")
        if note:
            lines.append(note)
        details = SearchDetails(matches=len(names), files=len(names), truncated=len(names) > MOST_FILES)
        return say(call_id, "\n".join(lines) or "[no files; ignored ones were left out]", details=details)


def _changed_at(path: Path) -> float:
    with suppress(OSError):
        return path.lstat().st_mtime
    return 0.0
