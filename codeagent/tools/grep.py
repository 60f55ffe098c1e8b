"""The grep tool: lines in files that match a pattern."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from codeagent.core.approvals import Access
from codeagent.core.cut_texts import begun_before
from codeagent.core.diff import split_lines
from codeagent.core.errors import CodeagentError, FileProblem
from codeagent.core.messages import SearchDetails, ToolResult
from codeagent.core.protocols import Plan, ToolContext
from codeagent.tools.grep_engines import FileHits, Hit, Search, by_ripgrep, by_walk
from codeagent.tools.left_out import LeftOut, RuleAgainst, no_rule
from codeagent.tools.output import Line, numbered, say, show_line, show_name
from codeagent.tools.path_tools import LookingTool
from codeagent.tools.pattern import compile_glob, compile_pattern
from codeagent.tools.plans import look_plan, present
from codeagent.tools.walk import find_ripgrep
from codeagent.workspace.files import decode, is_folder, read_bytes
from codeagent.workspace.paths import PathSandbox
from codeagent.workspace.seen import SeenFiles

MOST_MATCHES = 100
MOST_CONTEXT = 20
MOST_CHARACTERS = 30_000
SECONDS = 40.0
_LONGEST_LINE = 500
_BEFORE_MATCH = 150
_LARGEST_SEEN = 5_000_000


class GrepArguments(BaseModel):
    """What to look for, and where."""

    model_config = ConfigDict(extra="forbid")
    pattern: str = Field(description="Regular expression, for single lines")
    path: str = Field(default=".", description="File or folder")
    glob: str | None = Field(default=None, description="Only such files: `*.py`, `src/**/*.{ts,tsx}`")
    context: int = Field(default=0, ge=0, le=MOST_CONTEXT, description="Lines around each match")
    literal: bool = Field(default=False, description="The pattern is plain text")


class GrepTool(LookingTool[GrepArguments]):
    """Searches in files that are neither ignored, binary nor sensitive."""

    name = "grep"
    description = (
        "Search in files. Case matters unless the pattern starts with (?i). Ignored, binary and secret files are "
        f"skipped, hidden ones are searched. Shows {MOST_MATCHES} matches as `12→text` under each path."
    )
    Arguments = GrepArguments

    def __init__(
        self, sandbox: PathSandbox, seen: SeenFiles, ripgrep: str | None = None, rule_against: RuleAgainst = no_rule
    ) -> None:
        """``ripgrep`` is the program's path; None looks for it, an empty text does without."""
        super().__init__(sandbox, rule_against)
        self._seen = seen
        self._ripgrep = find_ripgrep() if ripgrep is None else ripgrep

    def label(self, arguments: object) -> str:
        """The pattern."""
        return arguments.pattern if isinstance(arguments, GrepArguments) else ""

    async def plan(self, arguments: GrepArguments, context: ToolContext) -> Plan:
        """Searches when it is run; raises BadArguments for a pattern that cannot be used."""
        touch = self._sandbox.resolve(arguments.path, Access.READ)
        path = touch.path or self._sandbox.root
        common, pattern = await asyncio.to_thread(compile_pattern, arguments.pattern, literal=arguments.literal)
        wanted = compile_glob(arguments.glob, path) if arguments.glob else None

        def look(stop: threading.Event) -> ToolResult:
            is_tree = is_folder(path)
            if not is_tree and present(path) is None:
                raise FileProblem(f"{arguments.path} does not exist.")
            folder = path if is_tree else path.parent
            search = Search(
                folder=folder,
                name="" if is_tree else path.name,
                common=common,
                pattern=pattern,
                context=arguments.context,
                most_in_file=MOST_MATCHES + 1,
                deadline=time.monotonic() + SECONDS,
            )
            left_out, is_secret = LeftOut(self._rule_against, path), self._sandbox.search_filter()
            report = _Report(folder=folder, sandbox=self._sandbox, context=arguments.context)
            for found in by_ripgrep(search, self._ripgrep, stop) if self._ripgrep else by_walk(search, stop):
                if is_tree and found.name and wanted is not None and not wanted.fullmatch(found.name):
                    continue
                if is_tree and found.name and is_secret(folder / found.name):
                    continue
                if is_tree and found.name and left_out.takes(folder / found.name):
                    continue
                if not report.take(found):
                    break
            self._note_seen(report.shown, context.call_id)
            return report.result(context.call_id, left_out.note())

        return look_plan(touch, look)

    def _note_seen(self, shown: Sequence[tuple[Path, Sequence[Line]]], call_id: str) -> None:
        """Lines shown whole count as seen, when the file still holds them."""
        for path, lines in shown:
            try:
                data = read_bytes(path, limit=_LARGEST_SEEN)
                held = split_lines(decode(data).text)
            except CodeagentError:
                continue
            whole = [line for line in lines if line.is_whole and line.number <= len(held)]
            numbers = [line.number for line in whole if held[line.number - 1].rstrip("\r\n") == line.text]
            if numbers:
                self._seen.shown(path, data, numbers, call_id=call_id)


@dataclass(slots=True, kw_only=True)
class _Report:
    """Gathers what is shown until it is enough."""

    folder: Path
    sandbox: PathSandbox
    context: int
    shown: list[tuple[Path, Sequence[Line]]] = field(default_factory=list)
    _parts: list[str] = field(default_factory=list)
    _matches: int = 0
    _size: int = 0
    _is_cut: bool = False

    def take(self, found: FileHits) -> bool:
        """Whether there is room for more."""
        path = self.folder / found.name
        lines: list[Line] = []
        for hit in found.hits:
            if self._matches >= MOST_MATCHES or self._size > MOST_CHARACTERS:
                if hit.column is not None:
                    self._is_cut = True
                    break
                continue
            line = _show(hit)
            lines.append(line)
            self._size += len(line.text)
            self._matches += hit.column is not None
        name = show_name(self.sandbox.show(path))
        if lines:
            self.shown.append((path, lines))
            self._parts.append(f"{name}\n{_grouped(lines) if self.context else numbered(lines)}")
        if found.problem:
            self._parts.append(f"[{name}: {found.problem}]" if found.name else f"[{found.problem}]")
        return not self._is_cut

    def result(self, call_id: str, note: str) -> ToolResult:
        if self._is_cut:
            self._parts.append(f"[more than these {self._matches} matches; narrow the pattern, path or glob]")
        text = "\n\n".join(self._parts) or "[no matches; ignored, binary and secret files were not searched]"
        text += f"\n{note}" if note else ""
        details = SearchDetails(matches=self._matches, files=len(self.shown), truncated=self._is_cut)
        return say(call_id, text, details=details)


def _show(hit: Hit) -> Line:
    """A long line is cut around its match."""
    start = max(0, (hit.column or 0) - _BEFORE_MATCH)
    if len(hit.text) <= _LONGEST_LINE or not start:
        return show_line(hit.number, hit.text, _LONGEST_LINE)
    part = show_line(hit.number, hit.text[begun_before(hit.text, start) :], _LONGEST_LINE)
    return Line(number=hit.number, text=f"…{part.text}", is_whole=False)


def _grouped(lines: Sequence[Line]) -> str:
    """Neighbouring lines together, a mark between groups."""
    groups: list[list[Line]] = []
    for line in lines:
        if groups and line.number == groups[-1][-1].number + 1:
            groups[-1].append(line)
        else:
            groups.append([line])
    return "\n--\n".join(numbered(group) for group in groups)
