"""Which characters cannot be seen, and where a script or an emoji needs one of them.

The rule for joiners is that of names on the Internet (RFC 5892, appendix A.1 and A.2): there they change
how the letters beside them look, so that they are seen after all.
"""

from __future__ import annotations

import re
import unicodedata

from codeagent.core.seldom import seldom

# Controls, spaces that are not U+0020, soft hyphen, joiners, fillers, direction marks, variation selectors,
# tags, non-characters and surrogates: all that has no ink of its own, or changes where other ink goes.
INVISIBLE = seldom(
    "[\x00-\x08\x0b-\x1f\x7f-\xa0\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u1680"
    "\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ud800-\udfff"
    "\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U000110bd\U000110cd\U00013430-\U0001345f"
    "\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
# Of these what takes no room, or more than is seen. A wide space is a space in prose, and some signs have ink there.
HIDDEN = seldom(
    "[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)
_JOINERS = _NON_JOINER, _JOINER = "\u200c", "\u200d"
_STYLES = "\ufe0e\ufe0f"
_KEYCAP, _ON_KEYS = "\u20e3", "0123456789#*"
_DIRECTIONS = "\u061c\u200e\u200f"
_EMOJI_BUT_NO_SYMBOLS = "©®‼⁉ℹ↔◻◼◽◾⤴⤵〰〽"
_VIRAMA = 9
"""The combining class of what takes the vowel from an Indic letter."""
# Letters of scripts that are written joined, and those of Arabic that join with none behind them.
_CURSIVE = seldom(
    "[\u0620-\u064a\u066e-\u06d3\u06fa-\u070a\u0710-\u072f\u074d-\u077f\u07ca-\u07ea\u0840-\u08c7\u1807-\u18aa]"
)
_ENDS_JOINED = seldom(
    "[\u0621-\u0625\u0627\u0629\u062f-\u0632\u0648\u0671-\u0677\u0688-\u0699\u06c0\u06c3-\u06cb\u06cd\u06cf\u06d2\u06d3]"
)
_VARIANT = seldom("[\u180b-\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_VARIED = seldom("[\u1807-\u18aa\u2e80-\ua4cf\uf900-\ufaff\U00020000-\U0003ffff]")
_RIGHT_TO_LEFT = seldom("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]")


def is_at_home(found: re.Match[str]) -> bool:
    """Whether an unseen character changes how an emoji or a letter beside it is drawn, as it is meant to."""
    character, text, at = found[0], found.string, found.start()
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    if not before:
        return False
    if character in _STYLES:
        return _is_symbol(before) or (after == _KEYCAP and before in _ON_KEYS)
    if character == _JOINER and (before in _STYLES or _is_symbol(before)) and _is_symbol(after):
        return True
    if character in _JOINERS and unicodedata.combining(before) == _VIRAMA:
        return True
    return character == _NON_JOINER and _are_joined(before, after)


def is_at_home_in_prose(found: re.Match[str]) -> bool:
    """Likewise, and for marks that belong to a script: its variants of letters, and its direction where it is."""
    text, at = found.string, found.start()
    if _VARIANT().match(found[0]) and at and _VARIED().match(text, at - 1):
        return True
    if found[0] in _DIRECTIONS:
        return _RIGHT_TO_LEFT().search(text, text.rfind("\n", 0, at) + 1, _line_end(text, at)) is not None
    return is_at_home(found)


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _are_joined(before: str, after: str) -> bool:
    """Whether two letters would be drawn joined, were nothing between them."""
    is_cursive = _CURSIVE().match(before) is not None and _CURSIVE().match(after) is not None
    return is_cursive and not _ENDS_JOINED().match(before)


def _is_symbol(character: str) -> bool:
    """Emoji and their skin tones."""
    if character in _EMOJI_BUT_NO_SYMBOLS:
        return character != ""
    return character > "\u2000" and unicodedata.category(character) in {"So", "Sk"}
