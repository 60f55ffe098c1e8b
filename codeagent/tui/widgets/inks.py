"""The pens that a palette gives: ready-made styles for everything the transcript draws."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from rich.style import Style

from codeagent.tui.themes import Palette


@dataclass(frozen=True, slots=True, kw_only=True)
class Inks:
    """Styles by what they are for; ``ground`` ones are backgrounds alone."""

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


@lru_cache(maxsize=16)
def inks_of(palette: Palette) -> Inks:
    """The styles of a palette, made once."""
    return Inks(
        palette=palette,
        ground=Style(bgcolor=palette.background),
        text=Style(color=palette.text),
        strong=Style(color=palette.text, bold=True),
        muted=Style(color=palette.muted),
        faint=Style(color=palette.faint),
        rule=Style(color=palette.rule),
        accent=Style(color=palette.accent),
        accent_strong=Style(color=palette.accent, bold=True),
        success=Style(color=palette.success),
        warning=Style(color=palette.warning),
        error=Style(color=palette.error),
        thought=Style(color=palette.muted, italic=True),
        code=Style(color=palette.code.type, bgcolor=palette.raised),
        link=Style(color=palette.accent, underline=True),
        added=Style(color=palette.added),
        removed=Style(color=palette.removed),
        raised_ground=Style(bgcolor=palette.raised),
        surface_ground=Style(bgcolor=palette.surface),
        added_ground=Style(bgcolor=palette.added_background),
        removed_ground=Style(bgcolor=palette.removed_background),
        added_word_ground=Style(bgcolor=palette.added_word),
        removed_word_ground=Style(bgcolor=palette.removed_word),
        selected=Style(bgcolor=palette.selection),
    )
