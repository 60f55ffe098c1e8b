"""Ctrl+T lists what runs, shows its output, and stops it."""

import asyncio
from pathlib import Path

import pytest

from codeagent.core.approvals import CommandPreview
from codeagent.core.events import (
    JobChanged,
    NoticeGiven,
    ToolEnded,
    ToolPreviewed,
    ToolProgressed,
    ToolRunning,
    ToolStarted,
)
from codeagent.core.jobs import Job, JobState
from codeagent.core.messages import TextBlock, ToolResult


def a_job(number=1, state=JobState.RUNNING, **more):
    return Job(number=number, command="npm run dev", state=state, seconds=75, **more)


async def a_long_call(emit, approver):
    emit(ToolStarted(call_id="c1", name="bash", arguments_json='{"command": "make"}'))
    preview = CommandPreview(command="make all", cwd=Path("/x"), timeout=9)
    emit(ToolPreviewed(call_id="c1", preview=preview, label="make all"))
    emit(ToolStarted(call_id="c2", name="read", arguments_json='{"path": "x"}'))
    emit(ToolRunning(call_id="c1"))
    emit(ToolProgressed(call_id="c1", text="compiling one\n"))
    emit(ToolProgressed(call_id="c1", text="compiling two\n"))
    try:
        await asyncio.sleep(60)
    finally:
        for call_id in ("c2", "c1"):
            emit(ToolEnded(result=ToolResult(call_id=call_id, blocks=(TextBlock(text="x"),))))


async def test_nothing_running_is_said(stage_of):
    async with stage_of() as stage:
        await stage.pilot.press("ctrl+t")
        await stage.until(lambda: "Nothing runs" in stage.text)
        assert "x stop" not in stage.text
        await stage.pilot.press("escape")
        await stage.until(lambda: "Nothing runs" not in stage.text)


async def test_the_bar_begins_at_the_latest_that_runs(stage_of):
    async with stage_of() as stage:
        ended = a_job(2, JobState.ENDED, ended="exit code 0", tail="all of it\n")
        stage.bench.background = [a_job(tail="ready on port 3000\n"), ended]
        await stage.pilot.press("ctrl+t")
        await stage.until(lambda: "ready on port 3000" in stage.text)
        assert "Running" in stage.text
        assert "↑ ↓ choose · x stop · esc leave" in stage.text
        await stage.pilot.press("down")
        await stage.until(lambda: "all of it" in stage.text)
        assert "↑ ↓ choose · esc leave" in stage.text


async def test_what_is_over_is_not_called_running(stage_of):
    async with stage_of() as stage:
        stage.bench.background = [a_job(2, JobState.ENDED, ended="exit code 0", tail="all of it\n")]
        await stage.pilot.press("ctrl+t")
        await stage.until(lambda: "all of it" in stage.text)
        assert "Ended" in stage.text
        assert "Running" not in stage.text
        assert "x stop" not in stage.text


async def test_a_running_call_is_listed_with_its_output_and_can_be_stopped(stage_of):
    async with stage_of(a_long_call) as stage:
        await stage.type("go")
        await stage.pilot.press("enter")
        await stage.until(lambda: "compiling two" in stage.text)
        await stage.pilot.press("ctrl+t")
        await stage.until(lambda: "x stop" in stage.text)
        assert "bash    make all" in stage.text
        assert "waits its turn" in stage.text
        assert "1 running" in stage.text
        assert "compiling one" in stage.text  # not what waits: x would stop that
        await stage.pilot.press("x")
        await stage.until(lambda: stage.conversation.stopped == ["c1"])
        await stage.pilot.press("escape", "escape")


@pytest.mark.parametrize(
    ("size", "top", "bottom"), [((80, 24), 6, 17), ((120, 40), 14, 25), ((60, 15), 2, 12), ((60, 12), 2, 9)]
)
async def test_the_window_keeps_its_height_whatever_is_put_out_and_leaves_the_rules_whole(stage_of, size, top, bottom):
    def border():
        lines = stage.text.split("\n")
        return [number for number, line in enumerate(lines) if "╭" in line or "╰" in line]

    async with stage_of(size=size) as stage:
        for lines, words in ((1, "tick 1"), (40, "tick 40")):
            stage.bench.background = [a_job(1, tail="".join(f"tick {number}\n" for number in range(1, lines + 1)))]
            await stage.pilot.press("ctrl+t")
            await stage.until(lambda words=words: words in stage.text)
            assert border() == [top, bottom]
            assert [line for line in stage.text.split("\n") if set(line) == {"─"}] == ["─" * size[0]] * 2
            await stage.pilot.press("ctrl+t")
            await stage.until(lambda: "tick" not in stage.text)


async def test_jobs_are_listed_with_time_and_output_and_each_can_be_stopped(stage_of):
    async with stage_of() as stage:
        stage.bench.background += [a_job(1, tail="listening on 3000\n"), a_job(2, tail="\x1b[31mbuilding\x1b[0m\n")]
        await stage.type("/jobs")
        await stage.pilot.press("enter")
        await stage.until(lambda: "building" in stage.text)
        assert "1 min 15 s" in stage.text
        await stage.pilot.press("up")
        await stage.until(lambda: "listening on 3000" in stage.text)
        await stage.pilot.press("x")
        await stage.until(lambda: stage.bench.background[0].state is JobState.STOPPED)
        assert stage.bench.background[1].is_running
        await stage.until(lambda: "stopped" in stage.text)


async def test_an_ended_job_says_how_and_has_no_stop(stage_of):
    async with stage_of() as stage:
        stage.bench.background.append(a_job(state=JobState.ENDED, ended="exit code 3"))
        await stage.pilot.press("ctrl+t")
        await stage.until(lambda: "exit code 3" in stage.text)
        await stage.pilot.press("x")
        await stage.pilot.pause(0.1)
        assert stage.bench.background[0].state is JobState.ENDED


async def test_the_status_line_counts_jobs_and_a_notice_tells_their_end(stage_of):
    async with stage_of() as stage:
        stage.bench.emit(JobChanged(job=a_job(1)))
        stage.bench.emit(JobChanged(job=a_job(2)))
        await stage.until(lambda: "2 jobs" in stage.text)
        stage.bench.emit(JobChanged(job=a_job(1, state=JobState.ENDED, ended="exit code 0")))
        stage.bench.emit(NoticeGiven(text="job 1 is over."))
        await stage.until(lambda: "1 job" in stage.text and "job 1 is over." in stage.text)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_much_output_fills_the_window_from_side_to_side_and_not_the_screen(stage_of, size):
    async with stage_of(size=size) as stage:
        stage.bench.background = [a_job(tail="".join(f"line {number}\n" for number in range(60)))]
        await stage.pilot.press("ctrl+t")
        await stage.until(lambda: "line 59" in stage.text)
        window = stage.app.screen.query_one("Vertical").region
        assert (window.x, window.width) == (1, size[0] - 2)
        assert window.height == 12
