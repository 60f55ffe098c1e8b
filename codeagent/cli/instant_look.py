"""The colours of the instant prompt, read without loading anything: the same ones that the app will use."""

import os
import sys
from _collections_abc import Mapping  # collections.abc would load all of collections

from codeagent.config.terminal_colours import AUTO, FEW, FULL, colours_of, has_no_colour, theme_for
from codeagent.core.first_words import IDLE_HINTS

_NAMES = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_ANSI = (
    _NAMES,
    tuple(f"bright_{name}" for name in _NAMES),
)
_GREY_BELOW = 0.15  # saturation under which a colour becomes a grey, as Rich has it
_LARGEST = 65_536
_HINTED = {"send", "palette", "help"}
"""The keys that are named below the prompt, by their names in the settings."""


class InstantLook:
    """Colours by their names in a theme, as this terminal is told them; with 0 ``colours``, without any."""

    def __init__(
        self, palette: Mapping[str, str], colours: int, hints: str = IDLE_HINTS, *, suspends: bool = True
    ) -> None:
        """``hints`` are the keys that the last line names; ``suspends`` says whether Ctrl+Z goes back to the shell."""
        self._palette = palette
        self._colours = colours
        self.hints = hints
        self.suspends = suspends

    def style(self, text: str, background: str = "background", *, bold: bool = False) -> str:
        """The sequence that switches to a colour of text on a background, both named as in a theme."""
        if not self._colours:
            return "\x1b[0m" + {"accent": "\x1b[1m", "faint": "\x1b[2m", "rule": "\x1b[2m"}.get(text, "")
        parts = ["0", "1"] if bold else ["0"]
        parts += [self._code(self._palette[text], 38), self._code(self._palette[background], 48)]
        return f"\x1b[{';'.join(parts)}m"

    def cursor(self) -> str:
        """The sequence for the cell of the cursor."""
        if self.is_terminals_own:
            return self.style("text") + "\x1b[7m"
        return self.style("background", "text")

    @property
    def is_terminals_own(self) -> bool:
        """Whether it is drawn on the terminal's own background."""
        return self._palette["background"].startswith("ansi_")

    def _code(self, colour: str, kind: int) -> str:
        if colour.startswith("ansi_"):
            return _ansi_code(colour.removeprefix("ansi_"), kind - 8)
        red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
        if self._colours == FULL:
            return f"{kind};2;{red};{green};{blue}"
        return f"{kind};5;{nearest_of_256(red, green, blue)}"


def _ansi_code(name: str, first: int) -> str:
    for row, offset in zip(_ANSI, (0, 60), strict=True):
        if name in row:
            return str(first + offset + row.index(name))
    return str(first + 9)


def nearest_of_256(red: int, green: int, blue: int) -> int:
    """The number of the colour among the 256 of xterm, chosen as Rich chooses it."""
    most, least = max(red, green, blue) / 255, min(red, green, blue) / 255
    light = (most + least) / 2
    span = most - least
    if not span or span / (most + least if light <= 0.5 else 2 - most - least) < _GREY_BELOW:  # noqa: PLR2004 - half
        grey = round(light * 25)
        return 16 if not grey else 231 if grey == 25 else 231 + grey  # noqa: PLR2004 - the ends of the grey ramp
    six = (part / 95 if part < 95 else 1 + (part - 95) / 40 for part in (red, green, blue))  # noqa: PLR2004 - xterm's cube
    high, middle, low = map(round, six)
    return 16 + 36 * high + 6 * middle + low


def find_look(environ: Mapping[str, str]) -> InstantLook | None:
    """The look that the app will have; None when that is not plain to see."""
    config, state = _folders(environ)
    settings = _read(f"{config}/config.toml")
    wanted = dict(_strings(settings, table="ui")).get("theme", AUTO)
    name = theme_for(wanted, environ, f"{state}/background")
    package = __file__.rpartition("/cli/")[0]
    for folder in (f"{config}/themes", f"{package}/themes", f"{package}/../themes"):
        if text := _read(f"{folder}/{name}.toml"):
            break
    else:
        return None
    palette = dict(_strings(text, table=""))
    colours = colours_of(environ)
    needed = {"background", "text", "muted", "faint", "rule", "accent"}
    is_readable = all(_is_colour(palette.get(name, "")) for name in needed)
    if not is_readable or (colours == FEW and not palette["background"].startswith("ansi_")):
        return None
    changed = {name for name, _ in _strings(settings, table="keys")}
    hints = "" if changed & _HINTED else IDLE_HINTS  # the app knows what to say then
    colours = 0 if has_no_colour(environ) else colours
    return InstantLook(palette, colours, hints, suspends="suspend" not in changed)


def _is_colour(value: str) -> bool:
    if value.startswith("ansi_"):
        return True
    return len(value) == 7 and value[0] == "#" and all(one in "0123456789abcdefABCDEF" for one in value[1:])  # noqa: PLR2004


def _folders(environ: Mapping[str, str]) -> tuple[str, str]:
    """The folders of settings and of state; a test holds them against those that the app uses."""
    if home := environ.get("CODEAGENT_HOME"):
        return f"{home}/config", f"{home}/state"
    home = environ.get("HOME", "")
    if sys.platform == "darwin":
        support = f"{home}/Library/Application Support/codeagent"
        return support, support
    config = environ.get("XDG_CONFIG_HOME", "").strip() or f"{home}/.config"
    state = environ.get("XDG_STATE_HOME", "").strip() or f"{home}/.local/state"
    return f"{config}/codeagent", f"{state}/codeagent"


def _strings(text: str, table: str) -> list[tuple[str, str]]:
    """The plain strings of one table of a TOML file, each on a line of its own."""
    found: list[tuple[str, str]] = []
    here = ""
    for line in text.splitlines():
        key, equals, value = line.partition("=")
        value = value.strip()
        if line.startswith("["):
            here = line.strip().strip("[]").strip()
        elif equals and here == table and value[:1] in {'"', "'"}:
            found.append((key.strip(" \t\"'"), value[1:].partition(value[0])[0]))
    return found


def _read(path: str) -> str:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        return os.read(descriptor, _LARGEST).decode("utf-8", "replace")
    except OSError:
        return ""
    finally:
        os.close(descriptor)
