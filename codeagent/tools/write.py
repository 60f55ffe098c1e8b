"""The write tool: creates a file, or replaces one that the model has seen whole."""

from __future__ import annotations

import asyncio
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from codeagent.core.approvals import Access
from codeagent.core.errors import EditRefused, FileProblem, PathRefused
from codeagent.core.protocols import Plan, ToolContext
from codeagent.core.text import counted
from codeagent.tools.path_tools import PathTool
from codeagent.tools.plans import Change, ChangePlan, line_ending, plan_change, present, with_line_endings
from codeagent.workspace.files import UTF8, Encoding, TextFile, decode
from codeagent.workspace.paths import PathSandbox
from codeagent.workspace.seen import SeenFiles

_BOM = "\ufeff"
_ENDING_NAMES = {"\n": "LF", "\r\n": "CRLF", "\r": "CR"}


class WriteArguments(BaseModel):
    """What to write where."""

    model_config = ConfigDict(extra="forbid")
    path: str
    content: str = Field(description="The whole text of the file")


class WriteTool(PathTool[WriteArguments]):
    """Creates files and replaces whole ones; the person sees the diff first."""

    name = "write"
    description = (
        "Create a file, or replace a whole one that you have read completely. Missing folders are made. "
        "Line endings, encoding and byte order mark of an existing file are kept. Prefer edit for changes."
    )
    Arguments = WriteArguments

    def __init__(self, sandbox: PathSandbox, seen: SeenFiles) -> None:
        super().__init__(sandbox)
        self._seen = seen

    async def plan(self, arguments: WriteArguments, context: ToolContext) -> Plan:
        """The diff to the file as it is now; raises Unread, StaleFile, FileProblem, EditRefused."""
        return await asyncio.to_thread(self._plan, arguments, context)

    def _plan(self, arguments: WriteArguments, context: ToolContext) -> ChangePlan:
        touch = self._sandbox.resolve(arguments.path, Access.WRITE)
        if touch.path is None:
            raise PathRefused(f"{arguments.path} is no file.")
        change = self._change(touch.path, arguments.content)

        async def replan() -> Plan:
            return await self.plan(arguments, context)

        return plan_change(context.call_id, touch, change, self._seen, replan)

    def _change(self, path: Path, content: str) -> Change:
        shown = self._sandbox.show(path)
        before = present(path)
        if before is None:
            count = content.count("\n") + (not content.endswith("\n") and content != "")
            done = f"Created {shown} ({counted(count, 'line')})."
            return Change(path=path, shown=shown, before=None, text=content, encoding=UTF8, done=done, is_rewrite=True)
        try:
            old = decode(before)
        except FileProblem as problem:
            raise FileProblem(f"{shown} can not be replaced: {problem.message}") from problem
        if before:
            self._seen.require(path, before, None, shown)
        text, encoding, notes = _in_the_old_form(old, content)
        if text == old.text and encoding == old.encoding:
            raise EditRefused(f"{shown} already holds exactly this text; nothing was written.")
        return Change(
            path=path,
            shown=shown,
            before=before,
            text=text,
            encoding=encoding,
            notes=notes,
            done=f"Replaced {shown}.",
            is_rewrite=True,
        )


def _in_the_old_form(old: TextFile, content: str) -> tuple[str, Encoding, tuple[str, ...]]:
    """The content as the old file stored its text, and what a diff can not show of that."""
    notes: list[str] = []
    encoding = old.encoding
    if encoding.bom:
        content = content.removeprefix(_BOM)
        notes.append("The byte order mark is kept.")
    if encoding.codec != UTF8.codec:
        notes.append(f"The encoding stays {encoding.codec.upper()}.")
    if encoding.has_unknown_bytes and not content.isascii():
        encoding = Encoding(bom=encoding.bom)
        notes.append("The file was not UTF-8 and becomes UTF-8.")
    ending = line_ending(old.text)
    if "\n" in old.text or "\r" in old.text:
        if "\r" in content:
            if line_ending(content) != ending:
                notes.append(f"Line endings change from {_ENDING_NAMES[ending]}.")
        elif ending != "\n" and "\n" in content:
            content = with_line_endings(content, ending)
            notes.append(f"Line endings stay {_ENDING_NAMES[ending]}.")
    return content, encoding, tuple(notes)
