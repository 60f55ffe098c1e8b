"""What arrives from a terminal, told apart: the Escape key from keys with Alt, pastes, and what is no key at all.

A terminal sends a key in one piece, so a byte that came by itself was the Escape key
even when a letter follows at once. Within one piece a letter belongs to Alt only where
that has a meaning and no text goes on behind it: all else is Escape, and then the text.
What a terminal tells (its name, a title, the clipboard) is nothing that anybody typed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from codeagent.core.seldom import seldom
from codeagent.core.sequences import (
    ESCAPE,
    NONE,
    PASTE,
    PASTE_END,
    STRINGS,
    UNFINISHED,
    are_lines,
    is_surely_told,
    may_be_told,
    sequence_end,
    shortened,
)
from codeagent.core.text import clean
from codeagent.tui.terminal_keys import as_parser_knows

_LINE_END = re.compile(r"\r\n?")
_CONTINUES = f"[O{STRINGS}"
_ALT_ARROW = re.compile(r"\x1b\x1b[\[O]([A-DFH])")
_OWN_TABLE = "\r\t\x7f"  # Alt with these has a sequence that the parser knows
_WORD_KEYS = "bf"  # so have these, which readline and macOS send to go by words
_SILENCES = 10  # of a tenth of a second: after so many a sequence will not be finished any more
_BACKGROUND = seldom(r"\x1b\]11;rgba?:([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})(?![0-9a-fA-F])")
_HALF = 0.5
_LUMA = (0.299, 0.587, 0.114)  # how bright red, green and blue look (ITU-R BT.601)


class Escapes:
    """What arrives from the terminal, parted: each Escape key and each sequence is a piece of its own."""

    def __init__(self, with_alt: Collection[str] = ()) -> None:
        """``with_alt`` are the characters that mean something with Alt held down."""
        self._with_alt = frozenset(with_alt)
        self._held = ""
        self._silences = 0

    @property
    def is_holding(self) -> bool:
        """Whether something is held back that may be a key."""
        return bool(self._held) and not is_surely_told(self._held)

    def join(self, arrived: str) -> tuple[bool, str]:
        """Whether an Escape held back from before was a key of its own, and what goes on now."""
        held, self._held = self._held, ""
        is_key = bool(held) and not _goes_on(held, arrived)
        return is_key, (held[1:] if is_key else held) + arrived

    def give_up_waiting(self) -> Iterator[str]:
        """Nothing more came for a while: a key that was held back, and half a sequence once that was often so."""
        self._silences += 1
        if is_surely_told(self._held) and self._silences < _SILENCES:
            return iter(())
        return self.give_up()

    def give_up(self) -> Iterator[str]:
        """Nothing more will come: what was held back was typed, unless only a terminal sends that."""
        held, self._held = self._held, ""
        return iter(()) if is_surely_told(held) else self.part(held, is_all=True)

    def part(self, text: str, *, is_all: bool = False) -> Iterator[str]:
        """Text without pastes in pieces; what begins at its end is held back unless that ``is_all``."""
        start = at = 0
        while (at := text.find(ESCAPE, at)) >= 0:
            yield text[start:at]
            end = self._end(text, at)
            if end == UNFINISHED and not is_all:
                self._silences, self._held = 0, shortened(text[at:])
                return
            if end > 0:
                yield text[at:end]
                start = at = end
            elif arrow := _ALT_ARROW.match(text, at):
                yield f"\x1b[1;3{arrow[1]}"
                start = at = arrow.end()
            elif text[at + 1 : at + 2] in self._with_alt and _stands_alone(text, at + 2):
                yield f"\x1b[{ord(text[at + 1])};3u"
                start = at = at + 2
            else:
                yield ESCAPE
                start = at = at + 1
        yield text[start:]

    def _end(self, text: str, at: int) -> int:
        """Where the sequence is over that begins there; ``NONE`` when it is an Escape or a letter with Alt."""
        following = text[at + 1 : at + 2]
        if following and following in _OWN_TABLE:
            return at + 2
        if following and following in _WORD_KEYS and following not in self._with_alt:
            return at + 2 if _stands_alone(text, at + 2) else NONE
        return sequence_end(text, at)


def _goes_on(held: str, arrived: str) -> bool:
    """Whether what arrives belongs to the sequence that was held back; letters that come one by one are typed."""
    if held == ESCAPE:
        return arrived[:1] in _CONTINUES
    return held[1] not in STRINGS or len(arrived) > 1 or may_be_told(held + arrived)


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
                typed, begin, arrived = arrived.partition(PASTE)
                self.is_open = bool(begin)
                if typed:
                    yield typed
            elif (end := (self._last + arrived).find(PASTE_END)) >= 0:
                rest = end + len(PASTE_END) - len(self._last)
                whole = "".join((*self._pieces, arrived[:rest])).removesuffix(PASTE_END)
                self.is_open, self._pieces, self._last, arrived = False, [], "", arrived[rest:]
                yield Pasted(clean(_LINE_END.sub("\n", whole)))
            else:
                self._pieces.append(arrived)
                self._last = (self._last + arrived)[1 - len(PASTE_END) :]
                return


def _is_dark(answer: str) -> bool | None:
    """Whether a control string says that the background is dark; None when it says nothing about that."""
    if not answer.startswith("\x1b]11;"):
        return None
    found = _BACKGROUND().match(answer)
    if found is None:
        return None
    parts = (int(part, 16) / (16 ** len(part) - 1) for part in found.groups())
    return sum(weight * part for weight, part in zip(_LUMA, parts, strict=True)) < _HALF


class Typed:
    """Parts what arrives into keys, each a piece of its own, text, and pastes; what is none of these is left out.

    An Escape that comes alone is held back until something follows or the terminal was silent for a while.
    """

    def __init__(self, with_alt: Collection[str] = ()) -> None:
        """``with_alt`` are the characters that mean something with Alt held down."""
        self._escapes, self._pastes = Escapes(with_alt), Pastes()
        self._are_lines_coming = False
        self.is_dark: bool | None = None
        """Which background the terminal said it has; None until then."""

    @property
    def is_holding(self) -> bool:
        """Whether something is held back that may be a key."""
        return self._escapes.is_holding

    def take(self, arrived: str, *, is_one_read: bool = True) -> Iterator[str | Pasted]:
        """What was typed and pasted, as far as that is known now; ``is_one_read``: it came all at once."""
        is_escape, arrived = self._escapes.join(arrived)
        if is_escape:
            yield ESCAPE
        for part in self._pastes.part(arrived):
            if isinstance(part, Pasted):
                yield part
                continue
            yield from self._told_apart(self._escapes.part(part), is_one_read=is_one_read)
            if self._pastes.is_open:
                yield from self._told_apart(self._escapes.give_up())

    def give_up_waiting(self) -> Iterator[str | Pasted]:
        """Nothing more came for a while: what was held back, if that may be a key."""
        self._are_lines_coming = False
        yield from self._told_apart(self._escapes.give_up_waiting())

    def _told_apart(self, pieces: Iterator[str], *, is_one_read: bool = False) -> Iterator[str | Pasted]:
        for piece in filter(None, pieces):
            if piece == ESCAPE:
                yield piece
            elif piece[0] == ESCAPE:
                self._learn(piece)
                yield from filter(None, [as_parser_knows(piece)])
            elif is_one_read and self._is_of_lines(piece):
                yield Pasted(clean(_LINE_END.sub("\n", piece)))
            else:
                yield piece

    def _learn(self, sequence: str) -> None:
        told = _is_dark(sequence)
        self.is_dark = self.is_dark if told is None else told

    def _is_of_lines(self, text: str) -> bool:
        """Whether it belongs to a paste where the terminal does not mark these; a long one comes in several reads."""
        self._are_lines_coming = are_lines(text, least=1 if self._are_lines_coming else 2)
        return self._are_lines_coming
