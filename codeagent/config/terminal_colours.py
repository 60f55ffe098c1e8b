"""How many colours the terminal has, whether it is dark or light, and the theme that suits it."""

import os
from _collections_abc import Mapping  # collections.abc would load all of collections, before the first picture

AUTO = "auto"
DARK, LIGHT = "dark", "light"
TERMINALS_OWN, TERMINALS_OWN_LIGHT = "terminal", "terminal-light"
_ON_LIGHT = {DARK: LIGHT, TERMINALS_OWN: TERMINALS_OWN_LIGHT}
_ON_DARK = {LIGHT: DARK, TERMINALS_OWN_LIGHT: TERMINALS_OWN}
FULL, MANY, FEW = 1 << 24, 256, 16

_SHOW_ALL = frozenset({"kitty", "ghostty", "alacritty", "foot", "wezterm", "direct"})
"""How the names of terminals end that show all colours and say so in ``COLORTERM``, which ssh does not pass on."""
_DEC_WITH_COLOURS = ("vt340", "vt525")
_WITHOUT_COLOURS = frozenset({"m", "mono", "nocolor"})
_LIGHT_COLOURS = {"7", "9", "10", "11", "12", "13", "14", "15"}  # of COLORFGBG, as rxvt and Konsole set it
_LONGEST_HINT = 16


def colours_of(environ: Mapping[str, str]) -> int:
    """How many colours the terminal says it has: ``FULL``, ``MANY`` or ``FEW``."""
    is_in_screen = environ.get("STY") and not environ.get("TMUX")  # it takes the parts of a full colour for others
    if not is_in_screen and environ.get("COLORTERM", "").strip().lower() in {"truecolor", "24bit"}:
        return FULL
    kind = environ.get("TERM", "").lower().rpartition("-")[2]
    return FULL if kind in _SHOW_ALL else MANY if kind == "256color" else FEW


def has_no_colour(environ: Mapping[str, str]) -> bool:
    """Whether the person wants none (https://no-color.org), or the terminal has none, as its name says."""
    return bool(environ.get("NO_COLOR")) or (not environ.get("COLORTERM") and _is_monochrome(environ.get("TERM", "")))


def _is_monochrome(terminal: str) -> bool:
    """DEC's terminals by their numbers, and what terminfo(5) names as without colours."""
    name, *ends = terminal.lower().split("-")
    is_dec = name[:2] == "vt" and name[2:5].isdecimal() and not (name.startswith(_DEC_WITH_COLOURS) or "color" in ends)
    return is_dec or not _WITHOUT_COLOURS.isdisjoint(ends)


def theme_for(wanted: str, environ: Mapping[str, str], background_file: str) -> str:
    """The name of the theme to start with; ``background_file`` holds how the last terminal's background was."""
    if has_no_colour(environ):
        return TERMINALS_OWN
    if wanted != AUTO:
        return wanted
    ground = _hint(environ) or remembered(background_file)
    return on_ground(TERMINALS_OWN if colours_of(environ) == FEW else DARK, is_dark=ground != LIGHT)


def on_ground(theme: str, *, is_dark: bool) -> str:
    """The theme of that kind for a dark or a light background; the same where there is only one of its kind."""
    return (_ON_DARK if is_dark else _ON_LIGHT).get(theme, theme)


def follows_terminal(wanted: str, environ: Mapping[str, str]) -> bool:
    """Whether the terminal's answer about its background decides on the theme."""
    return wanted == AUTO and not has_no_colour(environ)


def _hint(environ: Mapping[str, str]) -> str:
    background = environ.get("COLORFGBG", "").rpartition(";")[2]
    if not background.isdecimal():
        return ""
    return LIGHT if background in _LIGHT_COLOURS else DARK


def remembered(path: str) -> str:
    """``dark`` or ``light`` as kept in that file; empty when nothing is."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        kept = os.read(descriptor, _LONGEST_HINT).decode("ascii", "replace").strip()
    except OSError:
        return ""
    finally:
        os.close(descriptor)
    return kept if kept in {DARK, LIGHT} else ""
