"""Two ways to search in files, with the same result: ripgrep, and Python where there is no ripgrep."""

from __future__ import annotations

import base64
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from codeagent.core.errors import FileProblem
from codeagent.tools.later import SearchPattern
from codeagent.tools.walk import Walk, output_of, ripgrep_words
from codeagent.workspace.files import decode, read_bytes

LARGEST_FILE = 50_000_000
FILE_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A line to show, without its ending; ``column`` is where its first match starts, None for context."""

    number: int
    text: str
    column: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileHits:
    """What was found in one file; ``name`` is relative to the folder searched, ``problem`` why that is not all."""

    name: str
    hits: tuple[Hit, ...]
    problem: str = ""


_CHANGED = "it changed while it was searched; search again"
_OUT_OF_TIME = FileHits(name="", hits=(), problem="out of time; the files after these were not searched")


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What to look for and where.

    ``name`` is one file in ``folder``, empty for all below it; ``deadline`` is a time of
    time.monotonic after which the search is broken off.
    """

    folder: Path
    name: str
    common: str
    pattern: SearchPattern
    context: int
    most_in_file: int
    deadline: float


def by_ripgrep(search: Search, ripgrep: str, stop: threading.Event) -> Iterator[FileHits]:
    """Searches with ripgrep, file by file in the order of their names.

    Ripgrep opens files by their names, behind which somebody may put a link to another
    place while it works. So what it found counts only where the file itself holds it.
    """
    words = ripgrep_words(ripgrep, search.folder)
    words += ["--json", "--crlf", "--sort=path", f"--max-filesize={LARGEST_FILE}"]
    words += [f"--context={search.context}", f"--max-count={search.most_in_file}"]
    words += ["--regexp", search.common, "--", f"./{search.name}"]
    try:
        for found in _files_in(output_of(words, search.folder, stop, b"\n", search.deadline)):
            yield found if _is_held(found, search.folder) else FileHits(name=found.name, hits=(), problem=_CHANGED)
    except TimeoutError:
        yield _OUT_OF_TIME


def _is_held(found: FileHits, folder: Path) -> bool:
    """Whether the file of this name, opened without following a link, holds the lines."""
    try:
        data = read_bytes(folder / found.name, limit=LARGEST_FILE)
    except FileProblem:
        return False
    try:
        text = decode(data).text
    except FileProblem:
        text = data.decode("utf-8", "surrogateescape")  # where a binary part stands behind the last match
    lines = text.split("\n")
    return all(hit.number <= len(lines) and lines[hit.number - 1].rstrip("\r") == hit.text for hit in found.hits)


def _files_in(messages: Iterator[bytes]) -> Iterator[FileHits]:
    hits: list[Hit] = []
    for line in messages:
        kind, data = _read_message(line)
        if kind == "begin":
            hits = []
        elif kind in {"match", "context"} and data.lines is not None and data.line_number is not None:
            text = data.lines.decoded()
            column = _column(data) if kind == "match" else None
            hits.append(Hit(number=data.line_number, text=text.rstrip("\r\n"), column=column))
        elif kind == "end" and data.path is not None and data.binary_offset is None and hits:
            yield FileHits(name=data.path.decoded().removeprefix("./"), hits=tuple(hits))


def by_walk(search: Search, stop: threading.Event) -> Iterator[FileHits]:
    """Searches with Python; a file that takes too long is broken off."""
    for name in [search.name] if search.name else Walk(search.folder, stop):
        if stop.is_set():
            return
        if time.monotonic() > search.deadline:
            yield _OUT_OF_TIME
            return
        try:
            text = decode(read_bytes(search.folder / name, limit=LARGEST_FILE)).text
        except FileProblem:
            continue
        lines = [line.rstrip("\r") for line in text.removesuffix("\n").split("\n")] if text else []
        deadline = time.monotonic() + FILE_SECONDS
        hits: list[Hit] = []
        problem = ""
        try:
            if search.pattern.search("\n".join(lines), timeout=FILE_SECONDS, concurrent=True) is not None and lines:
                hits += _hits(lines, search, deadline)
        except TimeoutError:
            problem = "the search took too long here"
        if hits or problem:
            yield FileHits(name=name, hits=tuple(hits), problem=problem)


def _hits(lines: list[str], search: Search, deadline: float) -> list[Hit]:
    columns: dict[int, int] = {}
    for index, line in enumerate(lines):
        found = search.pattern.search(line, timeout=max(0.001, deadline - time.monotonic()))
        if found is not None:
            columns[index] = found.start()
            if len(columns) == search.most_in_file:
                break
    shown: dict[int, None] = {}
    for index in columns:
        for near in range(max(0, index - search.context), min(len(lines), index + search.context + 1)):
            shown[near] = None
    return [Hit(number=index + 1, text=lines[index], column=columns.get(index)) for index in shown]


class _Text(BaseModel):
    """Text in ripgrep's messages; bytes where it is no UTF-8."""

    text: str | None = None
    bytes: str | None = None

    def decoded(self) -> str:
        if self.text is not None:
            return self.text
        return base64.b64decode(self.bytes or "").decode("utf-8", "surrogateescape")


class _Span(BaseModel):
    start: int


class _Data(BaseModel):
    """What the messages that matter here hold, see https://docs.rs/grep-printer/latest/grep_printer/struct.JSON.html."""

    model_config = ConfigDict(extra="ignore")
    path: _Text | None = None
    lines: _Text | None = None
    line_number: int | None = None
    binary_offset: int | None = None
    submatches: tuple[_Span, ...] = ()


class _Message(BaseModel):
    model_config = ConfigDict(extra="ignore")
    type: str
    data: _Data


def _read_message(line: bytes) -> tuple[str, _Data]:
    message = _Message.model_validate_json(line)
    return message.type, message.data


def _column(data: _Data) -> int:
    """In characters; ripgrep counts bytes."""
    if data.lines is None or not data.submatches:
        return 0
    start = data.lines.decoded().encode("utf-8", "surrogateescape")[: data.submatches[0].start]
    return len(start.decode("utf-8", "replace"))
