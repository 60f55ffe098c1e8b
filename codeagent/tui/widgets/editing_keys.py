"""Keys that are carried out where they are typed, so that fast typing stays in its order."""

from __future__ import annotations

from collections.abc import Mapping

from textual.binding import Binding
from textual.events import Event
from textual.widgets import TextArea

from codeagent.core.keys import KEYS, Place
from codeagent.tui.keys import DELETE_WORD, keys_for, own_keys

_ELSEWHERE = frozenset({"ctrl+d", "pageup", "pagedown"})  # they have other meanings in the prompt
_BY_WORDS = {
    **dict.fromkeys(("alt+b", "alt+left"), "cursor_word_left"),  # as readline and as terminals have it
    **dict.fromkeys(("alt+f", "alt+right"), "cursor_word_right"),
    DELETE_WORD: "delete_word_right",
}
_ABOUT_MESSAGES = frozenset({"stop", "mode", "take-back"})


def _of_text_area() -> dict[str, str]:
    edits: dict[str, str] = {}
    for binding in TextArea.BINDINGS:
        if isinstance(binding, Binding) and binding.action.startswith(("cursor_", "delete_")):
            edits |= dict.fromkeys(binding.key.split(","), binding.action)
    return {key: action for key, action in edits.items() if key not in _ELSEWHERE} | _BY_WORDS


EDITS: Mapping[str, str] = _of_text_area()
"""Textual looks for the meaning of such a key only after it went up to the app, and later letters overtake it."""


def keys_about_messages(keymap: Mapping[str, str]) -> Mapping[str, str]:
    """Keys by which it matters whether a message was sent before or after them, and their actions.

    Enter goes first, so that it would overtake them, too. ``keymap`` holds the person's own keys by name.
    """
    chosen = own_keys(keymap, Place.ANYWHERE, Place.PROMPT)
    return {
        key: one.action
        for one in KEYS
        if one.name in _ABOUT_MESSAGES
        for key in keys_for(one.name, keymap) or frozenset(one.keys.split(",")) - chosen
    }


def take(event: Event) -> None:
    """Nobody else gets it."""
    event.stop()
    event.prevent_default()
