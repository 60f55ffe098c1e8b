"""What stands between a model and the line, and what it answers: understood, asked again, or told with what to do."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from codeagent.core.events import RetryScheduled, TurnEnd
from tests.agent.services import PATIENT, Scene
from tests.agent.test_odd_chat import ENDED as CHAT_END
from tests.agent.test_odd_chat import called as chat_called
from tests.agent.test_odd_chat import piece as chat_piece
from tests.agent.test_odd_messages import call as messages_call
from tests.agent.test_odd_messages import ended as messages_end
from tests.agent.test_odd_messages import start as messages_start
from tests.agent.test_odd_responses import call as response_call
from tests.agent.test_odd_responses import done as response_done
from tests.agent.test_odd_responses import ended as response_end
from tests.server.replies import Answer, RawStream, Refuse, data_lines, say

ONE = '{"say": "one"}'
STREAMS: dict[str, Sequence[object]] = {
    "messages": (messages_start(), *messages_call(0, ONE), *messages_end()),
    "chat": (chat_called(chat_piece("note", ONE, index=0, id="a")), *CHAT_END),
    "responses": (response_done(0, response_call()), response_end()),
}
GZIP = {"Content-Encoding": "gzip"}


def stream_of(scene: Scene) -> bytes:
    return b"".join(data_lines(*STREAMS[scene.protocol]))


@pytest.mark.parametrize("kind", ["whole", "in pieces", "trailers", "long silence of comments"])
async def test_ways_to_send_a_stream_that_are_sound(scene, kind):
    stream = stream_of(scene)
    packed = gzip.compress(stream)
    scene.server.reply(
        {
            "whole": RawStream(chunks=(packed,), headers=GZIP),
            "in pieces": RawStream(chunks=tuple(bytes([byte]) for byte in packed), headers=GZIP),
            "trailers": RawStream(
                chunks=(stream,), headers={"Trailer": "Server-Timing"}, trailers=b"Server-Timing: total;dur=5\r\n"
            ),
            "long silence of comments": RawStream(chunks=(*[b": keep-alive\n\n"] * 300, stream), pace=0.001),
        }[kind],
        say("Done."),
    )
    stage = scene.stage()
    assert (await stage.send()).text == "Done."
    assert scene.notes == ["one"]
    await scene.is_well(stage)


@pytest.mark.parametrize("kind", ["cut", "not packed at all"])
async def test_a_packed_stream_that_cannot_be_unpacked_is_asked_for_again(scene, kind):
    stream = stream_of(scene)
    packed = gzip.compress(stream)[:-20] if kind == "cut" else stream
    scene.server.reply(RawStream(chunks=(packed,), headers=GZIP), say("Done."))
    stage = scene.stage()
    assert (await stage.send()).text == "Done."
    assert len(stage.of(RetryScheduled)) == 1
    await scene.is_well(stage)


async def test_a_packed_error_is_read(scene):
    body = gzip.compress(json.dumps({"error": {"message": "Bad thing", "type": "invalid_request_error"}}).encode())
    scene.server.reply(Refuse(status=400, body=body, headers=GZIP))
    stage = scene.stage()
    assert "Bad thing" in (await stage.send()).text
    await scene.is_well(stage)


@pytest.mark.parametrize("status", [520, 521, 522, 523, 524, 529, 598])
async def test_what_a_gateway_says_of_the_server_behind_it_may_pass(scene, status):
    scene.server.reply(Refuse(status=status, body=b"error code: 1033"), say("Done."))
    stage = scene.stage()
    assert (await stage.send()).text == "Done."
    await scene.is_well(stage)


@pytest.mark.parametrize("status", [300, 304, 400, 402, 405, 406, 410, 415, 418, 421, 422, 451, 501])
async def test_a_refusal_is_told_once_with_what_to_do(scene, status):
    headers = {"Content-Length": "0"} if status == 304 else {}
    scene.server.reply(Refuse(status=status, body=b"", headers=headers))
    stage = scene.stage()
    end = await stage.send()
    assert (end.reason, stage.of(RetryScheduled)) == (TurnEnd.ERROR, [])
    assert len(end.text.splitlines()) <= 2
    assert end.text.count(".") >= 2
    scene.server._answers.clear()
    await scene.is_well(stage)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_request_that_is_sent_elsewhere_does_not_take_the_key_there(scene, status):
    elsewhere = f"{scene.server.url}/elsewhere"
    scene.server.reply(Refuse(status=status, body=b"", headers={"Location": elsewhere}))
    stage = scene.stage()
    end = await stage.send()
    assert end.reason is TurnEnd.ERROR
    assert elsewhere in end.text
    assert "BASE_URL" in end.text
    assert len(scene.server.requests) == 1
    await scene.is_well(stage)


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "the request exceeds the available context size, try increasing it"),
        (400, "request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it"),
        (500, "Context size has been exceeded."),
        (400, "The decoder prompt (length 5000) is longer than the maximum model length of 4096."),
        (400, "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens"),
        (400, "prompt too long; exceeded max context length by 4 tokens"),
        (400, "the input length exceeds the context length"),
        (400, "Trying to keep the first 5000 tokens, but the model is loaded with context length of only 4096 tokens."),
        (422, "`inputs` must have less than 4096 tokens. Given: 5000"),
        (400, "This model's maximum prompt length is 131072 but the request contains 537812 tokens."),
        (400, "The input (5000 tokens) is longer than the model's context length (4096 tokens)."),
        (400, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."),
        (400, "prompt token count of 140000 exceeds the limit of 128000"),
        (429, "Request too large for gpt-x on tokens per min (TPM): Limit 30000, Requested 40000."),
        (413, "Payload Too Large"),
    ],
)
async def test_what_servers_say_of_a_history_that_is_too_long(scene, status, message):
    scene.server.reply(Refuse(status=status, message=message))
    stage = scene.stage()
    end = await stage.send()
    assert end.reason is TurnEnd.ERROR
    assert message in end.text
    assert "larger window" in end.text
    assert stage.of(RetryScheduled) == []
    await scene.is_well(stage)


@pytest.mark.parametrize("asked", [{"retry-after-ms": "20"}, {"Retry-After": "0"}, {"Retry-After": "date"}])
async def test_the_wait_that_is_asked_for_is_kept(scene, asked):
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=1), usegmt=True)
    headers = {name: soon if value == "date" else value for name, value in asked.items()}
    scene.server.reply(Refuse(status=429, headers=headers), say("Done."))
    stage = scene.stage()
    assert (await stage.send()).text == "Done."
    [pause] = stage.of(RetryScheduled)
    assert pause.seconds < 2
    await scene.is_well(stage)


@pytest.mark.parametrize("headers", [{"Retry-After": "3600"}, {"retry-after-ms": "3600000"}, {"Retry-After": "date"}])
async def test_a_wait_of_an_hour_is_told_and_not_waited_for(scene, headers):
    later = format_datetime(datetime.now(UTC) + timedelta(minutes=60, seconds=10), usegmt=True)
    headers = {name: later if value == "date" else value for name, value in headers.items()}
    scene.server.reply(Refuse(status=429, headers=headers))
    stage = scene.stage()
    end = await stage.send()
    assert (end.reason, stage.of(RetryScheduled)) == (TurnEnd.ERROR, [])
    assert "60 minutes" in end.text
    await scene.is_well(stage)


@pytest.mark.parametrize(
    "answer",
    [
        RawStream(chunks=(b'{"error": {"message": "Overloaded", "code": 503}}',), content_type="application/json"),
        RawStream(chunks=(b'{"error": {"message": "Slow down", "code": "rate_limit_exceeded"}}',)),
        Refuse(status=429, body=b'[{"error": {"code": 429, "message": "Slow down", "status": "RESOURCE_EXHAUSTED"}}]'),
        RawStream(chunks=()),
        RawStream(chunks=(b"\n\n\n",)),
    ],
)
async def test_an_answer_that_may_be_better_next_time_is_asked_for_again(scene, answer: Answer):
    scene.server.reply(answer, say("Done."))
    stage = scene.stage(limits=PATIENT)
    assert (await stage.send()).text == "Done."
    [retry] = stage.of(RetryScheduled)
    assert "[{" not in retry.reason
    await scene.is_well(stage)
