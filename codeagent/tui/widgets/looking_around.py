"""The keys with which the person looks around in a question: its hunks, both layouts, what is folded, the next one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from textual import events
from textual.geometry import Size

from codeagent.core.values import value
from codeagent.tui.widgets.answer_choices import TYPING, View
from codeagent.tui.widgets.diff_layout import Side
from codeagent.tui.widgets.drawn_question import WIDE, Room
from codeagent.tui.widgets.question_body import QuestionBody
from codeagent.tui.widgets.question_pane import ABOVE, NEVER, QuestionPane

_OF_CHANGE = 4
"""So many rows of a change are in view at least when lines around it are shown."""


@value
class Look:
    """How the person looks at the question with this ticket: what is chosen, unfolded and in view of it."""

    ticket: int
    view: View
    hunk: int
    left_out: frozenset[int]
    side: Side
    opened: Mapping[int, int]
    unfolded: int
    top: int
    stood: tuple[int, int, int, int] | None


class LookingAround(QuestionPane):
    """The questions, and what moves in them without answering."""

    _stood: tuple[int, int, int, int] | None = None
    """Of the last change of sides: the question, its hunk, and the first row in view after it and before it."""
    _place: tuple[int, Room, Size, bool] | None = None
    """Which question was laid out last, and in what room."""

    def _remark(self, text: str) -> None:
        self.post_message(self.Remarked(text))

    def show_pressed(self, action: str) -> None:
        """Marks the answer whose key was pressed until it is given; with an empty ``action`` none is."""
        self._keys.press(action)

    @property
    def look(self) -> Look | None:
        """What the keys for looking around made of the question in view, to be put back if they were none."""
        question = self._questions.current
        if question is None:
            return None
        return Look(
            ticket=question.ticket,
            view=self._view,
            hunk=question.hunk,
            left_out=frozenset(question.left_out),
            side=self._side,
            opened=question.around.opened if question.around is not None else {},
            unfolded=question.unfolded,
            top=self._body.scroll_offset.y,
            stood=self._stood,
        )

    def look_again(self, look: Look) -> None:
        """The question is looked at as it was then, unless it is gone or something is being typed about it."""
        question = self._questions.find(look.ticket)
        if question is None or self._view in TYPING or look == self.look:
            return
        if question is not self._questions.current:
            self._questions.show(question)
            self.shown_at = events.Focus().time
        self._view, self._stood = look.view, look.stood
        question.hunk, question.left_out = look.hunk, set(look.left_out)
        if question.around is not None:
            question.around.open_again(look.opened)
        question.unfolded = look.unfolded
        if self._side is not look.side:
            self.choose_side(look.side)
        self._redraw()
        self.post_message(self.LookedAside(is_aside=look.view is not View.QUESTION))
        self.call_after_refresh(self._body.go_on_at, look.top)  # when its bar is there, which else stays at the top

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
