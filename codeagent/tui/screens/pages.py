"""Pages to read and leave again: help, rules, doctor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from textwrap import wrap
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from codeagent.core.approvals import Decision, Verdict
from codeagent.core.commands import COMMANDS
from codeagent.core.desk import Check, CheckState
from codeagent.core.keys import Place, key_rows
from codeagent.core.text import show_invisible
from codeagent.tui.custom_commands import CustomCommands

WIDEST = 100
_FRAME = 12
_LEFT_COLUMN = 25


class Page(ModalScreen[None]):
    """One page over the main screen; Esc leaves it."""

    DEFAULT_CSS = """
    Page { align: center middle; background: $background 60%; }
    Page > VerticalScroll {
        width: 100%; max-width: 100; height: auto; max-height: 100%; margin: 1 2; padding: 1 2;
        background: $surface; border: round $accent; scrollbar-size-vertical: 1;
        border-title-color: $text; border-title-background: $surface;
        border-subtitle-color: $text-muted; border-subtitle-background: $surface;
    }
    Page Static { height: auto; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter,f1", "close", show=False),
    ]

    def __init__(self, title: str, text: Content) -> None:
        super().__init__()
        self._title = title
        self._text = text

    def compose(self) -> ComposeResult:
        """The text, which scrolls."""
        with VerticalScroll() as box:
            box.border_title = Content(self._title)
            box.border_subtitle = Content("↑ ↓ scroll · esc leave")
            yield Static(self._text, markup=False)

    def on_mount(self) -> None:
        """Takes the keyboard, so that the arrows scroll."""
        self.query_one(VerticalScroll).focus()

    def action_close(self) -> None:
        """Leaves."""
        self.dismiss()


def help_text(keymap: Mapping[str, str], width: int, custom: CustomCommands) -> Content:
    """All commands and keys, the keys as the person set them, for a screen of ``width`` cells."""
    parts = [_heading("Commands"), *_table(((command.usage, command.summary) for command in COMMANDS), width)]
    if custom.folder:
        rows = [(command.usage, command.summary) for command in custom.known]
        where = f"Markdown files in {show_invisible(custom.folder)} and, once it is trusted, in .codeagent/commands."
        lines = wrap(where, max(min(width, WIDEST) - _FRAME, 20), break_long_words=True)
        parts += [Content(), _heading("Commands of your own"), *_table(rows, width)]
        parts += [Content.styled(f"  {line}", "$text-muted") for line in lines]
    rows = list(key_rows(keymap))
    for place in Place:
        here = ((keys, what) for where, keys, what in rows if where is place)
        parts += [Content(), _heading(place), *_table(here, width)]
    return Content("\n").join(parts)


def verdict_text(command: str, verdict: Verdict) -> Content:
    """What the rules say to a command, and why."""
    lines = [
        Content.assemble((show_invisible(command), "bold")),
        Content.assemble(_decision(verdict.decision), "  ", show_invisible(verdict.because)),
    ]
    lines += [Content.styled(f"     ! {show_invisible(loss)}", "$warning") for loss in verdict.losses]
    for part in verdict.parts:
        words = show_invisible(" ".join(part.words))
        lines += [Content(), Content.assemble(_decision(part.decision), "  ", words)]
        lines.append(Content.styled(f"       {show_invisible(part.because)}", "$text-muted"))
    return Content("\n").join(lines)


def doctor_text(checks: Sequence[Check]) -> Content:
    """What doctor found; how to mend what is missing stands below each."""
    marks = {
        CheckState.GOOD: ("✓", "$success"),
        CheckState.LIMITED: ("●", "$warning"),
        CheckState.MISSING: ("✗", "$error"),
    }
    width = max((len(check.name) for check in checks), default=0) + 2
    lines: list[Content] = []
    for check in checks:
        name = f" {show_invisible(check.name):<{width}}"
        lines.append(Content.assemble(marks[check.state], name, (show_invisible(check.finding), "$text-muted")))
        if check.remedy:
            lines.append(Content.styled(" " * (width + 2) + show_invisible(check.remedy), "$text"))
    return Content("\n").join(lines)


def _decision(decision: Decision) -> Content:
    style = {Decision.ALLOW: "$success", Decision.ASK: "$warning", Decision.DENY: "$error"}
    return Content.styled(f"{decision:<5}", style[decision])


def _heading(text: str) -> Content:
    return Content.styled(text, "bold $accent")


def _table(rows: Iterable[tuple[str, str]], width: int) -> list[Content]:
    """Two columns; what does not fit into the right one goes on below it."""
    room = max(min(width, WIDEST) - _FRAME - _LEFT_COLUMN, 20)
    lines: list[Content] = []
    for left, right in rows:
        for number, part in enumerate(wrap(right, room)):
            name = "" if number else f"  {left}"
            lines.append(Content.assemble((f"{name:<{_LEFT_COLUMN}}", "$text"), (part, "$text-muted")))
    return lines
