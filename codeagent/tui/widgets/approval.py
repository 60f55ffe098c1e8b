"""The dialog in which a person decides about a call: it shows all of it, and is never answered by accident."""

from __future__ import annotations

from typing import ClassVar, assert_never

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Input

from codeagent.core.approvals import Answer, Deny, Scope
from codeagent.core.keys import Place
from codeagent.tui.keys import bindings
from codeagent.tui.widgets.answer_choices import SCOPES, View, works_in
from codeagent.tui.widgets.answer_keys import AnswerKeys
from codeagent.tui.widgets.open_questions import OpenQuestion
from codeagent.tui.widgets.question_pane import NEVER, QuestionPane

CLICK_SECONDS = 0.4
"""A click that comes sooner after a question came into view was meant for what was there before."""


class ApprovalDialog(QuestionPane):
    """All open questions and the answers to them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(Place.QUESTION),
        Binding("escape", "back", show=False),
        Binding("ctrl+s", "approve_edited", show=False),
    ]

    class Answered(Message):
        """The person decided about the question with this ticket."""

        def __init__(self, ticket: int, answer: Answer) -> None:
            super().__init__()
            self.ticket = ticket
            self.answer = answer

    async def _show(self, view: View) -> None:
        question = self._questions.current
        if question is None:
            return
        self._view = view
        match view:
            case View.REFUSING:
                await self._text.ask_sentence("why not, for the model")
            case View.EXPLAINING:
                await self._text.ask_sentence("why not the other hunks; empty is fine")
            case View.EDITING:
                await self._text.edit(question.proposal or "", draft=question.draft, line=question.line_of_hunk)
            case View.QUESTION | View.STORING | View.ASKING_WHY:
                self._text.hide()
                if self.screen.focused is not self:
                    self.take_keyboard(by_itself=False)
            case _:
                assert_never(view)
        self._redraw(from_start=not self._text.display)
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
            await self.run_action(found.binding.action)

    # --- answers

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Answers are given to the question alone, each other view has its own keys."""
        if action == "switch" and self.is_walking:
            return True
        works = works_in(action, self._view, self._questions.current, is_live=self._armed_at != NEVER)
        return super().check_action(action, parameters) if works is None else works

    def _answer(self, answer: Answer) -> None:
        if question := self._questions.current:
            self._questions.remove(question.ticket)
            self.post_message(self.Answered(question.ticket, answer))
            self._turn()

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
            self.post_message(self.Remarked("No hunk is chosen: n denies, space puts one back"))

    def _has_more_to_read(self, question: OpenQuestion) -> bool:
        """The first time, says what was not looked at yet."""
        if question is self._questions.current:
            question.unread = self._body.unseen
        if remark := question.warn():
            self.post_message(self.Remarked(remark))
        return bool(remark)

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

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """The sentence is typed."""
        event.stop()
        self.action_send_reason()

    def action_send_reason(self) -> None:
        """Gives the answer with the sentence that is typed."""
        question, reason = self._questions.current, self._text.sentence
        if question is not None:
            self._answer(Deny(feedback=reason) if self._view is View.REFUSING else question.yes(feedback=reason))

    async def action_always(self) -> None:
        """Shows the rules before any is stored."""
        if (question := self._questions.current) and self._has_more_to_read(question):
            return
        if question and question.request.offers:
            await self._show(View.STORING)
        else:
            self.post_message(self.Remarked("This is asked each time: no rule can answer it"))

    def action_store(self, key: str) -> None:
        """Yes, and stores the rules that are shown."""
        if question := self._questions.current:
            self._answer(question.yes(scope=SCOPES[key]))

    async def action_edit(self) -> None:
        """Opens the proposed text or command for changes."""
        if (question := self._questions.current) and question.proposal is not None:
            await self._show(View.EDITING)

    def action_approve_edited(self) -> None:
        """Yes, to the text as it was edited."""
        if question := self._questions.current:
            edited = self._text.edited
            self._answer(question.yes() if edited is None else question.yes(edited=edited))

    async def action_why(self) -> None:
        """Shows why this is asked."""
        await self._show(View.ASKING_WHY)

    async def action_back(self) -> None:
        """Back to the question; an edited proposal is kept for the next time."""
        if (question := self._questions.current) and self._view is View.EDITING:
            question.draft = self._text.edited
        self._text.hide()
        await self._show(View.QUESTION)

    def action_approve_all(self) -> None:
        """Yes, to all that were in view; the others stay."""
        self._note_shown()
        if [one for one in self._questions if one.was_shown and self._has_more_to_read(one)]:
            return
        unseen = sum(not one.was_shown for one in self._questions)
        for question in [one for one in self._questions if one.was_shown and one.is_one_thing]:
            self._questions.remove(question.ticket)
            self.post_message(self.Answered(question.ticket, question.yes()))
        if unseen:
            self.post_message(self.Remarked(f"{unseen} not looked at yet: ] shows the next"))
        self._turn()

    def action_toggle_hunk(self) -> None:
        """Takes the hunk out, or puts it back."""
        if (question := self._questions.current) and question.hunks > 1:
            question.toggle()
            self._redraw()

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
