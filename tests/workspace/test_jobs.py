"""Jobs run on beside everything else, say what they put out, and end when they are told to."""

import asyncio
import os
import time
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from codeagent.core.errors import CommandProblem
from codeagent.core.jobs import JobState
from codeagent.workspace.jobs import MOST_RUNNING, Jobs
from codeagent.workspace.process import clean_environment


@asynccontextmanager
async def table(tmp_path):
    told = []
    jobs = Jobs(told.append)

    async def start(command, seconds=None):
        log = tmp_path / f"log-{len(jobs.all())}"
        return await jobs.start(
            command, cwd=tmp_path, env=clean_environment(os.environ), log=log, timeout=seconds, confine=None
        )

    try:
        yield jobs, start, told
    finally:
        await asyncio.to_thread(jobs.close)


async def is_over(jobs, number=1):
    for _ in range(500):
        if not jobs.all()[number - 1].is_running:
            break
        await asyncio.sleep(0.02)
    return jobs.all()[number - 1]


async def test_a_job_is_there_at_once_and_runs_on(tmp_path):
    async with table(tmp_path) as (_, start, told):
        began = time.monotonic()
        job = await start("sleep 20")
        assert time.monotonic() - began < 15
        assert (job.number, job.name, job.state, job.ended) == (1, "job 1", JobState.RUNNING, "")
        assert [one.number for one in told] == [1]


async def test_a_look_gives_what_is_new_since_the_last_one(tmp_path):
    async with table(tmp_path) as (jobs, start, _):
        await start("echo one; until [ -e go ]; do sleep 0.05; done; echo two; sleep 20")
        assert (await jobs.look(1, 5)).output == "one\n"
        assert (await jobs.look(1)).output == ""
        (tmp_path / "go").touch()
        assert (await jobs.look(1, 5)).output == "two\n"


async def test_a_look_waits_for_something_new_only_as_long_as_it_should(tmp_path):
    async with table(tmp_path) as (jobs, start, _):
        await start("sleep 20")
        began = time.monotonic()
        assert (await jobs.look(1, 0.2)).output == ""
        assert 0.2 <= time.monotonic() - began < 15


async def test_the_end_is_told_with_its_exit_code_and_output_stays_to_be_read(tmp_path):
    async with table(tmp_path) as (jobs, start, told):
        await start("echo bye; exit 3")
        job = await is_over(jobs)
        await asyncio.sleep(0.05)
        assert (job.state, job.ended, job.tail) == (JobState.ENDED, "exit code 3", "bye\n")
        assert [one.state for one in told] == [JobState.RUNNING, JobState.ENDED]
        assert (await jobs.look(1)).output == "bye\n"


async def test_an_end_is_news_once_and_no_news_to_who_has_looked(tmp_path):
    async with table(tmp_path) as (jobs, start, _):
        await start("true")
        await start("true")
        await is_over(jobs, 1)
        await is_over(jobs, 2)
        await jobs.look(2)
        assert [job.number for job in jobs.news()] == [1]
        assert jobs.news() == ()


async def test_stopping_ends_a_job_with_all_it_started_by_force_if_need_be(tmp_path):
    async with table(tmp_path) as (jobs, start, _):
        await start("trap '' TERM; (trap '' TERM; sleep 3; touch canary) & while :; do sleep 0.1; done")
        await asyncio.sleep(0.3)
        await jobs.stop(1)
        assert (jobs.all()[0].state, jobs.all()[0].ended) == (JobState.STOPPED, "stopped")
        await asyncio.sleep(1.2)
        assert not (tmp_path / "canary").exists()


async def test_a_stopped_job_stays_as_it_ended(tmp_path):
    async with table(tmp_path) as (jobs, start, _):
        await start("exit 4")
        await is_over(jobs)
        await jobs.stop(1)
        assert (jobs.all()[0].state, jobs.all()[0].ended) == (JobState.ENDED, "exit code 4")


async def test_what_a_job_leaves_running_is_named_and_can_be_stopped(tmp_path):
    async with table(tmp_path) as (jobs, start, _):
        await start("(sleep 2; touch canary) & echo left one")
        job = await is_over(jobs)
        assert len(job.left) >= 1
        await jobs.stop(1)
        assert jobs.all()[0].left == ()
        await asyncio.sleep(2)
        assert not (tmp_path / "canary").exists()


async def test_a_job_with_a_time_limit_ends_by_it(tmp_path):
    async with table(tmp_path) as (jobs, start, _):
        await start("sleep 20", seconds=0.2)
        assert (await is_over(jobs)).ended == "timed out after 0.2 s"


async def test_a_flood_is_cut_and_the_log_has_all_of_it(tmp_path):
    async with table(tmp_path) as (jobs, start, _):
        await start("seq 200000")
        job = await is_over(jobs)
        look = await jobs.look(1)
        assert look.is_cut
        assert len(look.output) < 31_000
        assert look.output.endswith("200000\n")
        assert len(await asyncio.to_thread(Path(job.log).read_bytes)) == sum(len(f"{n}\n") for n in range(1, 200_001))


async def test_closing_ends_every_job_and_tells_nobody(tmp_path):
    async with table(tmp_path) as (jobs, start, told):
        for number in range(3):
            await start(f"sleep 60; touch canary{number}")
        began = time.monotonic()
        await asyncio.to_thread(jobs.close)
        assert time.monotonic() - began < 50
        assert [job.state for job in jobs.all()] == [JobState.STOPPED] * 3
        assert not list(tmp_path.glob("canary*"))
        assert [job.state for job in told] == [JobState.RUNNING] * 3


async def test_a_job_that_cannot_be_started_is_none(tmp_path):
    async with table(tmp_path) as (jobs, start, told):
        with pytest.raises(CommandProblem):
            await start("echo \0")
        assert jobs.all() == ()
        assert told == []


async def test_a_number_that_is_no_job_is_refused_naming_how_many_there_are(tmp_path):
    async with table(tmp_path) as (jobs, start, _):
        with pytest.raises(CommandProblem, match="None was started"):
            await jobs.look(1)
        await start("true")
        with pytest.raises(CommandProblem, match="The only job is 1"):
            await jobs.stop(2)


async def test_too_many_running_jobs_are_refused(tmp_path):
    async with table(tmp_path) as (_, start, _):
        for _ in range(MOST_RUNNING):
            await start("sleep 20")
        with pytest.raises(CommandProblem, match="running already"):
            await start("true")
