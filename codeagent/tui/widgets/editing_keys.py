"""Keys that move the cursor or delete: carried out where they are typed, so that fast typing stays in its order."""

from __future__ import annotations

from collections.abc import Mapping

from textual.binding import Binding
from textual.widgets import TextArea

from codeagent.tui.keys import DELETE_WORD

_ELSEWHERE = frozenset({"ctrl+d", "pageup", "pagedown"})  # they have other meanings in the prompt
_AS_READLINE = {"alt+b": "cursor_word_left", "alt+f": "cursor_word_right", DELETE_WORD: "delete_word_right"}


def _of_text_area() -> dict[str, str]:
    edits: dict[str, str] = {}
    for binding in TextArea.BINDINGS:
        if isinstance(binding, Binding) and binding.action.startswith(("cursor_", "delete_")):
            edits |= dict.fromkeys(binding.key.split(","), binding.action)
    return {key: action for key, action in edits.items() if key not in _ELSEWHERE} | _AS_READLINE


EDITS: Mapping[str, str] = _of_text_area()
"""Textual looks for the meaning of such a key only after it went up to the app, and later letters overtake it."""
