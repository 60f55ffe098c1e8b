"""Line numbers as the read tool shows them before each line."""

from __future__ import annotations

import re

from codeagent.tools.matching_document import split_lines

_PREFIX = re.compile(r" *([0-9]{1,9})[\t→]")


def numbered_lines(text: str) -> tuple[list[int], list[str]] | None:
    """The line numbers and the plain lines, if every line of the text starts with a number; else None."""
    numbers: list[int] = []
    plain: list[str] = []
    for line in split_lines(text) or [""]:
        found = _PREFIX.match(line)
        if found is None:
            return None
        numbers.append(int(found[1]))
        plain.append(line[found.end() :])
    return numbers, plain


def without_numbers(text: str) -> str:
    """The text without the line numbers of those lines that have one."""
    return "\n".join(_PREFIX.sub("", line, count=1) if _PREFIX.match(line) else line for line in text.split("\n"))
