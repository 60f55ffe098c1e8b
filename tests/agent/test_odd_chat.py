"""What only some servers of Chat Completions send: each is understood, or told in one sentence; nothing runs twice."""

from __future__ import annotations

import json
import math

import pytest

from codeagent.core.events import TurnEnd
from codeagent.providers.openai_chat import OpenAIChatProvider
from tests.agent.services import Scene
from tests.server.replies import RawStream, data_lines, say

DONE = "[DONE]"
ONE = '{"say": "one"}'


@pytest.fixture
async def scene(model_server):
    provider = OpenAIChatProvider("test", "key", model_server.openai_url)
    yield Scene("chat", model_server, provider)
    await provider.aclose()


def delta(finish: str | None = None, **fields: object) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def called(*pieces: dict[str, object], finish: str | None = None) -> dict[str, object]:
    return delta(finish, tool_calls=list(pieces))


def piece(name: str | None = None, arguments: object = "", **fields: object) -> dict[str, object]:
    return {**fields, "type": "function", "function": {"name": name, "arguments": arguments}}


ENDED = (delta("tool_calls"), DONE)
UNDERSTOOD: dict[str, tuple[object, ...]] = {
    "an empty list of choices first": (
        {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 0}},
        called(piece("note", ONE, index=0, id="a")),
        *ENDED,
    ),
    "choices and deltas that are null": (
        {"choices": None},
        {"choices": [{"delta": None}]},
        called(piece("note", ONE, index=0, id="a")),
        *ENDED,
    ),
    "counts and places without an end": (
        {"choices": [], "usage": {"prompt_tokens": math.inf, "completion_tokens": -math.inf, "total_tokens": math.nan}},
        called(piece("note", ONE, index=math.inf, id="a")),
        *ENDED,
    ),
    "the role in each delta": (
        delta(role="assistant", content="I "),
        delta(role="assistant", content="note.", tool_calls=[piece("note", ONE, index=0, id="a")]),
        *ENDED,
    ),
    "a name in pieces": (
        called(piece("no", index=0, id="a")),
        called(piece("te", index=0)),
        called(piece(None, ONE, index=0)),
        *ENDED,
    ),
    "a name repeated and empty in turn": (
        called(piece("note", '{"say"', index=0, id="a")),
        called(piece("", ': "o', index=0, id="")),
        called(piece("note", 'ne"}', index=0, id="a")),
        *ENDED,
    ),
    "a name repeated without ids and indexes": (
        called(piece("note", '{"say"')),
        called(piece("note", ': "o')),
        called(piece("note", 'ne"}')),
        *ENDED,
    ),
    "another id in each piece": (
        called(piece("note", '{"say"', index=0, id="a1")),
        called(piece("note", ': "o', index=0, id="a2")),
        called(piece("note", 'ne"}', index=0, id="a3")),
        *ENDED,
    ),
    "an id that changes in the middle": (
        called(piece("note", '{"say"', index=0, id="a1")),
        called(piece(None, ': "one"}', index=0, id="a2")),
        *ENDED,
    ),
    "an id that changes in the middle, without indexes": (
        called(piece("note", '{"say"', id="a1")),
        called(piece(None, ': "one"}', id="a2")),
        *ENDED,
    ),
    "the whole call once more at the end": (
        called(piece("note", '{"say"', index=0, id="a")),
        called(piece(None, ': "one"}', index=0)),
        called(piece("note", ONE, index=0, id="a")),
        *ENDED,
    ),
    "arguments as an object": (called(piece("note", {"say": "one"}, index=0, id="a")), *ENDED),
    "arguments that are null before they come": (
        called(piece("note", None, index=0, id="a")),
        called(piece(None, ONE, index=0)),
        *ENDED,
    ),
    "the finish reason stop": (called(piece("note", ONE, index=0, id="a")), delta("stop"), DONE),
    "the finish reason in the chunk of the call": (
        called(piece("note", ONE, index=0, id="a"), finish="tool_calls"),
        DONE,
    ),
    "an empty finish reason in each chunk": (called(piece("note", ONE, index=0, id="a"), finish=""), *ENDED),
    "no DONE": (called(piece("note", ONE, index=0, id="a")), delta("tool_calls")),
    "DONE twice": (called(piece("note", ONE, index=0, id="a")), *ENDED, DONE),
    "the old form of a call": (
        delta(function_call={"name": "note", "arguments": ""}),
        delta(function_call={"arguments": ONE}),
        delta("function_call"),
        DONE,
    ),
    "a choice of another index beside it": (
        {
            "choices": [
                {"index": 0, "delta": {"tool_calls": [piece("note", ONE, index=0, id="a")]}},
                {"index": 1, "delta": {"tool_calls": [piece("note", ONE, index=0, id="b")]}},
            ]
        },
        {"choices": [{"index": 1, "delta": {"tool_calls": [piece("note", ONE, index=1, id="c")]}}]},
        *ENDED,
    ),
}


@pytest.mark.parametrize("name", UNDERSTOOD)
async def test_it_is_understood_as_the_one_call_that_was_meant(scene, name):
    stage = scene.stage()
    scene.server.reply(RawStream(chunks=data_lines(*UNDERSTOOD[name])), say("Done."))
    end = await stage.send("Write it down.")
    assert (end.reason, end.text) == (TurnEnd.DONE, "Done.")
    assert scene.notes == ["one"]
    await scene.is_well(stage)


TWO: dict[str, tuple[object, ...]] = {
    "both with index 0, in one chunk": (
        called(piece("note", ONE, index=0), piece("note", '{"say": "two"}', index=0)),
        *ENDED,
    ),
    "both with index 0, one after the other": (
        called(piece("note", ONE, index=0)),
        called(piece("note", '{"say": "two"}', index=0)),
        *ENDED,
    ),
    "without indexes and ids": (
        called(piece("note", ONE)),
        called(piece("note", '{"say"')),
        called(piece(None, ': "two"}')),
        *ENDED,
    ),
    "in turns": (
        called(piece("note", '{"say"', index=0, id="a"), piece("note", '{"say"', index=1, id="b")),
        called(piece(None, ': "two"}', index=1), piece(None, ': "one"}', index=0)),
        *ENDED,
    ),
    "in turns by their ids, both with index 0": (
        called(piece("note", ONE, index=0, id="a"), piece("note", '{"say"', index=0, id="b")),
        called(piece(None, ': "two"}', index=0, id="b")),
        *ENDED,
    ),
}


@pytest.mark.parametrize("name", TWO)
async def test_two_calls_are_told_apart(scene, name):
    stage = scene.stage()
    scene.server.reply(RawStream(chunks=data_lines(*TWO[name])), say("Done."))
    assert (await stage.send()).text == "Done."
    assert scene.notes == ["one", "two"]
    await scene.is_well(stage)


async def test_a_call_in_the_midst_of_which_the_reply_was_cut_is_not_run(scene):
    stage = scene.stage()
    cut = (called(piece("note", '{"say": "on', index=0, id="a")), delta("length"), DONE)
    scene.server.reply(RawStream(chunks=data_lines(*cut)), say("Done."))
    assert (await stage.send()).text == "Done."
    assert scene.notes == []
    await scene.is_well(stage)


@pytest.mark.parametrize(
    "error",
    [
        {"error": {"message": "Rate limit exceeded", "code": "429"}},
        {"error": {"message": "Slow down", "type": "rate_limit_error", "code": None}},
        {"error": {"code": 503, "status": "UNAVAILABLE", "message": "The model is overloaded."}},
        {"choices": [{"delta": {}, "finish_reason": "error", "error": {"code": 502, "message": "Upstream"}}]},
        "Internal Server Error",
    ],
)
async def test_an_error_in_the_stream_that_may_pass_is_asked_again(scene, error):
    stage = scene.stage()
    spoilt = (called(piece("note", ONE, index=0, id="a")), error)
    scene.server.reply(RawStream(chunks=data_lines(*spoilt)), say("Done."))
    assert (await stage.send()).text == "Done."
    assert scene.notes == []
    await scene.is_well(stage)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ({"error": {"message": "No such tool", "code": "400"}}, "No such tool"),
        ({"error": {"message": "No such tool", "code": "bad_schema", "type": "invalid_request_error"}}, "No such tool"),
        (
            {"choices": [{"delta": {}, "finish_reason": "error", "error": {"code": 400, "message": "No such"}}]},
            "No such",
        ),
        ({"detail": "Model is not loaded"}, "Model is not loaded"),
        ({"message": "Model is not loaded"}, "Model is not loaded"),
        ({"error": "model 'x' not found, try pulling it first"}, "pulling"),
    ],
)
@pytest.mark.parametrize("streams", [True, False])
async def test_an_error_with_the_status_200_is_told_in_its_own_words(scene, error, told, streams):
    stage = scene.stage()
    body = data_lines(error) if streams else (json.dumps(error, indent=1).encode(),)
    scene.server.reply(*[RawStream(chunks=body, content_type="application/json")] * 3)
    end = await stage.send()
    assert end.reason is TurnEnd.ERROR
    assert told in end.text
    scene.server._answers.clear()
    await scene.is_well(stage)
