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


@given(st.integers(4, 300), st.integers(2, 3), st.integers(1, 2))
def test_a_whole_that_stands_still_while_a_token_comes_in_pieces_is_not_added_up(tokens, pieces, characters):
    tally, said = OutputTally(), 0
    for count in range(1, tokens + 1):
        for _ in range(pieces):
            said += characters
            tally.report(count, said)
    assert tally.total == tokens


@given(st.integers(20, 500), st.integers(1, 6))
def test_one_token_a_report_is_added_up(reports, characters):
    tally = OutputTally()
    for at in range(1, reports + 1):
        tally.report(1, at * characters)
    assert tally.total == reports


@given(REPORTS, st.integers(0, 9_000))
def test_the_whole_at_its_proper_place_holds_unless_an_earlier_report_was_more(steps, whole):
    tally, said = OutputTally(), 0
    for tokens, characters in steps:
        said += characters
        tally.report(tokens, said)
    before, most = tally.total, max(tokens for tokens, _ in steps)
    tally.report_whole(whole)
    assert tally.total == (whole if whole >= most else before)
