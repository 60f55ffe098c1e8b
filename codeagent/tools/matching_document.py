"""What an edit works on: the file's text with its line breaks, the call, and the change that was found."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from codeagent.core.errors import EditRefused, FileProblem
from codeagent.tools.matching_result import MatchLevel
from codeagent.workspace.files import Encoding, decode, encode

BLANKS = " \t"

_BREAK = re.compile(r"\r?\n")
_ANY_BREAK = re.compile(r"\r\n?|\n")
_SURROGATE = re.compile("[\ud800-\udfff]")
_NUMBER = re.compile(r" *([0-9]{1,9})[\t→]")
"""A line number as the read tool shows it before each line."""


class Document:
    """The text of a file, with every line break read as LF, and the way back to the file's own bytes.

    ``text`` is what is searched, ``raw`` what is written; positions are those of
    ``text``. A bare CR is an ordinary character, except in a file that has no LF
    at all, where it is the line break.
    """

    def __init__(self, raw: str, encoding: Encoding) -> None:
        self.raw = raw
        self.encoding = encoding
        self.text = raw
        self.line_break: str | None = "\n" if "\n" in raw else ""
        """How all lines end; empty if there is no line break, None if some end with CRLF and some with LF."""
        self._crlf: list[int] | None = None
        pairs = raw.count("\r\n")
        if pairs:
            self.text = raw.replace("\r\n", "\n")
            self.line_break = "\r\n"
            if pairs != raw.count("\n"):
                self.line_break = None
                self.index()
        elif "\r" in raw and "\n" not in raw:
            self.text = raw.replace("\r", "\n")
            self.line_break = "\r"

    def index(self) -> None:
        """Makes the way to the file's own bytes fast for many places."""
        self._crlf = [found.start() - i for i, found in enumerate(re.finditer("\r\n", self.raw))]

    @cached_property
    def lines(self) -> list[str]:
        """The lines without their breaks; a break at the end of the file starts no further line."""
        return split_lines(self.text)

    @cached_property
    def starts(self) -> list[int]:
        """Where each line starts, and as one more entry where a line after the last one would start."""
        position = 0
        starts = [0]
        for line in self.lines:
            position += len(line) + 1
            starts.append(position)
        return starts

    def to_raw(self, position: int) -> int:
        """The place in ``raw`` of a place in ``text``."""
        if self._crlf is not None:
            return position + bisect_left(self._crlf, position)
        return position + self.text.count("\n", 0, position) if self.line_break == "\r\n" else position

    def line_number(self, position: int) -> int:
        """The 1-based number of the line that a place in ``text`` is on."""
        return self.text.count("\n", 0, position) + 1

    def break_at(self, position: int) -> str:
        """The line break that stands at a place in ``text`` where it has one; empty at its end."""
        if position >= len(self.text):
            return ""
        return (
            self.raw[self.to_raw(position) : self.to_raw(position + 1)] if self.line_break is None else self.line_break
        )

    def break_for(self, start: int, end: int) -> str:
        """The line break for lines added to this stretch: its first, else its line's, else the one above, else none."""
        for position in (self.text.find("\n", start, end), self.text.find("\n", end), self.text.rfind("\n", 0, start)):
            if position >= 0:
                return self.break_at(position)
        return ""

    def encode(self, raw: str) -> bytes:
        """The bytes of a changed text in the file's own encoding, with its byte order mark."""
        return encode(raw, self.encoding)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """The old and the new text of one edit, line breaks read as LF; ``given_breaks`` are those of ``new`` as sent."""

    old: str
    new: str
    given_breaks: tuple[str, ...] = ()

    def as_sent(self) -> str:
        """The new text with the line breaks that it came with."""
        breaks = iter(self.given_breaks)
        return "".join(piece + next(breaks, "") for piece in self.new.split("\n"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One place of the document and what it becomes; ``replacement`` has the file's own line breaks."""

    start: int
    end: int
    replacement: str
    level: MatchLevel


def open_document(content: bytes) -> Document:
    """The bytes of a file as a document; raises ``EditRefused`` for binary files."""
    try:
        file = decode(content)
    except FileProblem as problem:
        raise EditRefused(f"Nothing was changed: {problem.message}", hint=problem.hint) from None
    return Document(file.text, file.encoding)


def read_call(document: Document, old: str, new: str) -> Call:
    """The call as it applies to this file; raises ``EditRefused`` for characters that can not be matched or written."""
    if document.encoding.bom:
        old, new = old.removeprefix("\ufeff"), new.removeprefix("\ufeff")
    for name, text in (("old", old), ("new", new)):
        if _SURROGATE.search(text):
            raise EditRefused(
                f"Nothing was changed: `{name}` contains half of a surrogate pair, which no file can hold.",
                hint="Send the whole character.",
            )
        if document.encoding.has_unknown_bytes and not text.isascii():
            raise EditRefused(
                "Nothing was changed: the file is not UTF-8, its encoding is unknown, and"
                f" `{name}` contains characters outside ASCII.",
                hint="Use only ASCII characters in this edit (choose a shorter `old`), or convert the file to UTF-8"
                " with iconv first, or replace it with the write tool.",
            )
    if "\0" in new:
        raise EditRefused(
            "Nothing was changed: `new` contains a NUL character, which would make the file binary.",
            hint="If you meant an escape sequence, send its backslash and digits as plain text.",
        )
    any_break = _ANY_BREAK if document.line_break == "\r" else _BREAK
    return Call(old=any_break.sub("\n", old), new=any_break.sub("\n", new), given_breaks=tuple(_BREAK.findall(new)))


def split_lines(text: str) -> list[str]:
    """The lines of a text; one final line break ends the last line and starts no other, nothing is no line."""
    return text.removesuffix("\n").split("\n") if text else []


def join_lines(lines: Sequence[str]) -> str:
    """Lines between line breaks, so that searching one such text in another finds only whole lines."""
    return "\n" + "\n".join(lines) + "\n"


def indentation(line: str) -> str:
    """The spaces and tabs that a line starts with."""
    return line[: len(line) - len(line.lstrip(BLANKS))]


def numbered_lines(text: str) -> tuple[list[int], list[str]] | None:
    """The line numbers and the plain lines, if every line of the text starts with a number; else None."""
    numbers: list[int] = []
    plain: list[str] = []
    for line in split_lines(text) or [""]:
        found = _NUMBER.match(line)
        if found is None:
            return None
        numbers.append(int(found[1]))
        plain.append(line[found.end() :])
    return numbers, plain


def without_numbers(text: str) -> str:
    """The text without the line numbers of those lines that have one."""
    return "\n".join(_NUMBER.sub("", line, count=1) if _NUMBER.match(line) else line for line in text.split("\n"))
