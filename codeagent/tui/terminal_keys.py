"""Keys as terminals send them, in the one form that the parser of keys reads right; what is no key is left out.

That form is the kitty keyboard protocol's (https://sw.kovidgoyal.net/kitty/keyboard-protocol/),
others are those of xterm and rxvt (https://invisible-island.net/xterm/ctlseqs/ctlseqs.html).
"""

from __future__ import annotations

import re

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual._keyboard_protocol import FUNCTIONAL_KEYS

_KEY = re.compile(r"\x1b\[(\d{0,7})((?::\d{0,7})*)(?:;(\d{0,4})((?::\d+)?))?(;(?:\d{1,7}(?::\d{1,7})*)?)?([u~A-HPQS])")
_WITH_OTHERS = re.compile(r"\x1b\[27;(\d{1,4});(\d{1,7})~")  # xterm's modifyOtherKeys
_F3_OR_PLACE = re.compile(r"\x1b\[1;(\d{1,3})R")  # a key with others held down, else where the cursor is
_OLD_ARROW = re.compile(r"\x1b\[5([A-D])")
_REPORT = re.compile(
    r"\x1b\[(?:[IO]"  # the focus
    r"|<\d{1,9};-?\d{1,9};-?\d{1,9}[Mm]"  # the mouse
    r"|\?\d{1,9};\d\$y"  # whether a mode is known
    r"|48(?:;\d{1,9}(?::[\d:]*)?){4}t)"  # the size
)
_BY_THEMSELVES = frozenset({57358, 57359, 57360, *range(57441, 57455)})  # locks, and keys held down with others
_PRIVATE = range(57344, 63744)  # for keys without a character
_MORE_FUNCTION_KEYS = {25: 57376, 26: 57377, 28: 57378, 29: 57379, 31: 57380, 32: 57381, 33: 57382, 34: 57383}
"""F13 to F20 as xterm numbers them, and as kitty does."""
_RELEASED = ":3"
_SHIFT, _ALT, _CTRL, _LOCKS = 1, 2, 4, 64 | 128
_COMMANDS = _ALT | _CTRL | 8 | 16 | 32  # the last are Super, Hyper and Meta; a key with any of these is no letter
_ONE_CHARACTER = {
    ord("["): "\x1b[27u",
    ord("h"): "\x7f",
    ord("i"): "\t",
    ord("m"): "\r",
    ord("/"): f"\x1b[95;{_CTRL + 1}u",
}
"""Keys that with Ctrl are the control character of another one (ECMA-48), and that one, as fingers know it."""
_UNDERSCORE = ord("_")
_WITH_SHIFT = {ord("-"): _UNDERSCORE, _UNDERSCORE: _UNDERSCORE}  # which of both is told where Ctrl is held down varies
_LAST_ASCII = 0x7F


def as_parser_knows(sequence: str) -> str:
    """A sequence as the parser of keys reads it right; empty for one that is no key, and nothing the app waits for.

    What is no key by itself, such as Shift pressed alone, is left out, and so is a key that is let go.
    Ctrl+[ is Escape, Ctrl+M is Enter and so on, as they are where terminals cannot tell them apart.
    """
    if found := _WITH_OTHERS.fullmatch(sequence):
        return _with_others(held=int(found[1]), number=int(found[2]))
    if found := _F3_OR_PLACE.fullmatch(sequence):
        return f"\x1b[13;{found[1]}~"
    if found := _OLD_ARROW.fullmatch(sequence):
        return f"\x1b[1;{_CTRL + 1}{found[1]}"
    if found := _KEY.fullmatch(sequence):
        return _plain(found)
    return sequence if sequence in ANSI_SEQUENCES_KEYS or _REPORT.fullmatch(sequence) else ""


def _plain(found: re.Match[str]) -> str:
    code, others, held, kind, words, end = found.groups(default="")
    number, bits = int(code or "1"), max(int(held or "1") - 1, 0)
    if kind == _RELEASED or not _is_key(number, end, words):
        return ""
    if end == "~" and number in _MORE_FUNCTION_KEYS:
        return f"\x1b[{_MORE_FUNCTION_KEYS[number]};{held}u"
    if end == "u":
        number, bits = _as_on_a_latin_layout(number, bits, others, words)
        if bits & ~_LOCKS == _CTRL and number in _ONE_CHARACTER:
            return _ONE_CHARACTER[number]
        return f"\x1b[{number};{bits + 1 if bits else ''}{words}u"
    return f"\x1b[{code};{held}{words}{end}" if others or kind else found[0]


def _is_key(number: int, end: str, words: str) -> bool:
    """Whether there is such a key, and all its text can be typed."""
    if end != "u":
        return f"{number}{end}" in FUNCTIONAL_KEYS or number in _MORE_FUNCTION_KEYS
    is_known = f"{number}u" in FUNCTIONAL_KEYS
    is_character = _can_be_read(number) and number not in _PRIVATE
    is_typed = all(_can_be_read(int(word)) for word in words[1:].split(":") if word)
    return (is_known or is_character) and number not in _BY_THEMSELVES and is_typed


def _can_be_read(number: int) -> bool:
    return number <= 0x10FFFF and not 0xD800 <= number <= 0xDFFF  # noqa: PLR2004 - what Unicode has


def _as_on_a_latin_layout(number: int, bits: int, others: str, words: str) -> tuple[int, int]:
    """The character and what is held down with it, where that is no typing: Ctrl+C is one key on all layouts."""
    if words or not bits & _COMMANDS:
        return number, bits
    _, shifted, base = (*others.split(":"), "", "", "")[:3]
    if bits & _SHIFT and chr(number).isupper():  # other terminals than kitty tell what Shift makes of it
        number = ord(chr(number).lower()[0])
    if number > _LAST_ASCII and number not in _PRIVATE and base:
        number = int(base)
    if bits & ~_LOCKS == _CTRL | _SHIFT:
        with_shift = int(shifted) if shifted and int(shifted) <= _LAST_ASCII else _WITH_SHIFT.get(number, 0)
        if with_shift and not chr(with_shift).isalpha():
            return with_shift, bits & ~_SHIFT
    return number, bits


def _with_others(*, held: int, number: int) -> str:
    """A key as xterm tells it: by the character that Shift makes of it."""
    bits = max(held - 1, 0)
    character = chr(number) if _can_be_read(number) else ""
    if character.isprintable() and not bits & ~(_SHIFT | _LOCKS):
        return character
    if character.isprintable() and not character.isspace() and not character.isalpha():
        bits &= ~_SHIFT
    return as_parser_knows(f"\x1b[{number};{bits + 1}u")
