"""Vi's keys at work in a text field: which keys are theirs, and what they change there."""

from __future__ import annotations

from collections.abc import Callable

from textual import events
from textual.widgets import TextArea

from codeagent.tui.widgets.vi_keys import ViKeys, ViMode, Wish
from codeagent.tui.widgets.vi_motions import on_text
from codeagent.tui.widgets.vi_states import Typed

_NAMES = {"escape": "escape", "ctrl+r": "ctrl+r", "backspace": "h", "delete": "x", "space": "l"}
"""Keys that are no character of their own, as the commands know them."""


class ViTyping:
    """The keys of one text field."""

    def __init__(self, field: TextArea, step_through_history: Callable[[int], None]) -> None:
        self._field = field
        self._step_through_history = step_through_history
        self._keys = ViKeys()
        self.has_changed_mode = False

    @property
    def is_inserting(self) -> bool:
        """Whether keys are text."""
        return self._keys.mode is ViMode.INSERT

    def start_inserting(self) -> bool:
        """What comes now is text; whether it was not before."""
        was_inserting = self.is_inserting
        self._keys.start_inserting()
        return not was_inserting

    def takes(self, event: events.Key) -> bool:
        """Does what the key means here; False leaves it to the field.

        Escape gives up what was begun, then leaves the text; only then it is the screen's.
        """
        was_inserting = self.is_inserting
        key = _NAMES.get(event.key, event.character if event.is_printable else None)
        if was_inserting and key == "escape":
            self._show(self._keys.leave_insert(self._typed()))
        elif was_inserting or key is None or (key == "escape" and not self._keys.begun):
            return False
        else:
            self._obey(key)
        self.has_changed_mode = was_inserting != self.is_inserting
        return True

    def _obey(self, key: str) -> None:
        match self._keys.press(key, self._typed()):
            case Typed() as after:
                self._show(after)
            case Wish.SEARCH:
                self._field.call_later(self._field.run_action, "app.search_history")
            case Wish() as wish:
                self._step_through_history(-1 if wish is Wish.OLDER else 1)
                typed = self._typed()
                self._show(Typed(text=typed.text, at=on_text(typed.text, typed.at)))

    def _typed(self) -> Typed:
        text = self._field.text
        row, column = self._field.cursor_location
        before = text.split("\n", row)[:row]
        return Typed(text=text, at=sum(len(line) + 1 for line in before) + column)

    def _show(self, after: Typed) -> None:
        """Changes only what is different, so that the field's own undo takes back just that."""
        before, now = self._field.text, after.text
        if before != now:
            shorter = min(len(before), len(now))
            head = next((at for at in range(shorter) if before[at] != now[at]), shorter)
            room = shorter - head
            tail = next((at for at in range(room) if before[-at - 1] != now[-at - 1]), room)
            start, end = _location(before, head), _location(before, len(before) - tail)
            self._field.replace(now[head : len(now) - tail], start, end, maintain_selection_offset=False)
        self._field.move_cursor(_location(now, after.at))


def _location(text: str, at: int) -> tuple[int, int]:
    """Row and column of a position."""
    return text.count("\n", 0, at), at - (text.rfind("\n", 0, at) + 1)
