"""The line in which the person types what to find in the transcript, with how many places there are."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from codeagent.core.keys import Place
from codeagent.tui.keys import bindings
from codeagent.tui.widgets.search import Found
from codeagent.tui.widgets.text_field import LineField, read_back


class _Words(LineField):
    """The field; keys that mean something to the search mean that here."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(Place.FIND),
        Binding("ctrl+f", "screen.find_next(-1)", show=False, id="find"),
        Binding("ctrl+c", "app.interrupt", show=False, id="copy-or-quit"),
    ]


class FindBar(Horizontal):
    """Hidden until it is asked for."""

    DEFAULT_CSS = """
    FindBar { display: none; height: 1; padding: 0 1; background: $background; }
    FindBar #find-mark { width: 6; color: $accent; }
    FindBar Input, FindBar Input:focus { width: 1fr; border: none; height: 1; padding: 0; background: $background; }
    FindBar #find-count { width: auto; color: $text-muted; }
    """

    class Sought(Message):
        """Other words are typed."""

        def __init__(self, words: str) -> None:
            super().__init__()
            self.words = words

    def __init__(self) -> None:
        super().__init__()
        self._words = _Words(select_on_focus=True)
        self._words.cursor_blink = False
        self._count = Static(id="find-count", markup=False)

    def compose(self) -> ComposeResult:
        """What is sought, and how often it is there."""
        yield Static("find", id="find-mark", markup=False)
        yield self._words
        yield self._count

    @property
    def words(self) -> str:
        """What is typed."""
        return self._words.whole_text

    def open(self) -> None:
        """Takes the keyboard; what was sought last stands there, to be typed over."""
        self.display = True
        self.show(Found())
        self.screen.set_focus(self._words)

    def close(self) -> None:
        """Hides it."""
        self.display = False

    def on_input_changed(self, event: Input.Changed) -> None:
        """Tells what is sought now."""
        event.stop()
        if self.display:
            self.post_message(self.Sought(read_back(event.value)))

    def show(self, found: Found) -> None:
        """How many places there are."""
        if found.total:
            said = Content.styled(f"{found.number:,} of {found.total:,}", "$text")
        else:
            said = Content.styled("not found" if self.words else "", "$warning")
        self._count.update(Content.assemble("  ", said))
