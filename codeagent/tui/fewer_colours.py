"""A theme on a terminal of 256 colours: its tints stay tints, and what is written on them can be read.

Rich rounds each colour by itself, and a dark tint becomes the black beside it. Here the
colours are chosen together instead, each from those that the terminal has.
"""

from __future__ import annotations

import colorsys
from collections.abc import Sequence
from dataclasses import fields, replace
from functools import lru_cache
from itertools import product
from math import dist, hypot
from operator import mul

from rich.color import Color, ColorSystem
from rich.color_triplet import ColorTriplet
from rich.style import Style

from codeagent.tui.themes import CodeColours, Palette

READABLE = 4.5
"""The contrast that words need (WCAG 2.2, 1.4.3)."""

_FIRST = ("text", "muted", "accent")
_OTHERS = ("success", "warning", "error")
_LIGHTNESS_OF_TINTS = 2.5
_HUE_APART = 33 / 360
_STRONGER = 1.4
"""So much more colour a changed word needs than its row, beside which it would look grey."""

_LEVELS = (0, 95, 135, 175, 215, 255)  # of xterm's cube
_GREYS = 25  # Rich has a grey of the lightness n / 25 as colour 231 + n
_TO_XYZ = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
_WHITE = (0.95047, 1.0, 1.08883)


def in_256(palette: Palette) -> Palette:
    """The theme in colours that the terminal has; its own sixteen stay as they are."""
    if palette.is_terminals_own:
        return palette
    grounds = [palette.background]
    for wanted in (palette.surface, palette.raised):
        grounds.append(_ground(wanted, taken=grounds))
    strongest = "#ffffff" if palette.is_dark else "#000000"
    tints: list[str] = []
    for wanted in (palette.added_background, palette.removed_background):
        tints.append(_tint(wanted, [*grounds, *tints], [palette.text], [strongest]))
    for wanted, row in zip((palette.added_word, palette.removed_word), tuple(tints), strict=True):
        stronger = 0 if palette.is_dark else _STRONGER * _chroma(row)
        tints.append(_tint(wanted, [*grounds, *tints], [palette.text], [strongest], chroma=stronger))
    selection = _tint(palette.selection, grounds, [getattr(palette, name) for name in (*_FIRST, *_OTHERS)])
    everywhere = [*grounds, selection]
    inks = {name: _kept(getattr(palette, name), everywhere) for name in _FIRST}
    inks |= {name: _ink(getattr(palette, name), everywhere) for name in _OTHERS}
    inks |= {name: _ink(getattr(palette, name), grounds) for name in ("added", "removed")}
    inks["faint"] = _kept(palette.faint, grounds)
    code = {field.name: _ink(getattr(palette.code, field.name), grounds) for field in fields(CodeColours)}
    return replace(
        palette,
        is_rounded=True,
        surface=grounds[1],
        raised=grounds[2],
        added_background=tints[0],
        removed_background=tints[1],
        added_word=tints[2],
        removed_word=tints[3],
        selection=selection,
        code=CodeColours(**code),
        **inks,
    )


@lru_cache(maxsize=1_024)
def readable_on(style: Style, ground: Style) -> Style:
    """The style on a ground, its colour as near as can be read there on a terminal of 256 colours."""
    if style.color is None or style.color.is_default or ground.bgcolor is None:
        return style + ground
    ink = _kept(style.color.get_truecolor().hex, [ground.bgcolor.get_truecolor().hex])
    return style + ground + Style(color=ink)


@lru_cache(maxsize=1_024)
def drawn(colour: str) -> ColorTriplet:
    """What is seen of a colour once Rich has rounded it."""
    return Color.parse(colour).downgrade(ColorSystem.EIGHT_BIT).get_truecolor()


@lru_cache(maxsize=4_096)
def contrast(one: str, other: str) -> float:
    """The contrast of two colours as they are drawn, between 1 and 21."""
    light, dark = sorted((_luminance(drawn(one)), _luminance(drawn(other))), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _ground(wanted: str, taken: Sequence[str]) -> str:
    """The nearest grey that is no other ground."""
    return _nearest(wanted, [one for one in _all() if _is_grey(one) and _is_new(one, taken)])


def _tint(wanted: str, taken: Sequence[str], *words: Sequence[str], chroma: float = 0) -> str:
    """The nearest colour of about that hue, on which the first of these words can be read for which there is one."""
    near = [one for one in _all() if _is_new(one, taken) and not _is_grey(one) and _is_hue(one, wanted)]
    near = [one for one in near if _chroma(one) >= chroma] or near
    for inks in words:
        if fit := [one for one in near if all(contrast(ink, one) >= READABLE for ink in inks)]:
            return _nearest(wanted, fit, lightness=_LIGHTNESS_OF_TINTS)
    return wanted


def _kept(wanted: str, grounds: Sequence[str]) -> str:
    """The colour itself where it can be read, as the first picture of the start has it; else the nearest."""
    is_readable = all(contrast(wanted, ground) >= READABLE for ground in grounds)
    return wanted if is_readable else _ink(wanted, grounds)


def _ink(wanted: str, grounds: Sequence[str]) -> str:
    """The nearest colour that can be read on all these grounds."""
    return _nearest(wanted, [one for one in _all() if all(contrast(one, ground) >= READABLE for ground in grounds)])


def _nearest(wanted: str, found: Sequence[str], lightness: float = 1) -> str:
    """The colour that looks most alike; ``lightness`` is how much more that counts than hue."""
    weights = (lightness, 1.0, 1.0)
    place = tuple(map(mul, weights, _lab(_exact(wanted))))
    return min(found, key=lambda one: dist(tuple(map(mul, weights, _lab(drawn(one)))), place), default=wanted)


@lru_cache(maxsize=1)
def _all() -> tuple[str, ...]:
    """The 240 colours that are the same in every terminal, each as Rich rounds to it."""
    cube = [ColorTriplet(*levels) for levels in product(_LEVELS, repeat=3) if len(set(levels)) > 1]
    greys = [ColorTriplet(*[round(step * 255 / _GREYS)] * 3) for step in range(_GREYS + 1)]
    return tuple(one.hex for one in (*cube, *greys))


def _is_new(colour: str, taken: Sequence[str]) -> bool:
    return drawn(colour) not in {drawn(one) for one in taken}


def _chroma(colour: str) -> float:
    """How far from grey it looks."""
    return hypot(*_lab(drawn(colour))[1:])


def _is_grey(colour: str) -> bool:
    return len(set(drawn(colour))) == 1


def _is_hue(colour: str, wanted: str) -> bool:
    one, other = (colorsys.rgb_to_hls(*of.normalized)[0] for of in (drawn(colour), _exact(wanted)))
    apart = abs(one - other)
    return min(apart, 1 - apart) <= _HUE_APART


def _exact(colour: str) -> ColorTriplet:
    return Color.parse(colour).get_truecolor()


def _linear(colour: ColorTriplet) -> list[float]:
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour.normalized]  # noqa: PLR2004 - sRGB


def _luminance(colour: ColorTriplet) -> float:
    return sum(map(mul, _TO_XYZ[1], _linear(colour)))


@lru_cache(maxsize=1_024)
def _lab(colour: ColorTriplet) -> tuple[float, float, float]:
    """The colour in CIE L*a*b*, where what looks alike is near."""
    linear = _linear(colour)
    parts = [sum(map(mul, row, linear)) / white for row, white in zip(_TO_XYZ, _WHITE, strict=True)]
    x, y, z = (part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116 for part in parts)  # noqa: PLR2004 - CIE
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)
