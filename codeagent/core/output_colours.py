"""The colours of a command's output, kept beside its plain text: where they change, and to what.

Kept as a text of its own, such as ``12 40 9f3e 12=31 20=0``: where the output begins
in the whole text, how long it is, its checksum, then each place with the numbers of
its colour (ECMA-48 SGR). No word of the output is in it.
"""

from __future__ import annotations

import re
from zlib import crc32

from codeagent.core.text import clean

COLOUR = re.compile(r"\x1b\[([0-9;:]*)m")
"""An escape sequence that changes the colour; group 1 is its numbers."""

_LONGEST = 16_000
_FACTS = 3


def colours_of(output: str, begins_at: int = 0) -> str:
    """Where the raw ``output`` changes its colours, for a text in which its plain words begin at ``begins_at``.

    Empty when it has none; of very many changes the first stay.
    """
    if "\x1b[" not in output:
        return ""
    text = clean(output, keep_colours=True)
    plain, places, taken = COLOUR.sub("", text), list[str](), 0
    if plain != clean(output):
        return ""
    before = 0
    for found in COLOUR.finditer(text):
        place = f"{begins_at + found.start() - before}={found[1] or 0}"
        before += len(found[0])
        taken += len(place) + 1
        if taken > _LONGEST:
            break
        places.append(place)
    plain = plain.rstrip("\n")
    return " ".join([f"{begins_at} {len(plain)} {_checksum(plain)}", *places]) if plain and places else ""


def with_colours(text: str, colours: str) -> str:
    """The text with the escape sequences that ``colours_of`` found; as it is when the output in it is another one."""
    facts = colours.split(" ")
    if len(facts) <= _FACTS or not facts[0].isdecimal() or not facts[1].isdecimal():
        return text
    start, length = int(facts[0]), int(facts[1])
    end = start + length
    if _checksum(text[start:end]) != facts[2] or len(text) < end:
        return text
    parts, at = list[str](), 0
    for place in facts[_FACTS:]:
        where, _, codes = place.partition("=")
        if not where.isdecimal() or not at <= int(where) <= end:
            break
        parts += [text[at : int(where)], f"\x1b[{codes}m"]
        at = int(where)
    return "".join([*parts, text[at:end], "\x1b[0m", text[end:]])


def _checksum(text: str) -> str:
    return f"{crc32(text.encode('utf-8', 'replace')):x}"
