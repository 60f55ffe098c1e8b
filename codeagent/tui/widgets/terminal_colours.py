"""A command's own colours, in those of the theme: what it asks for is followed as far as it stays readable."""

from __future__ import annotations

import colorsys
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from rich.style import Style

from codeagent.core.output_colours import COLOUR
from codeagent.core.text import clean, show_invisible
from codeagent.core.values import value
from codeagent.tui.themes import pen
from codeagent.tui.widgets.inks import Inks
from codeagent.tui.widgets.lines import TAB, Piece

_NAMES = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_HUES = (
    (0.05, "red"),
    (0.2, "yellow"),
    (0.45, "green"),
    (0.54, "cyan"),
    (0.72, "blue"),
    (0.92, "magenta"),
    (1.0, "red"),
)
_GREY = 0.2
_CUBE, _GREYS, _ALL = 16, 232, 256
_EXTENDED = 38
_OTHERS = {48, 58}


@value
class _Pen:
    """What the escape sequences so far add up to; backgrounds and hiding are not followed: all stays readable."""

    colour: str = ""
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    strike: bool = False


_ON = {
    1: {"bold": True},
    2: {"dim": True},
    3: {"italic": True},
    4: {"underline": True},
    9: {"strike": True},
    21: {"underline": True},
    22: {"bold": False, "dim": False},
    23: {"italic": False},
    24: {"underline": False},
    29: {"strike": False},
    39: {"colour": ""},
}


def output_pieces(output: str, ground: Style, inks: Inks) -> list[Piece]:
    """Foreign output as it is drawn, on ``ground``: other escapes gone, what cannot be seen written out."""
    text = clean(output, keep_colours=True).rstrip("\n")
    if "\x1b" not in text:
        return [Piece(show_invisible(text).expandtabs(len(TAB)), ground)] if text else []
    pieces: list[Piece] = []
    style, column = ground, 0
    for said, now in _parts(text):
        style = _style(now, inks, ground)
        shown, column = _without_tabs(show_invisible(said), column)
        pieces.append(Piece(shown, style))
    return pieces


def _parts(text: str) -> Iterator[tuple[str, _Pen]]:
    now, at = _Pen(), 0
    for found in COLOUR.finditer(text):
        if found.start() > at:
            yield text[at : found.start()], now
        now, at = _changed(now, found[1]), found.end()
    if at < len(text):
        yield text[at:], now


def _changed(now: _Pen, codes: str) -> _Pen:
    numbers = iter([int(one or 0) if len(one) <= len("999") else 0 for one in codes.replace(":", ";").split(";")])
    for number in numbers:
        if not number:
            now = _Pen()
        elif number in _ON:
            now = replace(now, **_ON[number])
        elif number == _EXTENDED or number in _OTHERS:
            colour = _extended(numbers)
            now = replace(now, colour=colour) if number == _EXTENDED else now
        elif 30 <= number <= 37 or 90 <= number <= 97:  # noqa: PLR2004 - ECMA-48 and its bright half
            now = replace(now, colour=_NAMES[number % 10] if number < 90 or number % 10 else "grey")  # noqa: PLR2004
    return now


def _extended(numbers: Iterator[int]) -> str:
    """The colour nearest to one of 256, or to one given as red, green and blue."""
    match next(numbers, None):
        case 5:
            number = next(numbers, 0)
            if number < _CUBE:
                return "grey" if number == _CUBE // 2 else _NAMES[number % len(_NAMES)]
            if number >= _GREYS:
                return _nearest(*[(number % _ALL - _GREYS) * 11] * 3)
            red, rest = divmod(number - _CUBE, 36)
            return _nearest(red * 51, rest // 6 * 51, rest % 6 * 51)
        case 2:
            return _nearest(next(numbers, 0), next(numbers, 0), next(numbers, 0))
        case _:
            return ""


def _nearest(red: int, green: int, blue: int) -> str:
    hue, lightness, saturation = colorsys.rgb_to_hls(*(min(one, 255) / 255 for one in (red, green, blue)))
    if saturation < _GREY:
        return "grey" if lightness < 0.7 else ""  # noqa: PLR2004 - what is nearly white is plain text
    return next(name for most, name in _HUES if hue <= most)


@lru_cache(maxsize=512)
def _style(now: _Pen, inks: Inks, ground: Style) -> Style:
    palette = inks.palette
    colours = {
        "red": palette.error,
        "green": palette.success,
        "yellow": palette.warning,
        "blue": palette.accent,
        "magenta": palette.code.keyword,
        "cyan": palette.code.type,
        "white": palette.text,
        "black": palette.muted,
        "grey": palette.muted,
    }
    style = ground
    if now.dim:
        style += inks.faint
    if now.colour:
        style += Style(color=pen(colours[now.colour]))
    elif now.bold:
        style += inks.text
    return style + Style(
        bold=now.bold or None, italic=now.italic or None, underline=now.underline or None, strike=now.strike or None
    )


def _without_tabs(text: str, column: int) -> tuple[str, int]:
    """Tabs as blanks, for a text that begins at a column; and the column it ends at."""
    if "\t" in text:
        text = ("\0" * (column % len(TAB)) + text).expandtabs(len(TAB)).lstrip("\0")
    last = text.rpartition("\n")[2]
    return text, len(last) if "\n" in text else column + len(last)
