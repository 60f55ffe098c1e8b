import asyncio
import os
import stat
import time

import pytest
from pydantic import ValidationError

from codeagent.core.approvals import Access, CommandPreview
from codeagent.core.errors import BadArguments, FileProblem, PathRefused, PlanFixed, StaleFile, Unread
from codeagent.core.messages import CommandDetails, Outcome
from codeagent.core.output_colours import with_colours
from codeagent.core.protocols import ToolContext
from codeagent.tools.bash import LONGEST_COMMAND, BashArguments, BashTool
from codeagent.workspace.jobs import Jobs
from codeagent.workspace.paths import PathSandbox
from codeagent.workspace.seen import SeenFiles


def test_a_command_that_fails_is_no_failed_call(at):
    result = at.run("bash", command="echo out; echo err >&2; exit 3")
    assert result.text == "out\nerr\n[exit code 3]"
    assert result.outcome is Outcome.OK
    assert isinstance(result.details, CommandDetails)
    assert (result.details.exit_code, result.details.ended) == (3, "exit code 3")


def test_the_colours_of_its_output_are_for_the_person_alone(at):
    result = at.run("bash", command=r"printf '1 \033[32mpassed\033[0m\n'")
    assert result.text == "1 passed"
    assert with_colours(result.text, result.details.colours) == "1 \x1b[32mpassed\x1b[0m\x1b[0m"


def bash_in(root, is_read_only, **more):
    return BashTool(
        PathSandbox(root),
        SeenFiles(),
        root,
        is_read_only,
        **{"environ": os.environ, "jobs": Jobs(lambda _: None), **more},
    )


def fails(command, cwd):
    raise RuntimeError(command)


@pytest.mark.parametrize("is_read_only", [fails, lambda *_: "yes", lambda *_: 1])
def test_a_command_that_cannot_be_analysed_counts_as_changing(tmp_path, is_read_only):
    tool = bash_in(tmp_path, is_read_only)
    arguments = BashArguments(command="cat a")
    assert tool.is_read_only(arguments) is False
    assert tool.touches(arguments, ToolContext(call_id="c"))[0].access is Access.WRITE


@pytest.mark.parametrize(("reads", "hooks"), [(True, "/dev/null\n"), (False, "[exit code 1]")])
def test_hooks_are_off_for_commands_that_only_read(tmp_path, reads, hooks):
    tool = bash_in(tmp_path, lambda *_: reads)
    plan = asyncio.run(tool.plan(BashArguments(command="git config core.hooksPath"), ToolContext(call_id="c")))
    assert asyncio.run(plan.run(lambda _: None)).text.strip() == hooks.strip()


def test_success_is_only_its_output(at):
    assert at.text("bash", command="echo hi") == "hi"
    assert at.text("bash", command="true") == "[no output]"


def test_commands_start_in_the_workspace_each_time(at):
    (at.root / "sub").mkdir()
    at.run("bash", command="cd sub; X=1; export X")
    assert at.text("bash", command="pwd; echo $X.") == f"{at.root}\n."
    assert at.text("bash", command="pwd", cwd="sub") == f"{at.root}/sub"


def test_a_folder_outside_or_missing_is_refused(at):
    with pytest.raises(PathRefused):
        at.run("bash", command="pwd", cwd="..")
    with pytest.raises(FileProblem):
        at.run("bash", command="pwd", cwd="gone")


@pytest.mark.parametrize(
    "arguments", [{"command": ""}, {"command": "x", "timeout": 601}, {"command": "x", "timeout": 0}]
)
def test_arguments_out_of_range_are_refused(at, arguments):
    with pytest.raises(ValidationError):
        at.run("bash", **arguments)


def test_a_blank_command_is_refused(at):
    with pytest.raises(BadArguments):
        at.run("bash", command=" \n")


def test_a_command_that_no_program_can_be_given_is_refused_before_anybody_looks_at_it(at):
    assert at.run("bash", command="true #" + "x" * (LONGEST_COMMAND - 6)).outcome is Outcome.OK
    with pytest.raises(ValidationError, match="at most"):
        BashArguments(command="x" * (LONGEST_COMMAND + 1))


def test_running_out_of_time_keeps_the_output_and_says_so(at):
    result = at.run("bash", command="echo before; sleep 30; echo after", timeout=1)
    assert result.outcome is Outcome.TIMED_OUT
    assert result.code == "TIMEOUT"
    assert result.text.startswith("before\n[timed out after 1 s; everything it started was ended")


def test_long_output_is_cut_and_the_log_can_be_read(at):
    result = at.run("bash", command="seq 100000")
    assert len(result.text) < 30_500
    assert isinstance(result.details, CommandDetails)
    log = result.details.log
    assert f"[all 100,000 lines: read or grep {log}]" in result.text
    assert at.text("read", path=log, offset=50_000, limit=1).startswith("50000→50000\n")


def test_the_folder_of_logs_is_private(at):
    at.logs.rmdir()
    at.run("bash", command="seq 100000")
    assert stat.S_IMODE(at.logs.stat().st_mode) == 0o700


def test_what_still_runs_is_named(at):
    began = time.monotonic()
    text = at.text("bash", command="sleep 30 & echo started")
    assert time.monotonic() - began < 20
    assert text.startswith("started\n[still running in the background: sleep 30 (pid ")


def test_output_is_shown_while_it_runs(at):
    pieces: list[str] = []

    def progress(text: str) -> None:
        """The command goes on only when its first line was shown."""
        pieces.append(text)
        at.put("go", "")

    asyncio.run(at.run_async("bash", progress, command="echo first; until [ -e go ]; do sleep 0.05; done; echo second"))
    assert pieces == ["first\n", "second\n"]


def test_the_model_is_told_which_seen_files_a_command_changed(at):
    at.put("a.py", "a\n")
    at.put("b.py", "b\n")
    at.put("unseen.py", "c\n")
    at.run("read", path="a.py")
    at.run("read", path="b.py")
    text = at.text("bash", command="echo x | tee -a a.py unseen.py; rm b.py")
    assert text == "x\n[changed since you read them, read again before editing: a.py, b.py]"
    assert at.text("bash", command="true") == "[no output]"


def test_lines_that_a_reading_command_printed_may_be_edited(at):
    path = at.put("a.py", "one\n\ntwo\nthree\n")
    at.run("bash", command="head -n 3 a.py")
    at.run("edit", path="a.py", old="one\n\ntwo", new="1\n\n2")
    with pytest.raises(Unread):
        at.run("edit", path="a.py", old="three", new="3")
    at.run("bash", command="grep -n three 'a.py'")
    at.run("edit", path="a.py", old="three", new="3")
    assert path.read_text() == "1\n\n2\n3\n"


def test_a_command_that_may_change_things_shows_nothing_for_edits(at):
    at.put("a.py", "one\n")
    at.run("bash", command="tee < a.py")
    with pytest.raises(Unread):
        at.run("edit", path="a.py", old="one", new="1")


def test_a_line_cut_out_of_long_output_was_not_seen(at):
    at.put("a.py", "".join(f"line {n}\n" for n in range(10_000)))
    at.run("bash", command="cat a.py")
    at.plan("edit", path="a.py", old="line 3\n", new="x\n")
    with pytest.raises(Unread):
        at.plan("edit", path="a.py", old="line 5000\n", new="x\n")


def test_a_command_reserves_the_workspace_and_a_reading_one_shares_it(at):
    reading, changing = at.plan("bash", command="cat a"), at.plan("bash", command="rm a")
    assert [(touch.path, touch.access) for touch in reading.touches] == [(None, Access.READ)]
    assert [(touch.path, touch.access) for touch in changing.touches] == [(None, Access.WRITE)]


def test_the_preview_is_the_whole_command(at):
    command = "echo " + "a" * 300 + " && touch T"
    preview = at.plan("bash", command=command, timeout=7).preview
    assert preview == CommandPreview(command=command, cwd=at.root, timeout=7.0)


def test_a_command_edited_by_the_person_is_what_runs_and_what_is_judged(at):
    plan = asyncio.run(at.plan("bash", command="cat a").edited("echo mine > b"))
    assert plan.preview.command == "echo mine > b"
    assert plan.touches[0].access is Access.WRITE
    assert at.go(plan).text == "[the person changed the command; this was run: echo mine > b]"
    assert (at.root / "b").read_text() == "mine\n"


def test_a_command_has_no_hunks_and_is_never_edited_to_nothing(at):
    plan = at.plan("bash", command="true")
    with pytest.raises(PlanFixed):
        plan.narrowed(frozenset({0}))
    with pytest.raises(PlanFixed):
        asyncio.run(plan.edited(" "))


async def test_cancelling_the_call_ends_the_command(at):
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.4):
            await at.run_async("bash", lambda _: None, command="(sleep 1; touch canary) & wait")
    await asyncio.sleep(1)
    assert not (at.root / "canary").exists()


async def test_a_call_that_is_called_off_a_second_time_gets_no_time_to_clean_up(tmp_path):
    has_begun = asyncio.Event()
    command = "trap 'touch cleaning' TERM; echo go; while :; do sleep 0.02; done"
    plan = await bash_in(tmp_path, lambda *_: False).plan(BashArguments(command=command), ToolContext(call_id="c"))
    running = asyncio.ensure_future(plan.run(lambda _: has_begun.set()))
    await has_begun.wait()
    plan.hurry()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not (tmp_path / "cleaning").exists()


def test_binary_output_is_not_poured_over_the_model(at):
    assert at.text("bash", command="head -c 5000 /dev/zero") == "[5,000 bytes of binary output are not shown]"


def test_colours_and_progress_do_not_reach_the_model(at):
    assert at.text("bash", command=r"printf '1%%\r2%%\r\033[31mred\033[0m\033]0;title\007\n'") == "red"


def test_secrets_of_the_environment_reach_commands_only_when_they_are_passed_on(tmp_path):
    environ = {**os.environ, "A_TOKEN": "one", "B_TOKEN": "two"}
    tool = bash_in(tmp_path, lambda *_: False, environ=environ, keep=["B_*"])

    async def go():
        plan = await tool.plan(BashArguments(command="echo $A_TOKEN.$B_TOKEN"), ToolContext(call_id="c"))
        return await plan.run(lambda _: None)

    assert asyncio.run(go()).text == ".two"


def test_output_that_is_no_text_can_still_be_sent(at):
    at.text("bash", command=r"printf '\xff\xfe\x00abc\xed\xa0\x80'").encode()


async def test_a_folder_that_became_a_link_elsewhere_during_the_question_is_not_run_in(tmp_path):
    root, outside = tmp_path / "workspace", tmp_path / "outside"
    (root / "sub").mkdir(parents=True)
    (root / "other").mkdir()
    outside.mkdir()
    tool = bash_in(root, lambda *_: False)
    plan = await tool.plan(tool.Arguments(command="touch new", cwd="sub"), ToolContext(call_id="c1"))
    assert not await plan.is_stale()
    (root / "sub").rmdir()
    (root / "sub").symlink_to(outside)
    assert await plan.is_stale()
    with pytest.raises(StaleFile):
        await plan.run(lambda _: None)
    with pytest.raises(PathRefused):
        await plan.rebuilt()
    (root / "sub").unlink()
    (root / "sub").symlink_to("other")
    assert (await plan.rebuilt()).preview.cwd == root / "other"
    assert list(outside.iterdir()) == []
