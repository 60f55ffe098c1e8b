"""How many words a brace expansion makes at most: the shell holds all of them in memory before anything runs."""

from __future__ import annotations

import re

MOST_WORDS = 4_096
"""More than anybody writes to be read; a million take bash about 300 MB."""

TOO_MANY_WORDS = "it makes more words than anybody can look at"

_BRACES = re.compile(r"[{},]")
_NUMBERS = re.compile(r"([+-]?\d{1,20})\.\.([+-]?\d{1,20})(?:\.\.([+-]?\d{1,20}))?", re.ASCII)
_LETTERS = re.compile(r"(.)\.\.(.)(?:\.\.[+-]?\d+)?", re.DOTALL)


def makes_too_many(plain: str) -> bool:
    """Whether a word may become more than MOST_WORDS; ``plain`` holds something else for what is quoted or unknown."""
    count = 1
    opened: list[tuple[int, int]] = []  # for each brace that is open where it stands, and the commas behind it
    for found in _BRACES.finditer(plain):
        if found[0] == "{":
            opened.append((found.start(), 0))
        elif found[0] == "," and opened:
            start, commas = opened.pop()
            opened.append((start, commas + 1))
        elif found[0] == "}" and opened:
            start, commas = opened.pop()
            count *= commas + 1 if commas else _range(plain[start + 1 : found.start()])
            if count > MOST_WORDS:
                return True
    return False


def _range(inner: str) -> int:
    """The number of words of ``{1..3}``, ``{1..9..2}`` or ``{a..c}``; one for anything else."""
    if found := _NUMBERS.fullmatch(inner):
        return abs(int(found[2]) - int(found[1])) // max(1, abs(int(found[3] or 1))) + 1
    if found := _LETTERS.fullmatch(inner):
        return abs(ord(found[2]) - ord(found[1])) + 1
    return 1
