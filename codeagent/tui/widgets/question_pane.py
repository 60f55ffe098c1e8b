"""What the person sees of the questions that wait, and who has the keyboard; its keys are next door."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Region
from textual.message import Message
from textual.widget import Widget

from codeagent.core.approvals import ApprovalRequest, DiffPreview
from codeagent.core.keys import Place, keys_in_words
from codeagent.tui.themes import Palette
from codeagent.tui.widgets.answer_choices import SENTENCES, TYPING, View, choices_of
from codeagent.tui.widgets.answer_keys import AnswerKeys, Choice
from codeagent.tui.widgets.answer_text import AnswerText
from codeagent.tui.widgets.diff_layout import Side
from codeagent.tui.widgets.drawn_question import FRAME, DrawnQuestion, Room, fitting_rows, rows_left
from codeagent.tui.widgets.lines import Line
from codeagent.tui.widgets.open_questions import KeptEdits, KeptReasons, OpenQuestion, OpenQuestions
from codeagent.tui.widgets.question_body import QuestionBody
from codeagent.tui.widgets.question_title import question_title
from codeagent.tui.widgets.typed_before import MovedHere

REACTION_SECONDS = 0.25
"""A key that comes sooner after the dialog took the keyboard by itself was meant for what was there before."""

CHANGED_SECONDS = 1.0
"""The same where the question itself changed under the eyes: nearly the same picture, and an answer on its way."""

NEVER, _A_MOMENT = float("inf"), 0.01
_TITLE_ENDS, _LABEL_ENDS = 3, 4
ABOVE = 2
"""A hunk that is walked to has its heading and a row of the one before above it."""


class QuestionPane(Vertical, can_focus=True):
    """All open questions, one of them in view, and who has the keyboard."""

    DEFAULT_CSS = """
    QuestionPane {
        height: auto; margin: 0 1; padding: 0 1; background: $surface; display: none;
        border: round $rule; border-title-background: $surface; border-subtitle-background: $surface;
        border-title-color: $text; border-subtitle-color: $text-muted; border-subtitle-align: right;
    }
    QuestionPane:focus, QuestionPane:focus-within { border: round $accent; }
    QuestionPane.-cramped, QuestionPane.-cramped:focus, QuestionPane.-cramped:focus-within { border: none; }
    """

    class Turned(Message):
        """Another question came into view, or none is left: the keyboard has to be earned anew."""

    class LookedAside(Message):
        """The reasons, the rules or the text of a question came into view, or the question itself again."""

        def __init__(self, *, is_aside: bool) -> None:
            super().__init__()
            self.is_aside = is_aside

    class Remarked(Message):
        """Something to tell the person in the status line."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class SideChosen(Message):
        """Changes are to be laid out that way, also next time."""

        def __init__(self, side: Side) -> None:
            super().__init__()
            self.side = side

    def __init__(self, palette: Palette, home: Widget, keymap: Mapping[str, str]) -> None:
        """``home`` gets the keyboard back after each answer; ``keymap`` holds the person's own keys."""
        super().__init__()
        self._keys_of = keys_in_words(Place.QUESTION, keymap)
        self._home = home
        self._palette = palette
        self._questions = OpenQuestions()
        self._edits, self._reasons = KeptEdits(), KeptReasons()
        self._left_at, self._is_warning = 0, False
        self._view, self._side = View.QUESTION, Side.BELOW
        self._armed_at, self._dropped_before, self.shown_at = NEVER, 0.0, 0.0
        self._patience, self._wanted, self._least, self._rows = 0.0, 0, 0, 0
        self._fits: Room | None = None
        self.is_cramped = False
        self.is_walking = False
        """Whether the person goes from one question to the next: the keys for that count at once."""
        self._drawing, self._body = DrawnQuestion(), QuestionBody()
        self._text, self._text_rows, self._keys = AnswerText(), 1, AnswerKeys()

    def compose(self) -> ComposeResult:
        """The question and the answers; the field for words comes with the first question."""
        yield self._body
        yield self._keys

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

    @property
    def first_held(self) -> int | None:
        """The order of the first question, while none is shown because an earlier one may come."""
        return self._questions.first_held

    def show_first(self) -> None:
        """No earlier one will come, or it takes too long: the first of those that wait is shown."""
        if self._questions.release():
            self._turn()

    def add(
        self, ticket: int, request: ApprovalRequest, *, order: int = 0, is_anew: bool = False, is_early: bool = False
    ) -> None:
        """Asks one more question, ``is_anew`` when what was shown changed; it is shown when it is the only one.

        ``order`` is the place of its call among the calls; the list is in that order, whichever came first. One that
        ``is_early`` does not come into view by itself: an earlier one may come in a moment, see ``show_first``.
        """
        if not self._text.is_attached:
            self.mount(self._text, before=self._keys)
        question = OpenQuestion(ticket=ticket, request=request, order=order, is_anew=is_anew)
        if (held := self._questions.called_off(request.call_id)) is not None:
            self._questions.replace(held, question)
            self._go_on_typing(question)
            return
        is_shown = self._questions.add(question, is_early=is_early)
        # what was asked for comes before what nobody looked at yet
        if self._edits.is_asked_about(question) and not self.is_listening and self.is_at_question:
            is_shown = self._questions.show(question)
        (self._turn if is_shown else self._redraw)()
        if self._edits.of(question) is not None:
            self.post_message(self.Remarked(f"Your edited text is kept: {self._keys_of['edit']} opens it"))

    def close_question(self, ticket: int, *, may_return: bool = False) -> None:
        """Closes a question, answered or not; a change that ``may_return`` is asked anew or its call ends.

        Nothing that was typed is lost: what is being typed stays open until then, and goes to the prompt after that.
        """
        question = self._questions.find(ticket)
        if question is None:
            return
        self._keep_typed()
        returns = may_return and isinstance(question.request.preview, DiffPreview)
        if returns and question is self._questions.current and self._view in TYPING:
            question.is_called_off = True
            return
        self._take_out(question)
        if not returns:
            self.end_call(question.request.call_id)

    def end_call(self, call_id: str, *, is_done: bool = False) -> None:
        """A call is over; what was typed in place of its proposal goes to the prompt, unless that ``is_done``."""
        if (held := self._questions.called_off(call_id)) is not None:
            self._keep_typed()
            self._take_out(held)
        reasons, edit = self._reasons.take(call_id), self._edits.take(call_id)
        if texts := (*reasons.values(), *(() if is_done else edit)):
            self._home.post_message(MovedHere(texts))

    def end_calls(self) -> None:
        """No call is left."""
        for call_id in self._questions.called_off_calls | self._edits.calls | self._reasons.calls:
            self.end_call(call_id)

    def typed(self) -> list[str]:
        """What is typed at the questions and was not sent, or not used yet."""
        self._keep_typed()
        return [*self._reasons.texts, *self._edits.texts]

    def _keep_typed(self) -> None:
        """What stands in the field is kept for its question."""
        if (question := self._questions.current) and self._view is View.EDITING:
            self._edits.keep(question, self._text.edited)
        elif question and self._view in SENTENCES:
            self._reasons.keep(question, self._view, self._text.begun)

    def _take_out(self, question: OpenQuestion) -> None:
        if self._questions.remove(question.ticket):
            self._turn()
        elif self._questions:
            self._redraw()

    def _go_on_typing(self, question: OpenQuestion) -> None:
        """The file changed under what is typed: the text stays, and what it is compared with, or about, is new."""
        self.shown_at = events.Focus().time
        stays = "The file changed: your text stays"
        if self._view is View.EDITING:
            is_edited = self._text.edited is not None
            stays = "Your text stays, and is compared with the new file" if is_edited else "This is the new proposal"
            self._text.rebase(question.proposal or "")
        self._redraw()
        self.post_message(self.Remarked(stays))

    def set_palette(self, palette: Palette) -> None:
        """Draws with other colours."""
        self._palette = palette
        self._redraw()

    def take_keyboard(self, *, by_itself: bool) -> None:
        """Gives the dialog the keyboard; when no one asked for that, keys count only after a moment."""
        if self._text.is_attached and self._text.display:
            self._text.take_keyboard()
            return
        self._patience = self._reaction if by_itself else 0.0
        self.screen.set_focus(self, scroll_visible=False)

    @property
    def _reaction(self) -> float:
        question = self._questions.current
        is_changed = question is not None and question.is_anew and not question.was_shown
        return CHANGED_SECONDS if is_changed else REACTION_SECONDS

    @property
    def is_just_changed(self) -> bool:
        """Whether another program changed the question so recently that an answer may be meant for what was there."""
        question, is_new = self._questions.current, events.Focus().time < self.shown_at + self._reaction
        return question is not None and (question.is_called_off or (question.is_anew and is_new))

    def answers_to(self, time: float) -> bool:
        """Whether a key pressed at ``time`` (Textual's clock) was pressed at a dialog that had the keyboard."""
        return time > self._armed_at

    @property
    def is_listening(self) -> bool:
        """Whether keys answer at all."""
        return self._armed_at != NEVER

    def stop_listening(self) -> None:
        """The turn is being stopped: no key that comes now answers."""
        self._armed_at = NEVER
        self._show_when_keys_count()

    def drop_keys_before(self, time: float) -> None:
        """Keys pressed before belong to a sentence, also those that are still on their way here."""
        self._dropped_before = time
        self._redraw()

    def _turn(self) -> None:
        """Another question is in view: it starts from its beginning, and no key counts yet."""
        self._armed_at, self.is_walking = NEVER, False
        self.shown_at = events.Focus().time
        self._view = View.QUESTION
        self._text.hide()
        if self.has_keyboard:
            self.screen.set_focus(self._home)
        self.display = bool(self._questions)
        self._redraw(from_start=True)
        self.post_message(self.LookedAside(is_aside=False))
        self.post_message(self.Turned())

    def _arm(self, after: float) -> None:
        if self.has_focus and self._questions:
            self._armed_at = events.Focus().time + after
            self._show_when_keys_count()

    def _show_when_keys_count(self) -> None:
        """Lets the keys stand out as soon as they count, and no sooner."""
        if question := self._questions.current:
            self._show_keys(question)
            if 0 <= (left := self._armed_at - events.Focus().time) < NEVER:
                self.set_timer(left + _A_MOMENT, self._show_when_keys_count)

    def _note_shown(self) -> None:
        """What had the keyboard long enough to be answered could have been read."""
        if (current := self._questions.current) and self.answers_to(events.Focus().time):
            current.was_shown = True

    def watch_has_focus(self, has_focus: bool) -> None:  # noqa: FBT001 - Textual's signature
        """With the keyboard the keys stand out, and count once the person can have seen it; without, none does."""
        super().watch_has_focus(has_focus)
        patience, self._patience = self._patience, 0.0
        if has_focus:
            self.call_after_refresh(self._arm, patience)
        else:
            self._note_shown()
            self._armed_at, self.is_walking = NEVER, False
        self._redraw()

    def on_resize(self) -> None:
        """Wraps anew."""
        self._redraw()

    def _redraw(self, *, from_start: bool = False) -> None:
        question = self._questions.current
        if question is None or not self.is_mounted:
            return
        self._fits, width = self._room, self._room.line_width
        self._body.display = self._view is not View.EDITING
        self._show_keys(question)
        self._keys.styles.margin = ((air := self._room.air), 0, 0, 0)
        above_words = air * (self._view in SENTENCES)
        self._text.styles.margin = (above_words, 0, 0, 0)
        around = FRAME + self._keys.rows(width + 1) + air + above_words
        self._text_rows = self._text.rows
        self._least = around + 1 + (self._view in SENTENCES)
        was_cramped, self.is_cramped = self.is_cramped, rows_left(self) < self._least
        if was_cramped and not self.is_cramped:
            self.post_message(self.Remarked(""))  # that there is no room
        self._keys.display = not self.is_cramped
        self.set_class(self.is_cramped, "-cramped")
        self._drawing.rows = fitting_rows(self._room.lines, self._room.lines, rows_left(self) - air) + air - around
        lines = self._lines(question)
        self._wanted = len(lines) + around + self._text.rows
        self.fit()
        self._body.show(lines, from_start=from_start, seen=self._drawing.seen)
        waiting = f"{self._questions.at + 1:,} of {self.waiting:,} waiting" if self.waiting > 1 else ""
        self.border_title = question_title(
            question.request,
            width - _TITLE_ENDS,
            waiting,
            rule_style="$accent" if self.has_keyboard else "$rule",
            is_anew=question.is_anew,
            is_edited=self._view is View.EDITING,
            counts=question.counts,
        )
        self._is_warning = self._is_warning and not from_start
        self._tell_what_follows()
        if from_start:
            self._paint_ahead(question.hunk + 1)

    def _show_keys(self, question: OpenQuestion) -> None:
        """The keys stand out while they do what stands beside them; a field for words takes its own at once."""
        is_live = self.has_keyboard and (self._view in TYPING or self.answers_to(events.Focus().time))
        self._keys.show(self._choices(question, self._view), is_live=is_live)

    def _redraw_lines(self) -> None:
        """The same question with another hunk pointed at or taken: no line moves."""
        if (question := self._questions.current) is not None:
            self._body.show(self._lines(question), from_start=False, seen=self._drawing.seen)

    def _lines(self, question: OpenQuestion) -> Sequence[Line]:
        side = self._side if self._room.is_wide else Side.BELOW
        choices = self._choices(question, View.QUESTION) if self._view is View.ASKING_WHY else ()
        view = View.CRAMPED if self.is_cramped else self._view
        return self._drawing.lines(question, view, self._room.line_width, self._palette, side, choices)

    def _choices(self, question: OpenQuestion, view: View) -> tuple[Choice, ...]:
        return choices_of(question, view, self.waiting, self._keys_of, side=self._side if self._room.is_wide else None)

    @property
    def _room(self) -> Room:
        return Room(*self.screen.size)

    def _paint_ahead(self, hunk: int) -> None:
        """What of the hunk is likely to be looked at next, drawn on a thread."""
        if hunk >= 0:
            work = partial(self._drawing.prepare, hunk, self._body.size.height - ABOVE)
            self.run_worker(work, thread=True, group="paint", exclusive=True, description="draws the next hunk")

    def fit(self) -> None:
        """Takes as many rows as it needs, and leaves the prompt and the queued messages theirs."""
        question, left, air = self._questions.current, rows_left(self), self._room.air
        if question is not None and (self._fits != self._room or (left < self._least) is not self.is_cramped):
            self._redraw()
            return
        is_all = question is not None and question.is_about_project
        rows = fitting_rows(self._wanted - air, self.screen.size.height, left - air, is_all=is_all)
        self.styles.height = self._rows = max(left, 1) if self.is_cramped else rows + air

    def on_question_body_moved(self, event: QuestionBody.Moved) -> None:
        """Keeps the mark of what follows true."""
        event.stop()
        self._is_warning = False
        self._tell_what_follows()

    def _tell_what_follows(self) -> None:
        """Says in the border how much follows, or was never seen; no other row of the dialog is painted for it."""
        rows = self._rows - self._least + 1 if self.outer_size.height != self._rows else self._body.size.height
        told = Content() if self._view is View.EDITING else self._body.what_follows(rows)
        if self._is_warning and (question := self._questions.current):
            told = Content.styled(question.warning(self._room.line_width - _LABEL_ENDS), "bold $warning")
        if self._border_subtitle is None or not told.is_same(self._border_subtitle):
            self._border_subtitle = told
            left, top = self.content_offset
            self.refresh(Region(-left, self.outer_size.height - 1 - top, self.outer_size.width, 1))
