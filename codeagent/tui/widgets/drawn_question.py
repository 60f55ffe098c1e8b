"""What stands in the dialog for each view of a question, laid out once for a width and palette."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from codeagent.tui.themes import Palette
from codeagent.tui.widgets.answer_choices import View
from codeagent.tui.widgets.diff_lines import DiffLines
from codeagent.tui.widgets.lines import Line
from codeagent.tui.widgets.open_questions import OpenQuestion
from codeagent.tui.widgets.question_lines import offer_lines, question_lines, verdict_lines

FRAME = 2
"""The rows of the border."""

_HIGHEST = 0.6
_LOWEST = 7
_STATUS = 2


def fitting_rows(wanted: int, height: int, others: int) -> int:
    """The rows of the dialog on a screen of ``height`` rows, ``others`` of which the prompt and its like need."""
    most = max(int(height * _HIGHEST), _LOWEST)
    return min(wanted, most, max(height - others - _STATUS, FRAME + 1))


class DrawnQuestion:
    """The lines of the question in view, and where its hunks begin."""

    def __init__(self) -> None:
        self.hunk_starts: Sequence[int] = ()
        self._drawn: tuple[tuple[int, int, Palette], DiffLines] | None = None

    def lines(self, question: OpenQuestion, view: View, width: int, palette: Palette) -> Sequence[Line]:
        """The lines of a view."""
        request = question.request
        self.hunk_starts = ()
        match view:
            case View.QUESTION | View.REFUSING | View.EXPLAINING | View.EDITING:
                return self._question_lines(question, width, palette)
            case View.STORING:
                return offer_lines(request.offers, width, palette)
            case View.ASKING_WHY:
                return verdict_lines(request.verdict, width, palette)
            case _:
                assert_never(view)

    def _question_lines(self, question: OpenQuestion, width: int, palette: Palette) -> Sequence[Line]:
        key = (question.ticket, width, palette)
        drawn = self._drawn[1] if self._drawn is not None and self._drawn[0] == key else None
        current = question.hunk if question.hunks > 1 else None
        shown = question_lines(question.request, width, palette, chosen=question.choice, current=current, drawn=drawn)
        self.hunk_starts = shown.hunk_starts
        self._drawn = (key, shown.diff) if shown.diff is not None else None
        return shown.lines
