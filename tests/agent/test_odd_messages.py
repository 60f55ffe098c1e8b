"""What only some servers of the Messages protocol send: understood, or told in one sentence; nothing runs twice."""

from __future__ import annotations

import math
from typing import Any

import pytest

from codeagent.core.events import NoticeGiven, RetryScheduled, TextStreamed, TurnEnd
from codeagent.providers.anthropic import AnthropicProvider
from tests.agent.services import Scene
from tests.server.replies import RawStream, data_lines, say

ONE = '{"say": "one"}'


@pytest.fixture
async def scene(model_server):
    provider = AnthropicProvider("test", "key", model_server.url)
    yield Scene("messages", model_server, provider)
    await provider.aclose()


def start(**usage: int) -> dict[str, object]:
    return {"type": "message_start", "message": {"id": "m1", "role": "assistant", "content": [], "usage": usage}}


def opened(index: int, kind: str, **fields: object) -> dict[str, object]:
    return {"type": "content_block_start", "index": index, "content_block": {"type": kind, **fields}}


def delta(index: int, kind: str, **fields: object) -> dict[str, object]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def closed(index: int) -> dict[str, object]:
    return {"type": "content_block_stop", "index": index}


def ended(reason: str | None = "tool_use", **usage: int) -> tuple[dict[str, object], ...]:
    stop = {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}
    return stop, {"type": "message_stop"}


def call(index: int, *pieces: str, identity: str = "t1") -> tuple[dict[str, object], ...]:
    """A call, all of it but its end."""
    written = (delta(index, "input_json_delta", partial_json=piece) for piece in pieces)
    return opened(index, "tool_use", id=identity, name="note", input={}), *written


PING = {"type": "ping"}
ENDLESS: Any = math.inf  # JSON's 1e999
UNDERSTOOD: dict[str, tuple[object, ...]] = {
    "a storm of pings": (start(), *[PING] * 500, *call(0, ONE), *[PING] * 500, closed(0), *ended()),
    "no usage at the end": (
        start(),
        *call(0, ONE),
        closed(0),
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        {"type": "message_stop"},
    ),
    "no end of the block": (start(), *call(0, '{"say"', ': "one"}'), *ended()),
    "no beginning of the message": (*call(0, ONE), closed(0), *ended()),
    "two beginnings of the message": (
        start(),
        opened(0, "text", text=""),
        delta(0, "text_delta", text="I note."),
        closed(0),
        *call(1, ONE, identity="t0"),
        closed(1),
        start(),
        *call(0, ONE, identity="t1"),
        closed(0),
        *ended(),
    ),
    "thinking with an empty signature": (
        start(),
        opened(0, "thinking", thinking="", signature=""),
        delta(0, "thinking_delta", thinking="Hm."),
        delta(0, "signature_delta", signature=""),
        closed(0),
        *call(1, ONE),
        closed(1),
        *ended(),
    ),
    "events, blocks and deltas that nobody knows": (
        start(),
        {"type": "message_annotation", "note": "new"},
        opened(0, "container_upload", file_id="file_1"),
        delta(0, "container_delta", size=5),
        closed(0),
        *call(1, ONE),
        delta(1, "checksum_delta", sum=5),
        closed(1),
        *ended(),
    ),
    "arguments at the beginning of the block": (
        start(),
        opened(0, "tool_use", id="t1", name="note", input={"say": "one"}),
        closed(0),
        *ended(),
    ),
    "the stop reason end_turn": (start(), *call(0, ONE), closed(0), *ended("end_turn")),
    "a stop reason that nobody knows": (start(), *call(0, ONE), closed(0), *ended("bored")),
    "no stop reason": (start(), *call(0, ONE), closed(0), *ended(None)),
    "counts and places without an end": (
        start(input_tokens=ENDLESS),
        *call(ENDLESS, ONE),
        closed(ENDLESS),
        *ended(output_tokens=ENDLESS),
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


SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"type": "web_search_result"}]}


async def test_blocks_that_nobody_knows_go_back_as_they_came(scene):
    stage = scene.stage()
    query = ('{"que', 'ry": "x"}')
    begun = {key: value for key, value in SEARCH.items() if key != "type"} | {"input": {}}
    scene.server.reply(
        RawStream(
            chunks=data_lines(
                start(),
                opened(0, "server_tool_use", **begun),
                *(delta(0, "input_json_delta", partial_json=piece) for piece in query),
                closed(0),
                {"type": "content_block_start", "index": 1, "content_block": FOUND},
                closed(1),
                opened(2, "text", text=""),
                delta(2, "text_delta", text="Found."),
                closed(2),
                *ended("pause_turn"),
            )
        ),
        say("Done."),
    )
    assert (await stage.send()).text == "Done."
    sent = scene.server.requests[-1].messages[1]
    assert sent["content"] == [SEARCH, FOUND, {"type": "text", "text": "Found."}]
    assert scene.server.refusals == []


async def test_a_service_that_will_not_have_its_own_blocks_back_is_asked_without_them(scene):
    stage = scene.stage()
    scene.server.reply(
        RawStream(chunks=data_lines(start(), opened(0, "hologram", shape="cube"), closed(0), *call(1, ONE), *ended())),
        say("Done."),
    )
    assert (await stage.send()).text == "Done."
    assert scene.notes == ["one"]
    assert len(scene.server.refusals) == 1
    assert "refused" in stage.of(NoticeGiven)[0].text


async def test_fields_that_a_service_adds_to_a_call_go_back_with_it(scene):
    stage = scene.stage()
    caller = {"type": "direct"}
    begun = opened(0, "tool_use", id="t1", name="note", input={}, caller=caller)
    spoken = data_lines(start(), begun, delta(0, "input_json_delta", partial_json=ONE), closed(0), *ended())
    scene.server.reply(RawStream(chunks=spoken), say("Done."))
    assert (await stage.send()).text == "Done."
    [sent] = scene.server.requests[-1].messages[1]["content"]
    assert sent == {"type": "tool_use", "id": "t1", "name": "note", "input": {"say": "one"}, "caller": caller}
    await scene.is_well(stage)


async def test_a_service_that_will_not_have_its_own_fields_back_is_asked_without_them(scene):
    stage = scene.stage()
    begun = opened(0, "tool_use", id="t1", name="note", input={"say": "one"}, shape="cube")
    scene.server.reply(RawStream(chunks=data_lines(start(), begun, closed(0), *ended())), say("Done."))
    assert (await stage.send()).text == "Done."
    assert scene.notes == ["one"]
    assert len(scene.server.refusals) == 1


@pytest.mark.parametrize(
    "error",
    [
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        {"type": "error", "error": {"type": "rate_limit_error", "message": "Slow down"}},
        {"type": "error", "error": {"type": "api_error", "message": "Internal server error"}},
        {"error": "Overloaded"},
        "upstream connect error",
    ],
)
async def test_an_error_in_the_stream_that_may_pass_is_asked_again(scene, error):
    stage = scene.stage()
    spoilt = data_lines(start(), *call(0, ONE), closed(0), error)
    scene.server.reply(RawStream(chunks=spoilt), say("Done."))
    assert (await stage.send()).text == "Done."
    assert len(stage.of(RetryScheduled)) == 1
    assert scene.notes == []
    await scene.is_well(stage)


@pytest.mark.parametrize(
    ("reason", "end", "told"),
    [
        ("refusal", TurnEnd.REFUSED, "I go"),
        ("model_context_window_exceeded", TurnEnd.ERROR, "larger window"),
    ],
)
async def test_a_reply_that_must_not_be_acted_on_runs_nothing(scene, reason, end, told):
    stage = scene.stage()
    text = (opened(0, "text", text=""), delta(0, "text_delta", text="I go"), closed(0))
    scene.server.reply(RawStream(chunks=data_lines(start(), *text, *call(1, ONE), closed(1), *ended(reason))))
    ending = await stage.send()
    assert ending.reason is end
    assert told in ending.text
    assert scene.notes == []
    await scene.is_well(stage)


async def test_what_was_shown_before_a_second_beginning_is_no_part_of_the_reply(scene):
    stage = scene.stage()
    first = (opened(0, "text", text=""), delta(0, "text_delta", text="Once."), closed(0))
    second = (opened(0, "text", text=""), delta(0, "text_delta", text="Twice."), closed(0))
    scene.server.reply(RawStream(chunks=data_lines(start(), *first, start(), *second, *ended("end_turn"))))
    assert (await stage.send()).text == "Twice."
    assert [event.text for event in stage.of(TextStreamed)]
    await scene.is_well(stage)
