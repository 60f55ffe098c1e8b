"""What a person types in answer to a question: one sentence for the model, or another text in place of the proposal."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.binding import BindingType
from textual.containers import Vertical
from textual.geometry import Region
from textual.strip import Strip
from textual.widgets import Input, TextArea
from textual.widgets.input import Selection

from codeagent.tui.keys import QUIT, UNDO
from codeagent.tui.widgets.text_field import TextField, edge_after, edge_before
from codeagent.tui.widgets.written_out import write_out

_HABIT_SECONDS = 0.25
"""The key that opened the field, pressed again so soon, was meant for what was there before."""


def _cut(cell: Strip) -> Strip:
    """A mark in place of a cell, drawn as that is."""
    return Strip([Segment("…", segment.style) for segment in cell][:1], 1)


class _Editor(TextField):
    """Several lines; what was typed is taken back with the key that does so in the prompt."""

    BINDINGS: ClassVar[list[BindingType]] = [UNDO]


class _Sentence(Input):
    """One line; a paste of several becomes one, and none of it is lost. A step is a whole character.

    What was typed is taken back word by word with the key that does so in the prompt.
    """

    BINDINGS: ClassVar[list[BindingType]] = [replace(QUIT, action="quit_or_delete"), UNDO]
    opened_by = ""
    opened_at = 0.0

    def open(self, begun: str) -> None:
        """Goes on behind what was begun before, with nothing to take back."""
        self.value = begun
        self.cursor_position = len(begun)
        self._before: list[tuple[str, int]] = []
        self._goes_on_at = -1

    def replace(self, text: str, start: int, end: int) -> None:
        """As Textual has it; what stood there before each word, and before all else, can be had back."""
        if not (start == end == self._goes_on_at and len(text) == 1 and not text.isspace()):
            self._before.append((self.value, self.cursor_position))
        super().replace(text, start, end)
        self._goes_on_at = self.cursor_position if len(text) == 1 else -1

    def action_undo(self) -> None:
        """Takes the last edit back."""
        if self._before:
            self.value, self.cursor_position = self._before.pop()
            self._goes_on_at = -1

    def _on_key(self, event: events.Key) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] - Textual calls that of each class
        if event.character == self.opened_by and event.time < self.opened_at + _HABIT_SECONDS:
            event.stop()
            event.prevent_default()

    def on_resize(self) -> None:
        """The cursor stays in view."""
        self.scroll_to_region(Region(self._cursor_offset, 0, 1, 1), force=True, animate=False)

    def render_line(self, y: int) -> Strip:
        """The part of the line that is in view, with a mark where more of it is on that side."""
        strip, width, left = super().render_line(y), self.size.width, round(self.scroll_offset.x)
        cursor = cell_len(self.value[: self.cursor_position]) - left
        if left and cursor > 0:
            strip = Strip.join([_cut(strip.crop(0, 1)), strip.crop(1)])
        if cell_len(self.value) > left + width and cursor < width - 1:
            strip = Strip.join([strip.crop(0, width - 1), _cut(strip.crop(width - 1, width))])
        return strip

    async def action_quit_or_delete(self) -> None:
        """As in the prompt: quits while nothing is typed, else deletes the character under the cursor."""
        if self.value:
            self.action_delete_right()
        else:
            await self.run_action("app.quit")

    def action_delete_left(self) -> None:
        """Deletes what is selected, else the character to the left."""
        if self.selection.is_empty:
            self.delete(edge_before(self.value, self.cursor_position), self.cursor_position)
        else:
            self.delete_selection()

    def action_delete_right(self) -> None:
        """Deletes what is selected, else the character to the right."""
        if self.selection.is_empty:
            self.delete(self.cursor_position, edge_after(self.value, self.cursor_position))
        else:
            self.delete_selection()

    def action_cursor_left(self, select: bool = False) -> None:  # noqa: FBT001, FBT002 - Textual's signature
        """Before the character to the left, or what is selected."""
        self._step(edge_before(self.value, self.cursor_position), select=select)

    def action_cursor_right(self, select: bool = False) -> None:  # noqa: FBT001, FBT002 - Textual's signature
        """Behind the character to the right, or what is selected."""
        self._step(edge_after(self.value, self.cursor_position), select=select)

    def _step(self, to: int, *, select: bool) -> None:
        start, end = self.selection
        if select:
            self.selection = Selection(start, to)
        elif start == end:
            self.cursor_position = to
        else:
            self.cursor_position = min(start, end) if to < end else max(start, end)

    def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.replace(" ".join(event.text.split()), *self.selection)


class AnswerText(Vertical):
    """One of two fields, each made when it is first needed; hidden while nothing is to be typed."""

    DEFAULT_CSS = """
    AnswerText { display: none; height: 1; }
    AnswerText.-editing { height: 1fr; }
    AnswerText Input, AnswerText Input:focus { border: none; height: 1; padding: 0; background: $raised; }
    AnswerText TextArea, AnswerText TextArea:focus {
        border: none; height: 1fr; padding: 0; background: $raised; scrollbar-size-vertical: 1;
        scrollbar-background: $raised; scrollbar-background-hover: $raised;
        scrollbar-background-active: $raised;
    }
    AnswerText TextArea:light .text-area--cursor { color: $background; background: $text; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._sentence: _Sentence | None = None
        self._editor: _Editor | None = None
        self._unedited = ""

    async def ask_sentence(self, hint: str, *, begun: str, opened_by: str = "") -> None:
        """Shows a line to type in, with what was begun before; the key that opened it, pressed again, is none."""
        if self._sentence is None:
            self._sentence = _Sentence(select_on_focus=False)
            self._sentence.cursor_blink = False
            await self.mount(self._sentence)
        self._sentence.open(begun)
        self._sentence.placeholder = hint
        self._sentence.opened_by, self._sentence.opened_at = opened_by, events.Focus().time
        self._show(self._sentence)

    async def edit(self, text: str, *, draft: str | None, line: int | None) -> None:
        """Shows ``text`` to be changed, or what was made of it before.

        The cursor stands in ``line`` (from 0), behind the last character where that is None.
        """
        if self._editor is None:
            self._editor = _Editor(soft_wrap=True, compact=True, highlight_cursor_line=False)
            self._editor.cursor_blink = False
            await self.mount(self._editor)
        self._editor.load_text(text)
        self._unedited = self._editor.text
        if draft is not None:
            self._editor.load_text(draft)
        self._show(self._editor)
        self._editor.move_cursor(self._editor.document.end if line is None else (line, 0))
        self._editor.call_after_refresh(self._editor.scroll_cursor_visible, center=True)

    def rebase(self, text: str) -> None:
        """``text`` is what is to be changed from now on; what was made of the one before stays as it is typed."""
        editor = self._editor
        if editor is None:
            return
        if self.edited is not None:
            self._unedited = TextArea(write_out(text)).text
            return
        cursor, (left, top) = editor.cursor_location, editor.scroll_offset
        editor.load_text(text)
        self._unedited = editor.text
        editor.move_cursor(cursor)
        editor.scroll_to(left, top, animate=False)

    def take_keyboard(self) -> None:
        """Gives the keyboard to the field that is shown."""
        field = self._editor if self.has_class("-editing") else self._sentence
        if field is not None:
            self.screen.set_focus(field)

    def hide(self) -> None:
        """Nothing is to be typed."""
        self.display = False

    @property
    def sentence(self) -> str:
        """The sentence, which an answer pressed again by habit is not."""
        return self.begun.strip()

    @property
    def begun(self) -> str:
        """The same as typed so far, with the space before the next word."""
        if self._sentence is None:
            return ""
        typed, key = self._sentence.value, self._sentence.opened_by
        is_habit = len(key) == 1 and not typed.strip().casefold().strip(key.casefold())
        return "" if is_habit else typed

    @property
    def edited(self) -> str | None:
        """The text as it was changed; None when it was not."""
        editor = self._editor
        return None if editor is None or editor.text == self._unedited else editor.whole_text

    @property
    def rows(self) -> int:
        """How many rows would show all of it."""
        if not self.display:
            return 0
        return self._editor.document.line_count if self._editor is not None and self._editor.display else 1

    def _show(self, field: Input | TextArea) -> None:
        for one in (self._sentence, self._editor):
            if one is not None:
                one.display = one is field
        self.set_class(field is self._editor, "-editing")
        self.display = True
        self.take_keyboard()
