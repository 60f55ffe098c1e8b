"""The search syntax: the regular expressions that ripgrep and Python understand alike, and file name patterns."""

from __future__ import annotations

import re
from itertools import islice, product
from pathlib import Path

from codeagent.core.errors import BadArguments
from codeagent.tools.later import SearchPattern, compile_search

_REPEAT = re.compile(r"\{(\d+)?(,)?(\d+)?\}")
_CLASS_LETTERS = frozenset("dDsSwW")
_LETTERS = frozenset("dDsSwWbBtrfva")
_META = frozenset(r"\.+*?()|[]{}^$#&-~")
_GROUPS = re.compile(r"\((?!\?)|\(\?:|\(\?P?<[A-Za-z_]\w*>|\(\?[ims]+\)|\(\?[ims]+:")
_FLAGS = re.compile(r"\(\?[ims]+\)")
_HEX = re.compile(r"\\x[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\[pP](?:[A-Z]|\{\w+\})")
_POSIX = re.compile(r"\[:\^?[a-z]+:\]")
_GLOB_PART = re.compile(r"(?:(?<=/)|^)\*\*/|\*\*|\*|\?|\[[!^]?\]?[^\]]*\]|\\.|.", re.DOTALL)
_GLOB_MARKS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
_NEAREST = {"**/": "(?>(?:[^/]*/)*?", "**": "(?>.*?"}
_MOST_FOLDER_STARS = 4
_MOST_REPEATS = 100_000
_DEEPEST = 200
_MOST_ALTERNATIVES = 200
_MOST_IN_ALTERNATIVES = 20_000
_SHOWN = 200
_LONGEST_NUMBER = 10
_HINT = "Common regular expressions work: . * + ? {m,n} [] | () ^ $ \\b \\d \\w \\s (?i). Use `literal` for plain text."


def compile_pattern(pattern: str, *, literal: bool) -> tuple[str, SearchPattern]:
    """The pattern in a form that ripgrep reads, and compiled. Raises BadArguments for what is not common to both.

    A brace that opens no repetition stands for itself.
    """
    if not pattern:
        raise BadArguments("The pattern is empty; nothing was searched.")
    if "\n" in pattern or "\0" in pattern:
        raise BadArguments("The search goes line by line; a pattern with a line break finds nothing.")
    common = _escaped(pattern) if literal else _Reader(pattern).read()
    try:
        return common, compile_search(common)
    except ValueError as error:
        raise BadArguments(f"The pattern is no regular expression: {error}.", hint=_HINT) from None


def compile_glob(pattern: str, folder: Path) -> re.Pattern[str]:
    """A pattern for file paths relative to ``folder``; without a slash it is about names at any depth.

    ``*`` and ``?`` stay within a name, ``**`` crosses folders, ``[a-z]`` and ``{a,b}`` work as in a shell.
    A pattern that starts with the folder's own path is as good. Raises BadArguments, also for one whose choices
    stand for more patterns than each path can be compared with in no time.
    """
    if not pattern.strip():
        raise BadArguments("The file pattern is empty; `**` finds every file.")
    if pattern.startswith("!"):
        raise BadArguments(f"{pattern} says which files are not wanted; say which are.")
    if pattern.count("**") > _MOST_FOLDER_STARS:
        raise BadArguments(f"A file pattern has `**` at most {_MOST_FOLDER_STARS} times; use `path` for a folder.")
    pattern = pattern.removeprefix(str(folder)).removeprefix("./")
    anchored = pattern.removeprefix("/")
    if pattern.endswith("/"):
        anchored += "**"
    start = "" if "/" in pattern else "(?:.*/)?" if "**" in pattern else "(?>(?:.*/)?)"
    try:
        return re.compile(f"{start}(?:{'|'.join(map(path_regex, _alternatives(anchored)))})", re.DOTALL)
    except re.error as error:
        raise BadArguments(f"{pattern} is no file pattern: {error}.") from None


def _alternatives(pattern: str) -> list[str]:
    """The patterns without choices that one with ``{a,b}`` stands for; raises BadArguments."""
    groups = [[[""]]]  # for the pattern and each open brace its finished choices, then the one that is being read
    read = 0
    for found in _GLOB_PART.finditer(pattern):
        part, choices = found[0], groups[-1]
        if part != "{" and (len(groups) == 1 or part not in {",", "}"}):
            continue
        choices[-1] = [text + pattern[read : found.start()] for text in choices[-1]]
        read = found.end()
        if part == "{":
            groups.append([[""]])
        elif part == ",":
            choices.append([""])
        else:
            ends = [text for choice in groups.pop() for text in choice]
            groups[-1][-1] = [text + end for text, end in islice(product(groups[-1][-1], ends), _MOST_ALTERNATIVES + 1)]
            _refuse_many(pattern, groups[-1][-1])
        if len(groups) > _DEEPEST:
            raise BadArguments(f"{_begins(pattern)} has its braces nested too deep.")
    if len(groups) > 1:
        raise BadArguments(f"{_begins(pattern)} is no file pattern: a {{ has no }}.")
    return _refuse_many(pattern, [text + pattern[read:] for text in groups[0][0]])


def _refuse_many(pattern: str, found: list[str]) -> list[str]:
    if len(found) > _MOST_ALTERNATIVES or sum(map(len, found)) > _MOST_IN_ALTERNATIVES:
        raise BadArguments(f"{_begins(pattern)} stands for too many patterns; use fewer braces, or several searches.")
    return found


def _begins(pattern: str) -> str:
    return pattern if len(pattern) <= _SHOWN else f"{pattern[:_SHOWN]}…"


def _escaped(text: str) -> str:
    return "".join(f"\\{char}" if char in _META else char for char in text)


class _Reader:
    """Reads a pattern once, from left to right, and writes what both engines understand alike."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._out: list[str] = []
        self._sizes = [0]  # of the pattern and each open group with its repetitions written out: what compiling takes
        self._last = 0

    def read(self) -> str:
        while self._at < len(self._pattern):
            char = self._pattern[self._at]
            if char == "\\":
                self._escape(_LETTERS)
            elif char == "[":
                self._bracket()
            elif char in "()":
                self._group(char)
            elif char == "{":
                self._brace()
            elif char == "}":
                self._put("\\}", 1)
            elif char == ".":
                self._put("[^\\r\\n]", 1)  # for ripgrep a dot matches no carriage return, for Python it does
            elif char in "*+?" and self._pattern[self._at + 1 : self._at + 2] == "+":
                raise self._problem("possessive repetition is not supported")
            else:
                self._put(char, 1)
        return "".join(self._out)

    def _put(self, text: str, width: int) -> None:
        self._out.append(text)
        self._at += width
        self._last = 1
        self._sizes[-1] += 1

    def _group(self, char: str) -> None:
        """The beginning or end of a group; one that was never opened is left to the compiler to tell."""
        if char == "(":
            if self._at and _FLAGS.match(self._pattern, self._at):
                raise self._problem("flags for the whole pattern stand at its start")
            self._take(_GROUPS, "lookaround, back references and other special groups are not supported")
            self._sizes.append(0)
            if len(self._sizes) > _DEEPEST:
                raise self._problem("its groups are nested too deep")
            return
        self._put(char, 1)
        if len(self._sizes) > 1:
            self._last = self._sizes.pop()
            self._grow(self._last)

    def _grow(self, size: int) -> None:
        self._sizes[-1] += size
        if self._sizes[-1] > _MOST_REPEATS:
            raise self._problem("it repeats too much")

    def _take(self, form: re.Pattern[str], problem: str) -> None:
        found = form.match(self._pattern, self._at)
        if found is None:
            raise self._problem(problem)
        self._put(found[0], len(found[0]))

    def _brace(self) -> None:
        found = _REPEAT.match(self._pattern, self._at)
        if found is None or (found[1] is None and found[3] is None) or not self._out:
            self._put("\\{", 1)
        else:
            self._grow(self._last * max(_number(found[1]), _number(found[3])))
            self._put(f"{{{found[1] or 0}{found[2] or ''}{found[3] or ''}}}", len(found[0]))

    def _escape(self, letters: frozenset[str]) -> None:
        following = self._pattern[self._at + 1 : self._at + 2]
        if not following:
            raise self._problem("it ends with a single backslash")
        if following in "xupP":
            self._take(_HEX, "write \\xNN, \\uNNNN or \\p{Name}")
        elif following in letters or following in _META:
            self._put(f"\\{following}", 2)
        elif following.isalnum() or following in "<>":
            raise self._problem(f"\\{following} is not supported")
        else:
            self._put(following, 2)

    def _bracket(self) -> None:
        start = self._at
        self._put("[", 1)
        if self._pattern.startswith("^", self._at):
            self._put("^", 1)
        if self._pattern.startswith("]", self._at):
            self._put("\\]", 1)
        while not self._pattern.startswith("]", self._at):
            if self._at >= len(self._pattern):
                self._at = start
                raise self._problem("a [ has no ]")
            self._bracket_item()
        self._put("]", 1)

    def _bracket_item(self) -> None:
        char = self._pattern[self._at]
        if char == "\\":
            self._escape(_CLASS_LETTERS | frozenset("trfva"))
        elif char == "[" and (found := _POSIX.match(self._pattern, self._at)):
            self._put(found[0], len(found[0]))
        elif char in "[&~" or self._pattern.startswith("--", self._at):
            self._put(f"\\{char}", 1)
        else:
            self._put(char, 1)

    def _problem(self, reason: str) -> BadArguments:
        return BadArguments(
            f"The pattern cannot be searched for: at {self._pattern[self._at :][:20]!r}, {reason}.", hint=_HINT
        )


def _number(digits: str | None) -> int:
    """What the digits say; of very many, that it is too much."""
    return 0 if not digits else int(digits) if len(digits) < _LONGEST_NUMBER else _MOST_REPEATS + 1


def path_regex(pattern: str) -> str:
    """A shell pattern without choices as a regular expression for a whole path."""
    out: list[str] = []
    stars = _Stars(out)
    for found in _GLOB_PART.finditer(pattern):
        part = found[0]
        stars.note(part)
        if part == "**" and found.start() and found.end() == len(pattern) and pattern[-3] == "/":
            out.append(".+")
        elif part in _GLOB_MARKS:
            out.append(_GLOB_MARKS[part])
        elif part[0] == "[" and len(part) > 1:
            inner = part[1:-1].replace("\\", "\\\\").replace("[", "\\[")
            out.append(f"[^/{inner[1:]}]" if inner[0] in "!^" else f"[{inner}]")
        else:
            out.append(re.escape(part[-1]))
    return "".join(out)


class _Stars:
    """The last star of the name, and of the path, that is being written to a regular expression.

    Of those that another one follows the nearest fit is best, so that nothing is ever looked at again.
    """

    def __init__(self, out: list[str]) -> None:
        self._out = out
        self._in_name: int | None = None
        self._in_path: tuple[int, str] | None = None

    def note(self, part: str) -> None:
        """The next part of the pattern is about to be written."""
        out = self._out
        if part == "*":
            if self._in_name is not None:
                out[self._in_name] = "(?>[^/]*?"
                out.append(")")
            self._in_name = len(out)
        elif part in _NEAREST:
            if self._in_name is not None:
                out[self._in_name] = "[^/]*?"
            if self._in_path is not None:
                out[self._in_path[0]] = self._in_path[1]
                out.append(")")
            self._in_name, self._in_path = None, (len(out), _NEAREST[part])
        elif part == "/":
            self._in_name = None
