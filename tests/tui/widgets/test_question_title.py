"""The line on top of a question."""

from dataclasses import replace

from codeagent.core.approvals import DiffPreview
from codeagent.core.diff import make_diff
from codeagent.tui.widgets.question_title import question_title


def test_a_long_path_loses_its_beginning_before_anything_else_is_cut_and_counts_have_commas(ask_diff):
    diff = make_diff("services/accounting/totals_of_discounts_2.py", "a\n", "b\n")
    request = replace(ask_diff(), preview=DiffPreview(diff=diff, proposal="b\n", level="exact"))

    def title(width, waiting):
        asked = {"rule_style": "", "is_anew": False, "is_edited": False, "counts": (1234, 5)}
        return question_title(request, width, waiting, **asked).plain

    assert title(60, "") == "edit …/totals_of_discounts_2.py  +1,234 −5 · exact match"
    assert title(60, "1 of 2 waiting") == "edit …_discounts_2.py  +1,234 −5 · exact m… ─ 1 of 2 waiting"
