"""What the terminal itself answers: told apart from what the person types, however late it comes."""

from __future__ import annotations

import re

from codeagent.core.seldom import seldom

_BACKGROUND = seldom(
    r"\x1b\]11;rgba?:([0-9a-f]{1,4})/([0-9a-f]{1,4})/([0-9a-f]{1,4})[^\x07\x1b]*(?:\x07|\x1b\\)", re.IGNORECASE
)
_ATTRIBUTES = seldom(r"\x1b\[\?[0-9;]*c")
_UNFINISHED = seldom(r"\x1b(?:\](?:1(?:1(?:;[^\x07\x1b]{0,64}\x1b?)?)?)?|\[(?:\?[0-9;]{0,64})?)?\Z")
_SURELY_ANSWERS = ("\x1b]11", "\x1b[?")
_HALF = 0.5
_LUMA = (0.299, 0.587, 0.114)  # how bright red, green and blue look (ITU-R BT.601)


class Answers:
    """Sifts what arrives from the terminal; the question about its background is asked once, at the start."""

    def __init__(self) -> None:
        self.is_dark: bool | None = None
        self._is_awaited = True
        self._held = ""

    @property
    def is_holding(self) -> bool:
        """Whether something is held back that may be a key."""
        return bool(self._held) and not self._held.startswith(_SURELY_ANSWERS)

    def sift(self, arrived: str) -> str:
        """What of it was typed. The end is kept back for a moment where it may be half an answer."""
        text, self._held = self._held + arrived, ""
        if "\x1b" not in text:
            return text
        text = _BACKGROUND().sub(self._take_background, text)
        text = _ATTRIBUTES().sub(self._take_attributes, text)
        if self._is_awaited and (unfinished := _UNFINISHED().search(text)):
            self._held = unfinished[0]
            text = text[: unfinished.start()]
        return text

    def give_up_waiting(self) -> str:
        """Nothing more came: what was kept back was typed, unless it can only be half an answer."""
        if self._held.startswith(_SURELY_ANSWERS):
            return ""
        held, self._held = self._held, ""
        return held

    def _take_background(self, found: re.Match[str]) -> str:
        parts = (int(part, 16) / (16 ** len(part) - 1) for part in found.groups())
        self.is_dark = sum(weight * part for weight, part in zip(_LUMA, parts, strict=True)) < _HALF
        return ""

    def _take_attributes(self, _found: re.Match[str]) -> str:
        """The answer to the second question, which every terminal knows: no other one follows."""
        self._is_awaited = False
        return ""
