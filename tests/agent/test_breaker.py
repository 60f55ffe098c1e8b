from __future__ import annotations

import pytest

from codeagent.agent.breaker import Breaker, Repeats
from codeagent.core.messages import Outcome, ToolCall


def failed(breaker: Breaker, tool: str, times: int) -> None:
    for _ in range(times):
        breaker.begin_step()
        assert breaker.admits(tool)
        breaker.learn(tool, Outcome.FAILED)


def test_three_failures_in_a_row_switch_a_tool_off_and_leave_the_others_on():
    breaker = Breaker()
    failed(breaker, "edit", 3)
    assert not breaker.admits("edit")
    assert breaker.admits("read")


def test_a_success_starts_the_count_anew():
    breaker = Breaker()
    failed(breaker, "edit", 2)
    breaker.learn("edit", Outcome.OK)
    failed(breaker, "edit", 2)
    assert breaker.admits("edit")


@pytest.mark.parametrize("outcome", [Outcome.DENIED, Outcome.CANCELLED, Outcome.SKIPPED, Outcome.TIMED_OUT])
def test_what_says_nothing_about_the_tool_neither_counts_nor_resets(outcome):
    breaker = Breaker()
    failed(breaker, "bash", 2)
    for _ in range(5):
        breaker.learn("bash", outcome)
    assert breaker.admits("bash")
    failed(breaker, "bash", 1)
    assert not breaker.admits("bash")


def test_calls_of_one_step_that_fail_in_the_same_way_are_one_failure():
    breaker = Breaker()
    for _ in range(2):
        breaker.begin_step()
        for _ in range(5):
            breaker.learn("edit", Outcome.FAILED, "NO_MATCH")
    assert breaker.admits("edit")
    breaker.begin_step()
    breaker.learn("edit", Outcome.FAILED, "NO_MATCH")
    assert not breaker.admits("edit")


def test_calls_of_one_step_that_fail_in_different_ways_are_as_many_failures():
    breaker = Breaker()
    breaker.begin_step()
    for code in ("NO_MATCH", "BAD_ARGUMENTS", "FILE_PROBLEM"):
        breaker.learn("edit", Outcome.FAILED, code)
    assert not breaker.admits("edit")


@pytest.mark.parametrize("code", ["UNREAD", "STALE", "PATH_REFUSED"])
def test_what_a_wall_refuses_is_no_failure_of_the_tool(code):
    breaker = Breaker()
    failed(breaker, "write", 2)
    for _ in range(5):
        breaker.begin_step()
        breaker.learn("write", Outcome.FAILED, code)
    assert breaker.admits("write")
    failed(breaker, "write", 1)
    assert not breaker.admits("write")


def test_a_time_limit_from_outside_counts():
    breaker = Breaker()
    for _ in range(3):
        breaker.begin_step()
        breaker.learn("grep", Outcome.TIMED_OUT, was_cut_off=True)
    assert not breaker.admits("grep")


def test_after_another_tool_succeeded_one_trial_call_is_let_through():
    breaker = Breaker()
    failed(breaker, "edit", 3)
    breaker.learn("read", Outcome.OK)
    assert [breaker.admits("edit"), breaker.admits("edit")] == [True, False]


def test_a_failed_trial_keeps_the_tool_off_until_another_success():
    breaker = Breaker()
    failed(breaker, "edit", 3)
    breaker.learn("read", Outcome.OK)
    failed(breaker, "edit", 1)
    assert not breaker.admits("edit")
    breaker.learn("read", Outcome.OK)
    assert breaker.admits("edit")


def test_a_trial_that_says_nothing_may_be_made_again():
    breaker = Breaker()
    failed(breaker, "edit", 3)
    breaker.learn("read", Outcome.OK)
    assert breaker.admits("edit")
    breaker.learn("edit", Outcome.DENIED)
    assert [breaker.admits("edit"), breaker.admits("edit")] == [True, False]


def test_a_denied_call_that_was_no_trial_opens_nothing():
    breaker = Breaker()
    failed(breaker, "edit", 3)
    breaker.learn("edit", Outcome.DENIED)
    assert not breaker.admits("edit")


def test_a_successful_trial_switches_the_tool_on():
    breaker = Breaker()
    failed(breaker, "edit", 3)
    breaker.learn("read", Outcome.OK)
    assert breaker.admits("edit")
    breaker.learn("edit", Outcome.OK)
    assert all(breaker.admits("edit") for _ in range(3))


def test_new_words_switch_everything_on():
    breaker = Breaker()
    failed(breaker, "edit", 3)
    breaker.reopen()
    assert breaker.admits("edit")


def test_reminders_come_at_the_third_fifth_and_eighth_identical_call():
    repeats = Repeats()
    call = ToolCall(id="x", name="read", arguments_json='{"path": "a"}')
    reminded = [number for number in range(1, 12) if repeats.reminder(call)]
    assert reminded == [3, 5, 8]


def test_order_and_blanks_make_no_difference_other_arguments_do():
    repeats = Repeats()
    for text in ('{"a": 1, "b": 2}', '{"b":2,"a":1}'):
        assert repeats.reminder(ToolCall(id="x", name="t", arguments_json=text)) == ""
    assert "third" in repeats.reminder(ToolCall(id="x", name="t", arguments_json='{"a":1,"b":2}'))
    assert repeats.reminder(ToolCall(id="x", name="t", arguments_json='{"a":1}')) == ""
    assert repeats.reminder(ToolCall(id="x", name="t", arguments_json='{"a":1,"b":2}')) == ""


def test_arguments_that_are_no_json_are_compared_as_written():
    repeats = Repeats()
    call = ToolCall(id="x", name="t", arguments_json='{"a')
    assert [bool(repeats.reminder(call)) for _ in range(3)] == [False, False, True]
