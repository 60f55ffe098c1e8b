"""Characters that mean the same: typographic quotes, dashes and spaces, and accents written in one piece or in two.

Canonical composition follows Unicode Standard Annex 15 (NFC), except that
characters which merely stand for one of ASCII (the Kelvin sign for K, the Greek
question mark for a semicolon) stay what they are: they have no business in code.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass

_FOLDED = {
    **dict.fromkeys("\u2018\u2019\u201a\u201b", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f", '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
    **dict.fromkeys("\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " "),
    **{chr(code + 0xFEE0): chr(code) for code in range(0x21, 0x7F) if not chr(code).isalnum()},
}
_FOLDABLE = re.compile(f"[{''.join(_FOLDED)}]")
_NOT_ASCII_RUN = re.compile(r"[\x00-\x7f]?[^\x00-\x7f]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """A text with accents composed, and the way back to the text it was made from.

    ``groups`` are the stretches that changed: start and end here, start and end
    there; ``starts`` are their starts here.
    """

    text: str
    groups: tuple[tuple[int, int, int, int], ...] = ()
    starts: tuple[int, ...] = ()

    def to_source(self, position: int) -> int | None:
        """The place in the source text; None for a place inside a character."""
        index = bisect_right(self.starts, position) - 1
        if index < 0:
            return position
        start, end, source_start, source_end = self.groups[index]
        if position == start:
            return source_start
        return source_end + position - end if position >= end else None


def compose(text: str) -> Composed:
    """The text with every base character and its accents composed into one where Unicode has one."""
    if unicodedata.is_normalized("NFC", text):
        return Composed(text=text)
    pieces: list[str] = []
    groups: list[tuple[int, int, int, int]] = []
    done = length = 0
    for run in _NOT_ASCII_RUN.finditer(text):
        if unicodedata.is_normalized("NFC", run[0]):
            continue
        position = run.start()
        for group in _characters(run[0]):
            composed = _composed(group)
            if composed != group:
                pieces += (text[done:position], composed)
                start = length + position - done
                length = start + len(composed)
                done = position + len(group)
                groups.append((start, length, position, done))
            position += len(group)
    pieces.append(text[done:])
    return Composed(text="".join(pieces), groups=tuple(groups), starts=tuple(group[0] for group in groups))


def fold(text: str) -> str:
    """The text with typographic characters replaced one for one: quotes, dashes, spaces, full-width punctuation."""
    return text if text.isascii() else _FOLDABLE.sub(lambda found: _FOLDED[found[0]], text)


def is_mark(character: str) -> bool:
    """Whether a character is drawn onto the one before it."""
    return unicodedata.category(character).startswith("M")


def _characters(run: str) -> list[str]:
    """A run of text cut where no composition can reach across."""
    groups: list[str] = []
    group = run[0]
    for character in run[1:]:
        if unicodedata.combining(character) or _joins(group, character):
            group += character
        else:
            groups.append(group)
            group = character
    groups.append(group)
    return groups


def _joins(group: str, character: str) -> bool:
    apart = unicodedata.normalize("NFC", group) + unicodedata.normalize("NFC", character)
    return unicodedata.normalize("NFC", group + character) != apart


def _composed(group: str) -> str:
    return group if any(map(_stands_for_ascii, group)) else unicodedata.normalize("NFC", group)


def _stands_for_ascii(character: str) -> bool:
    return not character.isascii() and unicodedata.normalize("NFC", character).isascii()
