"""A command started in the background is read and stopped through the job tool."""

import asyncio
import re
import time

import pytest
from pydantic import ValidationError

from codeagent.core.approvals import CommandPreview
from codeagent.core.errors import CommandProblem
from codeagent.core.messages import CommandDetails
from codeagent.core.protocols import Interruption, ToolContext
from codeagent.tools.job import JobArguments


async def do(at, name, **arguments):
    return (await at.run_async(name, lambda _: None, **arguments)).text


async def until(at, is_so):
    """Waits until it is so of the first job."""

    def wait():
        while not is_so(at.jobs.all()[0]):
            time.sleep(0.02)

    await asyncio.to_thread(wait)


async def test_a_background_command_comes_back_at_once_with_its_number(at):
    began = time.monotonic()
    result = await at.run_async("bash", lambda _: None, command="sleep 20", background=True)
    assert time.monotonic() - began < 15  # the command takes 20 seconds
    assert result.text.startswith("[started as job 1;")
    assert isinstance(result.details, CommandDetails)
    assert (result.details.ended, result.details.exit_code) == ("job 1, in the background", None)


async def test_output_is_what_came_since_the_last_look(at):
    await do(at, "bash", command="echo one; until [ -e go ]; do sleep 0.05; done; echo two; sleep 9", background=True)
    assert (await do(at, "job", id=1, action="output")).startswith("one\n[job 1: running after ")
    (at.root / "go").touch()
    text = await do(at, "job", id=1, action="output")
    assert text.startswith("two\n[job 1: running after ")
    assert "one" not in text


async def test_a_stop_says_how_it_ended_and_gives_the_last_output(at):
    await do(at, "bash", command="echo last words; sleep 30", background=True)
    await until(at, lambda job: job.tail)
    assert (await do(at, "job", id=1, action="stop")).startswith("last words\n[job 1: stopped after ")


async def test_an_ended_job_says_so(at):
    await do(at, "bash", command="exit 3", background=True)
    await until(at, lambda job: not job.is_running)
    said = await do(at, "job", id=1, action="output")
    assert re.match(r"\[job 1: exit code 3 after \d+ s; no output", said)


async def test_the_model_is_told_which_seen_files_the_job_changed(at):
    at.put("a.py", "a\n")
    await do(at, "read", path="a.py")
    await do(at, "bash", command="echo b >> a.py; echo done", background=True)
    await until(at, lambda job: job.tail)
    text = await do(at, "job", id=1, action="output")
    assert "[changed since you read them, read again before editing: a.py]" in text


async def test_long_output_names_its_log_which_can_be_read(at):
    await do(at, "bash", command="seq 100000", background=True)
    await until(at, lambda job: not job.is_running)
    text = await do(at, "job", id=1, action="output")
    log = at.jobs.all()[0].log
    assert f"read or grep {log}" in text
    assert (await do(at, "read", path=log, offset=50_000, limit=1)).startswith("50000→50000\n")


async def test_a_job_that_there_is_not_is_refused(at):
    with pytest.raises(CommandProblem):
        await do(at, "job", id=7, action="output")


@pytest.mark.parametrize("arguments", [{"id": 0, "action": "stop"}, {"id": 1, "action": "kill"}, {"id": 1}])
def test_other_arguments_are_refused(arguments):
    with pytest.raises(ValidationError):
        JobArguments.model_validate(arguments)


def test_a_look_may_be_interrupted_and_a_stop_not(at):
    tool = at.tools.find("job")
    assert tool.interruption(JobArguments(id=1, action="output")) is Interruption.CANCEL
    assert tool.interruption(JobArguments(id=1, action="stop")) is Interruption.BLOCK


def test_the_preview_says_that_it_runs_in_the_background_and_until_when(at):
    preview = at.plan("bash", command="make", background=True).preview
    assert preview == CommandPreview(command="make", cwd=at.root, timeout=0.0, background=True)
    assert at.plan("bash", command="make", background=True, timeout=9).preview.timeout == 9.0


async def test_a_job_edited_by_the_person_is_what_is_started(at):
    tool = at.tools.find("bash")
    arguments = tool.Arguments(command="echo theirs", background=True)
    plan = await (await tool.plan(arguments, ToolContext(call_id="c"))).edited("echo mine")
    assert "this was run: echo mine" in (await plan.run(lambda _: None)).text
    await until(at, lambda job: job.tail)
    assert (await do(at, "job", id=1, action="output")).startswith("mine\n")


async def test_a_job_that_changes_gits_hooks_is_told_when_it_ends(at):
    await do(at, "bash", command="git init -q .")
    command = "until [ -e go ]; do sleep 0.05; done; echo x > .git/hooks/pre-push; chmod +x .git/hooks/pre-push"
    await do(at, "bash", command=command, background=True)
    (at.root / "go").touch()
    while (await at.jobs.look(1, 5.0)).job.is_running:
        pass
    assert at.jobs.all()[0].ended == "exit code 0; it changed .git/hooks/pre-push"
    assert "it changed .git/hooks/pre-push" in await do(at, "job", id=1, action="output")
