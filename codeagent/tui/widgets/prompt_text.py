"""A text field in which long pastes and images are short marks, and characters are what people see as one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.geometry import Size
from textual.message import Message

from codeagent.core.first_words import GOES_ON, PLACEHOLDER
from codeagent.core.messages import Draft, ImageBlock
from codeagent.core.text import clean
from codeagent.tui.later import read_clipboard
from codeagent.tui.widgets.attached_images import AttachedImages
from codeagent.tui.widgets.folded_paste import FoldedPastes
from codeagent.tui.widgets.text_field import TextField, written_in

_SHORTER = ("Ask for a change, or type / for commands", "Ask for a change")
"""What an empty prompt says where all of it does not fit."""

RETURN_SECONDS = 1.0
"""What is typed sooner after a text came back was begun for an empty prompt: it does not go on in the text's line."""

_SHARE = 3
"""A long text takes one row in so many of the screen, and scrolls in them."""


class PromptText(TextField):
    """The text of the prompt, with its marks."""

    DEFAULT_CSS = """
    PromptText, PromptText:focus {
        height: auto; min-height: 1; width: 1fr; border: none; padding: 0; background: $background;
        scrollbar-size-vertical: 1;
        scrollbar-background: $background; scrollbar-background-hover: $background;
        scrollbar-background-active: $background;
        & .text-area--cursor-line { background: $background; }
        & .text-area--placeholder { color: $text-faint; }
        & .prompt-text--mark { color: $accent; }
        &:light .text-area--cursor { color: $background; background: $text; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"prompt-text--mark"}

    class TooLong(Message):
        """A folded paste is too long to be opened here."""

    class Remarked(Message):
        """Something to tell the person in the status line."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self) -> None:
        super().__init__(
            soft_wrap=True,
            show_line_numbers=False,
            tab_behavior="focus",
            compact=True,
            highlight_cursor_line=False,
            placeholder=PLACEHOLDER,
        )
        self.cursor_blink = False
        self._pastes = FoldedPastes()
        self._images = AttachedImages()
        self._sent: set[str] = set()
        self._offered = self._returned = ""
        self._return_counts_at = 0.0

    def on_resize(self) -> None:
        """An empty prompt says as much as fits; in any other the cursor stays in view."""
        fitting = (words for words in (PLACEHOLDER, *_SHORTER) if len(words) <= self.size.width)
        self.placeholder = next(fitting, _SHORTER[-1])
        self.call_after_refresh(self.scroll_cursor_visible)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As many rows as it needs, up to a third of the screen, also where Textual leaves relative limits out."""
        return min(super().get_content_height(container, viewport, width), max(viewport.height // _SHARE, 1))

    def get_line(self, line_index: int) -> Text:
        """A line as it is drawn: what stands for a paste or an image stands out."""
        line = super().get_line(line_index)
        marks = written_in(self.document.get_line(line_index))
        if "[" in line.plain:
            marks += [*self._pastes.marks_in(line.plain), *self._images.marks_in(line.plain)]
        for start, end in marks:
            line.stylize(self.get_component_rich_style("prompt-text--mark"), start, end)
        return line

    @property
    def is_empty(self) -> bool:
        """Whether nothing is typed."""
        return not self.text

    @property
    def full_text(self) -> str:
        """What would be sent: the text with folded pastes in full."""
        return self._pastes.unfold(self.whole_text)

    def images_in(self, text: str) -> tuple[ImageBlock, ...]:
        """The images that a text which is sent from here has marks of."""
        if images := self._images.found_in(text):
            self._sent.add(text)
        return images

    def draft_of(self, text: str) -> Draft:
        """A text that was not sent yet, with the long texts that were pasted, oldest first, and its images."""
        return Draft(text=text, pasted=self._pastes.texts, images=self._images.drafted_in(text))

    def take_back(self, draft: Draft) -> tuple[str, str]:
        """The text of a draft of an earlier run, and in words which of its images are not attached any more."""
        self._pastes.take(draft.pasted)
        return self._images.take_back(draft)

    def history_of(self, sent: Iterable[Draft]) -> tuple[str, ...]:
        """What earlier runs sent, in which no mark stands for an image of this one; its pastes are known."""
        sent = tuple(sent)
        self._pastes.know(text for one in sent for text in one.pasted)
        return tuple(self._images.forget(one.text) for one in sent)

    def put(self, text: str) -> None:
        """Replaces the text (undo brings the old one back), cursor at its end; what was pasted is folded again."""
        self._put(self._pastes.fold_known(clean(text)))
        if lost := self._images.forgotten_in(text):
            self.post_message(self.Remarked(lost))

    def put_said(self, text: str) -> None:
        """The same with what was said in a session; where an earlier run sent it, its marks are of no image here."""
        self.put(text if text in self._sent else self._images.forget(text))

    def _put(self, text: str) -> None:
        shown = self._with_images(self._pastes.fold_what_is_too_long(text))
        self.replace(shown, (0, 0), self.document.end, maintain_selection_offset=False)
        self.move_cursor(self.document.end)

    def put_folded(self, text: str) -> None:
        """The same, folding those alone that are folded now."""
        self._put(self._pastes.fold_again(clean(text), self.whole_text))

    def give_back(self, text: str) -> None:
        """Puts text that was not delivered before whatever is typed now."""
        self.put(f"{text}\n{self.whole_text}" if self.text else text)

    def give_back_unasked(self, text: str) -> None:
        """The same where the person may not look: what is typed on right away does not go on in the text's line."""
        is_alone = self.is_empty
        self.give_back(text)
        if is_alone:
            self._returned, self._return_counts_at = self.text, events.Focus().time + RETURN_SECONDS

    def part_from_returned(self, typed: str, time: float) -> None:
        """Begins a new line for what was typed at ``time``, before the person saw that a text had come back."""
        is_behind = self.selection.is_empty and self.cursor_location == self.document.end
        is_sooner = time < self._return_counts_at and bool(self.text) and self.text == self._returned
        if is_sooner and is_behind and typed[:1] not in GOES_ON:
            self._insert("\n")

    def offer_again(self, text: str) -> None:
        """Puts text that could not be used back, selected: what is typed next takes its place."""
        is_alone = self.is_empty
        self.give_back(text)
        if is_alone:
            self.select_all()
            self._offered = self.text

    @property
    def is_offered_again(self) -> bool:
        """Whether all of it is selected because it could not be used: nobody selected it to copy it."""
        return bool(self._offered) and self._offered == self.text and self.whole_text == super().selected_text

    def part_from_paste(self, typed: str) -> None:
        """Begins a new line, or leaves a blank, when something is typed right behind a folded paste."""
        row, column = self.cursor_location
        line = self.document.get_line(row)
        span = self._pastes.mark_at(line, column)
        if span is not None and span[1] == column and self.selection.is_empty and not typed[:1].isspace():
            self._insert(self._pastes.gap_behind(line[span[0] : span[1]]))

    def insert_typed(self, text: str) -> None:
        """Inserts at the cursor, as if pasted."""
        plain = clean(text.replace("\r\n", "\n").replace("\r", "\n"))
        self.part_from_paste(plain)
        self._insert(self._images.attach(text) or self._with_images(self._pastes.fold(plain)))
        if self._images.problem:
            self.post_message(self.Remarked(self._images.problem))

    def _with_images(self, text: str) -> str:
        """The text; a mark in it that stands for no image gives way to the image's name, which the person is told."""
        shown, lost = self._images.without_lost(text)
        if lost:
            self.post_message(self.Remarked(lost))
        return shown

    def action_paste_clipboard(self) -> None:
        """Inserts the image that lies on the clipboard, else its text."""
        self.run_worker(self._paste_clipboard, group="clipboard", exclusive=True, description="reads the clipboard")

    async def _paste_clipboard(self) -> None:
        clip = await read_clipboard()
        if clip.image:
            mark = self._images.take(clip.image, "clipboard.png")
            self._insert(mark or "")
            self.post_message(self.Remarked("image attached" if mark else self._images.problem))
        elif text := clip.text or self.app.clipboard:  # pyright: ignore[reportUnknownMemberType] - an app of any result
            self.insert_typed(text)
        else:
            self.post_message(self.Remarked(clip.problem))

    def _insert(self, text: str) -> None:
        result = self.replace(text, *self.selection, maintain_selection_offset=False)
        self.move_cursor(result.end_location)

    def clear_typed(self) -> None:
        """Empties the prompt; undo brings the text back."""
        self.put("")

    @property
    def can_unfold(self) -> bool:
        """Whether the cursor is at a folded paste, on either side of it."""
        return self._paste_at_cursor() is not None

    def _paste_at_cursor(self) -> tuple[int, int] | None:
        row, column = self.cursor_location
        line = self.document.get_line(row)
        return self._pastes.mark_at(line, column) or self._pastes.mark_at(line, column + 1)

    def unfold(self) -> None:
        """Opens the folded paste at the cursor."""
        row, _ = self.cursor_location
        line = self.document.get_line(row)
        if span := self._paste_at_cursor():
            if not self._pastes.can_open(line[span[0] : span[1]]):
                self.post_message(self.TooLong())
                return
            text, end = self._pastes.unfold(line[span[0] : span[1]]), (row, span[1])
            if text.endswith("\n") and span[1] == len(line) and row + 1 < self.document.line_count:
                end = (row + 1, 0)  # the newline behind the mark is the text's own
            result = self.replace(text, (row, span[0]), end, maintain_selection_offset=False)
            self.move_cursor(result.end_location)

    def on_click(self, event: events.Click) -> None:
        """A click on a folded paste opens it."""
        location = self.get_target_document_location(event)
        line = self.document.get_line(location[0])
        if self._pastes.mark_at(line, location[1] + 1):
            self.move_cursor((location[0], location[1] + 1))
            self.unfold()

    def marked_at(self, line: str, column: int) -> tuple[int, int] | None:
        """Also of a paste or an image."""
        found = self._pastes.mark_at(line, column) or self._images.mark_at(line, column)
        return found or super().marked_at(line, column)
