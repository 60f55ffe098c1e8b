"""Pages to read and leave again: help, rules, doctor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from codeagent.core.approvals import Decision, Verdict
from codeagent.core.commands import COMMANDS
from codeagent.core.desk import Check, CheckState
from codeagent.core.keys import Place, key_rows
from codeagent.core.text import show_invisible
from codeagent.tui.custom_commands import CustomCommands
from codeagent.tui.keys import Window

_WIDEST = 120
_LEAVE = "esc leave"
_SCROLL = (f"↑ ↓ scroll · {_LEAVE}", f"↑ ↓ · {_LEAVE}", "↑ ↓ · esc")
"""What is said in the border: the first that leaves its corners whole."""
_CORNERS = 6
_AROUND = 2
"""The cells beside the page."""
_FRAME, _PADDING, _SLIM_PADDING = 3, 4, 2
"""The cells of the page that are border and scroll bar, and those that are padding."""
_FEW_COLUMNS, _FEW_ROWS, _FEWEST_ROWS = 40, 16, 12
"""Screens with less have less padding beside, none above and below the text, or no row around the page."""
_NARROWEST = 20
"""Cells that a text needs to stand behind what it belongs to; with less it stands below."""
_BELOW = 4
"""So many cells in."""
_LEFT_COLUMN, _SLIM_COLUMN = 25, 14
_WIDE = 70
"""Pages with fewer cells have a slim left column."""

LayOut = Callable[[int], Content]
"""Lays a page's text out in lines of at most so many cells."""


class Page(Window[None]):
    """One page over the main screen; Esc leaves it."""

    DEFAULT_CSS = """
    Page { align: center middle; background: $veil; &:ansi { background: $veil; } }
    Page > VerticalScroll {
        width: 100%; max-width: 120; height: auto; max-height: 100%; margin: 1;
        background: $surface; border: round $accent; scrollbar-size: 0 1; scrollbar-gutter: stable;
        border-title-color: $text; border-title-background: $surface;
        border-subtitle-color: $text-muted; border-subtitle-background: $surface;
    }
    Page.-roomy > VerticalScroll { margin: 2 1; }
    Page.-flat > VerticalScroll { margin: 0 1; }
    Page.-flat.-slim > VerticalScroll { margin: 0; }
    Page Static { height: auto; padding: 1 2; }
    Page.-low-text Static { padding: 0 2; }
    Page.-slim Static { padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "close", show=False, priority=True),  # at once: what follows is for below
        Binding("f1", "close", show=False, priority=True, id="help"),
    ]

    def __init__(self, title: str, lay_out: LayOut) -> None:
        super().__init__()
        self._title = title
        self._lay_out = lay_out
        self._text = Static(markup=False)

    def compose(self) -> ComposeResult:
        """The text, which scrolls."""
        with VerticalScroll() as box:
            box.border_title = Content(self._title)
            box.border_subtitle = Content(_LEAVE)
            yield self._text

    def on_mount(self) -> None:
        """Takes the keyboard, so that the arrows scroll."""
        self.query_one(VerticalScroll).focus()

    def on_resize(self) -> None:
        """Lays the text out for the width."""
        is_slim = self.size.width < _FEW_COLUMNS
        self.set_class(is_slim, "-slim")
        self.set_class(self.size.height < _FEW_ROWS, "-low-text")
        is_flat = self.size.height < _FEWEST_ROWS
        self.set_class(is_flat, "-flat")
        around = 0 if is_flat and is_slim else _AROUND  # lines of the screen below would run into the border
        width = min(self.size.width - around, _WIDEST) - _FRAME - (_SLIM_PADDING if is_slim else _PADDING)
        self._text.update(self._lay_out(max(width, _BELOW * 2)))
        self.call_after_refresh(self._name_keys)

    def _name_keys(self) -> None:
        """The arrows are named where they do something."""
        box = self.query_one(VerticalScroll)
        scroll = first_fitting(_SCROLL, box.outer_size.width - _CORNERS)
        box.border_subtitle = Content(scroll if box.max_scroll_y else _LEAVE)

    def action_close(self) -> None:
        """Leaves."""
        self.dismiss()


def help_text(keymap: Mapping[str, str], custom: CustomCommands, width: int) -> Content:
    """All keys, as the person set them, and commands."""
    parts: list[Content] = []
    rows = list(key_rows(keymap))
    for place in Place:
        here = ((keys, what) for where, keys, what in rows if where is place)
        parts += [_heading(place), *_table(here, width), Content()]
    parts += [_heading("Commands"), *_table(((command.usage, command.summary) for command in COMMANDS), width)]
    if custom.folder:
        rows = [(command.usage, command.summary) for command in custom.known]
        where = f"Markdown files in {show_invisible(custom.folder)} and, once it is trusted, in .codeagent/commands."
        parts += [Content(), _heading("Commands of your own"), *_table(rows, width)]
        parts += hung(Content("  "), Content.styled(where, "$text-muted"), width)
    return Content("\n").join(parts)


def verdict_text(command: str, verdict: Verdict, width: int) -> Content:
    """What the rules say to a command, and why."""
    lines = [
        Content.assemble((show_invisible(command), "bold")),
        *hung(_decision(verdict.decision), Content(show_invisible(verdict.because)), width),
    ]
    for loss in verdict.losses:
        lines += hung(Content.styled("     ! ", "$warning"), Content.styled(show_invisible(loss), "$warning"), width)
    for part in verdict.parts:
        words, because = Content(show_invisible(part.shown)), show_invisible(part.because)
        lines += [Content(), *hung(_decision(part.decision), words, width)]
        lines += hung(Content(" " * len(_decision(part.decision))), Content.styled(because, "$text-muted"), width)
    return Content("\n").join(lines)


def doctor_text(checks: Sequence[Check], width: int) -> Content:
    """What doctor found; how to mend what is missing stands below each."""
    marks = {
        CheckState.GOOD: ("✓", "$success"),
        CheckState.LIMITED: ("●", "$warning"),
        CheckState.MISSING: ("✗", "$error"),
    }
    column = max((len(check.name) for check in checks), default=0) + 2
    lines: list[Content] = []
    for check in checks:
        name = Content.assemble(marks[check.state], f" {show_invisible(check.name):<{column}}")
        lines += hung(name, Content.styled(show_invisible(check.finding), "$text-muted"), width)
        if check.remedy:
            lines += hung(Content(" " * (column + 2)), Content.styled(show_invisible(check.remedy), "$text"), width)
    return Content("\n").join(lines)


def first_fitting(variants: Iterable[str], most: int) -> str:
    """The first of at most so many characters, else the last, which is the shortest."""
    text = ""
    for text in variants:
        if len(text) <= most:
            break
    return text


def hung(first: Content, text: Content, width: int) -> list[Content]:
    """A text behind what it belongs to, in lines of at most ``width`` cells; further ones stand below its own first.

    Where that leaves too little room all of it stands below, a little in.
    """
    beside = width - first.cell_length
    if beside >= _NARROWEST:
        below = Content(" " * first.cell_length)
        lines = text.wrap(beside) or [Content()]
        return [Content.assemble(below if number else first, line) for number, line in enumerate(lines)]
    indent = min(first.cell_length, _BELOW)
    above = first.rstrip().wrap(width) if first.plain.strip() else []
    return [*above, *(Content.assemble(" " * indent, line) for line in text.wrap(width - indent))]


def _decision(decision: Decision) -> Content:
    style = {Decision.ALLOW: "$success", Decision.ASK: "$warning", Decision.DENY: "$error"}
    return Content.styled(f"{decision:<7}", style[decision])


def _heading(text: str) -> Content:
    return Content.styled(text, "bold $accent")


def _table(rows: Iterable[tuple[str, str]], width: int) -> list[Content]:
    """Two columns; what does not fit into the right one goes on below it, on slim pages all of it behind a wide one."""
    column = _LEFT_COLUMN if width >= _WIDE else _SLIM_COLUMN
    lines: list[Content] = []
    for left, right in rows:
        name = f"  {left}".ljust(column - 1) + " "
        if len(name) > column and width < _WIDE:
            lines += Content.styled(name.rstrip(), "$text").wrap(width)
            name = " " * column
        lines += hung(Content.styled(name, "$text"), Content.styled(right, "$text-muted"), width)
    return lines
