"""The ls tool: the names in one folder."""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from codeagent.core.approvals import Access
from codeagent.core.errors import FileProblem
from codeagent.core.messages import SearchDetails, ToolResult
from codeagent.core.protocols import Plan, ToolContext
from codeagent.core.text import counted
from codeagent.tools.left_out import LeftOut, RuleAgainst
from codeagent.tools.output import say, show_name
from codeagent.tools.path_tools import LookingTool
from codeagent.tools.plans import look_plan
from codeagent.workspace.handles import opened_folder, readable
from codeagent.workspace.leftovers import TEMP_PREFIX

MOST_NAMES = 500
_KILO = 1_000


class LsArguments(BaseModel):
    """Which folder."""

    model_config = ConfigDict(extra="forbid")
    path: str = "."


class LsTool(LookingTool[LsArguments]):
    """Lists a folder, hidden and ignored names too."""

    name = "ls"
    description = f"List a folder (default: the workspace): folders end with /, files have sizes. At most {MOST_NAMES}."
    Arguments = LsArguments

    async def plan(self, arguments: LsArguments, context: ToolContext) -> Plan:
        """Lists when it is run."""
        touch = self._sandbox.resolve(arguments.path, Access.READ)
        path = touch.path or self._sandbox.root
        shown = self._sandbox.show(path)
        return look_plan(touch, lambda _: list_folder(path, shown, context.call_id, self._rule_against))


def list_folder(path: Path, shown: str, call_id: str, rule_against: RuleAgainst) -> ToolResult:
    """The names in a folder as a result, but for those that a rule stands against; raises FileProblem."""
    left_out = LeftOut(rule_against, path)
    try:
        with opened_folder(path) as opened, readable(opened) as folder, os.scandir(folder) as found:
            entries = [
                entry
                for entry in found
                if not entry.name.startswith(TEMP_PREFIX) and not left_out.takes(path / entry.name)
            ]
            entries.sort(key=lambda entry: (not _is_folder(entry), os.fsencode(entry.name)))
            lines = [_line(entry, folder) for entry in entries[:MOST_NAMES]]
    except NotADirectoryError:
        raise FileProblem(f"{shown} is a file.", hint="Use read.") from None
    except OSError as error:
        raise FileProblem(f"{shown} can not be listed: {error.strerror}.") from error
    if len(entries) > MOST_NAMES:
        lines.append(f"[{counted(len(entries) - MOST_NAMES, 'more name')}; glob narrows them down]")
    lines = lines or ["[the folder is empty]"]
    if note := left_out.note():
        lines.append(note)
    details = SearchDetails(matches=len(entries), files=len(entries), truncated=len(entries) > MOST_NAMES)
    return say(call_id, "\n".join(lines), details=details)


def _line(entry: os.DirEntry[str], folder: int) -> str:
    """One entry of the open ``folder``."""
    name = show_name(entry.name)
    try:
        if entry.is_symlink():
            return f"{name} → {show_name(os.readlink(entry.name, dir_fd=folder))}"
        if _is_folder(entry):
            return f"{name}/"
        return f"{name}  {_size(entry.stat(follow_symlinks=False).st_size)}"
    except OSError:
        return name


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """A link to a folder counts as one; links in a circle lead nowhere."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def _size(size: int) -> str:
    if size < _KILO:
        return f"{size} B"
    return f"{size / _KILO:.1f} kB" if size < _KILO**2 else f"{size / _KILO**2:.1f} MB"
