"""Commands typed while a turn runs: those that change the session wait until it is over, all others act at once."""

import asyncio
import re
from pathlib import Path

import pytest

from codeagent.core.approvals import Mode
from codeagent.core.commands import WAITING
from codeagent.core.custom_commands import FoundCommands
from tests.tui.test_commands import found


class Working:
    """A turn that ends when the test says so."""

    def __init__(self):
        self.may_end = asyncio.Event()

    async def __call__(self, emit, approver):
        await self.may_end.wait()


async def begin(stage):
    await stage.type("go\n")
    await stage.until(lambda: stage.conversation.is_running)


def queued(stage):
    return [message.text for message in stage.app.main.queue_lines.queued]


def test_the_commands_that_wait_are_those_that_change_the_session():
    assert sorted(WAITING) == ["fork", "init", "new", "redo", "resume", "rewind", "trust", "undo"]
    told = Path("README.md").read_text().split("Only those that change the session wait")[1].split("\n\n")[0]
    assert sorted(re.findall(r"`/(\w+)`", told)) == sorted(WAITING)


@pytest.mark.parametrize("way", ["typed", "picked"])
async def test_a_new_session_begins_when_the_turn_has_ended_and_not_before(stage_of, way):
    working = Working()
    async with stage_of(working) as stage:
        await begin(stage)
        if way == "typed":
            await stage.type("/new\n")
        else:
            await stage.pilot.press("ctrl+p")
            await stage.until(lambda: "╭─ Commands" in stage.text)
            await stage.type("/new\n")
        await stage.until(lambda: "waits for the turn to end" in stage.text)
        assert queued(stage) == ["/new"]
        assert stage.conversation.is_running
        working.may_end.set()
        await stage.until(lambda: len(stage.desks) == 2)
        assert queued(stage) == []


async def test_one_that_waits_is_taken_back_like_a_message(stage_of):
    working = Working()
    async with stage_of(working) as stage:
        await begin(stage)
        await stage.type("/new\n")
        await stage.until(lambda: queued(stage) == ["/new"])
        await stage.pilot.press("alt+up")
        await stage.until(lambda: stage.app.main.prompt.text == "/new")
        await stage.pilot.press("ctrl+c")
        working.may_end.set()
        await stage.until(lambda: not stage.conversation.is_running)
        await stage.pilot.pause()
        assert len(stage.desks) == 1


async def test_esc_stops_the_turn_and_the_command_follows(stage_of):
    async with stage_of(Working()) as stage:
        await begin(stage)
        await stage.type("/resume\n")
        await stage.until(lambda: queued(stage) == ["/resume"])
        await stage.pilot.press("escape")
        await stage.until(lambda: "mend [old-1]" in stage.text)
        assert not stage.conversation.is_running
        assert queued(stage) == []


async def test_two_that_wait_follow_one_another_and_what_is_typed_behind_them_goes_to_the_new_session(stage_of):
    async with stage_of(Working()) as stage:
        await begin(stage)
        outgoing = stage.app._outgoing
        await stage.type("/new\n/resume\n")
        await stage.until(lambda: queued(stage) == ["/new", "/resume"])
        stage.app.action_stop()
        outgoing.say("for the new one")
        await stage.until(lambda: "╭─ Sessions" in stage.text or "mend [old-1]" in stage.text)
        assert len(stage.desks) == 2
        assert stage.conversation.sent == ["go"]
        await stage.pilot.press("escape")
        await stage.until(lambda: stage.desks[1][0].sent == ["for the new one"])


async def test_the_others_act_at_once(stage_of):
    async with stage_of(Working()) as stage:
        await begin(stage)
        await stage.type("/mode plan\n")
        await stage.until(lambda: stage.bench.current is Mode.PLAN)
        await stage.type("/cost\n")
        await stage.until(lambda: "╭─ Cost" in stage.text)
        assert stage.conversation.is_running


async def test_what_a_command_of_ones_own_says_is_a_message_though_it_looks_like_a_command(stage_of):
    custom: FoundCommands = found(slash="/new")
    async with stage_of(Working(), custom=custom) as stage:
        await begin(stage)
        stage.app.action_stop()
        await stage.type("/slash\n")
        await stage.until(lambda: stage.conversation.sent == ["go", "/new"])
        assert len(stage.desks) == 1


async def test_leaving_carries_nothing_out_any_more_and_keeps_what_waits(stage_of):
    async with stage_of(Working()) as stage:
        await begin(stage)
        await stage.type("/new\n")
        await stage.until(lambda: queued(stage) == ["/new"])
        await stage.app.action_quit()
        await stage.until(lambda: not stage.app.is_running)
        assert len(stage.desks) == 1
        assert stage.bench.kept == "/new"
