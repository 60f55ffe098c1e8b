"""Tells answers from sentences: what is typed while a question waits, and whom it is for."""

from __future__ import annotations

from collections.abc import Mapping

from textual import events
from textual.timer import Timer

from codeagent.core.values import value
from codeagent.tui.widgets.approval import ApprovalDialog
from codeagent.tui.widgets.open_questions import OpenQuestion
from codeagent.tui.widgets.prompt import Prompt

ALONE_SECONDS = 0.15
"""An answer whose key begins words counts when no other key follows so soon."""

JUST_NOW_SECONDS = 1.0
"""A question shown for less than this may have been what a single letter in the empty prompt was meant for."""


@value
class _Held:
    """A letter that is an answer if nothing follows; ``remark`` is said instead when it came at a wrong moment."""

    character: str
    key: str
    action: str
    question: OpenQuestion | None
    remark: str


class Typing:
    """Looks at every key first: a lone letter answers, a sentence goes to the prompt as a whole."""

    def __init__(self, prompt: Prompt, dialog: ApprovalDialog, begin_words: Mapping[str, str]) -> None:
        """``begin_words`` holds the actions of a question by the keys that can also begin a sentence."""
        self._prompt = prompt
        self._dialog = dialog
        self._begin_words = begin_words
        self._held: _Held | None = None
        self._timer: Timer | None = None
        self._moved: tuple[str, float] = ("", 0.0)

    def keeps(self, event: events.Key | events.Paste) -> bool:
        """Whether the key waits here; if not, the keyboard is where it belongs now."""
        held = self._let_go()
        is_again = held is not None and isinstance(event, events.Key) and event.key == held.key
        if held is not None and not is_again:
            self._go_on(held, event)
        elif isinstance(event, events.Paste):
            if self._has_question_keyboard:
                self._type("")
        elif event.character is not None and event.key in self._begin_words and self._may_answer(event):
            self._hold(event, event.character)
            return True
        elif self._has_question_keyboard:
            self._at_question(event)
        return False

    def _go_on(self, held: _Held, event: events.Key | events.Paste) -> None:
        """Something follows the letter: with text it is a sentence, with any other key it is nothing."""
        if isinstance(event, events.Paste) or event.is_printable:
            self._type(held.character)
        else:
            self._remark(f"{held.character} answers when it is pressed alone")

    @property
    def _has_question_keyboard(self) -> bool:
        return self._dialog.is_attached and self._dialog.screen.focused is self._dialog

    def _may_answer(self, event: events.Key) -> bool:
        if self._has_question_keyboard:
            return True
        is_at_rest = self._prompt.is_empty and self._prompt.screen.focused in {self._prompt, None}
        return is_at_rest and bool(self._dialog.waiting) and event.time < self._dialog.shown_at + JUST_NOW_SECONDS

    def _at_question(self, event: events.Key) -> None:
        """A key that waits for no other: one for the question stays there, all others go to the prompt."""
        found = self._dialog.screen.active_bindings.get(event.key)
        is_understood = found is not None and found.enabled
        before, when = self._moved
        self._moved = ("", 0.0)
        if not self._dialog.answers_to(event.time):
            self._type("")
        elif event.is_printable and not is_understood:
            self._type(before if event.time < when + ALONE_SECONDS else "")
        elif event.character is not None and event.character.isalpha():
            self._moved = (event.character, event.time)

    def _hold(self, event: events.Key, character: str) -> None:
        remark = ""
        if not self._has_question_keyboard or not self._dialog.answers_to(event.time):
            remark = f"Shown just now: press {character} again"
        elif not self._dialog.is_at_question:
            remark = f"esc goes back to the question, where {character} answers"
        self._held = _Held(
            character=character,
            key=event.key,
            action=self._begin_words[event.key],
            question=self._dialog.in_view,
            remark=remark,
        )
        self._timer = self._dialog.set_timer(ALONE_SECONDS, self._after_keys_that_came)

    def _after_keys_that_came(self) -> None:
        """Keys are read one after the other by the app; those that are there already are looked at first."""
        self._dialog.app.call_later(self._settle, self._held)  # pyright: ignore[reportUnknownMemberType] - an app of any result

    async def _settle(self, held: _Held | None) -> None:
        if held is None or held is not self._held:
            return
        self._let_go()
        if held.remark or held.question is not self._dialog.in_view or not self._dialog.is_listening:
            self._remark(held.remark or f"It changed just now: press {held.character} again")
        else:
            await self._dialog.run_action(held.action)

    def _let_go(self) -> _Held | None:
        held, self._held = self._held, None
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        return held

    def _remark(self, text: str) -> None:
        self._dialog.post_message(ApprovalDialog.Remarked(text))

    def _type(self, text: str) -> None:
        self._prompt.screen.set_focus(self._prompt)
        if text:
            self._prompt.insert_typed(text)
