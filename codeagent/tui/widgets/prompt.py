"""Where the person types: it sends, walks history and completes, and knows vi's keys; a paste never sends."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.geometry import Offset
from textual.message import Message
from textual.widgets import TextArea
from textual.worker import Worker

from codeagent.core.keys import Place
from codeagent.core.messages import Draft
from codeagent.tui.driver import TypedText
from codeagent.tui.keys import bindings, keys_for, own_keys
from codeagent.tui.later import vi_keys
from codeagent.tui.widgets.completion import Completing, CompletionKind, CompletionList, Suggestion, completing
from codeagent.tui.widgets.editing_keys import EDITS, keys_about_messages, take
from codeagent.tui.widgets.prompt_text import PromptText
from codeagent.tui.widgets.typed_before import MovedHere, TypedBefore

Complete = Callable[[Completing], Awaitable[tuple[Suggestion, ...]]]
"""Finds the suggestions for a word."""

_MOST_SECONDS = 1.0

DRAFT_SECONDS = 1.0
"""What is typed sooner after a draft came back was meant for an empty prompt, where Enter does nothing."""

MOVED_SECONDS = 1.0
"""Without such a pause what is typed still belongs to the text that moved here, and so does Enter."""

_ELSEWHERE = frozenset({"page-up", "page-down", "find", "copy-or-quit", "suspend"})


class Prompt(PromptText):
    """The text field at the bottom."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(Place.PROMPT),
        # Textual's text field has meanings of its own for these; here they belong to the screen.
        *(replace(one, priority=False) for one in bindings(Place.ANYWHERE) if one.id in _ELSEWHERE),
    ]

    class DraftBack(Message):
        """What was typed before the program ended last time is back; ``lost`` says which of its images are not."""

        def __init__(self, *, is_in_history: bool, lost: str = "") -> None:
            super().__init__()
            self.is_in_history, self.lost = is_in_history, lost

    class Edited(Message):
        """The text is another one now."""

    class ViModeChanged(Message):
        """With vi's keys: what keys mean now, in vi's word for it; empty where they are text."""

        def __init__(self, mode: str) -> None:
            super().__init__()
            self.mode = mode

    class NothingToTake(Message):
        """The completing key was pressed where nothing completes the word, which may be whole already."""

        def __init__(self, word: Completing, *, is_whole: bool) -> None:
            super().__init__()
            self.word = word
            self.is_whole = is_whole

    class HelpWanted(Message):
        """A question mark was typed into an empty prompt."""

    def __init__(self, completions: CompletionList, keymap: Mapping[str, str], *, vi: bool = False) -> None:
        """``keymap`` holds the person's own keys by the names of the key table."""
        super().__init__()
        self._own_keys = own_keys(keymap, Place.ANYWHERE, Place.PROMPT)
        self._at_once = keys_about_messages(keymap)
        self._closing_keys = keys_for("stop", keymap) | {"escape"}
        self._completing_keys = keys_for("complete", keymap) or {"tab"}
        self._completions = completions
        self._complete: Complete | None = None
        self._is_whole = False
        self._typed_before = TypedBefore()
        self._draft = ""
        self._draft_counts_at = 0.0
        self._rests_at = 0.0
        self._dismissed: Completing | None = None
        self._suggested_for: Completing | None = None
        self._suggesting: Worker[None] | None = None
        self._vi = vi_keys(self, self._step_through_history, lambda: self.calls_back()) if vi else None  # noqa: PLW0108 - set later
        self.calls_back: Callable[[], bool] = lambda: False
        """Called with vi's Escape in a text: whether what was sent, and is with no turn yet, came back by it."""
        self.on_sent: Callable[[str, bool], None] | None = None
        """Called before any later key with what the person sends, and whether it is for when the agent has finished."""
        self.on_set_aside: Callable[[str], None] | None = None
        """Called with a draft that made way for what is typed: it is in the history alone from then on."""

    # --- what others do with it

    @property
    def typed_before(self) -> tuple[str, ...]:
        """What was sent before, oldest first."""
        return self._typed_before.texts

    def connect(self, complete: Complete, history: tuple[Draft, ...], draft: Draft) -> None:
        """Makes completion and history work, and brings back a draft.

        It goes to the history if something is typed already, and so does a shell
        command, which nothing that is typed on may run by accident.
        """
        self._complete = complete
        text, lost = self.take_back(draft)
        is_kept = bool(text) and not (self.is_empty and not text.lstrip().startswith("!"))
        self._typed_before = TypedBefore(
            (*self.history_of(history), *([text] if is_kept else []), *self._typed_before.texts)
        )
        if text and not is_kept:
            self.put(text)
            self._draft, self._draft_counts_at = self.text, events.Focus().time + DRAFT_SECONDS
            self._dismissed = self._completing()  # it can be sent as it stands
        else:
            self._look_for_completions()  # of what was typed already
        if text:
            self.post_message(self.DraftBack(is_in_history=is_kept, lost=lost))
        if is_kept and self.on_set_aside is not None:
            self.on_set_aside(text)

    def insert_typed(self, text: str) -> None:
        """Inserts at the cursor, as if pasted."""
        self._type_text()
        super().insert_typed(text)

    @property
    def selected_text(self) -> str:
        """What the person selected; with vi's keys the character under the cursor too."""
        if self.is_offered_again:
            return ""
        return (self._vi.selected_text if self._vi is not None else "") or super().selected_text

    # --- keys

    # Keys that go first are acted on before characters typed earlier have reached the text; these wait for them.

    def action_submit(self) -> None:
        """Sends, takes a completion that was chosen with the arrows, or makes a new line after a backslash."""
        self.call_later(self._submit)

    def action_submit_later(self) -> None:
        """Sends as a follow-up."""
        self.call_later(self._send, is_later=True)

    def action_newline(self) -> None:
        """Starts a new line."""
        self.call_later(self._break_line)

    def action_complete(self) -> None:
        """Takes the chosen completion, else opens a folded paste."""
        if chosen := self._completions.chosen:
            self.take(chosen)
        else:
            self.unfold()

    async def action_quit_or_delete(self) -> None:
        """Quits on an empty prompt, else deletes the character under the cursor."""
        if self.is_empty:
            await self.run_action("app.quit")
        else:
            self.action_delete_right()

    def action_close(self) -> None:
        """Closes the completion list until another word is begun."""
        self._dismissed = self._completing()
        self._completions.show(())

    def action_cursor_up(self, select: bool = False) -> None:  # noqa: FBT001, FBT002 - Textual's signature
        """Up in the list, the text or the history, whichever is there."""
        if self._completions.is_open:
            self._completions.move(-1)
        elif not select and self._row_on_screen() == 0:
            self._step_through_history(-1)
        else:
            super().action_cursor_up(select)

    def action_cursor_down(self, select: bool = False) -> None:  # noqa: FBT001, FBT002 - Textual's signature
        """Down in the list, the text or the history, whichever is there."""
        if self._completions.is_open:
            self._completions.move(1)
        elif not select and self._row_on_screen() >= self.wrapped_document.height - 1:
            self._step_through_history(1)
        else:
            super().action_cursor_down(select)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Tab is for completion only while there is something to complete or to open."""
        if action == "complete":
            return self._completions.is_open or self.can_unfold
        return super().check_action(action, parameters)

    async def _on_key(self, event: events.Key) -> None:
        if event.is_printable:
            self._make_way(event.time, event.character or "")
        if event.key in self._closing_keys and (self._completions.is_open or self._is_awaited(self._completing())):
            take(event)
            self.action_close()
        elif event.key in self._completing_keys and await self._takes_best():
            take(event)
        elif event.key in self._own_keys:
            await self._carry_out(event, {})  # else it is looked up like any other
        elif event.character == "?" and self.is_empty:
            take(event)
            self.post_message(self.HelpWanted())
        elif self._vi is not None and self._vi.takes(event):
            take(event)
            if self._vi.has_changed_mode:
                self.post_message(self.ViModeChanged(self._vi.mode))
        elif not await self._carry_out(event, EDITS) and event.is_printable and event.character:
            self.part_from_paste(event.character)

    async def _carry_out(self, event: events.Key, edits: Mapping[str, str]) -> bool:
        is_here = self.screen.is_active and self.screen.focused is self  # else another place has a meaning for it
        action = (self._at_once.get(event.key) if is_here else None) or edits.get(event.key)
        if action:
            take(event)
            await self.run_action(action)
        return bool(action)

    async def _on_paste(self, event: events.Paste) -> None:
        take(event)
        self._make_way(event.time, event.text)
        self.insert_typed(event.text)

    def on_moved_here(self, event: MovedHere) -> None:
        """Puts it behind what stands here; Enter that follows at once was meant for where it was."""
        event.stop()
        self._make_way(event.time)
        for text in event.texts:
            self.move_cursor(self.document.end)
            if self.text and not self.text.endswith("\n"):
                self._insert("\n")
            self.insert_typed(text)
        self.post_message(self.Remarked("It was not used: your text is in the prompt"))
        self._rests_at = events.Focus().time + MOVED_SECONDS

    def on_typed_text(self, event: TypedText) -> None:
        """Characters that were typed before the prompt was there, as if they came one by one."""
        event.stop()
        self._make_way(event.time, event.text)
        self.replace(event.text, *self.selection, maintain_selection_offset=False)

    # --- inside

    def _is_new_draft(self, time: float) -> bool:
        """Whether what was done at ``time`` was meant for the empty prompt before the draft came."""
        return bool(self._draft) and time < self._draft_counts_at and self.text == self._draft

    def _make_way(self, time: float, typed: str = "") -> None:
        """Moves a draft to the history when what was typed at ``time`` was meant for the empty prompt."""
        if self._is_new_draft(time):
            draft = self.full_text
            self._typed_before.add(draft)
            self.clear_typed()
            self.post_message(self.DraftBack(is_in_history=True))
            if self.on_set_aside is not None:
                self.on_set_aside(draft)
        self._draft = ""
        self.part_from_returned("" if self._vi is not None and self._vi.mode else typed, time)
        if time < self._rests_at:  # the sentence that moved here goes on
            self._rests_at = time + MOVED_SECONDS

    def _submit(self) -> None:
        if self._completions.is_open and self._completions.was_moved:
            self.action_complete()
            return
        row, column = self.cursor_location
        if column and self.document.get_line(row)[:column].endswith("\\"):
            self.replace("\n", (row, column - 1), (row, column), maintain_selection_offset=False)
            return
        self._send(is_later=False)

    def _break_line(self) -> None:
        self.replace("\n", *self.selection, maintain_selection_offset=False)

    def _send(self, *, is_later: bool) -> None:
        text = self.full_text.strip()
        now = events.Focus().time
        if not text or self._is_new_draft(now):
            return
        if now < self._rests_at:
            self._rests_at = 0.0
            self.post_message(self.Remarked("Your text moved here just now: press again to send it"))
            return
        self._typed_before.add(text)
        self.load_text("")
        self._type_text()
        self._completions.show(())
        if self.on_sent is not None:
            self.on_sent(text, is_later)

    def _type_text(self) -> None:
        """What comes now is text."""
        if self._vi is not None and self._vi.start_inserting():
            self.post_message(self.ViModeChanged(""))

    def _walk(self, text: str | None) -> None:
        if text is not None:
            self.put(text)
            self._completions.show(())
            self._dismissed = self._completing()

    def _step_through_history(self, by: int) -> None:
        """One message older or newer."""
        self._walk(self._typed_before.older(self.whole_text) if by < 0 else self._typed_before.newer())

    def _row_on_screen(self) -> int:
        offset: Offset = self.wrapped_document.location_to_offset(self.cursor_location)
        return offset.y

    def take(self, suggestion: Suggestion) -> None:
        """Puts a completion in place of the word at the cursor."""
        word = self._completing()
        if word is None:
            return
        row, column = self.cursor_location
        result = self.replace(f"{suggestion.text} ", (row, word.start), (row, column), maintain_selection_offset=False)
        self.move_cursor(result.end_location)
        self._completions.show(())

    def _completing(self) -> Completing | None:
        row, column = self.cursor_location
        return completing(self.document.get_line(row), column, is_first_line=row == 0)

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Looks for completions and tells that the text changed."""
        event.stop()
        if self.wrapped_document.height > self.size.height:
            self.call_after_refresh(self.scroll_cursor_visible)  # a new line counts only once it is laid out
        self._look_for_completions()
        self.post_message(self.Edited())

    def _is_awaited(self, word: Completing | None) -> bool:
        """Whether it is still to be found out what completes the word."""
        is_dismissed = word is None or self._is_dismissed(word)
        return not is_dismissed and self._complete is not None and word != self._suggested_for

    async def _takes_best(self) -> bool:
        """Completes the word as it stands now, even where the list has not come yet; later keys wait for that.

        Before the session is open there is nothing to choose from; the list comes with it.
        False where no word is to be completed, or no more.
        """
        word = self._completing()
        if word is not None and self._complete is None:
            return True
        if word is not None and self._complete is not None and self._is_awaited(word):
            with suppress(TimeoutError):
                async with asyncio.timeout(_MOST_SECONDS):
                    await self._suggest(self._complete, word)
        if word is None or self._is_dismissed(word):
            return False
        if word == self._suggested_for:
            if chosen := self._completions.chosen:
                self.take(chosen)
            else:
                self.post_message(self.NothingToTake(word, is_whole=self._is_whole))
        return True

    def end_word(self) -> None:
        """Goes on behind a word that is whole."""
        self._insert(" ")

    def _is_dismissed(self, word: Completing) -> bool:
        return self._dismissed is not None and self._dismissed.start == word.start

    def _look_for_completions(self) -> None:
        word = self._completing()
        if self._suggesting is not None:
            self._suggesting.cancel()
            self._suggesting = None
        if word is None or self._is_dismissed(word):
            self._completions.show(())
            self._dismissed = self._dismissed if word else None
        elif self._complete is not None:
            suggest = partial(self._suggest, self._complete, word)
            self._suggesting = self.run_worker(suggest, group="completion", description="looks for completions")

    async def _suggest(self, complete: Complete, word: Completing) -> None:
        suggestions = await complete(word)
        self._suggested_for = word
        if self._completing() == word:
            is_command = word.kind is CompletionKind.COMMAND  # of which a longer one may be meant
            self._is_whole = not is_command and any(one.text.removeprefix("@") == word.query for one in suggestions)
            self._completions.show(() if self._is_whole else suggestions)
