"""The list above the prompt that completes /commands and @files."""

from __future__ import annotations

import re
from enum import StrEnum

from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.style import Style
from textual.widget import Widget

from codeagent.core.text import show_invisible
from codeagent.core.values import value

MOST_ROWS = 8
_COMMAND = re.compile(r"/([\w:-]*)")
_FILE = re.compile(r"(?:^|(?<=[\s(]))@([^\s@]*)$")


class CompletionKind(StrEnum):
    """What is completed."""

    COMMAND = "command"
    FILE = "file"


@value
class Completing:
    """The word at the cursor that can be completed; ``start`` is its column, the mark / or @ included."""

    kind: CompletionKind
    query: str
    start: int


@value
class Suggestion:
    """One completion: the text that replaces the word, and what it is."""

    text: str
    detail: str = ""


def completing(line: str, column: int, *, is_first_line: bool) -> Completing | None:
    """What could be completed with the cursor at ``column`` of ``line``."""
    before = line[:column]
    if is_first_line and (command := _COMMAND.fullmatch(before)):
        return Completing(kind=CompletionKind.COMMAND, query=command[1], start=0)
    if file := _FILE.search(before):
        return Completing(kind=CompletionKind.FILE, query=file[1], start=file.start())
    return None


class CompletionList(Widget):
    """The suggestions, one of them chosen."""

    DEFAULT_CSS = """
    CompletionList { height: auto; max-height: 8; margin: 0 1; padding: 0 1; background: $surface; display: none; }
    """

    class Clicked(Message):
        """A suggestion was clicked."""

        def __init__(self, suggestion: Suggestion) -> None:
            super().__init__()
            self.suggestion = suggestion

    def __init__(self) -> None:
        super().__init__()
        self._suggestions: tuple[Suggestion, ...] = ()
        self._chosen = 0
        self.was_moved = False

    @property
    def is_open(self) -> bool:
        """Whether suggestions are shown."""
        return bool(self._suggestions)

    @property
    def chosen(self) -> Suggestion | None:
        """The suggestion that Tab takes."""
        return self._suggestions[self._chosen] if self._suggestions else None

    def show(self, suggestions: tuple[Suggestion, ...]) -> None:
        """Shows suggestions, the first one chosen; none closes the list."""
        if not suggestions and not self._suggestions:
            return  # as with nearly every key: the screen keeps its layout
        self._suggestions = suggestions
        self._chosen = 0
        self.was_moved = False
        self.display = bool(suggestions)
        self.refresh(layout=True)

    def move(self, by: int) -> None:
        """Chooses another one, round the ends."""
        self._chosen = (self._chosen + by) % len(self._suggestions)
        self.was_moved = True
        self.refresh()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 - Textual's
        """One row a suggestion."""
        return min(len(self._suggestions), MOST_ROWS)

    def render(self) -> Content:
        """The rows around the chosen one."""
        first = self._first
        shown = self._suggestions[first : first + MOST_ROWS]
        column = min(max((len(one.text) for one in shown), default=0) + 3, max(self.size.width - 20, 10))
        return Content("\n").join(
            self._row(one, column, is_chosen=first + row == self._chosen) for row, one in enumerate(shown)
        )

    def _row(self, suggestion: Suggestion, column: int, *, is_chosen: bool) -> Content:
        text = Content(show_invisible(suggestion.text)).truncate(column, ellipsis=True, pad=True)
        row = Content.assemble(
            text.stylize("$accent" if is_chosen else "$text"), (show_invisible(suggestion.detail), "$text-muted")
        ).truncate(self.size.width, ellipsis=True, pad=True)
        return row.stylize_before(Style.parse("on $raised")) if is_chosen else row

    @property
    def _first(self) -> int:
        return max(0, min(self._chosen - MOST_ROWS // 2, len(self._suggestions) - MOST_ROWS))

    def on_click(self, event: events.Click) -> None:
        """Takes the suggestion under the mouse."""
        event.stop()
        at = self._first + event.y
        if 0 <= at < len(self._suggestions):
            self.post_message(self.Clicked(self._suggestions[at]))
