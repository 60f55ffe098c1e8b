"""Which rows were in view."""

from dataclasses import replace

from codeagent.core.approvals import DiffPreview
from codeagent.core.diff import make_diff
from codeagent.tui.themes import load_themes
from codeagent.tui.widgets.answer_choices import View
from codeagent.tui.widgets.diff_layout import Side
from codeagent.tui.widgets.drawn_question import DrawnQuestion
from codeagent.tui.widgets.drawn_rows import SeenRows
from codeagent.tui.widgets.open_questions import OpenQuestion


def test_ranges_that_meet_are_one_and_rows_between_others_were_not_seen():
    seen = SeenRows([(0, 10), (90, 100), (5, 12), (12, 14), (20, 20)])
    assert list(seen) == [(0, 14), (90, 100)]
    assert len(seen) == 24
    assert seen.covers(3, 14)
    assert not seen.covers(10, 91)
    assert list(seen.within(95)) == [(0, 14), (90, 95)]


def test_a_change_that_is_laid_out_anew_knows_what_was_jumped_over(ask_command):
    old, new = ("".join(f"{word} {number}\n" for number in range(1_000)) for word in ("old", "new"))
    preview = DiffPreview(diff=make_diff("a.txt", old, new), proposal=new)
    question = OpenQuestion(ticket=1, request=replace(ask_command("x"), tool="write", preview=preview))
    drawing = DrawnQuestion()

    def lay_out(width, side):
        return len(drawing.lines(question, View.QUESTION, width, load_themes()["dark"], side, ()))

    assert question.unread == 0  # nothing is known before it is drawn
    assert lay_out(80, Side.BELOW) == question.unread == 2_000
    drawing.seen.add(0, 10)
    drawing.seen.add(1_000, 1_010)
    drawing.seen.add(1_990, 2_000)
    assert question.unread == 2_000 - 30
    assert lay_out(120, Side.BESIDE) == 1_000
    assert question.unread == 1_000 - 10  # of each of the others one half was seen
    drawing.seen.add(0, 1_000)
    assert lay_out(80, Side.BELOW) == 2_000
    assert question.unread == 0
