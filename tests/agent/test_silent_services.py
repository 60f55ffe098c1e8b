"""A service that goes silent without closing: it is told, asked again a few times, and nothing half is kept."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codeagent.core.events import RetryScheduled, TurnEnd
from codeagent.core.messages import AssistantMessage
from tests.agent.services import PATIENT
from tests.server.replies import Call, RawStream, Reply, Reset, Say, Stall, Truncate, say

HASTY = replace(PATIENT, first_byte_seconds=0.6, idle_seconds=0.6)
BARELY_ALIVE = replace(HASTY, quiet_seconds=0.6)
HALF = (Say("Half of an answer, ", size=4), Call("note", {"say": "half"}, size=3))
SILENCES = {
    "before the headers": Reply(parts=HALF, delay=20),
    "after the headers": Reply(parts=HALF, fault=Stall(after=-1)),
    "in the text": Reply(parts=HALF, fault=Stall(after=3)),
    "in a call": Reply(parts=HALF, fault=Stall(after=8)),
}
SIGNS_OF_LIFE = RawStream(chunks=(b": wait\n\n",) * 900, pace=0.05, stalls=True)
BREAKS = {
    "reset in the text": Reply(parts=HALF, fault=Reset(after=3), pace=0.001),
    "closed without the last event": Reply(parts=HALF, fault=Truncate(after=3)),
}


@pytest.mark.parametrize("kind", SILENCES)
async def test_a_service_that_stays_silent_ends_the_turn_with_a_sentence_after_a_few_tries(scene, kind):
    stage = scene.stage(limits=HASTY)
    scene.server.reply(say("", Call("note", {"say": "one"})), *[SILENCES[kind]] * (1 + HASTY.retries))

    ended = await stage.send("Write it down.")

    assert ended.reason is TurnEnd.ERROR
    assert all(words in ended.text for words in ("silent", "3 times")), ended.text
    assert all("silent" in event.reason for event in stage.of(RetryScheduled))
    assert len(stage.of(RetryScheduled)) == HASTY.retries
    assert scene.notes == ["one"]
    assert not any("Half" in one.text for one in stage.session.messages if isinstance(one, AssistantMessage))
    await scene.is_well(stage)


async def test_a_service_that_gives_nothing_but_signs_of_life_is_asked_once_more_and_told(scene):
    stage = scene.stage(limits=BARELY_ALIVE)
    scene.server.reply(say("", Call("note", {"say": "one"})), SIGNS_OF_LIFE, SIGNS_OF_LIFE)

    ended = await stage.send("Write it down.")

    assert ended.reason is TurnEnd.ERROR
    assert all(words in ended.text for words in ("nothing but signs of life", "2 times")), ended.text
    assert scene.notes == ["one"]
    await scene.is_well(stage)


@pytest.mark.parametrize("kind", SILENCES | BREAKS)
async def test_what_broke_off_is_asked_for_once_more_and_what_was_done_before_is_not_done_again(scene, kind):
    stage = scene.stage(limits=HASTY)
    broken = (SILENCES | BREAKS)[kind]
    scene.server.reply(say("", Call("note", {"say": "one"})), broken, say("Whole."))

    ended = await stage.send("Write it down.")

    assert (ended.reason, ended.text) == (TurnEnd.DONE, "Whole.")
    assert len(stage.of(RetryScheduled)) == 1
    assert scene.notes == ["one"]
    await scene.is_well(stage)
