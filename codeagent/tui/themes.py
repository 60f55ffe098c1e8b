"""The colours of the screen: themes as plain TOML files, one palette each.

Bundled themes lie beside the package; people put their own in a folder of their
config directory, and a file of the same name there replaces a bundled one.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TypeGuard

from textual.theme import Theme

from codeagent.config.theme_files import theme_files
from codeagent.core.errors import ConfigError, reason_of
from codeagent.core.values import value

_COLOUR = re.compile(
    r"#[0-9a-f]{6}|ansi_(?:default|(?:bright_)?(?:black|red|green|yellow|blue|magenta|cyan|white))", re.IGNORECASE
)
_ANSI = "ansi_"
_MOST_NAMED = 3


@value
class CodeColours:
    """The colours of highlighted code; what has none of its own is drawn as plain text."""

    keyword: str
    string: str
    number: str
    comment: str
    function: str
    type: str


@value
class Palette:
    """One theme: every colour as ``#rrggbb``, or as one of the terminal's own such as ``ansi_cyan``.

    ``background`` is the canvas, ``surface`` bars and dialogs, ``raised`` code
    and what is pointed at. ``text``, ``muted`` and ``faint`` are three strengths
    of words, ``rule`` is for lines only. ``added_background`` marks a changed
    line, ``added_word`` the words in it that differ (both are backgrounds);
    ``added`` and ``removed`` are the signs and counts. ``is_rounded`` says that the
    terminal has 256 colours, from which these are.
    """

    name: str
    is_dark: bool
    background: str
    surface: str
    raised: str
    text: str
    muted: str
    faint: str
    rule: str
    accent: str
    success: str
    warning: str
    error: str
    added: str
    removed: str
    added_word: str
    removed_word: str
    added_background: str
    removed_background: str
    selection: str
    code: CodeColours
    is_rounded: bool = False

    @property
    def is_terminals_own(self) -> bool:
        """Whether it draws on the terminal's own background, with the colours set there."""
        return self.background.startswith(_ANSI)

    @property
    def has_strong_tints(self) -> bool:
        """Whether its tints are too strong for whole rows: among 256 colours there are no dark ones that are quiet."""
        return self.is_rounded and self.is_dark


def _as_it_is(palette: Palette) -> Palette:
    return palette


class Themes:
    """All themes by name, each read when it is first wanted; ``folders`` are the person's own.

    ``fit`` makes of a theme what the terminal can show of it.
    """

    def __init__(self, folders: Sequence[Path] = (), fit: Callable[[Palette], Palette] = _as_it_is) -> None:
        self._paths = theme_files(folders)
        self._fit = fit
        self._read: dict[str, Palette] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all themes."""
        return tuple(self._paths)

    def __contains__(self, name: str) -> bool:
        return name in self._paths

    def __getitem__(self, name: str) -> Palette:
        """The theme of that name; raises ConfigError for a file that is not a theme, KeyError where there is none."""
        if name not in self._read:
            self._read[name] = self._fit(read_theme(self._paths[name]))
        return self._read[name]

    def problem(self, name: str) -> str:
        """In a sentence, why there is no such theme or it cannot be drawn; empty when it can."""
        if name not in self:
            return f"There is no theme {name}; there are {', '.join(self.names)}."
        try:
            self[name]
        except ConfigError as error:
            return str(error)
        return ""

    def sound(self, *names: str) -> Palette:
        """The first of these themes that can be drawn; where none can, the dark one that comes with the program."""
        for name in names:
            if not self.problem(name):
                return self[name]
        return self._fit(read_theme(theme_files()["dark"]))


def load_themes(folders: Sequence[Path] = ()) -> dict[str, Palette]:
    """All themes, read at once. Raises ConfigError for a file that is not a theme."""
    themes = Themes(folders)
    return {name: themes[name] for name in themes.names}


def read_theme(path: Path) -> Palette:
    """One theme file; its name without the suffix is the theme's. Raises ConfigError.

    Colours that the file does not give are those of the bundled ``dark``, or of ``light``
    where it says that it is no dark theme.
    """
    table = _table(path)
    is_dark = table.setdefault("is_dark", True)
    code = table.pop("code", {})
    if not isinstance(is_dark, bool) or not _is_table(code):
        raise _not_a_theme(path, "is_dark must be true or false, and [code] a table")
    usual = _table(theme_files()["dark" if is_dark else "light"])
    usual_code = usual.pop("code", {})
    table, code = usual | table, (usual_code if _is_table(usual_code) else {}) | code
    del table["is_dark"]
    colours = dict(_colours(path, table, Palette, leave_out={"name", "is_dark", "code", "is_rounded"}))
    return Palette(
        name=path.stem,
        is_dark=is_dark,
        is_rounded=False,
        code=CodeColours(**dict(_colours(path, code, CodeColours))),
        **colours,
    )


def _table(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        why = reason_of(error)
        raise ConfigError(f"The theme {path} cannot be read: {why}.", hint="Mend the file or remove it.") from error


def to_textual(palette: Palette, *, can_dim: bool = True) -> Theme:
    """The palette as a theme that Textual's style sheets can use: ``$background``, ``$text-muted`` and so on.

    What is behind a window is dimmed, or hidden where too few colours are there for that.
    """
    dims = can_dim and not palette.is_rounded and not palette.is_terminals_own
    veil = f"{palette.background} 60%" if dims else palette.background
    return Theme(
        name=palette.name,
        primary=palette.accent,
        secondary=palette.accent,
        accent=palette.accent,
        foreground=palette.text,
        background=palette.background,
        surface=palette.surface,
        panel=palette.raised,
        boost=palette.background if palette.is_terminals_own else None,
        success=palette.success,
        warning=palette.warning,
        error=palette.error,
        dark=palette.is_dark,
        variables={**_variables(palette), "veil": veil},
        ansi=palette.is_terminals_own,
    )


def pen(colour: str) -> str:
    """A palette's colour by the name that Rich knows it by."""
    return colour.removeprefix(_ANSI)


def _variables(palette: Palette) -> dict[str, str]:
    own = {"ansi-background": "ansi_black", "ansi-foreground": "ansi_white"} if palette.is_terminals_own else {}
    return {
        **own,
        "text": palette.text,
        "text-muted": palette.muted,
        "text-faint": palette.faint,
        "text-accent": palette.accent,
        "text-disabled": palette.muted,
        "rule": palette.rule,
        "raised": palette.raised,
        "border": palette.rule,
        "border-blurred": palette.rule,
        "scrollbar": palette.rule,
        "scrollbar-hover": palette.faint,
        "scrollbar-active": palette.muted,
        "scrollbar-background": palette.surface,
        "scrollbar-background-hover": palette.surface,
        "scrollbar-background-active": palette.surface,
        "scrollbar-corner-color": palette.surface,
        "screen-selection-background": palette.selection,
        "screen-selection-foreground": palette.text,
        "input-selection-background": palette.selection,
        "input-cursor-background": palette.text,
        "input-cursor-foreground": palette.background,
        "block-cursor-background": palette.accent,
        "block-cursor-foreground": palette.background,
        "footer-key-foreground": palette.accent,
    }


def _is_table(value: object) -> TypeGuard[dict[str, object]]:
    return isinstance(value, dict)


def _colours(
    path: Path, table: Mapping[str, object], shape: type[Palette | CodeColours], leave_out: set[str] | None = None
) -> Iterator[tuple[str, str]]:
    wanted = {field.name for field in fields(shape)} - (leave_out or set())
    if unknown := sorted(table.keys() - wanted):
        raise _not_a_theme(path, f"it has no place for {_some(unknown)}")
    for name, colour in table.items():
        if not isinstance(colour, str) or not _COLOUR.fullmatch(colour):
            raise _not_a_theme(path, f"{name} must be a colour like #8ab4f8 or ansi_cyan")
        yield name, colour


def _some(names: Sequence[str]) -> str:
    """The names, few of them where there are many."""
    more = len(names) - _MOST_NAMED
    return ", ".join(names) if more <= 1 else f"{', '.join(names[:_MOST_NAMED])} and {more:,} more"


def _not_a_theme(path: Path, why: str) -> ConfigError:
    return ConfigError(
        f"{path} is not a theme: {why}.", hint="The names of its colours are in the README, under Configuration."
    )
