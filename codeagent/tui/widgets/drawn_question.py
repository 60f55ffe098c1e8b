"""What stands in the dialog for each view of a question, laid out once for a width and palette."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from codeagent.tui.themes import Palette
from codeagent.tui.widgets.answer_choices import View
from codeagent.tui.widgets.answer_keys import Choice, have_room
from codeagent.tui.widgets.diff_layout import Side
from codeagent.tui.widgets.diff_lines import DiffLines, render_diff
from codeagent.tui.widgets.lines import Line
from codeagent.tui.widgets.open_questions import OpenQuestion
from codeagent.tui.widgets.question_lines import key_lines, offer_lines, question_lines, verdict_lines

FRAME = 2
"""The rows of the border."""

_HIGHEST = 0.6
_LOWEST = 7
_STATUS = 2
_HEADER = 2
_BEHIND = 2


def fitting_rows(wanted: int, height: int, others: int, *, is_all: bool = False) -> int:
    """The rows of the dialog on a screen of ``height`` rows, ``others`` of which the prompt and its like need.

    With ``is_all`` nothing behind the question is needed to answer it: all but two rows of the transcript are its own.
    """
    most = max(height - others - _STATUS - _HEADER - _BEHIND if is_all else 0, int(height * _HIGHEST), _LOWEST)
    return min(wanted, most, max(height - others - _STATUS, FRAME + 1))


class DrawnQuestion:
    """The lines of the question in view, and where its hunks begin."""

    def __init__(self) -> None:
        self.hunk_starts: Sequence[int] = ()
        self._drawn: tuple[tuple[int, int, Palette, Side, int], DiffLines] | None = None
        self._above = 0

    def change_in(self, hunk: int) -> int:
        """The line at which the first change of a hunk stands."""
        return self._above + self._drawn[1].change_in(hunk) if self._drawn is not None else 0

    def prepare(self, hunk: int, rows: int) -> None:
        """Draws the first rows of a hunk of the change in view; called on a thread."""
        if self._drawn is not None:
            self._drawn[1].prepare(hunk, rows)

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
        self.hunk_starts = ()
        match view:
            case View.QUESTION | View.REFUSING | View.EXPLAINING | View.EDITING:
                return self._question_lines(question, width, palette, side)
            case View.STORING:
                return offer_lines(request.offers, width, palette)
            case View.ASKING_WHY:
                keys = () if have_room(choices, width) else key_lines(choices, width, palette)
                return [*verdict_lines(request.verdict, width, palette), *keys]
            case _:
                assert_never(view)

    def _question_lines(self, question: OpenQuestion, width: int, palette: Palette, side: Side) -> Sequence[Line]:
        diff = self._diff(question, width, palette, side)
        shown = question_lines(question.request, width, palette, diff=diff)
        self.hunk_starts = shown.hunk_starts
        self._above = shown.hunk_starts[0] - diff.hunk_starts[0] if diff is not None and shown.hunk_starts else 0
        return shown.lines

    def _diff(self, question: OpenQuestion, width: int, palette: Palette, side: Side) -> DiffLines | None:
        """The change, laid out only when it was not before."""
        around = question.around
        if around is None:
            self._drawn = None
            return None
        key = (question.ticket, width, palette, side, question.unfolded)
        current = question.hunk if question.hunks > 1 else None
        if self._drawn is not None and self._drawn[0] == key:
            diff = self._drawn[1].marked(question.choice, current)
        else:
            diff = render_diff(
                around.shown,
                width,
                palette,
                chosen=question.choice,
                current=current,
                side=side if around.is_foldable else Side.BELOW,
                folded=around.folded,
            )
        self._drawn = (key, diff)
        return diff
