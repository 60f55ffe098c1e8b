"""The dialog in which a person decides about a call: it shows all of it, and is never answered by accident."""

from __future__ import annotations

from typing import ClassVar, assert_never

from textual import events, on
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import TextArea

from codeagent.core.approvals import Answer, Approve, Deny, Scope
from codeagent.core.keys import Place
from codeagent.tui.keys import bindings
from codeagent.tui.widgets.answer_choices import HINTS, OTHER_LINES, SCOPES, SENTENCES, View, leaves_reasons, works_in
from codeagent.tui.widgets.answer_keys import AnswerKeys
from codeagent.tui.widgets.answer_text import Sentence
from codeagent.tui.widgets.drawn_question import CHANGING, TOO_SMALL
from codeagent.tui.widgets.looking_around import LookingAround
from codeagent.tui.widgets.open_questions import OpenQuestion
from codeagent.tui.widgets.question_pane import NEVER

CLICK_SECONDS = 0.4
"""A click that comes sooner after a question came into view was meant for what was there before."""


class ApprovalDialog(LookingAround):
    """All open questions, and the keys with which the person answers them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(Place.QUESTION),
        Binding("escape", "back", show=False),
    ]

    class Answered(Message):
        """The person decided about the question with this ticket."""

        def __init__(self, ticket: int, answer: Answer) -> None:
            super().__init__()
            self.ticket = ticket
            self.answer = answer

    class Typed(Message):
        """Something else stands in the editor, or in the line for a sentence."""

    async def _show(self, view: View) -> None:
        question = self._questions.current
        if question is None:
            return
        self._keep_typed()
        was, self._view = self._view, view
        if was not in OTHER_LINES and view in OTHER_LINES:
            self._left_at = self._body.scroll_offset.y
        match view:
            case View.REFUSING | View.EXPLAINING:
                by = self._keys_of["approve"] if view is View.EXPLAINING else ""
                await self._text.ask_sentence(HINTS[view], begun=self._reasons.of(question, view), opened_by=by)
            case View.EDITING:
                draft = self._edits.of(question)
                await self._text.edit(question.proposal or "", draft=draft, line=question.line_of_hunk)
            case View.QUESTION | View.STORING | View.ASKING_WHY | View.CRAMPED:
                self._text.hide()
                if self.screen.focused is not self:
                    self.take_keyboard(by_itself=False)
            case _:
                assert_never(view)
        self._redraw(from_start=not self._text.display)
        if was in OTHER_LINES and view not in OTHER_LINES:
            self.call_after_refresh(self._body.go_on_at, self._left_at)
        self.post_message(self.LookedAside(is_aside=view is not View.QUESTION))

    async def on_key(self, event: events.Key) -> None:
        """Carries out each key before the next one is looked at, so that what follows goes where the keyboard went."""
        target = self.screen.focused
        if event.time < self._dropped_before:
            event.stop()
        elif target is not self:
            if event.is_printable and target is not None:
                event.stop()
                target.post_message(events.Key(event.key, event.character))
        elif (found := self.screen.active_bindings.get(event.key)) and found.enabled:
            event.stop()
            if self._view is View.ASKING_WHY and leaves_reasons(found.binding.action):
                await self._show(View.QUESTION)
            await self.run_action(found.binding.action)

    # --- answers

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Answers are given to the question alone, each other view has its own keys."""
        if action == "switch" and self.is_walking:
            return True
        works = works_in(action, self._view, self._questions.current, is_live=self._armed_at != NEVER)
        return super().check_action(action, parameters) if works is None else works

    def _answer(self, answer: Answer) -> None:
        if (question := self._questions.current) and not self._lacks_room():
            self._remark("")
            self._decide(question, answer)
            self._turn()

    def _lacks_room(self) -> bool:
        """Whether the question and its keys cannot be shown, so that no answer counts; says what to do then."""
        self.fit()
        if self.is_cramped:
            self._remark(TOO_SMALL)
        return self.is_cramped

    def _decide(self, question: OpenQuestion, answer: Answer) -> None:
        """An edited text is kept until it is sure that it was taken."""
        self._edits.keep(question, answer.edited if isinstance(answer, Approve) else None)
        self._reasons.take(question.request.call_id)
        self._questions.remove(question.ticket)
        self.post_message(self.Answered(question.ticket, answer))

    async def action_approve(self) -> None:
        """Yes, to the chosen hunks; when some are left out the model may be told why."""
        question = self._questions.current
        if question is None or self._has_more_to_read(question):
            return
        if question.chosen is None:
            self._answer(question.yes())
        elif question.chosen:
            await self._show(View.EXPLAINING)
        else:
            self._remark("No hunk is chosen: {deny} denies, {toggle_hunk} puts one back".format_map(self._keys_of))

    def _has_more_to_read(self, question: OpenQuestion) -> bool:
        """The first time, says in the border what was not looked at yet."""
        if self._lacks_room():
            return True
        is_more = question.warn()
        self._is_warning = self._is_warning or is_more
        self._tell_what_follows()
        return is_more

    def action_approve_for_run(self) -> None:
        """Yes to what the project brings along, until the program ends."""
        if (question := self._questions.current) and not self._has_more_to_read(question):
            self._answer(question.yes(scope=Scope.SESSION))

    def action_deny(self) -> None:
        """No."""
        self._answer(Deny())

    async def action_deny_because(self) -> None:
        """No, with a sentence for the model."""
        await self._show(View.REFUSING)

    @on(TextArea.Changed)
    def tell_typed(self, event: TextArea.Changed) -> None:
        """Another letter of the sentence, or of the edited text."""
        event.stop()
        if self._view in SENTENCES and self._text.rows != self._text_rows:
            self._redraw()
        self.post_message(self.Typed())

    @on(Sentence.Submitted)
    async def action_send_reason(self) -> None:
        """Gives the answer with the sentence that is typed."""
        question, reason, deny = self._questions.current, self._text.sentence, self._keys_of["deny"]
        if self.is_just_changed:
            self._remark(CHANGING)
        elif self._view is View.EXPLAINING and reason == deny:
            self._remark(f"{deny} answers at the question, and is no reason")
        elif self._view is View.EXPLAINING and question is not None and not question.left_out:
            await self._show(View.QUESTION)
            self._remark("The file changed: choose the hunks again, your sentence is kept")
        elif question is not None:
            self._answer(Deny(feedback=reason) if self._view is View.REFUSING else question.yes(feedback=reason))

    async def action_always(self) -> None:
        """Shows the rules before any is stored."""
        if (question := self._questions.current) and question.request.offers:
            await self._show(View.STORING)
        else:
            self._remark("This is asked each time: no rule can answer it")

    def action_store(self, key: str) -> None:
        """Yes, and stores the rules that are shown."""
        if (question := self._questions.current) and not self._has_more_to_read(question):
            self._answer(question.yes(scope=SCOPES[key]))

    async def action_edit(self) -> None:
        """Opens the proposed text or command for changes."""
        if (question := self._questions.current) and question.proposal is not None:
            await self._show(View.EDITING)
        else:
            self._remark("There is no text to change here")

    async def action_approve_edited(self) -> None:
        """Sends the text as it was edited, to be judged and shown; one that was not changed answers nothing."""
        question, edited = self._questions.current, self._text.edited
        if question is None:
            return
        if self.is_just_changed:
            self._remark(CHANGING)
        elif edited is None:
            await self.action_back()
            self._remark(f"Nothing was changed: {self._keys_of['approve']} approves it as it is")
        elif question.is_missing(edited):
            self._remark(f"Nothing is left of it: esc goes back, and there {self._keys_of['deny']} denies")
        else:
            self._answer(question.yes(edited=edited))

    async def action_why(self) -> None:
        """Shows why this is asked, or the question again."""
        await self._show(View.QUESTION if self._view is View.ASKING_WHY else View.ASKING_WHY)

    async def action_back(self) -> None:
        """Back to the question; what was typed is kept for the next time."""
        if (question := self._questions.current) and question.is_called_off:
            self._keep_typed()
            self._take_out(question)
            return
        self._text.hide()
        await self._show(View.QUESTION)

    def action_approve_all(self) -> None:
        """Yes, to all that were in view; the others stay."""
        self._note_shown()
        if [one for one in self._questions if one.was_shown and self._has_more_to_read(one)]:
            return
        for question in [one for one in self._questions if one.was_shown and one.is_one_thing]:
            self._decide(question, question.yes())
        self._turn()
        self._remark(self._questions.unseen(self._keys_of["switch(1)"]))

    def action_toggle_hunk(self) -> None:
        """Takes the hunk out, or puts it back."""
        if (question := self._questions.current) and question.hunks > 1:
            question.toggle()
            self._redraw()
        else:
            self._remark("There are no hunks to choose from: an answer is for all of it")

    def action_choose(self, by: int) -> None:
        """Chooses an answer for Enter."""
        self._keys.choose(by)

    async def action_give_choice(self) -> None:
        """Gives the chosen answer; without a choice, Enter takes the first rule or means nothing."""
        if action := self._keys.chosen or ("store('1')" if self._view is View.STORING else None):
            await self.run_action(action)

    async def on_answer_keys_clicked(self, event: AnswerKeys.Clicked) -> None:
        """A click answers as the key would, unless the question came under the mouse only just now."""
        event.stop()
        if event.time > self.shown_at + max(CLICK_SECONDS, self._reaction) or self._view is not View.QUESTION:
            self._armed_at = min(self._armed_at, event.time)
            await self.run_action(event.action)
