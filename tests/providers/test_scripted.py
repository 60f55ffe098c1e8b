"""The model that plays a script."""

from __future__ import annotations

import asyncio
import time

import pytest

from codeagent.core.errors import ConfigError
from codeagent.core.messages import Outcome, StopReason
from codeagent.core.protocols import ModelRequest
from codeagent.providers.scripted import CLOSING_TEXT, ScriptedCall, ScriptedProvider, ScriptedStep, read_script
from tests.providers.conftest import called, replied, result, results, said


def request(*messages):
    return ModelRequest(system="", messages=messages or (said("hi"),), tools=())


async def play(provider, *messages):
    events = [event async for event in provider.stream(request(*messages))]
    return events[-1].message, events[:-1]


@pytest.fixture
def script(tmp_path):
    def write(text: str):
        path = tmp_path / "script.jsonl"
        path.write_text(text, encoding="utf-8")
        return path

    return write


async def test_steps_are_played_in_order_and_then_the_script_is_over(script):
    path = script('{"say": "one", "calls": [{"name": "ls", "arguments": {"path": "."}}]}\n\n{"say": "two"}\n')
    provider = ScriptedProvider.from_file(path, pace=0)

    first, _ = await play(provider)
    second, _ = await play(provider)
    third, _ = await play(provider)
    fourth, _ = await play(provider)

    assert (first.text, first.calls[0].name, first.calls[0].arguments_json) == ("one", "ls", '{"path": "."}')
    assert first.stop is StopReason.TOOL_USE
    assert (second.text, second.stop) == ("two", StopReason.END_TURN)
    assert third.text == fourth.text == CLOSING_TEXT


@pytest.mark.parametrize(
    ("latest", "expected"),
    [
        ((), "fine"),
        ((Outcome.OK,), "fine"),
        ((Outcome.OK, Outcome.DENIED), "you said no"),
        ((Outcome.SKIPPED,), "you said no"),
        ((Outcome.FAILED,), "fine"),
    ],
)
async def test_a_call_that_was_kept_back_is_answered_in_other_words(latest, expected):
    provider = ScriptedProvider([ScriptedStep(say="fine", denied="you said no")], pace=0)
    calls = [called(f"c{number}") for number in range(len(latest) + 1)]
    before = (said("go"), replied(calls[-1]), results(result(calls[-1].id, outcome=Outcome.DENIED)))
    after = (replied(*calls[:-1]), results(*(result(f"c{at}", outcome=one) for at, one in enumerate(latest))))

    message, _ = await play(provider, *(before + after if latest else before[:1]))

    assert message.text == expected


async def test_text_is_streamed_in_small_pieces(script):
    provider = ScriptedProvider([ScriptedStep(say="a few words, streamed é")], pace=0)

    message, pieces = await play(provider)

    assert len(pieces) > 2
    assert "".join(piece.text for piece in pieces) == message.text


async def test_a_delay_comes_before_the_reply():
    provider = ScriptedProvider([ScriptedStep(say="x", delay=0.2)], pace=0)
    start = time.monotonic()

    await anext(provider.stream(request()))

    assert time.monotonic() - start >= 0.2


async def test_a_delay_can_be_cancelled():
    provider = ScriptedProvider([ScriptedStep(say="x", delay=60)])

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await play(provider)


async def test_call_ids_are_new_to_the_history():
    provider = ScriptedProvider([ScriptedStep(calls=(ScriptedCall(name="ls", arguments_json="{}"),) * 2)], pace=0)

    message, _ = await play(provider, said("go"), replied(called("call_1")))

    assert [call.id for call in message.calls] == ["call_2", "call_3"]


def test_arguments_given_as_text_are_sent_as_written(script):
    steps = read_script(script('{"calls": [{"name": "write", "arguments": "{\\"path\\": \\"a"}]}'))

    assert steps[0].calls[0].arguments_json == '{"path": "a'


def test_the_model_is_named_after_its_file(script):
    path = script("")

    assert ScriptedProvider.from_file(path).model == f"scripted/{path}"


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("no json", "line 2 is not a JSON object"),
        ("[]", "line 2 is not a JSON object"),
        ('{"text": "x"}', "unknown key: text"),
        ('{"say": 5}', "say and denied are texts"),
        ('{"denied": 5}', "say and denied are texts"),
        ('{"calls": {}}', "calls is a list"),
        ('{"calls": [{}]}', "needs a name"),
        ('{"delay": "long"}', "delay is a number"),
        ('{"delay": -1}', "delay is a number"),
    ],
)
def test_a_line_that_cannot_be_used_is_named(script, line, complaint):
    with pytest.raises(ConfigError, match=complaint):
        read_script(script(f'{{"say": "fine"}}\n{line}\n'))


def test_a_missing_script_is_told(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        read_script(tmp_path / "none.jsonl")
