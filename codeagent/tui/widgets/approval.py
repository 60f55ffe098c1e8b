"""The dialog in which a person decides about a call: it shows all of it, and is never answered by accident."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Literal, assert_never

from textual import events, on
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.widgets import TextArea

from codeagent.core.approvals import Answer, Approve, Deny, Scope
from codeagent.core.keys import Place
from codeagent.tui.keys import bindings
from codeagent.tui.widgets.answer_choices import HINTS, OTHER_LINES, SCOPES, SENTENCES, View, leaves_reasons, works_in
from codeagent.tui.widgets.answer_keys import AnswerKeys
from codeagent.tui.widgets.answer_text import Sentence
from codeagent.tui.widgets.diff_layout import Side
from codeagent.tui.widgets.drawn_question import CHANGING, TOO_SMALL, WIDE, Room
from codeagent.tui.widgets.open_questions import OpenQuestion
from codeagent.tui.widgets.question_body import QuestionBody
from codeagent.tui.widgets.question_pane import ABOVE, NEVER, QuestionPane

_OF_CHANGE = 4
"""So many rows of a change are in view at least when lines around it are shown."""

CLICK_SECONDS = 0.4
"""A click that comes sooner after a question came into view was meant for what was there before."""


class ApprovalDialog(QuestionPane):
    """All open questions: the keys with which the person looks around in them, and answers."""

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

    _stood: tuple[int, int, int, int] | None = None
    """Of the last change of sides: the question, its hunk, and the first row in view after it and before it."""
    _place: tuple[int, Room, Size, bool] | None = None
    """Which question was laid out last, and in what room."""

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

    def _remark(self, text: str) -> None:
        self.post_message(self.Remarked(text))

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
        self._drawing.note_seen(self._body.seen)
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

    # --- looking around

    def action_switch(self, by: int) -> None:
        """Another question comes into view; the person asked for it, so its keys count."""
        if self.waiting == 1:
            self._remark("No other question waits")
        elif self.waiting:
            self._remark("")
            self._note_shown()
            self._questions.switch(by)
            self._armed_at, self.is_walking = NEVER, True
            self.shown_at = events.Focus().time
            self._redraw(from_start=True)
            self.call_after_refresh(self._arm, self._reaction)

    def action_hunk(self, by: int) -> None:
        """Another hunk."""
        question = self._questions.current
        if question is not None and not question.hunks:
            up, down = self._keys_of["scroll(-1, 'line')"], self._keys_of["scroll(1, 'line')"]
            self._remark(f"There are no hunks here: {up} {down} scroll")
        elif question is not None:
            question.walk(by)
            self._redraw_lines()
            self._bring_hunk(question.hunk)
            self._paint_ahead(question.hunk + by)

    def _bring_hunk(self, hunk: int) -> None:
        start, change = self._drawing.hunk_starts[hunk], self._drawing.change_in(hunk)
        if (rows := change - start + _OF_CHANGE) <= self._body.size.height:
            self._body.bring(start, rows)
        else:
            self._body.bring(change - ABOVE, ABOVE + 1)

    def on_resize(self) -> None:
        """The hunk that the keys are for stays in view, as far as it was laid out by now."""
        self.call_after_refresh(self._keep_hunk)

    def on_question_body_moved(self, event: QuestionBody.Moved) -> None:
        """The same, once what is laid out anew has its size."""
        event.stop()
        self.call_after_refresh(self._keep_hunk)

    def _keep_hunk(self) -> None:
        """Brings the hunk back into view after the window changed; where the person scrolled to, it stays."""
        question = self._questions.current
        if question is None:
            return
        place = (question.ticket, self._room, self._body.size, self.is_cramped)
        before, self._place = self._place, place
        is_moved = before is not None and before[0] == question.ticket and before != place
        is_away = bool(question.hunk or self._body.scroll_offset.y)
        if is_moved and is_away and self._drawing.hunk_starts and not self._shows_part_of(question.hunk):
            self._bring_hunk(question.hunk)

    def _shows_part_of(self, hunk: int) -> bool:
        """Whether its first change is in view, or nothing but it from its heading on."""
        starts, top = self._drawing.hunk_starts, self._body.scroll_offset.y
        end = starts[hunk + 1] if hunk + 1 < len(starts) else self._body.total
        return top <= self._drawing.change_in(hunk) < top + self._body.size.height or starts[hunk] <= top < end - 1

    async def action_scroll(self, by: int, unit: Literal["line", "page", "all"]) -> None:
        """Scrolls by lines, by pages that keep one line in view, or to the first or last line.

        Where all of the question is in view, pages are the transcript's.
        """
        if unit == "page" and self._body.total <= self._body.size.height:
            await self.run_action(f"screen.scroll_page({by})")
            return
        lines = {"line": 1, "page": max(self._body.size.height - 1, 1), "all": self._body.total}
        self._body.scroll_relative(y=by * lines[unit], animate=False)

    @property
    def side(self) -> Side:
        """How changes are laid out where the screen is wide enough."""
        return self._side

    def use_side(self, side: Side) -> None:
        """Lays changes out that way where the screen is wide enough."""
        self._side = side
        self._redraw()

    def choose_side(self, side: Side) -> None:
        """The same, and from now on."""
        self.use_side(side)
        self.post_message(self.SideChosen(side))

    def action_other_side(self) -> None:
        """One below the other, or side by side; the change that was looked at stays in view, and back is back."""
        question = self._questions.current
        if question is None or question.around is None or not question.around.is_foldable:
            self._remark("There is nothing here to show side by side")
            return
        if not self._room.is_wide:
            self._remark(f"Side by side needs a screen of {WIDE} columns")
            return
        before = self._body.scroll_offset.y
        self._keep_in_view(question.hunk, lambda: self.choose_side(self._side.other))
        where = (question.ticket, question.hunk)
        if self._stood is not None and self._stood[:3] == (*where, before):
            self._body.go_on_at(self._stood[3])
        self._stood = (*where, self._body.scroll_offset.y, before)

    def action_open_fold(self) -> None:
        """Shows more of the unchanged lines around the hunk."""
        if (question := self._questions.current) is not None and question.open_fold():
            self._keep_in_view(question.hunk, self._redraw)
        else:
            self._remark("All around it is shown")

    def on_question_body_fold_clicked(self, event: QuestionBody.FoldClicked) -> None:
        """Shows more of what is around the hunk whose heading was clicked."""
        event.stop()
        question = self._questions.current
        if question is not None and event.line in self._drawing.hunk_starts:
            question.hunk = self._drawing.hunk_starts.index(event.line)
            self.action_open_fold()

    def _keep_in_view(self, hunk: int, change: Callable[[], None]) -> None:
        """Does something that moves lines, while the change in a hunk stays in its row of the screen.

        It moves down as far as its heading needs to be in view, where there is room for both, and up only
        where it was out of view.
        """
        row, rows = self._drawing.change_in(hunk) - self._body.scroll_offset.y, self._rows
        change()
        row, height = row + self._rows - rows, self._body.size.height + self._rows - rows
        lowest = max(row if row < height else 0, height - _OF_CHANGE)
        at = self._drawing.change_in(hunk)
        needed = at - self._drawing.hunk_starts[hunk]
        self._body.keep(at, max(min(max(row, needed if needed <= lowest else 1), lowest), 1))
