"""What arrives from a terminal, told apart: the Escape key from keys with Alt, and pastes, of which nothing is a key.

A terminal sends a key in one piece, so a byte that came by itself was the Escape key
even when a letter follows at once. Within one piece a letter belongs to Alt only where
that has a meaning and no text goes on behind it: all else is Escape, and then the text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from codeagent.core.text import clean
from codeagent.tui.answers import Answers

ESCAPE = "\x1b"

_PASTE, _PASTE_END = "\x1b[200~", "\x1b[201~"
_LINE_END = re.compile(r"\r\n?")
_UNFINISHED = re.compile(r"\x1b(?:\[(?:2(?:00?)?)?)?\Z")
_CONTINUES = "[]O"  # what a control sequence, an answer or a function key goes on with
_FUNCTION_KEY = re.compile(r"\x1bO(?:[A-DFHM-Sj-y]|\Z)")
_ALT_ARROW = re.compile(r"\x1b\x1b[\[O]([A-DFH])")
_OWN_TABLE = "\r\t\x7f"  # Alt with these has a sequence that the parser knows
_WORD_KEYS = "bf"  # so have these, which readline and macOS send to go by words

# The kitty keyboard protocol (https://sw.kovidgoyal.net/kitty/keyboard-protocol/)
_KITTY_KEY = re.compile(r"\x1b\[(\d{1,9})((?::\d*)*)(?:;(\d*)((?::\d+)?))?(;[\d:]*)?([u~A-HPQS])")
_BY_THEMSELVES = frozenset({57358, 57359, 57360, *range(57441, 57455)})  # locks, and keys held down with others
_RELEASED = ":3"
_CTRL, _CTRL_SHIFT, _LOCKS = 4, 5, 64 | 128
_ONE_CHARACTER = {
    ord("["): "\x1b[27u",
    ord("h"): "\x7f",
    ord("i"): "\t",
    ord("m"): "\r",
    ord("/"): f"\x1b[95;{_CTRL + 1}u",
}
"""Keys that with Ctrl are the control character of another one (ECMA-48), and that one, as fingers know it."""
_WITH_SHIFT = {45: 95}  # the underscore is on the minus, which is not told where Ctrl is held down


def plain_keys(text: str) -> str:
    """Typed text with each key of the kitty protocol as the parser knows it.

    What is no key by itself, such as Shift pressed alone, is left out, and so is a key that is let go.
    Ctrl+[ is Escape, Ctrl+M is Enter and so on, as they are where terminals cannot tell them apart.
    """
    return _KITTY_KEY.sub(_plain, text) if "\x1b[" in text else text


def _plain(found: re.Match[str]) -> str:
    code, others, held, kind, words, end = found.groups(default="")
    number, bits = int(code), max(int(held or "1") - 1, 0)
    if kind == _RELEASED or (end == "u" and number in _BY_THEMSELVES):
        return ""
    if end == "u" and bits & ~_LOCKS == _CTRL and number in _ONE_CHARACTER:
        return _ONE_CHARACTER[number]
    if end == "u" and bits & ~_LOCKS == _CTRL_SHIFT:
        shifted = others.split(":")[1] if others else ""
        if with_shift := int(shifted or _WITH_SHIFT.get(number, 0)):
            return f"\x1b[{with_shift};{_CTRL + 1}u"
    return f"\x1b[{code};{held}{words}{end}" if others or kind else found[0]


class Escapes:
    """What arrives from the terminal, parted: each Escape key is a piece of its own."""

    def __init__(self, with_alt: Collection[str] = ()) -> None:
        """``with_alt`` are the characters that mean something with Alt held down."""
        self._with_alt = frozenset(with_alt)
        self._held = ""

    @property
    def is_holding(self) -> bool:
        """Whether something is held back that may be a key."""
        return bool(self._held)

    def join(self, arrived: str, *, is_pasted: bool = False) -> tuple[bool, str]:
        """Whether an Escape held back from before was a key of its own, and what goes on now.

        ``is_pasted``: it begins inside a paste, where there are no keys.
        """
        held, self._held = self._held, ""
        is_key = held == ESCAPE and not is_pasted and arrived[:1] not in _CONTINUES
        text = arrived if is_key else held + arrived
        if unfinished := _UNFINISHED.search(text):
            self._held = unfinished[0]
            text = text[: unfinished.start()]
        return is_key, text

    def give_up_waiting(self) -> str:
        """Nothing more came: what was held back, an Escape or the beginning of a sequence."""
        held, self._held = self._held, ""
        return held

    def part(self, text: str) -> Iterator[str]:
        """Typed text in pieces; one that is nothing but an Escape is that key."""
        start = at = 0
        while (at := text.find(ESCAPE, at)) >= 0:
            if arrow := _ALT_ARROW.match(text, at):
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


def _stands_alone(text: str, at: int) -> bool:
    """Whether no text goes on there."""
    return not text[at : at + 1].isprintable() or at >= len(text)


@dataclass(frozen=True, slots=True)
class Pasted:
    """One paste, whole; without escape sequences and control characters."""

    text: str


class Pastes:
    """Parts what arrives into typed text and pastes; a paste may come in many pieces."""

    def __init__(self) -> None:
        self.is_open = False
        self._pieces: list[str] = []
        self._last = ""

    def part(self, arrived: str) -> Iterator[str | Pasted]:
        """What was typed, and pastes that are over now, in the order in which they came."""
        while arrived:
            if not self.is_open:
                typed, begin, arrived = arrived.partition(_PASTE)
                self.is_open = bool(begin)
                if typed:
                    yield typed
            elif (end := (self._last + arrived).find(_PASTE_END)) >= 0:
                rest = end + len(_PASTE_END) - len(self._last)
                whole = "".join((*self._pieces, arrived[:rest])).removesuffix(_PASTE_END)
                self.is_open, self._pieces, self._last, arrived = False, [], "", arrived[rest:]
                yield Pasted(clean(_LINE_END.sub("\n", whole)))
            else:
                self._pieces.append(arrived)
                self._last = (self._last + arrived)[1 - len(_PASTE_END) :]
                return


class Typed:
    """Parts what arrives: a piece that is nothing but an Escape is that key, other text is for the parser of keys.

    An Escape that comes alone is held back until something follows or the terminal was silent for a while.
    """

    def __init__(self, with_alt: Collection[str] = ()) -> None:
        """``with_alt`` are the characters that mean something with Alt held down."""
        self._escapes, self._pastes, self._answers = Escapes(with_alt), Pastes(), Answers()

    @property
    def is_dark(self) -> bool | None:
        """Which background the terminal said it has; None until then."""
        return self._answers.is_dark

    @property
    def is_holding(self) -> bool:
        """Whether something is held back that may be a key."""
        return self._escapes.is_holding or self._answers.is_holding

    def take(self, arrived: str) -> Iterator[str | Pasted]:
        """What was typed and pasted, as far as that is known now."""
        is_escape, arrived = self._escapes.join(arrived, is_pasted=self._pastes.is_open)
        if is_escape:
            yield ESCAPE
        yield from self._told_apart(arrived)

    def give_up_waiting(self) -> Iterator[str | Pasted]:
        """Nothing more came: all that was held back. One wait is enough: what one part lets go no other keeps."""
        yield from self._keys(self._answers.give_up_waiting())
        yield from self._told_apart(self._escapes.give_up_waiting())
        yield from self._keys(self._answers.give_up_waiting())

    def _told_apart(self, arrived: str) -> Iterator[str | Pasted]:
        for part in self._pastes.part(arrived):
            if isinstance(part, Pasted):
                yield part
            else:
                yield from self._keys(self._answers.sift(part))

    def _keys(self, text: str) -> Iterator[str]:
        return filter(None, self._escapes.part(plain_keys(text)))
