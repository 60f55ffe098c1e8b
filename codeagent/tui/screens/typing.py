"""Tells answers from sentences: what is typed while a question waits, and whom it is for."""

from __future__ import annotations

from collections.abc import Mapping

from textual import events
from textual.timer import Timer

from codeagent.core.values import value
from codeagent.tui.widgets.answer_text import Sentence
from codeagent.tui.widgets.approval import ApprovalDialog
from codeagent.tui.widgets.drawn_question import TOO_SMALL
from codeagent.tui.widgets.looking_around import Look
from codeagent.tui.widgets.open_questions import OpenQuestion
from codeagent.tui.widgets.prompt import Prompt
from codeagent.tui.widgets.typed_before import MovedHere

ALONE_SECONDS = 0.3
"""An answer whose key begins words counts when no other key follows so soon: sentences are typed faster than that."""

SAME_READ_SECONDS = 0.02
"""What follows sooner came with it from the terminal: no hand is that quick."""

APART_SECONDS = 0.1
"""A key that comes so long after the one before it was pressed for itself by one who walks through hunks."""

JUST_NOW_SECONDS = 1.0
"""A question shown for less than this may have been what a single letter in the empty prompt was meant for."""

_OPENS = {"deny_because": "asks for the reason", "edit": "opens the text"}
"""The answers that open a field, in which nothing is answered yet."""


@value
class _Held:
    """A letter that is an answer if nothing follows; ``remark`` is said instead when it came at a wrong moment.

    ``begun`` are the keys right before it that were the question's, if they belong to a sentence after all.
    ``is_considered``: it asks for a reason, and came by itself at a question that could be looked at before.
    """

    begun: str
    time: float
    character: str
    key: str
    action: str
    question: OpenQuestion | None
    remark: str
    is_considered: bool


class _Begun:
    """The question's own keys in one go, with which a sentence may have begun; what they changed can be put back."""

    def __init__(self, dialog: ApprovalDialog) -> None:
        self._dialog = dialog
        self._text = ""
        self._until = 0.0
        self._look: Look | None = None
        self._steps = 0
        self._last = 0.0

    def note(self, character: str, time: float, *, is_step: bool) -> None:
        """One more of them, pressed at ``time``; ``is_step`` is one to another hunk."""
        if time >= self._until:
            self._text = ""
            self._look = self._dialog.look
        self._steps = self._steps + 1 if is_step and time < self._last + JUST_NOW_SECONDS else int(is_step)
        self._text += character
        self._until, self._last = time + ALONE_SECONDS, time

    def is_walk(self, time: float) -> bool:
        """Whether a key at ``time`` comes from one who just took several steps; no sentence begins with them."""
        return self._steps > 1 and self._last + APART_SECONDS <= time < self._last + JUST_NOW_SECONDS

    def take(self, time: float) -> str:
        """What was begun right before ``time``; from now on nothing is."""
        text, self._text = self._text, ""
        if time < self._until:
            return text
        self._look = None  # they were for the question
        return ""

    def put_back(self) -> bool:
        """It was a sentence: the question is looked at as before it; whether any key was the question's."""
        look, self._look, self._steps = self._look, None, 0
        if look is not None:
            self._dialog.look_again(look)
        return look is not None


class Typing:
    """Looks at every key first: a lone letter answers, a sentence goes to the prompt as a whole."""

    def __init__(self, prompt: Prompt, dialog: ApprovalDialog, begin_words: Mapping[str, str]) -> None:
        """``begin_words`` holds the actions of a question by the keys that can also begin a sentence."""
        self._prompt = prompt
        self._dialog = dialog
        self._begin_words = begin_words
        self._held: _Held | None = None
        self._timer: Timer | None = None
        self._begun = _Begun(dialog)
        self._last_text = 0.0
        self._has_told_where = False
        self._is_opening = False
        self._opened_with = ""

    def keeps(self, event: events.Key | events.Paste) -> bool:
        """Whether the key waits here; if not, the keyboard is where it belongs now."""
        if self._has_told_where and not is_text(event):  # the sentence that it was about is over
            self._remark("")
        self._is_opening = self._is_opening and self._has_question_keyboard
        if self._is_opening or self._takes_back(event):
            return not self._is_opening  # to the question, behind what opens the field, and from there into it
        held = self._let_go()
        is_again = held is not None and isinstance(event, events.Key) and event.key == held.key
        if isinstance(event, events.Key) and (held is None or is_again) and self._may_answer(event):
            begun = self._begun.take(event.time) if held is None else held.begun + held.character
            is_walk = held is None and self._begun.is_walk(event.time)
            self._hold(event, event.character or "", begun, is_walk=is_walk)
            return True
        if held is not None:
            self._go_on(held, event)
        elif isinstance(event, events.Paste):
            if self._has_question_keyboard:
                self._type("")
        elif self._has_question_keyboard:
            self._at_question(event)
        if isinstance(event, events.Paste) or event.is_printable:
            self._last_text = event.time
        return False

    def _go_on(self, held: _Held, event: events.Key | events.Paste) -> None:
        """Something follows the letter: with text it is a reason or a sentence, with any other key it is nothing."""
        if self._is_reason(held, event):
            self._is_opening = True
            self._dialog.call_later(self._open_reason, held)
        elif isinstance(event, events.Paste) or event.is_printable:
            self._type_sentence(held.begun + held.character, event.time)
            if held.action in _OPENS and not held.remark:
                self._remark(f"That went to the prompt: {held.character} alone {_OPENS[held.action]}")
                self._has_told_where = True
        else:
            self._remark(f"{held.character} answers when it is pressed alone")

    def _is_reason(self, held: _Held, event: events.Key | events.Paste) -> bool:
        """Whether what follows the letter is the reason: typed by hand, however soon, and nothing is allowed by it."""
        is_typed = isinstance(event, events.Key) and event.is_printable
        return is_typed and held.is_considered and event.time >= held.time + SAME_READ_SECONDS

    async def _open_reason(self, held: _Held) -> None:
        """Opens the field for what follows, which goes to the prompt with the letter where that cannot be."""
        is_new = not self._dialog.typed()
        try:
            if held.question is self._dialog.in_view and self._dialog.is_listening and self._has_question_keyboard:
                await self._dialog.run_action(held.action)
        finally:
            self._is_opening = False
        if self._has_question_keyboard or not self._dialog.has_keyboard:
            self._type(held.character)
        elif is_new:
            self._opened_with = held.character
            if held.question is not None:
                held.question.opened_with = held.character
            self._remark(f"esc takes it to the prompt, with its {held.character}")
            self._has_told_where = True

    def _takes_back(self, event: events.Key | events.Paste) -> bool:
        """Whether the key leaves a reason that was typed right behind its letter: it may have been for the prompt."""
        field = self._prompt.screen.focused
        begun = self._opened_with if isinstance(field, Sentence) and self._dialog.has_keyboard else ""
        is_left = isinstance(event, events.Key) and event.key == "escape"
        self._opened_with = "" if is_left else begun
        if not (begun and is_left and isinstance(field, Sentence) and field.value):
            return False
        text, field.value = begun + field.value, ""
        self._dialog.call_later(self._move_to_prompt, text)
        return True

    async def _move_to_prompt(self, text: str) -> None:
        await self._dialog.action_back()
        self._prompt.screen.set_focus(self._prompt)
        self._prompt.post_message(MovedHere((text,)))

    @property
    def _has_question_keyboard(self) -> bool:
        return self._dialog.is_attached and self._dialog.screen.focused is self._dialog

    def _may_answer(self, event: events.Key) -> bool:
        """Whether a letter may be meant for the question; one right behind text is not, shown yet or not."""
        if event.character is None or event.key not in self._begin_words:
            return False
        if self._has_question_keyboard:
            return True
        is_at_rest = self._prompt.is_empty and self._prompt.screen.focused in {self._prompt, None}
        is_alone = event.time >= self._last_text + ALONE_SECONDS
        is_just_now = event.time < self._dialog.shown_at + JUST_NOW_SECONDS
        return is_at_rest and is_alone and is_just_now and bool(self._dialog.waiting)

    def _at_question(self, event: events.Key) -> None:
        """A key that waits for no other: one for the question stays there, all others go to the prompt."""
        found = self._dialog.screen.active_bindings.get(event.key)
        is_switch = found is not None and self._dialog.is_walking and found.binding.action.startswith("switch")
        if not self._dialog.answers_to(event.time) and not is_switch:
            self._type_sentence(self._begun.take(event.time), event.time)
        elif event.character is None or not event.is_printable:
            self._begun.take(event.time)
        elif found is not None and found.enabled:
            is_step = found.binding.action.startswith("hunk")
            self._begun.note(event.character, event.time, is_step=is_step)
        else:
            self._type_sentence(self._begun.take(event.time), event.time)

    def _hold(self, event: events.Key, character: str, begun: str, *, is_walk: bool) -> None:
        remark = ""
        is_quiet = not begun and event.time >= self._last_text + JUST_NOW_SECONDS
        if self._dialog.is_cramped:
            remark = TOO_SMALL
        elif not self._has_question_keyboard or not self._dialog.answers_to(event.time):
            question = self._dialog.in_view
            what = "It changed" if question is not None and question.is_anew else "Shown"
            remark = f"{what} just now: press {character} again"
        elif not self._dialog.check_action(self._begin_words[event.key], ()):
            remark = f"esc goes back to the question, where {character} answers"
        self._held = _Held(
            begun=begun,
            time=event.time,
            character=character,
            key=event.key,
            action=self._begin_words[event.key],
            question=self._dialog.in_view,
            remark=remark,
            is_considered=self._begin_words[event.key] == "deny_because"
            and not remark
            and is_quiet
            and self._dialog.answers_to(event.time - JUST_NOW_SECONDS),
        )
        if not remark:
            self._dialog.show_pressed(self._held.action)
        seconds = SAME_READ_SECONDS if is_walk and self._held.action in _OPENS else ALONE_SECONDS
        self._timer = self._dialog.set_timer(seconds, self._after_keys_that_came)

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
        if held is not None:
            self._dialog.show_pressed("")
        return held

    def _remark(self, text: str) -> None:
        self._has_told_where = False
        self._dialog.post_message(ApprovalDialog.Remarked(text))

    def _type_sentence(self, begun: str, time: float) -> None:
        """A sentence is typed: ``begun`` belongs to it, and does nothing to the question, seen by it or not yet."""
        if begun:
            self._dialog.drop_keys_before(time)
            if self._begun.put_back():
                self._remark("")  # of those keys
        self._type(begun)

    def _type(self, text: str) -> None:
        self._prompt.screen.set_focus(self._prompt)
        if text:
            self._prompt.post_message(events.Paste(text))  # behind what is on its way there


def is_text(event: events.Key | events.Paste) -> bool:
    """Whether it is text: a letter or what is pasted."""
    return isinstance(event, events.Paste) or event.is_printable
