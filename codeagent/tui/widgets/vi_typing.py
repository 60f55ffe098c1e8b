"""Vi's keys at work in a text field: which keys are theirs, and what they change there."""

from __future__ import annotations

from collections.abc import Callable

from textual import events
from textual.widgets import TextArea
from textual.widgets.text_area import Selection

from codeagent.tui.widgets.text_field import read_back
from codeagent.tui.widgets.vi_keys import ViKeys, ViMode, Wish
from codeagent.tui.widgets.vi_motions import on_text
from codeagent.tui.widgets.vi_states import Typed

_NAMES = {"escape": "escape", "ctrl+r": "ctrl+r", "backspace": "h", "delete": "x", "space": "l"}
"""Keys that are no character of their own, as the commands know them."""


class ViTyping:
    """The keys of one text field."""

    def __init__(
        self, field: TextArea, step_through_history: Callable[[int], None], calls_back: Callable[[], bool]
    ) -> None:
        self._field = field
        self._step_through_history = step_through_history
        self._calls_back = calls_back
        self._keys = ViKeys()
        self._selecting: tuple[Selection, int] | None = None
        self.has_changed_mode = False

    @property
    def is_inserting(self) -> bool:
        """Whether keys are text."""
        return self._keys.mode is ViMode.INSERT

    @property
    def mode(self) -> str:
        """What keys mean now, in vi's word for it; empty where they are text."""
        return "" if self.is_inserting else str(self._keys.mode)

    @property
    def selected_text(self) -> str:
        """What is selected, the character under the cursor included; empty where nothing is."""
        if not self._keys.is_selecting:
            return ""
        span = self._keys.selected(self._typed())
        return read_back(self._field.text[span.start : span.end])

    def start_inserting(self) -> bool:
        """What comes now is text, and replaces nothing; whether it was not before."""
        was_inserting = self.is_inserting
        if self._keys.is_selecting:
            self._field.move_cursor(self._field.cursor_location)
        self._keys.start_inserting()
        return not was_inserting

    def takes(self, event: events.Key) -> bool:
        """Does what the key means here; False leaves it to the field.

        Escape brings back what was sent too early, gives up what was begun, then leaves the text; only then it is
        the screen's.
        """
        before = self._keys.mode
        key = _NAMES.get(event.key, event.character if event.is_printable else None)
        if before is ViMode.INSERT and key == "escape":
            if not self._calls_back():
                self._show(self._keys.leave_insert(self._typed()))
        elif before is ViMode.INSERT or key is None or (key == "escape" and not self._keys.minds_escape):
            return False
        else:
            self._obey(key)
        self.has_changed_mode = before is not self._keys.mode
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
        if self._selecting is not None and self._selecting[0] == self._field.selection:
            return Typed(text=text, at=min(self._selecting[1], len(text)))
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
        self._selecting = None
        if self._keys.is_selecting:
            self._show_selected(after)
        else:
            self._field.move_cursor(_location(now, after.at))

    def _show_selected(self, now: Typed) -> None:
        """The field's cursor stands on the last character that is taken, or on the first when it went back there."""
        span = self._keys.selected(now)
        is_back = now.at < self._keys.anchor
        edge = span.end if span.is_lines else max(span.end - 1, span.start)
        ends = (span.end, span.start) if is_back else (span.start, edge)
        self._field.selection = Selection(_location(now.text, ends[0]), _location(now.text, ends[1]))
        self._selecting = (self._field.selection, now.at)


def _location(text: str, at: int) -> tuple[int, int]:
    """Row and column of a position."""
    return text.count("\n", 0, at), at - (text.rfind("\n", 0, at) + 1)
