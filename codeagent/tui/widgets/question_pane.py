"""What the person sees of the questions that wait, and how they look around in it; answering is next door."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Literal

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Region
from textual.message import Message
from textual.widget import Widget

from codeagent.core.approvals import ApprovalRequest
from codeagent.core.keys import Place, keys_in_words
from codeagent.tui.themes import Palette
from codeagent.tui.widgets.answer_choices import View, choices_of
from codeagent.tui.widgets.answer_keys import AnswerKeys
from codeagent.tui.widgets.answer_text import AnswerText
from codeagent.tui.widgets.diff_layout import Side
from codeagent.tui.widgets.drawn_question import FRAME, DrawnQuestion, fitting_rows
from codeagent.tui.widgets.lines import Line
from codeagent.tui.widgets.open_questions import OpenQuestion, OpenQuestions
from codeagent.tui.widgets.question_body import QuestionBody
from codeagent.tui.widgets.question_title import question_title

REACTION_SECONDS = 0.25
"""A key that comes sooner after the dialog took the keyboard by itself was meant for what was there before."""

CHANGED_SECONDS = 1.0
"""The same where the question itself changed under the eyes: nearly the same picture, and an answer on its way."""

WIDE = 120
"""From so many columns on, old and new can stand side by side."""

NEVER = float("inf")
_ROOMY = 24
"""Screens of so many rows have one to spare above the keys."""

_TITLE_ENDS = 3
_SIDES = 5
_OF_CHANGE = 4
"""So many rows of a change are in view at least when lines around it are shown."""

_ABOVE = 2
"""A hunk that is walked to has its heading and a row of the one before above it."""

_OTHER = {Side.BELOW: Side.BESIDE, Side.BESIDE: Side.BELOW}


class QuestionPane(Vertical, can_focus=True):
    """All open questions, one of them in view, and who has the keyboard."""

    DEFAULT_CSS = """
    QuestionPane {
        height: auto; margin: 0 1; padding: 0 1; background: $surface; display: none;
        border: round $rule; border-title-background: $surface; border-subtitle-background: $surface;
        border-title-color: $text; border-subtitle-color: $text-muted; border-subtitle-align: right;
    }
    QuestionPane:focus, QuestionPane:focus-within { border: round $accent; }
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
        self._view = View.QUESTION
        self._side = Side.BELOW
        self._armed_at, self._dropped_before = NEVER, 0.0
        self._patience, self._wanted, self._rows = 0.0, 0, 0
        self.shown_at = 0.0
        self.is_walking = False
        """Whether the person goes from one question to the next: the keys for that count at once."""
        self._drawing = DrawnQuestion()
        self._body = QuestionBody()
        self._text = AnswerText()
        self._keys = AnswerKeys()

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
    def _is_sentence_in_view(self) -> bool:
        return self._view in {View.REFUSING, View.EXPLAINING}

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
        words = self._text.sentence if self._is_sentence_in_view else ""
        if self._questions.remove(ticket):
            if words:
                self._home.post_message(events.Paste(words))  # the rest of the sentence is typed there
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
        self._patience = self._reaction if by_itself else 0.0
        self.screen.set_focus(self, scroll_visible=False)

    @property
    def _reaction(self) -> float:
        question = self._questions.current
        is_changed = question is not None and question.is_anew and not question.was_shown
        return CHANGED_SECONDS if is_changed else REACTION_SECONDS

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
        width = self._line_width
        lines = self._lines(question)
        side = self._side if self._is_wide else None
        choices = choices_of(question, self._view, self.waiting, self._keys_of, side=side)
        self._body.display = self._view is not View.EDITING
        self._keys.show(choices, is_live=self.has_keyboard)
        air = self._air
        self._keys.styles.margin = (air, 0, 0, 0)
        self._wanted = len(lines) + self._keys.rows(width + 1) + air + self._text.rows + FRAME
        self.fit()
        self._body.show(lines, from_start=from_start)
        waiting = f"{self._questions.at + 1} of {self.waiting} waiting" if self.waiting > 1 else ""
        self.border_title = question_title(
            question.request,
            width - _TITLE_ENDS,
            waiting,
            rule_style="$accent" if self.has_keyboard else "$rule",
            is_anew=question.is_anew,
            is_edited=self._view is View.EDITING,
            counts=question.counts,
        )
        self._tell_what_follows()
        if from_start:
            self._paint_ahead(question.hunk + 1)

    def _redraw_lines(self) -> None:
        """The same question with another hunk pointed at or taken: no line moves."""
        if (question := self._questions.current) is not None:
            self._body.show(self._lines(question), from_start=False)

    def _lines(self, question: OpenQuestion) -> Sequence[Line]:
        side = self._side if self._is_wide else Side.BELOW
        return self._drawing.lines(question, self._view, self._line_width, self._palette, side)

    @property
    def _line_width(self) -> int:
        return self.screen.size.width - _SIDES - 2

    @property
    def _air(self) -> int:
        """The empty rows above the keys."""
        return 1 if self.screen.size.height >= _ROOMY else 0

    @property
    def _is_wide(self) -> bool:
        return self.screen.size.width >= WIDE

    def _paint_ahead(self, hunk: int) -> None:
        """What of the hunk is likely to be looked at next, drawn on a thread."""
        if hunk >= 0:
            work = partial(self._drawing.prepare, hunk, self._body.size.height - _ABOVE)
            self.run_worker(work, thread=True, group="paint", exclusive=True, description="draws the next hunk")

    def fit(self) -> None:
        """Takes as many rows as it needs, and leaves the prompt and the queued messages theirs."""
        others = sum(one.outer_size.height for one in self.siblings if one.display)
        question = self._questions.current
        is_all = question is not None and question.is_about_project
        rows = fitting_rows(self._wanted - self._air, self.screen.size.height, others + self._air, is_all=is_all)
        self._rows = rows + self._air
        self.styles.height = self._rows

    def on_question_body_moved(self, event: QuestionBody.Moved) -> None:
        """Keeps the mark of what follows true."""
        event.stop()
        self._tell_what_follows()

    def _tell_what_follows(self) -> None:
        """Says in the border how much follows; no other row of the dialog is painted for it."""
        told = Content() if self._view is View.EDITING else self._body.what_follows
        if self._border_subtitle is None or not told.is_same(self._border_subtitle):
            self._border_subtitle = told
            left, top = self.content_offset
            self.refresh(Region(-left, self.outer_size.height - 1 - top, self.outer_size.width, 1))

    def action_switch(self, by: int) -> None:
        """Another question comes into view; the person asked for it, so its keys count."""
        if self.waiting > 1:
            self._note_shown()
            if question := self._questions.current:
                question.unread = self._body.unseen
            self._questions.switch(by)
            self._armed_at, self.is_walking = NEVER, True
            self.shown_at = events.Focus().time
            self._redraw(from_start=True)
            self.call_after_refresh(self._arm, self._reaction)

    def action_hunk(self, by: int) -> None:
        """Another hunk."""
        question = self._questions.current
        if question is not None and question.hunks:
            question.walk(by)
            self._redraw_lines()
            self._body.bring(self._drawing.hunk_starts[question.hunk])
            self._paint_ahead(question.hunk + by)

    async def action_scroll(self, by: int, unit: Literal["line", "page", "all"]) -> None:
        """Scrolls by lines, by pages that keep one line in view, or to the first or last line.

        Where all of the question is in view, pages are the transcript's.
        """
        if unit == "page" and self._body.total <= self._body.size.height:
            await self.run_action(f"screen.scroll_page({by})")
            return
        lines = {"line": 1, "page": max(self._body.size.height - 1, 1), "all": self._body.total}
        self._body.scroll_relative(y=by * lines[unit], animate=False)

    def use_side(self, side: Side) -> None:
        """Lays changes out that way where the screen is wide enough."""
        self._side = side
        self._redraw()

    def action_other_side(self) -> None:
        """One below the other, or side by side; the change that was looked at stays in view."""
        question = self._questions.current
        if question is None or question.around is None or not question.around.is_foldable:
            return
        if not self._is_wide:
            self.post_message(self.Remarked(f"Side by side needs a screen of {WIDE} columns"))
            return
        self._keep_in_view(question.hunk, lambda: self.use_side(_OTHER[self._side]))
        self.post_message(self.SideChosen(self._side))

    def action_open_fold(self) -> None:
        """Shows more of the unchanged lines around the hunk."""
        question = self._questions.current
        if question is None:
            return
        if question.open_fold():
            self._keep_in_view(question.hunk, self._redraw)
        else:
            self.post_message(self.Remarked("All around it is shown"))

    def on_question_body_fold_clicked(self, event: QuestionBody.FoldClicked) -> None:
        """Shows more of what is around the hunk whose heading was clicked."""
        event.stop()
        question = self._questions.current
        if question is not None and event.line in self._drawing.hunk_starts:
            question.hunk = self._drawing.hunk_starts.index(event.line)
            self.action_open_fold()

    def _keep_in_view(self, hunk: int, change: Callable[[], None]) -> None:
        """Does something that moves lines, while the change in a hunk stays in its row of the screen."""
        row, rows = self._drawing.change_in(hunk) - self._body.scroll_offset.y, self._rows
        change()
        lowest = self._body.size.height + self._rows - rows - _OF_CHANGE
        self._body.keep(self._drawing.change_in(hunk), max(min(row + self._rows - rows, lowest), 1))
