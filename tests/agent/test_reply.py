from __future__ import annotations

import asyncio
import time

import pytest

from codeagent.agent.limits import Limits
from codeagent.core.errors import ProviderUnavailable
from codeagent.core.events import ReplyEnded, RetryScheduled, TextStreamed, ToolStarted, TurnEnd, UsageReported
from codeagent.core.protocols import CallPiece, ReplyFinished, TextPiece, ThinkingPiece
from tests.agent.stage import FAST, Model, Shell, Stage, call, reply


def broken_off(*pieces: str):
    async def stream(request):
        for piece in pieces:
            yield TextPiece(text=piece)

    return stream


def silent_after(*pieces: str):
    async def stream(request):
        for piece in pieces:
            yield TextPiece(text=piece)
        await asyncio.sleep(30)

    return stream


async def test_a_stream_that_breaks_off_is_asked_for_again_and_nothing_of_it_is_kept():
    stage = Stage(Model(broken_off("Half an ans"), reply("Whole.")))
    ended = await stage.send()
    assert ended.text == "Whole."
    assert [message.text for message in stage.session.messages] == ["Do it.", "Whole."]
    assert [event.discarded for event in stage.of(ReplyEnded)] == [True, False]


async def test_a_broken_stream_never_runs_a_call(tmp_path):
    async def stream(request):
        yield TextPiece(text="x")
        raise ProviderUnavailable("reset")

    stage = Stage(Model(stream, reply("", call("c1", "bash", command="true"))), Shell(tmp_path))
    await stage.send()
    assert [event.call_id for event in stage.of(ToolStarted)] == ["c1"]


async def test_each_retry_is_announced_before_it_is_waited_for():
    stage = Stage(Model(ProviderUnavailable("busy", status=529), ProviderUnavailable("busy"), reply("Yes.")))
    await stage.send()
    retries = stage.of(RetryScheduled)
    assert [(event.attempt, event.attempts, event.reason) for event in retries] == [(1, 3, "busy"), (2, 3, "busy")]
    assert stage.events.index(retries[0]) < stage.events.index(stage.of(TextStreamed)[0])


async def test_a_failure_that_time_does_not_mend_is_tried_less_often():
    stage = Stage(Model(*[ProviderUnavailable("refused", most_retries=1)] * 9))
    ended = await stage.send()
    assert ended.reason is TurnEnd.ERROR
    assert [(event.attempt, event.attempts) for event in stage.of(RetryScheduled)] == [(1, 1)]


async def test_pauses_double_with_some_chance_and_stop_growing():
    failures = [ProviderUnavailable("busy")] * 5
    limits = Limits(retries=5, retry_seconds=0.01, longest_pause=0.04)
    stage = Stage(Model(*failures, reply("Yes.")), limits=limits)
    await stage.send()
    pauses = [event.seconds for event in stage.of(RetryScheduled)]
    for pause, middle in zip(pauses, (0.01, 0.02, 0.04, 0.04, 0.04), strict=True):
        assert 0.74 * middle <= pause <= 1.26 * middle


async def test_the_service_says_how_long_to_wait():
    stage = Stage(Model(ProviderUnavailable("busy", retry_after=0.2), reply("Yes.")))
    started = time.monotonic()
    await stage.send()
    assert time.monotonic() - started >= 0.2
    assert stage.of(RetryScheduled)[0].seconds == 0.2


async def test_a_service_that_wants_an_hour_is_not_waited_for():
    stage = Stage(Model(ProviderUnavailable("Try in an hour.", retry_after=3600)))
    ended = await stage.send()
    assert ended.reason is TurnEnd.ERROR
    assert ended.text.startswith(
        "Try in an hour. It asks to be left alone for 60 minutes. Send the message again later"
    )


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (301, "5 minutes"),
        (9_000, "2 hours"),
        (86_000, "24 hours"),
        (9_999_999, "more than a day"),
        (1e300, "more than a day"),
    ],
)
async def test_a_wait_beyond_reason_is_told_in_words_that_a_person_can_use(seconds, told):
    stage = Stage(Model(ProviderUnavailable("Busy.", retry_after=seconds)))
    ended = await stage.send()
    assert f"left alone for {told}." in ended.text
    assert stage.of(RetryScheduled) == []


async def test_after_the_last_retry_the_turn_ends_with_the_reason():
    stage = Stage(Model(*[ProviderUnavailable("The service is down.")] * 9))
    ended = await stage.send()
    assert ended.reason is TurnEnd.ERROR
    assert ended.text == (
        "The service is down. It was asked 4 times. Send the message again later, or choose another model."
    )
    assert len(stage.model.requests) == 1 + FAST.retries
    assert (await stage.send()).reason is TurnEnd.ERROR


@pytest.mark.parametrize("pieces", [(), ("One piece",)])
async def test_silence_before_or_within_a_reply_is_noticed_and_tried_again(pieces):
    limits = Limits(retries=1, retry_seconds=0.001, first_byte_seconds=0.5, idle_seconds=0.5)
    stage = Stage(Model(silent_after(*pieces), reply("Here.")), limits=limits)
    assert (await stage.send()).text == "Here."
    assert "silent" in stage.of(RetryScheduled)[0].reason


@pytest.mark.parametrize("sign", [ThinkingPiece(text=""), TextPiece(text=""), CallPiece(name="write", size=0)])
@pytest.mark.parametrize("first", [(), (TextPiece(text="One piece"),)])
async def test_signs_of_life_alone_keep_no_request_open_for_ever(first, sign):
    async def alive(request):
        for piece in first:
            yield piece
        while True:
            yield sign
            await asyncio.sleep(0.001)

    limits = Limits(retries=5, retry_seconds=0.001, first_byte_seconds=0.01, idle_seconds=60, quiet_seconds=0.05)
    stage = Stage(Model(alive, alive), limits=limits)
    ended = await stage.send()
    assert ended.reason is TurnEnd.ERROR
    assert ended.text.startswith("The service sent nothing but signs of life for 0 minutes; the connection was closed.")
    assert len(stage.of(RetryScheduled)) == 1


async def test_a_reply_that_grows_between_its_signs_of_life_is_left_alone():
    async def slow(request):
        for number in range(5):
            yield TextPiece(text=f"{number}")
            for _ in range(4):
                yield ThinkingPiece(text="")
                await asyncio.sleep(0.05)
        yield ReplyFinished(message=reply("01234"))

    limits = Limits(retries=0, first_byte_seconds=0.01, idle_seconds=60, quiet_seconds=0.8)
    stage = Stage(Model(slow), limits=limits)
    assert (await stage.send()).text == "01234"


async def test_a_slow_stream_that_keeps_moving_is_left_alone():
    async def slow(request):
        for piece in "slow but steady":
            await asyncio.sleep(0.06)
            yield TextPiece(text=piece)
        yield ReplyFinished(message=reply("slow but steady"))

    stage = Stage(Model(slow), limits=Limits(retries=0, first_byte_seconds=0.8, idle_seconds=0.8))
    assert (await stage.send()).text == "slow but steady"


async def test_the_first_byte_may_take_longer_than_the_next_ones():
    async def thoughtful(request):
        await asyncio.sleep(0.2)
        yield ReplyFinished(message=reply("Well."))

    stage = Stage(Model(thoughtful), limits=Limits(retries=0, first_byte_seconds=5, idle_seconds=0.05))
    assert (await stage.send()).text == "Well."


async def test_the_request_is_closed_before_anything_else_happens():
    closed = []

    async def stream(request):
        try:
            yield ReplyFinished(message=reply("Done."))
            yield TextPiece(text="after the end")
        finally:
            closed.append(len(stage.of(UsageReported)))

    stage = Stage(Model(stream))
    await stage.send()
    assert closed == [0]
