"""Which theme is drawn: the one that was wanted, or the one that suits the terminal, or no colours at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

from rich.segment import Segment
from rich.style import Style
from textual.app import App
from textual.color import Color
from textual.filter import LineFilter

from codeagent.config.terminal_colours import on_ground
from codeagent.config.theme_files import AUTO
from codeagent.core.commands import CommandName, NoSuchCommand, NotReady
from codeagent.core.errors import CodeagentError
from codeagent.core.values import value
from codeagent.tui.later import in_256
from codeagent.tui.screens.picker import Item, Picker
from codeagent.tui.themes import Palette, Themes, to_textual

_GREYS = (0, 8)  # black and bright black among the terminal's own colours


def _forget(_: object) -> None:
    """Keeps nothing."""


def _silence(_: str) -> str:
    return ""


@value
class Appearance:
    """What the terminal and the person's settings ask for, and who keeps a choice.

    ``follows_terminal`` lets the terminal's own answer choose between dark and light;
    ``suits_terminal`` is the theme for it as far as is known at the start; ``has_256_colours``
    says that it has no more than those.
    ``keep_theme`` stores the name of a theme as a setting and raises ConfigError;
    ``keep_background`` is told whether the terminal is dark. ``notice`` makes of a text
    the codes that bring it before a person who looks elsewhere.
    """

    follows_terminal: bool = False
    suits_terminal: str = "dark"
    has_256_colours: bool = False
    is_colourless: bool = False
    keep_theme: Callable[[str], None] = _forget
    keep_background: Callable[[bool], None] = _forget
    notice: Callable[[str], str] = _silence


USUAL = Appearance()
"""As the settings say, and nothing is kept."""


class Looks:
    """The themes, and the one in use."""

    def __init__(self, app: App[str], wanted: str, folders: Sequence[Path], appearance: Appearance) -> None:
        """Called while the app is made: a theme that came later would cost a second style sheet."""
        self._app = app
        self._wanted = wanted
        self._appearance = appearance
        self._follows = appearance.follows_terminal
        self._suits_terminal = appearance.suits_terminal
        self._plain = [WithoutColour()] if appearance.is_colourless else []
        self.themes = Themes(folders, in_256) if appearance.has_256_colours else Themes(folders)
        self.palette = self.themes.sound(wanted, appearance.suits_terminal)
        self._looked_at = self._before = ""
        app.register_theme(to_textual(self.palette, can_dim=not self._plain))
        app.set_reactive(App.theme, self.palette.name)
        app.stylesheet.set_variables(app.get_css_variables())

    @property
    def problem(self) -> str:
        """What is wrong with the wanted theme; empty when nothing is."""
        return self.themes.problem(self._wanted)

    def filters(self, usual: Sequence[LineFilter]) -> Sequence[LineFilter]:
        """What is done to each line before it is drawn: the terminal's own colours stay as they are."""
        return self._plain or ([] if self.palette.is_terminals_own else usual)

    def use(self, name: str) -> Palette:
        """Draws with that theme from now on, or with one that comes with the program where its file is not a theme."""
        self.palette = self.themes.sound(name)
        self._app.register_theme(to_textual(self.palette, can_dim=not self._plain))
        self._app.theme = self.palette.name
        return self.palette

    def suits_background(self, *, is_dark: bool) -> str:
        """The theme for a terminal that said how it is; empty when that changes nothing."""
        self._appearance.keep_background(is_dark)
        self._suits_terminal = name = on_ground(self._suits_terminal, is_dark=is_dark)
        return name if self._follows and name != self.palette.name else ""

    def look_along(self, text: str, pointed: str, show: Callable[[str], None]) -> None:
        """Shows the theme that is ``pointed`` at in what completes ``text``, until that names another one or none."""
        words = text.split()
        is_theme = words[:1] == [f"/{CommandName.THEME}"]
        is_taken = bool(self._looked_at) and words[1:] == [self._looked_at]
        self._look(pointed or (self._looked_at if is_taken else "") if is_theme else "", show)

    def _look(self, name: str, show: Callable[[str], None]) -> None:
        """Shows that one for now; the one before where it has no name."""
        if name == self._looked_at or self._appearance.is_colourless:
            return
        if not self._looked_at:
            self._before = self.palette.name
        self._looked_at = name
        show(self._shown(name) if name else self._before)

    async def choose(self, argument: str, show: Callable[[str], None]) -> str:
        """Shows a theme, chosen from a list with a live preview when none is named, and keeps the choice.

        Returns what there is to say about it. Raises NoSuchCommand, NotReady and ConfigError.
        """
        if self._appearance.is_colourless:
            raise NotReady("Nothing is drawn in colour: NO_COLOR is set, or the terminal has no colours.")
        if argument != self._looked_at:
            self._look("", show)
        self._looked_at = ""
        if argument and argument != AUTO and (problem := self.themes.problem(argument)):
            raise NoSuchCommand(problem)
        chosen = argument or await self._pick(show)
        if not chosen:
            return ""
        self._follows = chosen == AUTO
        show(self._shown(chosen))
        try:
            self._appearance.keep_theme(chosen)
        except CodeagentError as error:
            return f"{chosen} is used for this session. {error}"
        return ""

    def offered(self) -> list[Item]:
        """What can be chosen from: themes that can be drawn, and in words what they are like."""
        looks = [self.themes[known] for known in self.themes.names if not self.themes.problem(known)]
        items = [Item(value=AUTO, detail="dark or light, as the terminal is")]
        return items + [Item(value=one.name, detail=_kind_of(one)) for one in looks]

    async def _pick(self, show: Callable[[str], None]) -> str | None:
        before = self.palette.name
        items = self.offered()
        problems = "\n".join(filter(None, map(self.themes.problem, self.themes.names)))
        current = AUTO if self._follows else before
        picker = Picker("Theme", items, current=current, on_look=lambda name: show(self._shown(name)), note=problems)
        chosen = await self._app.push_screen_wait(picker)
        if not chosen:
            show(before)
        return chosen

    def _shown(self, name: str) -> str:
        return self._suits_terminal if name == AUTO else name


_VARIANTS = {"-contrast": "in strong contrast", "-colour-blind": "changes in blue and orange"}


def _kind_of(palette: Palette) -> str:
    if palette.is_terminals_own:
        return "the terminal's own colours" if palette.is_dark else "the terminal's own colours, on light"
    if palette.name in {"dark", "light"}:
        return "quiet greys with one blue"
    kind = "dark" if palette.is_dark else "light"
    return next((f"{kind}, {words}" for ending, words in _VARIANTS.items() if palette.name.endswith(ending)), kind)


class WithoutColour(LineFilter):
    """Draws with bold, dim and reverse alone, in the terminal's own two colours."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002 - Textual's signature
        """The same text, each style without its colours."""
        return [Segment(text, style and _colourless(style)) for text, style, _ in segments]


@lru_cache(1024)
def _colourless(style: Style) -> Style:
    """What had a colour of its own is bold, what was set back is dim, what stood on a ground of its own is reversed."""
    has_colour = style.color is not None and not style.color.is_default
    is_faint = style.color is not None and style.color.number in _GREYS
    is_marked = style.bgcolor is not None and not style.bgcolor.is_default
    return Style(
        bold=style.bold or (has_colour and not is_faint) or None,
        dim=style.dim or is_faint or None,
        italic=style.italic,
        underline=style.underline,
        strike=style.strike,
        reverse=style.reverse or is_marked or None,
        link=style.link,
        meta=style.meta,
    )
