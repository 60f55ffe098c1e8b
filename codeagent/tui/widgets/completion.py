"""The list above the prompt that completes /commands, what may follow, and @files, with a look into the file."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.style import Style
from textual.widget import Widget

from codeagent.core.commands import CommandName
from codeagent.core.desk import Glimpse
from codeagent.core.seldom import seldom
from codeagent.core.text import clean, show_invisible
from codeagent.core.values import value
from codeagent.tui.widgets.lines import path_within

MOST_ROWS = 8
MOST_FILES = 30
"""So many files can be chosen from; of more it is said that there are more."""

_ROOMY = (72, 20)
_LEAST = 24
_BELOW = 3
_BAR = " │ "
_COMMAND = seldom(r"/([\w:-]*)")
_ARGUMENT = seldom(r"/([\w:-]+)\s+(\S*)")
_FILE = seldom(r"(?:^|(?<=[\s(]))@([^\s@]*)$")


COMPLETED = frozenset({CommandName.MODEL, CommandName.EFFORT, CommandName.MODE, CommandName.THEME})
"""The commands whose argument is one of a list."""


class CompletionKind(StrEnum):
    """What is completed."""

    COMMAND = "command"
    ARGUMENT = "argument"
    FILE = "file"


@value
class Completing:
    """The word at the cursor that can be completed.

    ``start`` is its column, the mark / or @ included; ``command`` is the one whose
    argument it is.
    """

    kind: CompletionKind
    query: str
    start: int
    command: str = ""


@value
class Suggestion:
    """One completion: the text that replaces the word, and what it is."""

    text: str
    detail: str = ""

    @property
    def is_file(self) -> bool:
        """Whether it names a file."""
        return self.text.startswith("@")


def completing(line: str, column: int, *, is_first_line: bool) -> Completing | None:
    """What could be completed with the cursor at ``column`` of ``line``."""
    before = line[:column]
    if is_first_line and (command := _COMMAND().fullmatch(before)):
        return Completing(kind=CompletionKind.COMMAND, query=command[1], start=0)
    if is_first_line and (named := _ARGUMENT().fullmatch(before)) and named[1] in COMPLETED:
        return Completing(kind=CompletionKind.ARGUMENT, query=named[2], start=named.start(2), command=named[1])
    if file := _FILE().search(before):
        return Completing(kind=CompletionKind.FILE, query=file[1], start=file.start())
    return None


def nothing_fits(word: Completing) -> str:
    """In a sentence, that nothing completes it."""
    match word.kind:
        case CompletionKind.FILE:
            return f"No file matches @{word.query}" if word.query else "There is no file here"
        case CompletionKind.COMMAND:
            return f"No command begins with /{word.query}"
        case CompletionKind.ARGUMENT:
            return f"Nothing that /{word.command} knows matches {word.query}".rstrip()


class CompletionList(Widget):
    """The suggestions, one of them chosen; beside files stands how the chosen one begins."""

    DEFAULT_CSS = """
    CompletionList { height: auto; max-height: 8; margin: 0 1; padding: 0 1 0 2; background: $surface; display: none; }
    """

    class Clicked(Message):
        """A suggestion was clicked."""

        def __init__(self, suggestion: Suggestion) -> None:
            super().__init__()
            self.suggestion = suggestion

    class Looked(Message):
        """The person has gone to another suggestion, or looks at none any more."""

    class Turned(Message):
        """It has opened or closed, or the person has gone to another suggestion: other keys do something now."""

    class Pointed(Message):
        """A file is pointed at of which ``lines`` lines can be shown."""

        def __init__(self, path: str, lines: int) -> None:
            super().__init__()
            self.path = path
            self.lines = lines

    def __init__(self) -> None:
        super().__init__()
        self._suggestions: tuple[Suggestion, ...] = ()
        self._chosen = 0
        self._glimpse = Glimpse()
        self._goes_on = False
        self.was_moved = False

    @property
    def is_open(self) -> bool:
        """Whether suggestions are shown."""
        return bool(self._suggestions)

    @property
    def chosen(self) -> Suggestion | None:
        """The suggestion that Tab takes."""
        return self._suggestions[self._chosen] if self._suggestions else None

    @property
    def looked_at(self) -> str:
        """The suggestion that the person has gone to; empty while it is the first one by itself."""
        return self.chosen.text if self.chosen is not None and self.was_moved else ""

    def show(self, suggestions: tuple[Suggestion, ...]) -> None:
        """Shows suggestions, the first one chosen; none closes the list."""
        if not suggestions and not self._suggestions:
            return
        self.post_message(self.Turned())
        before = self.chosen
        if self.was_moved:
            self.post_message(self.Looked())
        self._goes_on = len(suggestions) > MOST_FILES and suggestions[0].is_file
        self._suggestions = suggestions[:MOST_FILES] if self._goes_on else suggestions
        self._chosen = 0
        self.was_moved = False
        self.display = bool(suggestions)
        if not suggestions:
            self._glimpse = Glimpse()
        elif self.chosen != before:
            self._point()
        self.refresh(layout=True)

    def move(self, by: int) -> None:
        """Chooses another one, round the ends."""
        self._chosen = (self._chosen + by) % len(self._suggestions)
        self.was_moved = True
        self.post_message(self.Looked())
        self.post_message(self.Turned())
        self._point()
        self.refresh()

    def show_glimpse(self, path: str, glimpse: Glimpse) -> None:
        """Shows how a file begins, if it is still the chosen one."""
        if self._path == path:
            self._glimpse = glimpse
            self.refresh()

    def fit(self) -> None:
        """On another screen there may be room for how the file begins, or no more."""
        if self.is_open:
            self._point()
            self.refresh()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 - Textual's
        """One row a suggestion; as many as there can be when a file is shown, so that nothing jumps."""
        return MOST_ROWS if self._has_room else min(len(self._suggestions), self._most_rows)

    @property
    def _most_rows(self) -> int:
        """So many leave the prompt and the status line theirs."""
        return max(min(MOST_ROWS, self.screen.size.height - _BELOW), 1)

    def render(self) -> Content:
        """The rows around the chosen one."""
        first = self._first
        shown = self._suggestions[first : first + self._most_rows]
        left = self._what_follows(first + len(shown))
        longest = max((cell_len(one.text) for one in shown), default=0) + 3
        column = min(longest, max(self.size.width - 20, 10))
        if not self._has_room:
            rows = self._rows(shown, column, self.size.width, left)
        else:
            widest = max(longest, cell_len(shown[-1].text) + 1 + len(left), _LEAST)
            column = min(widest, self.size.width * 2 // 5)
            rows = self._rows(shown, column, column, left)
            rows += [Content(" " * column)] * (self.size.height - len(shown))
            beside = glimpse_rows(self._glimpse, self.size.width - column - len(_BAR), self.size.height)
            bar = Content.styled(_BAR, "$rule")
            rows = [Content.assemble(row, bar, line) for row, line in zip(rows, beside, strict=True)]
        return Content("\n").join(rows)

    def _what_follows(self, end: int) -> str:
        """How many come after those up to ``end``, as far as that is known and there is room to say it."""
        below = len(self._suggestions) - end
        told = f"  ↓ {below:,}{'+' * self._goes_on} more" if below else "  … more" * self._goes_on
        return told if self.size.width >= _LEAST else ""

    def _rows(self, shown: Sequence[Suggestion], column: int, width: int, left: str) -> list[Content]:
        """The rows, with what is ``left`` to say at the end of the last one."""
        rows = [self._row(one, column, width) for one in shown[:-1]]
        last = [self._row(one, min(column, width - len(left)), width - len(left)) for one in shown[-1:]]
        return rows + [Content.assemble(row, (left, "$text-faint")) for row in last]

    def _row(self, suggestion: Suggestion, column: int, width: int) -> Content:
        is_chosen = suggestion is self.chosen
        shown = show_invisible(suggestion.text)
        text = Content(f"@{path_within(shown[1:], column - 2)}" if suggestion.is_file else shown)
        text = text.truncate(column, ellipsis=True, pad=True)
        detail = Content(show_invisible(suggestion.detail))
        if is_chosen and self._is_in_reverse:
            return Content.assemble(text, detail).truncate(width, ellipsis=True, pad=True).stylize("reverse")
        row = Content.assemble(
            text.stylize("$accent" if is_chosen else "$text"), detail.stylize("$text-muted")
        ).truncate(width, ellipsis=True, pad=True)
        return row.stylize_before(Style.parse("on $raised")) if is_chosen else row

    @property
    def _is_in_reverse(self) -> bool:
        """Whether the theme has no grounds to mark the chosen one with."""
        return self.app.current_theme.ansi  # pyright: ignore[reportUnknownMemberType] - an app of any result

    @property
    def _first(self) -> int:
        rows = self._most_rows
        return max(0, min(self._chosen - rows // 2, len(self._suggestions) - rows))

    @property
    def _path(self) -> str:
        """The chosen file; empty when it is something else."""
        chosen = self.chosen
        return chosen.text[1:] if chosen is not None and chosen.is_file else ""

    @property
    def _has_room(self) -> bool:
        width, height = self.screen.size
        return bool(self._path) and width >= _ROOMY[0] and height >= _ROOMY[1]

    def _point(self) -> None:
        if self._has_room:
            self.post_message(self.Pointed(self._path, MOST_ROWS))

    def on_click(self, event: events.Click) -> None:
        """Takes the suggestion under the mouse."""
        event.stop()
        at = self._first + event.y
        if 0 <= at < len(self._suggestions):
            self.post_message(self.Clicked(self._suggestions[at]))


def glimpse_rows(glimpse: Glimpse, width: int, rows: int) -> list[Content]:
    """The first lines of a file, its size at the end of the first one; or in words why there are none."""
    if not glimpse.lines:
        said = Content.styled(glimpse.said, "$text-faint").truncate(width, ellipsis=True)
        return [said, *[Content()] * (rows - 1)]
    lines = [show_invisible(clean(line)).expandtabs(4) for line in glimpse.lines[:rows]]
    shown = [Content.styled(line, "$text-muted").truncate(width, ellipsis=True) for line in lines]
    room = width - len(glimpse.said) - 2
    first = shown[0].truncate(max(room, 1), ellipsis=True, pad=True)
    return [
        Content.assemble(first, "  ", (glimpse.said, "$text-faint")),
        *shown[1:],
        *[Content()] * (rows - len(shown)),
    ]
