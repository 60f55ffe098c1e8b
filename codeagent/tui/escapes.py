"""The Escape key, told from what terminals send with Alt: both begin with the same byte.

A terminal sends a key in one piece, so a byte that came by itself was the Escape key
even when a letter follows at once. Within one piece a letter belongs to Alt only where
that has a meaning and no text goes on behind it: all else is Escape, and then the text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

ESCAPE = "\x1b"

_PASTE, _PASTE_END = "\x1b[200~", "\x1b[201~"
_UNFINISHED = re.compile(r"\x1b(?:\[(?:2(?:00?)?)?)?\Z")
_CONTINUES = "[]O"  # what a control sequence, an answer or a function key goes on with
_FUNCTION_KEY = re.compile(r"\x1bO(?:[A-DFHM-Sj-y]|\Z)")
_ALT_ARROW = re.compile(r"\x1b\x1b[\[O]([A-DFH])")
_OWN_TABLE = "\r\t\x7f"  # Alt with these has a sequence that the parser knows
_WORD_KEYS = "bf"  # so have these, which readline and macOS send to go by words


class Escapes:
    """What arrives from the terminal, parted: each Escape key is a piece of its own."""

    def __init__(self, with_alt: Collection[str] = ()) -> None:
        """``with_alt`` are the characters that mean something with Alt held down."""
        self._with_alt = frozenset(with_alt)
        self._held = ""
        self._is_paste = False
        self._pasted_end = ""

    def join(self, arrived: str) -> tuple[bool, str]:
        """Whether an Escape held back from before was a key of its own, and what goes on now."""
        held, self._held = self._held, ""
        is_key = held == ESCAPE and not self._is_paste and arrived[:1] not in _CONTINUES
        text = arrived if is_key else held + arrived
        if not self._is_paste and (unfinished := _UNFINISHED.search(text)):
            self._held = unfinished[0]
            text = text[: unfinished.start()]
        return is_key, text

    def give_up_waiting(self) -> str:
        """Nothing more came: what was held back, an Escape or the beginning of a sequence."""
        held, self._held = self._held, ""
        return held

    def part(self, text: str) -> Iterator[str]:
        """The text in pieces; one that is nothing but an Escape is that key."""
        start = at = self._end_of_paste(text) if self._is_paste else 0
        if at:
            yield text[:at]
        while (at := text.find(ESCAPE, at)) >= 0:
            if text.startswith(_PASTE, at):
                self._is_paste, self._pasted_end = True, ""
                at += len(_PASTE)
                at += self._end_of_paste(text[at:])
            elif arrow := _ALT_ARROW.match(text, at):
                yield from (text[start:at], f"\x1b[1;3{arrow[1]}")
                start = at = arrow.end()
            elif length := self._length(text, at):
                at += length
            elif self._is_alt(text, at):
                yield from (text[start:at], f"\x1b[{ord(text[at + 1])};3u")
                start = at = at + 2
            else:
                yield from (text[start:at], ESCAPE)
                start = at = at + 1
        yield text[start:]

    def _length(self, text: str, at: int) -> int:
        """How much of what begins there is the parser's; none when it is an Escape or a letter with Alt."""
        following = text[at + 1 : at + 2]
        if following == "[" or (following and following in _OWN_TABLE) or _FUNCTION_KEY.match(text, at):
            return 2
        is_word_key = following and following in _WORD_KEYS and following not in self._with_alt
        return 2 if is_word_key and _stands_alone(text, at + 2) else 0

    def _is_alt(self, text: str, at: int) -> bool:
        return text[at + 1 : at + 2] in self._with_alt and _stands_alone(text, at + 2)

    def _end_of_paste(self, text: str) -> int:
        """Where the paste is over that the text begins in, its end mark included."""
        before = self._pasted_end
        found = (before + text).find(_PASTE_END)
        if found < 0:
            self._pasted_end = (before + text)[1 - len(_PASTE_END) :]
            return len(text)
        self._is_paste, self._pasted_end = False, ""
        return found + len(_PASTE_END) - len(before)


def _stands_alone(text: str, at: int) -> bool:
    """Whether no text goes on there."""
    return not text[at : at + 1].isprintable() or at >= len(text)
