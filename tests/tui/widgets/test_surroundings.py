from hypothesis import given, settings
from hypothesis import strategies as st

from codeagent.core.diff import apply_hunks, make_diff
from codeagent.tui.widgets.surroundings import Surroundings

BEFORE = "".join(f"line {number}\n" for number in range(1, 101))
AFTER = BEFORE.replace("line 40\n", "forty\n").replace("line 90\n", "ninety\nand more\n")
DIFF = make_diff("a.txt", BEFORE, AFTER)


def test_what_is_folded_is_counted():
    assert Surroundings(DIFF, AFTER).folded == {0: 36, 1: 43}


def test_opening_shows_more_on_both_sides_and_then_all():
    around = Surroundings(DIFF, AFTER)
    assert around.open(0)
    first = around.shown.hunks[0]
    assert (first.old_start, first.old_lines[0], first.old_lines[-1]) == (17, "line 17\n", "line 63\n")
    assert around.folded == {0: 16, 1: 23}
    assert around.open(0)
    assert around.folded == {0: 0, 1: 0}
    assert not around.open(0)


def test_the_end_of_the_file_is_shown_too():
    around = Surroundings(DIFF, AFTER)
    around.open(1)
    assert around.shown.hunks[1].new_lines[-1] == "line 100\n"


def test_a_text_that_is_not_what_the_change_leads_to_is_not_shown():
    assert not Surroundings(DIFF, "something else\n").open(0)


def test_a_new_file_has_nothing_around():
    created = Surroundings(make_diff("a.txt", None, "a\n"), "a\n")
    assert (created.open(0), created.folded) == (False, {})


@settings(max_examples=80, deadline=None)
@given(st.sets(st.integers(1, 100), min_size=1, max_size=6), st.lists(st.integers(0, 5), max_size=12))
def test_whatever_is_opened_it_stays_the_same_change(changed, opened):
    after = "".join("new\n" if number in changed else f"line {number}\n" for number in range(1, 101))
    diff = make_diff("a.txt", BEFORE, after)
    around = Surroundings(diff, after)
    for hunk in opened:
        around.open(hunk % len(diff.hunks))
    shown = around.shown
    assert len(shown.hunks) == len(diff.hunks)
    assert apply_hunks(BEFORE, shown) == after
    assert all(count >= 0 for count in around.folded.values())
