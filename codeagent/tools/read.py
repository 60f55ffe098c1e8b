"""The read tool: pages of text with line numbers, images, and the names in a folder."""

from __future__ import annotations

import threading
from difflib import SequenceMatcher, get_close_matches
from itertools import islice
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from codeagent.core.approvals import Access
from codeagent.core.diff import split_lines
from codeagent.core.errors import FileProblem
from codeagent.core.images import LARGEST_IMAGE, image_block, image_problem, image_type
from codeagent.core.messages import ReadDetails, TextBlock, ToolResult
from codeagent.core.protocols import Plan, ToolContext
from codeagent.core.text import counted
from codeagent.tools.left_out import RuleAgainst, no_rule
from codeagent.tools.ls import list_folder
from codeagent.tools.output import Line, numbered, say, show_line, show_name
from codeagent.tools.path_tools import LookingTool
from codeagent.tools.plans import look_plan, present
from codeagent.tools.walk import Walk
from codeagent.workspace.files import decode, is_folder
from codeagent.workspace.paths import PathSandbox
from codeagent.workspace.seen import SeenFiles

PAGE_LINES = 2_000
PAGE_BYTES = 50 * 1024
_SIMILAR = 3
_SIMILAR_FILES = 20_000


class ReadArguments(BaseModel):
    """Which lines of which file."""

    model_config = ConfigDict(extra="forbid")
    path: str
    offset: int | None = Field(default=None, ge=1, description="First line, counted from 1")
    limit: int | None = Field(default=None, ge=1, description=f"Number of lines, at most {PAGE_LINES}")


class ReadTool(LookingTool[ReadArguments]):
    """Shows files and remembers which lines the model has seen."""

    name = "read"
    description = (
        "Read a text file (lines come as `12→text`), an image, or the names in a folder. "
        f"Shows at most {PAGE_LINES} lines or 50 KiB at a time."
    )
    Arguments = ReadArguments

    def __init__(self, sandbox: PathSandbox, seen: SeenFiles, rule_against: RuleAgainst = no_rule) -> None:
        super().__init__(sandbox, rule_against)
        self._seen = seen

    async def plan(self, arguments: ReadArguments, context: ToolContext) -> Plan:
        """Reads when it is run."""
        touch = self._sandbox.resolve(arguments.path, Access.READ)
        path = touch.path or self._sandbox.root
        return look_plan(touch, lambda stop: self._look(path, arguments, context.call_id, stop))

    def _look(self, path: Path, arguments: ReadArguments, call_id: str, stop: threading.Event) -> ToolResult:
        shown = self._sandbox.show(path)
        if is_folder(path):
            return list_folder(path, shown, call_id, self._rule_against)
        data = present(path)
        if data is None:
            raise FileProblem(f"{arguments.path} does not exist.", hint=self._similar(path, stop))
        image = image_type(data)
        if image:
            return _image(path, data, image, call_id)
        try:
            text = decode(data).text
        except FileProblem as problem:
            raise FileProblem(
                f"{shown} ({counted(len(data), 'byte')}): {problem.message}", hint=problem.hint
            ) from problem
        return self._page(path, data, split_lines(text), arguments, call_id)

    def _page(self, path: Path, data: bytes, lines: list[str], arguments: ReadArguments, call_id: str) -> ToolResult:
        first = arguments.offset or 1
        if not lines:
            self._seen.shown(path, data, call_id=call_id)
            return say(call_id, "[the file is empty]", details=_details(arguments, 0, 0, 0))
        if first > len(lines):
            raise FileProblem(f"{arguments.path} has {counted(len(lines), 'line')}; there is no line {first:,}.")
        page = _fitting(lines[first - 1 : first - 1 + min(arguments.limit or PAGE_LINES, PAGE_LINES)], first)
        last = page[-1].number
        whole = [line.number for line in page if line.is_whole]
        is_all = len(whole) == len(lines)
        self._seen.shown(path, data, None if is_all else whole, call_id=call_id)
        notes: list[str] = []
        if last < len(lines):
            notes.append(f"[lines {first:,}-{last:,} of {len(lines):,}; go on with offset {last + 1}]")
        elif first > 1:
            notes.append(f"[lines {first:,}-{last:,} of {len(lines):,}, to the end]")
        if len(whole) < len(page):
            notes.append("[… marks lines that were cut; a command such as `cut -c` shows the rest]")
        text = "\n".join((numbered(page), *notes))
        return say(call_id, text, details=_details(arguments, first, last, len(lines)))

    def _similar(self, path: Path, stop: threading.Event) -> str:
        """Up to three existing files that may be meant, as a hint; none outside the workspace."""
        root = self._sandbox.root
        if not path.is_relative_to(root):
            return ""
        by_name: dict[str, list[str]] = {}
        for found in islice(Walk(root, stop), _SIMILAR_FILES):
            if not self._rule_against(root / found):
                by_name.setdefault(found.rpartition("/")[2].casefold(), []).append(found)
        names = get_close_matches(path.name.casefold(), by_name, n=_SIMILAR, cutoff=0.7)
        wanted = str(path.relative_to(root))
        places = sorted(
            (place for name in names for place in by_name[name]),
            key=lambda place: -SequenceMatcher(None, place, wanted).ratio(),
        )
        return f"Similar: {', '.join(map(show_name, places[:_SIMILAR]))}." if places else ""


def _fitting(lines: list[str], first: int) -> list[Line]:
    """As many lines as a page holds, at least one."""
    page: list[Line] = []
    size = 0
    for number, text in enumerate(lines, start=first):
        line = show_line(number, text)
        size += len(line.text.encode("utf-8", "replace")) + 1
        if page and size > PAGE_BYTES:
            break
        page.append(line)
    return page


def _details(arguments: ReadArguments, first: int, last: int, total: int) -> ReadDetails:
    return ReadDetails(path=arguments.path, first_line=first, last_line=last, total_lines=total)


def _image(path: Path, data: bytes, media_type: str, call_id: str) -> ToolResult:
    if len(data) > LARGEST_IMAGE:
        raise FileProblem(
            f"The image is too large to be shown: {len(data):,} bytes, at most {LARGEST_IMAGE:,} are possible.",
            hint="Make a smaller copy with a command.",
        )
    if problem := image_problem(data):
        raise FileProblem(f"The image {problem}; it cannot be shown.", hint="Make a copy that fits with a command.")
    image = image_block(data, media_type, path.name)
    text = TextBlock(text=f"[{media_type}, {len(data):,} bytes]")
    return ToolResult(call_id=call_id, blocks=(text, image))
