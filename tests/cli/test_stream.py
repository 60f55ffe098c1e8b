"""Events as JSON lines with the fields that scripts rely on."""

import json

import pytest

from codeagent.cli.stream import KeyFilter, event_line
from codeagent.core.approvals import Deny, Mode
from codeagent.core.events import (
    ApprovalSettled,
    SessionStarted,
    TextStreamed,
    ToolEnded,
    ToolRunning,
    ToolStarted,
    TurnEnd,
    TurnEnded,
    UsageReported,
)
from codeagent.core.messages import Outcome, TextBlock, ToolResult, Unpriced, Usage


def parsed(event):
    return json.loads(event_line(event, lambda found: found))


def test_a_session_says_its_id_model_mode_and_directory():
    line = parsed(SessionStarted(session_id="s", model="m", mode=Mode.ASK, cwd="/x"))
    assert line["type"] == "session_started"
    assert (line["session_id"], line["model"], line["mode"], line["cwd"]) == ("s", "m", "ask", "/x")


def test_text_is_ascii_on_the_wire_and_whole_after_parsing():
    text = "é \u2028 \x1b[31m"
    assert event_line(TextStreamed(text=text), lambda found: found).isascii()
    assert parsed(TextStreamed(text=text)) == {"type": "text_delta", "text": text}


def test_arguments_are_an_object_and_stay_text_when_they_are_none():
    assert parsed(ToolStarted(call_id="1", name="read", arguments_json='{"path": "a"}'))["arguments"] == {"path": "a"}
    assert parsed(ToolStarted(call_id="1", name="read", arguments_json='{"path": '))["arguments"] == '{"path": '


def test_a_call_that_has_its_turn_says_so():
    assert parsed(ToolRunning(call_id="1")) == {"type": "tool_running", "call_id": "1"}


def test_a_call_ends_with_outcome_code_and_text():
    result = ToolResult(call_id="1", blocks=(TextBlock(text="no"),), outcome=Outcome.DENIED, code="DENIED")
    line = parsed(ToolEnded(result=result, seconds=1.23456))
    assert line == {
        "type": "tool_ended",
        "call_id": "1",
        "outcome": "denied",
        "code": "DENIED",
        "text": "no",
        "seconds": 1.235,
    }


@pytest.mark.parametrize("depth", [101, 900, 5_000])
def test_arguments_that_are_nested_too_deeply_are_told_as_they_were_written(depth):
    written = '{"path": ' + "[" * depth + "]" * depth + "}"
    line = event_line(ToolStarted(call_id="1", name="read", arguments_json=written), KeyFilter(["a secret key"]).json)
    assert json.loads(line)["arguments"] == written


def test_an_answer_is_one_word():
    assert parsed(ApprovalSettled(call_id="1", answer=Deny(feedback="no")))["answer"] == "deny"


def test_the_end_of_a_turn_carries_usage_and_cost():
    line = parsed(TurnEnded(turn=1, reason=TurnEnd.DONE, text="ok", usage=Usage(input_tokens=3), cost=0.5))
    assert (line["reason"], line["text"], line["usage"]["input_tokens"], line["cost"]) == ("done", "ok", 3, 0.5)
    assert line["unpriced"] == []


def test_what_a_cost_does_not_hold_stands_beside_it():
    qwen = Unpriced(model="openai-chat/qwen", tokens=7)
    for event in (
        TurnEnded(turn=1, reason=TurnEnd.DONE, text="ok", cost=0.5, unpriced=(qwen,)),
        UsageReported(usage=Usage(input_tokens=3), cost=0.5, unpriced=(qwen,)),
    ):
        line = parsed(event)
        assert (line["cost"], line["unpriced"]) == (0.5, [{"model": "openai-chat/qwen", "tokens": 7}])
