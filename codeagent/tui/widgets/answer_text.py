"""What a person types in answer to a question: one sentence for the model, or another text in place of the proposal."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.containers import Vertical
from textual.document._document import EditResult
from textual.document._edit import Edit
from textual.geometry import Size
from textual.message import Message
from textual.widgets import TextArea

from codeagent.tui.keys import QUIT, UNDO
from codeagent.tui.widgets.text_field import TextField, write_out

_HABIT_SECONDS = 0.25
"""The key that opened the field, pressed again so soon, was meant for what was there before."""


_MOST_ROWS, _SHARE = 4, 6
"""A sentence takes so many rows at most, and of a small screen one in so many."""

_OF_THE_QUESTION = frozenset({"cursor_page_up", "cursor_page_down"})


class _Editor(TextField):
    """Several lines; what was typed is taken back with the key that does so in the prompt."""

    BINDINGS: ClassVar[list[BindingType]] = [UNDO]


class Sentence(TextField):
    """One sentence, in up to four rows; a paste of several lines becomes one, and none of it is lost.

    What was typed is taken back word by word with the key that does so in the prompt.
    """

    BINDINGS: ClassVar[list[BindingType]] = [replace(QUIT, action="quit_or_delete"), UNDO]
    opened_by = ""
    opened_at = 0.0

    class Submitted(Message):
        """Enter was pressed in it."""

    @property
    def value(self) -> str:
        """What is typed."""
        return self.whole_text

    @value.setter
    def value(self, text: str) -> None:
        self.load_text(text)

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return self._fitting(self.wrapped_document.height, self.screen.size.height)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As many rows as it needs, and no more than a small part of the screen."""
        return self._fitting(super().get_content_height(container, viewport, width), viewport.height)

    def _fitting(self, rows: int, height: int) -> int:
        return max(min(rows, height // _SHARE, _MOST_ROWS), 1)

    def open(self, begun: str) -> None:
        """Goes on behind what was begun before, with nothing to take back."""
        self.value = begun
        self.move_cursor(self.document.end)

    def edit(self, edit: Edit) -> EditResult:
        """Lines become one."""
        if "\n" in edit.text or "\r" in edit.text:
            edit.text = " ".join(edit.text.split())
        return super().edit(edit)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The keys for pages are for the question."""
        return action not in _OF_THE_QUESTION and super().check_action(action, parameters)

    async def _on_key(self, event: events.Key) -> None:
        is_habit = event.character == self.opened_by and event.time < self.opened_at + _HABIT_SECONDS
        if is_habit or event.key == "enter":
            event.stop()
            event.prevent_default()
        if event.character == " ":
            self.history.checkpoint()
        if event.key == "enter":
            self.post_message(self.Submitted())

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.replace(event.text, *self.selection, maintain_selection_offset=False)

    def on_resize(self) -> None:
        """The cursor stays in view."""
        self.call_after_refresh(self.scroll_cursor_visible)

    async def action_quit_or_delete(self) -> None:
        """As in the prompt: quits while nothing is typed, else deletes the character under the cursor."""
        if self.text:
            self.action_delete_right()
        else:
            await self.run_action("app.quit")


class AnswerText(Vertical):
    """One of two fields, each made when it is first needed; hidden while nothing is to be typed."""

    DEFAULT_CSS = """
    AnswerText { display: none; height: auto; }
    AnswerText.-editing { height: 1fr; }
    AnswerText TextArea, AnswerText TextArea:focus {
        border: none; height: 1fr; padding: 0; background: $raised; scrollbar-size-vertical: 1;
        scrollbar-background: $raised; scrollbar-background-hover: $raised;
        scrollbar-background-active: $raised;
    }
    AnswerText Sentence, AnswerText Sentence:focus { height: auto; min-height: 1; }
    AnswerText TextArea:light .text-area--cursor { color: $background; background: $text; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._sentence: Sentence | None = None
        self._editor: _Editor | None = None
        self._unedited = ""

    async def ask_sentence(self, hint: str, *, begun: str, opened_by: str = "") -> None:
        """Shows a line to type in, with what was begun before; the key that opened it, pressed again, is none."""
        if self._sentence is None:
            self._sentence = Sentence(soft_wrap=True, compact=True, highlight_cursor_line=False)
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
        if self._editor is not None and self._editor.display:
            return self._editor.document.line_count
        return self._sentence.rows if self._sentence is not None else 1

    def _show(self, field: TextField) -> None:
        for one in (self._sentence, self._editor):
            if one is not None:
                one.display = one is field
        self.set_class(field is self._editor, "-editing")
        self.display = True
        self.take_keyboard()
