"""A short list to choose from with arrows and Enter, a letter, or the mouse."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.style import Style
from textual.widget import Widget

from codeagent.core.text import show_invisible
from codeagent.core.values import value


@value
class Choice:
    """One thing that can be done: the key that does it, what it is called, and what there is to say of it."""

    key: str
    name: str
    detail: str = ""


class Choices(Widget):
    """The choices, one a line, the bar on one of them."""

    DEFAULT_CSS = """
    Choices { width: 1fr; height: auto; }
    """

    class Taken(Message):
        """A choice was clicked."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(self, choices: Sequence[Choice]) -> None:
        super().__init__()
        self._choices = choices
        self._at = 0

    @property
    def chosen(self) -> str:
        """The key of the one that the bar stands on."""
        return self._choices[self._at].key

    @property
    def chosen_line(self) -> Region:
        """Where the bar stands in what it is part of."""
        return Region(0, self._at, 1, 1).translate(self.virtual_region.offset)

    def show(self, choices: Sequence[Choice]) -> None:
        """Other choices, the bar on the first."""
        self._choices, self._at = choices, 0
        self.refresh(layout=True)

    def move(self, by: int) -> None:
        """Moves the bar, stopping at the ends."""
        self._at = min(max(self._at + by, 0), len(self._choices) - 1)
        self.refresh()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 - Textual's
        """One line a choice."""
        return len(self._choices)

    def render(self) -> Content:
        """The lines."""
        column = max(len(show_invisible(choice.name)) for choice in self._choices) + 3
        rows = (self._row(choice, column, is_chosen=at == self._at) for at, choice in enumerate(self._choices))
        return Content("\n").join(rows)

    def _row(self, choice: Choice, column: int, *, is_chosen: bool) -> Content:
        row = Content.assemble(
            ("› " if is_chosen else "  ", "bold $accent"),
            (f"{choice.key}  ", "$accent"),
            (f"{show_invisible(choice.name):<{column}}", "bold $text" if is_chosen else "$text"),
            (show_invisible(choice.detail), "$text-muted"),
        ).truncate(self.size.width, ellipsis=True, pad=True)
        return row.stylize_before(Style.parse("on $raised")) if is_chosen else row

    def on_click(self, event: events.Click) -> None:
        """Takes the choice under the mouse."""
        event.stop()
        if 0 <= event.y < len(self._choices):
            self.post_message(self.Taken(self._choices[event.y].key))
