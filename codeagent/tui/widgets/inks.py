"""The pens that a palette gives: ready-made styles for everything the transcript draws."""

from __future__ import annotations

from functools import lru_cache

from rich.style import Style

from codeagent.core.values import value
from codeagent.tui.themes import Palette, pen


@value
class Inks:
    """Styles by what they are for; ``ground`` ones are backgrounds alone. ``opens`` is the key that opens panels."""

    palette: Palette
    ground: Style
    text: Style
    strong: Style
    muted: Style
    faint: Style
    rule: Style
    accent: Style
    accent_strong: Style
    success: Style
    warning: Style
    error: Style
    thought: Style
    code: Style
    link: Style
    added: Style
    removed: Style
    raised_ground: Style
    surface_ground: Style
    added_ground: Style
    removed_ground: Style
    added_word_ground: Style
    removed_word_ground: Style
    selected: Style
    found: Style
    found_here: Style
    opens: str


@lru_cache(maxsize=16)
def inks_of(palette: Palette, opens: str = "enter") -> Inks:
    """The styles of a palette, made once; what can be opened says the key, ``opens``.

    The terminal's own colours have no backgrounds to spare: there, changed words are underlined
    and a selection is inverted.
    """
    is_own = palette.is_terminals_own
    return Inks(
        palette=palette,
        ground=Style(bgcolor=pen(palette.background)),
        text=Style(color=pen(palette.text)),
        strong=Style(color=pen(palette.text), bold=True),
        muted=Style(color=pen(palette.muted)),
        faint=Style(color=pen(palette.faint)),
        rule=Style(color=pen(palette.rule)),
        accent=Style(color=pen(palette.accent)),
        accent_strong=Style(color=pen(palette.accent), bold=True),
        success=Style(color=pen(palette.success)),
        warning=Style(color=pen(palette.warning)),
        error=Style(color=pen(palette.error)),
        thought=Style(color=pen(palette.muted), italic=True),
        code=Style(color=pen(palette.code.type), bgcolor=pen(palette.raised)),
        link=Style(color=pen(palette.accent), underline=True),
        added=Style(color=pen(palette.added)),
        removed=Style(color=pen(palette.removed)),
        raised_ground=Style(bgcolor=pen(palette.raised)),
        surface_ground=Style(bgcolor=pen(palette.surface)),
        added_ground=Style(bgcolor=pen(palette.added_background)),
        removed_ground=Style(bgcolor=pen(palette.removed_background)),
        added_word_ground=Style(bgcolor=pen(palette.added_word), underline=is_own or None),
        removed_word_ground=Style(bgcolor=pen(palette.removed_word), underline=is_own or None),
        found=Style(bgcolor=pen(palette.raised), underline=True),
        found_here=Style(color=pen(palette.background), bgcolor=pen(palette.accent), reverse=None, bold=True)
        if not is_own
        else Style(reverse=True, bold=True),
        selected=Style(bgcolor=pen(palette.selection), reverse=is_own or None),
        opens=opens,
    )
