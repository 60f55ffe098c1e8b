"""What stands in the dialog for each view of a question, laid out once for a width and palette."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, assert_never

from textual.widget import Widget

from codeagent.tui.themes import Palette
from codeagent.tui.widgets.answer_choices import View
from codeagent.tui.widgets.answer_keys import Choice, have_room
from codeagent.tui.widgets.diff_layout import Side
from codeagent.tui.widgets.diff_lines import DiffLines, render_diff
from codeagent.tui.widgets.drawn_rows import SeenRows
from codeagent.tui.widgets.inks import inks_of
from codeagent.tui.widgets.lines import Line, Piece, wrap
from codeagent.tui.widgets.open_questions import DrawnAs, OpenQuestion
from codeagent.tui.widgets.question_lines import key_lines, offer_lines, question_lines, verdict_lines

FRAME = 2
"""The rows of the border."""

TOO_SMALL = "make the window larger to answer"
"""What is said where a question and its keys have no room; no answer counts there."""

CHANGING = "The file changed just now: look, then press again"
"""What is said where an answer may be meant for what was there before."""

WIDE = 120
"""From so many columns on, old and new can stand side by side."""

_ROOMY = 24
"""Screens of so many rows have one to spare above the keys."""

_SIDES = 7
"""The columns of a screen that no line of a question reaches."""

_FRAME_COLUMNS = 3
"""So many more cells a line has without the border and the scroll bar."""

_HIGHEST = 0.6
_LOWEST = 7
_STATUS = 2
_HEADER = 2
_BEHIND = 1


class Room(NamedTuple):
    """A screen, and what of it a question has."""

    columns: int
    lines: int

    @property
    def line_width(self) -> int:
        """The cells of a line."""
        return self.columns - _SIDES

    @property
    def air(self) -> int:
        """The empty rows above the keys."""
        return 1 if self.lines >= _ROOMY else 0

    @property
    def is_wide(self) -> bool:
        """Whether old and new can stand side by side."""
        return self.columns >= WIDE


def rows_left(dialog: Widget) -> int:
    """The rows above the status line that the prompt and its like do not need."""
    above = dialog.parent.styles.padding.top if isinstance(dialog.parent, Widget) else 0
    others = sum(one.outer_size.height for one in dialog.siblings if one.display)
    return dialog.screen.size.height - _STATUS - above - others


def fitting_rows(wanted: int, height: int, left: int, *, is_all: bool = False) -> int:
    """The rows of the dialog on a screen of ``height`` rows, ``left`` of which it may have.

    With ``is_all`` nothing behind the question is needed to answer it: all but one row of the transcript is its own.
    """
    most = max(left - _HEADER - _BEHIND if is_all else 0, int(height * _HIGHEST), _LOWEST)
    return min(wanted, most, max(left, FRAME + 1))


class DrawnQuestion:
    """The lines of the question in view, where its hunks begin, and which of them were in view before."""

    def __init__(self) -> None:
        self.hunk_starts: Sequence[int] = ()
        self.seen = SeenRows()
        self.rows = 0
        """So many lines of a question can be in view at once."""
        self._drawn: tuple[OpenQuestion, DrawnAs, DiffLines] | None = None
        self._above = 0

    def change_in(self, hunk: int) -> int:
        """The line at which the first change of a hunk stands."""
        return self._above + self._drawn[2].change_in(hunk) if self._drawn is not None else 0

    def prepare(self, hunk: int, rows: int) -> None:
        """Draws the first rows of a hunk of the change in view; called on a thread."""
        if self._drawn is not None:
            self._drawn[2].prepare(hunk, rows)

    def lines(
        self,
        question: OpenQuestion,
        view: View,
        width: int,
        palette: Palette,
        side: Side,
        choices: Sequence[Choice],
    ) -> Sequence[Line]:
        """The lines of a view; ``choices`` are those of the question itself, which its reasons name."""
        request = question.request
        self.hunk_starts, self.seen = (), SeenRows()
        match view:
            case View.QUESTION | View.REFUSING | View.EXPLAINING | View.EDITING:
                return self._question_lines(question, width, palette, side)
            case View.STORING:
                return offer_lines(request.offers, width, palette)
            case View.ASKING_WHY:
                keys = () if have_room(choices, width) else key_lines(choices, width, palette)
                return [*verdict_lines(request, width, palette), *keys]
            case View.CRAMPED:
                return wrap([Piece(TOO_SMALL, inks_of(palette).warning)], width + _FRAME_COLUMNS)
            case _:
                assert_never(view)

    def _question_lines(self, question: OpenQuestion, width: int, palette: Palette, side: Side) -> Sequence[Line]:
        diff = self._diff(question, width, palette, side)
        shown = question_lines(question.request, width, palette, diff=diff, rows=self.rows)
        self.hunk_starts = shown.hunk_starts
        self._above = shown.hunk_starts[0] - diff.hunk_starts[0] if diff is not None and shown.hunk_starts else 0
        total, before = len(shown.lines), question.drawn_as
        question.drawn_as = self._drawn[1] if self._drawn is not None else None
        if question.is_turned is not shown.is_turned:  # what was in view are other lines now
            question.is_turned, question.seen = shown.is_turned, SeenRows()
        elif before != question.drawn_as or total != question.rows:
            question.seen = self._seen_anew(question, total)
        question.rows, self.seen = total, question.seen
        return shown.lines

    def _seen_anew(self, question: OpenQuestion, total: int) -> SeenRows:
        """Which of the lines as they are laid out now were in view in any layout."""
        if question.rows and not question.unread:
            return SeenRows([(0, total)])
        if self._drawn is None or not question.seen_changes:
            return question.seen.within(total)
        first, changes = self.hunk_starts[0], question.seen_changes
        between = self._drawn[2].rows_without(lambda line: line not in changes, self._above)
        return SeenRows((*question.seen.within(first), *between))

    def _keep_changes(self) -> None:
        """What was in view of the change counts however it is laid out next."""
        if self._drawn is not None:
            question, _, diff = self._drawn
            question.seen_changes |= diff.changes_in(question.seen, self._above)

    def _diff(self, question: OpenQuestion, width: int, palette: Palette, side: Side) -> DiffLines | None:
        """The change, laid out only when it was not before."""
        around = question.around
        key = DrawnAs(width, palette, side, question.unfolded)
        if around is None:
            self._keep_changes()
            self._drawn = None
            return None
        current = question.hunk if question.hunks > 1 else None
        if self._drawn is not None and self._drawn[0] is question and self._drawn[1] == key:
            diff = self._drawn[2].marked(question.choice, current)
        else:
            self._keep_changes()
            diff = render_diff(
                around.shown,
                width,
                palette,
                chosen=question.choice,
                current=current,
                side=side if around.is_foldable else Side.BELOW,
                folded=around.folded,
            )
        self._drawn = (question, key, diff)
        return diff
