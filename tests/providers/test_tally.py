"""Adding up reports of tokens, whichever way a service makes them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from codeagent.providers.tally import OutputTally

REPORTS = st.lists(st.tuples(st.integers(1, 50), st.integers(1, 200)), min_size=1)


@given(REPORTS)
def test_counts_that_grow_are_never_added_up(steps):
    tally, count, said = OutputTally(), 0, 0
    for tokens, characters in steps:
        count, said = count + tokens, said + characters
        tally.report(count, said)
        tally.report(count, said)
    assert tally.total == count


@given(REPORTS)
def test_counts_that_once_fall_are_added_up(steps):
    tally, said = OutputTally(), 0
    added = [*(tokens for tokens, _ in steps), 60, 1]
    for tokens in added:
        said += 10
        tally.report(tokens, said)
    assert tally.total == sum(added)


@given(REPORTS, st.integers(0, 9_000))
def test_the_whole_at_its_proper_place_holds_unless_an_earlier_report_was_more(steps, whole):
    tally, said = OutputTally(), 0
    for tokens, characters in steps:
        said += characters
        tally.report(tokens, said)
    before, most = tally.total, max(tokens for tokens, _ in steps)
    tally.report_whole(whole)
    assert tally.total == (whole if whole >= most else before)
