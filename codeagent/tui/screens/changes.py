"""Changes of files over the main screen: to look at, to decide whether they are taken back, and how far that is."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from codeagent.core.changes import Pace, Reversal, Standing
from codeagent.core.diff import FileDiff
from codeagent.core.text import show_invisible
from codeagent.tui.keys import Window
from codeagent.tui.screens.pages import first_fitting
from codeagent.tui.themes import Palette
from codeagent.tui.widgets.file_changes import ChangesView

_REMARKS = {
    Standing.CLEAN: "",
    Standing.MERGED: "with what you changed since",
    Standing.CONFLICT: "you changed the same lines since",
    Standing.UNSURE: "changed while a job ran, by it or by you",
}


_BORDER_ROWS, _CORNERS = 2, 6
_SCROLL = "↑ ↓ scroll"
_LOOK_SECONDS = 0.2
_STOPS = "esc stop, nothing is changed then"
_STOPPING = "stopping…"
_FINAL = "almost done"


class Decision(StrEnum):
    """What the person wants done."""

    DO = "do"
    OVERWRITE = "overwrite"


class ChangesScreen(Window[Decision | None]):
    """Diffs of several files; with a reversal, its keys stand below, and Esc always leaves all as it is."""

    DEFAULT_CSS = """
    ChangesScreen { align: left bottom; background: $veil; &:ansi { background: $veil; } }
    ChangesScreen > Vertical {
        width: 100%; max-width: 120; height: auto; max-height: 100%; margin: 1; padding: 0 1;
        background: $background; border: round $accent;
        border-title-color: $text; border-title-background: $background;
        border-subtitle-color: $text-muted; border-subtitle-background: $background;
    }
    ChangesScreen.-roomy > Vertical { margin: 2 1; }
    ChangesScreen #remark { height: auto; color: $warning; padding: 0 0 1 0; }
    ChangesScreen ChangesView { height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,n", "leave", show=False, priority=True),  # at once: what follows is for below
        Binding("y", "decide('do')", show=False),
        Binding("o", "decide('overwrite')", show=False),
    ]

    def __init__(self, title: str, palette: Palette, diffs: tuple[FileDiff, ...] = ()) -> None:
        super().__init__()
        self._title = title
        self._view = ChangesView(palette, ((diff, "") for diff in diffs))
        self._remark = ""
        self._answers: frozenset[Decision] = frozenset()
        self._keys: tuple[str, ...] = (f"{_SCROLL} · esc leave", "esc leave")
        self._box = Vertical()

    @classmethod
    def of(cls, reversal: Reversal, palette: Palette) -> ChangesScreen:
        """The question whether a change is taken back, or brought back."""
        verb = "Bring back" if reversal.is_redo else "Take back"
        screen = cls(f"{verb} {reversal.what}", palette)
        screen._view = ChangesView(palette, ((file.diff, _REMARKS[file.standing]) for file in reversal.files))
        screen._remark = "\n".join(reversal.remarks)
        if not reversal.files:
            screen._remark = screen._remark or "The files are that way already."
        has_more = len(reversal.files) > len(reversal.conflicts)
        does = shortly = f"y {verb.lower()}" if has_more or not reversal.conflicts else ""
        if reversal.conflicts:
            is_lost = any(file.standing is Standing.CONFLICT for file in reversal.conflicts)
            others = "o lose what you changed" if is_lost else "o all, with what may be yours"
            shorter = "o lose yours" if is_lost else "o all"
            shortly = f"y all but yours · {shorter}" if does else shorter
            does = f"{does} all but yours · {others}" if does else others
        screen._answers = frozenset({Decision.DO, Decision.OVERWRITE} if reversal.conflicts else {Decision.DO})
        leave = "esc leave all as it is"
        screen._keys = (
            f"{does} · {_SCROLL} · {leave}",
            f"{does} · {leave}",
            f"{does} · esc leave",
            f"{shortly} · esc leave",
        )
        return screen

    def compose(self) -> ComposeResult:
        """What is to be known, and the diffs."""
        with self._box as box:
            box.border_title = Content(show_invisible(self._title))
            if self._remark:
                yield Static(show_invisible(self._remark), id="remark", markup=False)
            yield self._view

    def on_mount(self) -> None:
        """Takes the keyboard, so that the arrows scroll."""
        self._view.focus()

    def on_resize(self) -> None:
        """The window is as high as what it holds, where there is room."""
        self.call_after_refresh(self._fit)

    def _fit(self) -> None:
        rows = self._view.rows
        around = self._box.styles.margin.height + _BORDER_ROWS
        room = self.size.height - around - self._remark.count("\n") - 2 * bool(self._remark)
        self._view.styles.height = max(min(rows, room), 1)
        sensible = [keys for keys in self._keys if rows > room or _SCROLL not in keys]
        self._box.border_subtitle = Content(first_fitting(sensible, self._box.outer_size.width - _CORNERS))

    def action_decide(self, decision: str) -> None:
        """Gives the answer, where there is a question and the answer makes sense."""
        if (chosen := Decision(decision)) in self._answers:
            self.dismiss(chosen)

    def action_leave(self) -> None:
        """Leaves all as it is."""
        self.dismiss(None)


class ProgressScreen(Window[None]):
    """A bar and a percentage; it never closes itself."""

    DEFAULT_CSS = """
    ProgressScreen { align: center bottom; background: $background 0%; }
    ProgressScreen > Vertical {
        width: 100%; height: auto; margin: 0 1 2 1; padding: 0 1; background: $surface; border: round $accent;
        border-title-color: $text; border-title-background: $surface;
        border-subtitle-color: $text-muted; border-subtitle-background: $surface;
    }
    ProgressScreen #bar { height: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "stop", show=False)]
    IS_LEFT_FOR_TEXT = False

    def __init__(self, title: str, pace: Pace) -> None:
        super().__init__()
        self._title = title
        self._pace = pace
        self._bar = Static(id="bar", markup=False)
        self._box = Vertical(self._bar)

    def compose(self) -> ComposeResult:
        """The bar in its frame."""
        self._box.border_title = Content(show_invisible(self._title))
        yield self._box

    def on_mount(self) -> None:
        """Looks at the pace from now on."""
        self.set_interval(_LOOK_SECONDS, self._look)
        self.call_after_refresh(self._look)

    def action_stop(self) -> None:
        """Asks the work to go no further."""
        self._pace.stop()
        self._look()

    def _look(self) -> None:
        pace = self._pace
        self._bar.update(bar(pace.done, pace.total, self._bar.size.width))
        self._box.border_subtitle = Content(_FINAL if pace.is_final else _STOPPING if pace.is_stopped else _STOPS)


def bar(done: int, total: int, width: int) -> Content:
    """A rule that is thick as far as the work has come, and the percentage."""
    part = min(done / total, 1.0) if total else 0.0
    cells = max(width - 6, 0)
    thick = int(part * cells)
    percent = f" {int(part * 100):>3} %"
    return Content.assemble(("━" * thick, "$accent"), ("─" * (cells - thick), "$text-muted"), (percent, "$text"))
