"""The edit tool: replaces text that the model has seen, where the place is certain."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from codeagent.core.approvals import Access
from codeagent.core.errors import BadArguments, EditRefused, PathRefused, StaleFile
from codeagent.core.protocols import Plan, ToolContext
from codeagent.tools.later import apply_edits
from codeagent.tools.matching_result import EditMatch, MatchLevel
from codeagent.tools.output import line_ranges
from codeagent.tools.path_tools import PathTool
from codeagent.tools.plans import Change, ChangePlan, plan_change, present
from codeagent.workspace.files import decode
from codeagent.workspace.paths import PathSandbox
from codeagent.workspace.seen import SeenFiles

_MOST_PLACES = 5
_CHANGED_MEANWHILE = (
    "Somebody else changed the file while the person was asked; the edit was made on the new text. "
    "Read it again before the next edit."
)


class Replacement(BaseModel):
    """One replacement of several."""

    model_config = ConfigDict(extra="forbid")
    old: str
    new: str


class EditArguments(BaseModel):
    """What to replace by what; either ``old`` and ``new``, or ``edits``."""

    model_config = ConfigDict(extra="forbid")
    path: str
    old: str | None = Field(default=None, description="Text in the file, without line numbers; must occur once")
    new: str | None = Field(default=None, description="What stands there afterwards")
    replace_all: bool = Field(default=False, description="Replace every exact occurrence")
    edits: list[Replacement] | None = Field(
        default=None, description="Several replacements at once, instead of old and new; all or none"
    )


class EditTool(PathTool[EditArguments]):
    """Changes parts of a file; the person sees the diff first."""

    name = "edit"
    description = (
        "Replace text in a file that you have read. `old` must match exactly one place; add lines around it "
        "where it does not. An empty `old` creates a file or fills an empty one."
    )
    Arguments = EditArguments

    def __init__(self, sandbox: PathSandbox, seen: SeenFiles) -> None:
        super().__init__(sandbox)
        self._seen = seen

    async def plan(self, arguments: EditArguments, context: ToolContext) -> Plan:
        """The diff to the file as it is now; raises EditRefused and its kin, Unread, StaleFile, FileProblem."""
        return await asyncio.to_thread(self._plan, arguments, context, is_again=False)

    def _plan(self, arguments: EditArguments, context: ToolContext, *, is_again: bool) -> ChangePlan:
        """``is_again``: a person saw the diff and is shown a new one, so text that changed since may be edited."""
        touch = self._sandbox.resolve(arguments.path, Access.WRITE)
        if touch.path is None:
            raise PathRefused(f"{arguments.path} is no file.")
        _check(arguments)
        before = present(touch.path)
        shown = self._sandbox.show(touch.path)
        pairs = [(edit.old, edit.new) for edit in arguments.edits or ()] or [(arguments.old or "", arguments.new or "")]
        match = apply_edits(before, pairs, replace_all=arguments.replace_all)
        is_seen = True
        lines = [line for first, last in match.lines for line in range(first, last + 1)]
        if before is not None and lines:
            try:
                self._seen.require(touch.path, before, lines, shown)
            except StaleFile:
                if not is_again:
                    raise
                is_seen = False

        async def replan() -> Plan:
            return await asyncio.to_thread(self._plan, arguments, context, is_again=True)

        change = _change(touch.path, shown, before, match)
        plan = plan_change(context.call_id, touch, change, self._seen, replan)
        return plan if is_seen else replace(plan, is_on_unseen_text=True, remark=_CHANGED_MEANWHILE)


def _check(arguments: EditArguments) -> None:
    """Empty values stand for missing ones: some models send every argument."""
    if not arguments.edits and (arguments.old is None or arguments.new is None):
        raise BadArguments("Send `old` and `new`, or `edits`; nothing was done.")
    if arguments.edits and (arguments.old or arguments.new):
        raise BadArguments("Send either `old` and `new`, or `edits`, not both; nothing was done.")
    if arguments.edits and arguments.replace_all and len(arguments.edits) != 1:
        raise BadArguments("`replace_all` goes with a single `old` and `new`; nothing was done.")


def _change(path: Path, shown: str, before: bytes | None, match: EditMatch) -> Change:
    after = decode(match.content)
    if before is not None and match.content == before:
        raise EditRefused(f"{shown} already reads like this; nothing was changed.")
    places = line_ranges(match.lines[:_MOST_PLACES]) + (" …" if len(match.lines) > _MOST_PLACES else "")
    how = "" if match.level is MatchLevel.EXACT else f" The old text did not match exactly; overlooked: {match.level}."
    done = f"Created {shown}." if before is None else f"Edited {shown}{f' at {places}' if places else ''}.{how}"
    return Change(
        path=path,
        shown=shown,
        before=before,
        text=after.text,
        encoding=after.encoding,
        done=done,
        level=match.level.value,
        is_rewrite=not before,
    )
