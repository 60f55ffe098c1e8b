"""The dialog in which a person decides about a call: it shows all of it, and is never answered by accident."""

from __future__ import annotations

from typing import ClassVar, Literal, assert_never

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input

from codeagent.core.approvals import Answer, ApprovalRequest, Deny
from codeagent.core.keys import Place
from codeagent.tui.keys import bindings
from codeagent.tui.themes import Palette
from codeagent.tui.widgets.answer_choices import SCOPES, View, choices_of, works_in
from codeagent.tui.widgets.answer_keys import AnswerKeys
from codeagent.tui.widgets.answer_text import AnswerText
from codeagent.tui.widgets.drawn_question import FRAME, DrawnQuestion, fitting_rows
from codeagent.tui.widgets.open_questions import OpenQuestion, OpenQuestions
from codeagent.tui.widgets.question_body import QuestionBody
from codeagent.tui.widgets.question_title import question_title

REACTION_SECONDS = 0.25
"""A key that comes sooner after the dialog took the keyboard by itself was meant for what was there before."""

CLICK_SECONDS = 0.4
"""A click that comes sooner after a question came into view was meant for what was there before."""

_NEVER = float("inf")
_ROOMY = 30
_TITLE_ENDS = 3
_SIDES = 5


class ApprovalDialog(Vertical, can_focus=True):
    """All open questions, one of them in view."""

    DEFAULT_CSS = """
    ApprovalDialog {
        height: auto; margin: 0 1; padding: 0 1; background: $surface; display: none;
        border: round $rule; border-title-background: $surface; border-subtitle-background: $surface;
        border-title-color: $text; border-subtitle-color: $text-muted; border-subtitle-align: right;
    }
    ApprovalDialog:focus, ApprovalDialog:focus-within { border: round $accent; }
    """
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

    class Turned(Message):
        """Another question came into view, or none is left: the keyboard has to be earned anew."""

    class Remarked(Message):
        """Something to tell the person in the status line."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, palette: Palette, home: Widget) -> None:
        """``home`` gets the keyboard back after each answer."""
        super().__init__()
        self._home = home
        self._palette = palette
        self._questions = OpenQuestions()
        self._view = View.QUESTION
        self._armed_at = _NEVER
        self._patience, self._wanted = 0.0, 0
        self.shown_at = 0.0
        self._drawing = DrawnQuestion()
        self._body = QuestionBody()
        self._text = AnswerText()
        self._keys = AnswerKeys()

    def compose(self) -> ComposeResult:
        """The question and the answers; the field for words comes with the first question."""
        yield self._body
        yield self._keys

    # --- what others do with it

    @property
    def waiting(self) -> int:
        """How many questions are open."""
        return len(self._questions)

    @property
    def in_view(self) -> OpenQuestion | None:
        """The question that is shown."""
        return self._questions.current

    @property
    def is_at_question(self) -> bool:
        """Whether the question itself is shown, not its reasons or rules."""
        return self._view is View.QUESTION

    @property
    def has_keyboard(self) -> bool:
        """Whether keys go to the dialog or to a field in it, as of now (``has_focus`` lags behind)."""
        focused = self.screen.focused if self.is_attached else None
        return focused is not None and self in focused.ancestors_with_self

    def add(self, ticket: int, request: ApprovalRequest, *, is_anew: bool = False) -> None:
        """Asks one more question, ``is_anew`` when what was shown changed; it is shown when it is the only one."""
        if not self._text.is_attached:
            self.mount(self._text, before=self._keys)
        (
            self._turn
            if self._questions.add(OpenQuestion(ticket=ticket, request=request, is_anew=is_anew))
            else self._redraw
        )()

    def close_question(self, ticket: int) -> None:
        """Closes a question, answered or not."""
        if self._questions.remove(ticket):
            self._turn()
        elif self._questions:
            self._redraw()

    def set_palette(self, palette: Palette) -> None:
        """Draws with other colours."""
        self._palette = palette
        self._redraw()

    def take_keyboard(self, *, by_itself: bool) -> None:
        """Gives the dialog the keyboard; when no one asked for that, keys count only after a moment."""
        if self._text.is_attached and self._text.display:
            self._text.take_keyboard()
            return
        self._patience = REACTION_SECONDS if by_itself else 0.0
        self.screen.set_focus(self, scroll_visible=False)

    def answers_to(self, time: float) -> bool:
        """Whether a key pressed at ``time`` (Textual's clock) was pressed at a dialog that had the keyboard."""
        return time > self._armed_at

    def _turn(self) -> None:
        """Another question is in view: it starts from its beginning, and no key counts yet."""
        self._armed_at = _NEVER
        self.shown_at = events.Focus().time
        self._view = View.QUESTION
        self._text.hide()
        if self.has_keyboard:
            self.screen.set_focus(self._home)
        self.display = bool(self._questions)
        self._redraw(from_start=True)
        self.post_message(self.Turned())

    def _arm(self, after: float) -> None:
        if self.has_focus and (current := self._questions.current):
            self._armed_at = events.Focus().time + after
            current.was_shown = True

    def watch_has_focus(self, has_focus: bool) -> None:  # noqa: FBT001 - Textual's signature
        """With the keyboard the keys stand out, and count once the person can have seen it; without, none does."""
        super().watch_has_focus(has_focus)
        patience, self._patience = self._patience, 0.0
        if has_focus:
            self.call_after_refresh(self._arm, patience)
        else:
            self._armed_at = _NEVER
        self._redraw()

    def on_resize(self) -> None:
        """Wraps anew."""
        self._redraw()

    def _redraw(self, *, from_start: bool = False) -> None:
        question = self._questions.current
        if question is None or not self.is_mounted:
            return
        width = self.screen.size.width - _SIDES - 2
        lines = self._drawing.lines(question, self._view, width, self._palette)
        choices = choices_of(question, self._view, self.waiting)
        self._body.display = self._view is not View.EDITING
        self._keys.show(choices, is_live=self.has_keyboard)
        air = 1 if self.screen.size.height >= _ROOMY else 0
        self._keys.styles.margin = (air, 0, 0, 0)
        wanted = len(lines) + self._keys.rows(width + 1) + air + self._text.rows + FRAME
        self._wanted = wanted
        self.fit()
        self._body.show(lines, from_start=from_start)
        waiting = f"{self._questions.at + 1} of {self.waiting} waiting" if self.waiting > 1 else ""
        self.border_title = question_title(
            question.request,
            width - _TITLE_ENDS,
            waiting,
            rule_style="$accent" if self.has_keyboard else "$rule",
            is_anew=question.is_anew,
        )
        self._tell_what_follows()

    def fit(self) -> None:
        """Takes as many rows as it needs, and leaves the prompt and the queued messages theirs."""
        others = sum(one.outer_size.height for one in self.siblings if one.display)
        self.styles.height = fitting_rows(self._wanted, self.screen.size.height, others)

    def on_question_body_moved(self, event: QuestionBody.Moved) -> None:
        """Keeps the mark of what follows true."""
        event.stop()
        self._tell_what_follows()

    def _tell_what_follows(self) -> None:
        self.border_subtitle = Content() if self._view is View.EDITING else self._body.what_follows

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

    async def on_key(self, event: events.Key) -> None:
        """Carries out each key before the next one is looked at, so that what follows goes where the keyboard went."""
        target = self.screen.focused
        if target is not self:
            if event.is_printable and target is not None:
                event.stop()
                target.post_message(events.Key(event.key, event.character))
        elif (found := self.screen.active_bindings.get(event.key)) and found.enabled:
            event.stop()
            await self.run_action(found.binding.action)

    # --- answers

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Answers are given to the question alone, each other view has its own keys."""
        works = works_in(action, self._view, is_live=self._armed_at != _NEVER)
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
        question = self._questions.current
        if question is not None and self._has_more_to_read(question):
            return
        if question is not None and question.request.offers:
            await self._show(View.STORING)
        else:
            self.post_message(self.Remarked("This is asked each time: no rule can answer it"))

    def action_store(self, key: str) -> None:
        """Yes, and stores the rules that are shown."""
        if question := self._questions.current:
            self._answer(question.yes(scope=SCOPES[key]))

    async def action_edit(self) -> None:
        """Opens the proposed text or command for changes."""
        question = self._questions.current
        if question is not None and question.proposal is not None:
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
        question = self._questions.current
        if question is not None and self._view is View.EDITING:
            question.draft = self._text.edited
        self._text.hide()
        await self._show(View.QUESTION)

    def action_approve_all(self) -> None:
        """Yes, to all that were in view; the others stay."""
        if [one for one in self._questions if one.was_shown and self._has_more_to_read(one)]:
            return
        unseen = sum(not one.was_shown for one in self._questions)
        for question in [one for one in self._questions if one.was_shown and one.chosen is None]:
            self._questions.remove(question.ticket)
            self.post_message(self.Answered(question.ticket, question.yes()))
        if unseen:
            self.post_message(self.Remarked(f"{unseen} not looked at yet: ] shows the next"))
        self._turn()

    def action_switch(self, by: int) -> None:
        """Another question comes into view; the person asked for it, so its keys count."""
        if self.waiting > 1:
            if question := self._questions.current:
                question.unread = self._body.unseen
            self._questions.switch(by)
            self._armed_at = _NEVER
            self.shown_at = events.Focus().time
            self._redraw(from_start=True)
            self.call_after_refresh(self._arm, REACTION_SECONDS)

    def action_hunk(self, by: int) -> None:
        """Another hunk."""
        question = self._questions.current
        if question is not None and question.hunks:
            question.walk(by)
            self._redraw()
            self._body.bring(self._drawing.hunk_starts[question.hunk])

    def action_toggle_hunk(self) -> None:
        """Takes the hunk out, or puts it back."""
        question = self._questions.current
        if question is not None and question.hunks > 1:
            question.toggle()
            self._redraw()

    def action_choose(self, by: int) -> None:
        """Chooses an answer for Enter."""
        self._keys.choose(by)

    async def action_give_choice(self) -> None:
        """Gives the chosen answer; without a choice, Enter takes the first rule or means nothing."""
        if action := self._keys.chosen or ("store('1')" if self._view is View.STORING else None):
            await self.run_action(action)

    def action_scroll(self, by: int, unit: Literal["line", "page", "all"]) -> None:
        """Scrolls by lines, by pages that keep one line in view, or to the first or last line."""
        lines = {"line": 1, "page": max(self._body.size.height - 1, 1), "all": self._body.total}
        self._body.scroll_relative(y=by * lines[unit], animate=False)

    async def on_answer_keys_clicked(self, event: AnswerKeys.Clicked) -> None:
        """A click answers as the key would, unless the question came under the mouse only just now."""
        event.stop()
        if event.time > self.shown_at + CLICK_SECONDS or self._view is not View.QUESTION:
            self._armed_at = min(self._armed_at, event.time)
            await self.run_action(event.action)
