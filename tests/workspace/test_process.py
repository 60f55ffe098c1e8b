# ruff: noqa: ASYNC109, ASYNC220, ASYNC240 - nothing else runs on these loops
import asyncio
import os
import shutil
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from codeagent.core.errors import CommandProblem
from codeagent.workspace.bounds import Bounds
from codeagent.workspace.confine import Bubblewrap, works
from codeagent.workspace.process import Finished, clean_environment, environment_for_reading, run
from codeagent.workspace.process_tree import MARK, new_mark, terminate_orphans, terminate_started
from codeagent.workspace.shell_process import ShellProcess, in_thread, is_done

NAP = f"sleep {os.getpid()}"
"""Begins commands that are told apart by how long they sleep; other runs of the tests sleep otherwise."""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


async def finished(command: str, cwd: Path, *, timeout: float = 20, log: Path | None = None, **more) -> Finished:
    return await run(
        command,
        cwd=cwd,
        timeout=timeout,
        on_output=more.pop("on_output", lambda _: None),
        env=more.pop("env", clean_environment(os.environ)),
        log=log,
        **more,
    )


def wait_for(path: Path) -> None:
    while not path.exists():
        time.sleep(0.02)


def shell_process(command: str, cwd: Path, take: Callable[[bytes], None]) -> ShellProcess:
    return ShellProcess(command=command, cwd=cwd, env=clean_environment(os.environ), confine=None, take=take)


def marked(text: str) -> list[int]:
    """Living processes whose command line holds the text."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                words = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
                state = (entry / "stat").read_text("latin-1").rpartition(")")[2].split()[0]
            except OSError:
                continue
            if text.encode() in words and state != "Z" and int(entry.name) != os.getpid():
                found.append(int(entry.name))
    return found


async def test_both_streams_come_in_the_order_they_were_written(tmp_path):
    result = await finished("echo one; echo two >&2; echo three", tmp_path)
    assert result.head_tail == "one\ntwo\nthree\n"


@pytest.mark.parametrize(
    ("command", "words", "code"),
    [
        ("true", "exit code 0", 0),
        ("exit 3", "exit code 3", 3),
        ("kill -40 $$", "killed by signal 40", None),
        ("kill -9 $$", "killed by SIGKILL", None),
        ("kill $$", "killed by SIGTERM", None),
        ("exit 139", "exit code 139 (SIGSEGV)", 139),
        ("exit 255", "exit code 255", 255),
    ],
)
async def test_the_end_is_said_in_words(tmp_path, command, words, code):
    result = await finished(command, tmp_path)
    assert (result.ended, result.exit_code) == (words, code)


@pytest.mark.parametrize(
    "command",
    [
        "sleep 45 & echo back",
        "(while :; do echo t; sleep 1; done) & echo back",
        "nohup sleep 45 >out.log 2>&1 & echo back",
        "setsid sleep 45 & echo back",
        "(sleep 45 & sleep 46 &) ; echo back",
    ],
)
async def test_a_background_child_does_not_hold_the_command_back_and_is_named(tmp_path, command):
    began = time.monotonic()
    result = await finished(command, tmp_path, log=tmp_path / "log")
    assert time.monotonic() - began < 20  # the child lives for 45 seconds or for ever
    assert result.head_tail.startswith("back") or "back" in result.head_tail
    assert any("sleep" in name for name in result.still_running)
    await asyncio.to_thread(terminate_started)


async def test_a_part_of_a_command_that_still_runs_is_named_as_it_was_written(tmp_path):
    command = f"({NAP}77; :) & true"
    result = await finished(command, tmp_path)
    assert any(name.startswith(f"bash -c {command} (pid") for name in result.still_running)
    await asyncio.to_thread(terminate_started)


async def test_a_background_child_goes_on_writing_to_the_log(tmp_path):
    late = "(until [ -e go ]; do sleep 0.02; done; echo late; touch alive)"
    result = await finished(f"{late} & echo early", tmp_path, log=tmp_path / "log")
    assert result.log == tmp_path / "log"
    (tmp_path / "go").touch()
    await asyncio.to_thread(wait_for, tmp_path / "alive")
    assert (tmp_path / "log").read_text() == "early\nlate\n"


async def test_what_was_left_in_the_background_ends_with_the_program(tmp_path):
    await finished(f"{NAP}41 & setsid {NAP}41 & echo", tmp_path)
    named = await asyncio.to_thread(terminate_started)
    assert len(named) == 2
    assert not marked(f"{NAP}41")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere only marked processes are known")
async def test_what_has_no_mark_any_more_ends_with_the_program_too(tmp_path):
    """As servers that write their title over their environment."""
    await finished(f"env -i setsid {NAP}51 & echo", tmp_path)
    named = await asyncio.to_thread(terminate_started)
    assert any(f"{NAP}51" in name for name in named)
    assert not marked(f"{NAP}51")


def mark_of_the_dead() -> str:
    """Of a process that nobody can have."""
    return ":".join(["4194304", "1", *new_mark().split(":")[2:]])


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere all processes are numbered together")
async def test_what_runs_in_a_container_is_not_taken_for_left_behind(tmp_path):
    """Its codeagent has a number there, which is nobody's or another's here."""
    pid, started, _, number = mark_of_the_dead().split(":")
    there = subprocess.Popen(f"{NAP}45".split(), env={MARK: f"{pid}:{started}:4026539999:{number}"})
    try:
        named = await asyncio.to_thread(terminate_orphans)
        assert not any(f"{NAP}45" in name for name in named)
        assert there.poll() is None
    finally:
        there.kill()
        there.wait()


async def test_what_a_dead_run_left_is_ended_and_what_a_living_one_started_is_not(tmp_path):
    await finished(f"{NAP}43 & echo", tmp_path)
    named: list[str] = []
    while f"{NAP}42" not in named:  # another codeagent that starts at this moment may be first
        dead = subprocess.Popen(f"{NAP}42".split(), env={MARK: mark_of_the_dead()})
        named = [name.split(" (")[0] for name in await asyncio.to_thread(terminate_orphans)]
        assert dead.wait(10) != 0
    assert f"{NAP}43" not in named
    assert marked(f"{NAP}43")
    await asyncio.to_thread(terminate_started)


@pytest.mark.parametrize(
    "command",
    [
        'read -p "name? " x; echo got:$x',
        "python3 -c 'input()'",
        "cat",
        "read x < /dev/tty",
        "sleep 0.1 < /dev/tty",
        "git clone -q http://127.0.0.1:1/x",
        "less /etc/passwd | head -1",
    ],
)
async def test_a_command_that_asks_gets_no_answer_and_no_terminal(tmp_path, command):
    assert not (await finished(command, tmp_path, timeout=10)).timed_out


async def test_an_editor_or_a_pager_does_not_open(tmp_path):
    script = (
        "git init -q . && git config user.email a@b && git config user.name n && git config core.pager 'sleep 30' && "
        "git commit --allow-empty; git -c user.name=x -p log; echo $PAGER $EDITOR $TERM"
    )
    result = await finished(script, tmp_path, timeout=15)
    assert not result.timed_out
    assert result.head_tail.endswith("cat true dumb\n")


async def test_a_gigabyte_is_kept_small_and_counted_whole(tmp_path):
    script = f"""
import asyncio, os, resource, sys
sys.path.insert(0, {str(Path.cwd())!r})
from pathlib import Path
from codeagent.workspace.process import run
async def main():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    calls, longest, gap = 0, 0, 0.0
    def on_output(text):
        nonlocal calls, longest
        calls, longest = calls + 1, max(longest, len(text))
    async def beat():
        nonlocal gap
        clock = asyncio.get_running_loop().time
        while True:
            last = clock()
            await asyncio.sleep(0.005)
            gap = max(gap, clock() - last)
    async with asyncio.TaskGroup() as group:
        beating = group.create_task(beat())
        for command in ("yes | head -c 1000000000", "head -c 150000000 /dev/zero | tr '\\\\0' x"):
            log = Path("log" + str(len(command)))
            done = await run(command, cwd=Path("."), timeout=60, on_output=on_output, env=os.environ, log=log)
            print(done.total_bytes, len(done.head_tail) < 30_200, "left out" in done.head_tail, log.stat().st_size)
            print(done.log_problem != "", calls < 25 * done.seconds + 3, longest < 9000)
            calls = 0
        beating.cancel()
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000, gap < 0.5)
asyncio.run(main())
"""
    result = await finished(f"exec '{sys.executable}' - <<'END'\n{script}\nEND", tmp_path, timeout=50)
    assert result.head_tail.splitlines() == [
        "1000000000 True True 20000000",
        "True True True",
        "150000000 True True 20000000",
        "True True True",
        "True True",
    ]


async def test_long_output_keeps_a_third_from_the_start_and_two_from_the_end(tmp_path):
    result = await finished("seq 100000", tmp_path, log=tmp_path / "log")
    start, _, rest = result.head_tail.partition("\n[... ")
    mark, _, end = rest.partition(" ...]\n")
    assert start.startswith("1\n2\n")
    assert end.endswith("99999\n100000\n")
    shown = len(start.splitlines()) + len(end.splitlines())
    assert mark.startswith(f"{100_000 - shown:,} lines (")
    assert 9_000 < len(start) <= 10_000
    assert 19_000 < len(end) <= 20_000
    assert (result.total_lines, result.is_cut) == (100_000, True)


async def test_output_just_within_the_limit_is_whole_and_one_more_is_not(tmp_path):
    assert not (await finished("head -c 30000 /dev/zero | tr '\\0' x", tmp_path)).is_cut
    assert (await finished("head -c 30001 /dev/zero | tr '\\0' x", tmp_path)).is_cut


async def test_the_limit_counts_characters_and_splits_none(tmp_path):
    whole = await finished("for i in $(seq 3000); do printf 'äöüß😀'; done", tmp_path)
    cut = await finished("for i in $(seq 9000); do printf 'äöüß😀'; done", tmp_path)
    assert whole.head_tail == "äöüß😀" * 3000
    assert "\ufffd" not in cut.head_tail


async def test_the_log_holds_everything_and_only_its_owner_may_read_it(tmp_path):
    old = os.umask(0)
    try:
        result = await finished("seq 100000", tmp_path, log=tmp_path / "log")
    finally:
        os.umask(old)
    assert result.log is not None
    assert result.log.read_text() == "".join(f"{n}\n" for n in range(1, 100_001))
    assert stat.S_IMODE(result.log.stat().st_mode) == 0o600


async def test_a_log_is_not_written_through_a_link_and_not_kept_for_short_output(tmp_path):
    (tmp_path / "target").write_text("mine")
    (tmp_path / "link").symlink_to("target")
    linked = await finished("seq 100000", tmp_path, log=tmp_path / "link")
    short = await finished("echo short", tmp_path, log=tmp_path / "short.log")
    assert (tmp_path / "target").read_text() == "mine"
    assert linked.log_problem
    assert short.log is None
    assert not (tmp_path / "short.log").exists()


async def test_progress_written_with_carriage_returns_keeps_its_last_state(tmp_path):
    result = await finished(
        "for i in $(seq 20000); do printf 'at %d\\r' $i; done; printf 'done\\r\\nnext\\r\\n'", tmp_path
    )
    assert result.head_tail == "done\nnext\n"


async def test_bytes_that_are_not_utf8_become_marks(tmp_path):
    result = await finished(r"printf 'a\xffb\xc3\n'", tmp_path)
    assert result.head_tail == "a\ufffdb\ufffd\n"


async def test_a_character_that_arrives_in_two_pieces_is_shown_whole(tmp_path):
    pieces: list[str] = []
    await finished(r"printf '\xc3'; sleep 0.2; printf '\xa4\n'", tmp_path, on_output=pieces.append)
    assert "".join(pieces) == "ä\n"


async def test_ten_thousand_lines_a_second_come_in_few_pieces(tmp_path):
    pieces: list[str] = []
    command = "for n in $(seq 10); do seq 1000; sleep 0.05; done"
    result = await finished(command, tmp_path, on_output=pieces.append)
    assert len(pieces) <= result.seconds * 21 + 2
    assert pieces[-1].endswith("1000\n")


async def timed_out(command: str, cwd: Path, **more) -> tuple[Finished, float]:
    """What a command left that ran out of time after it had begun, and the time: on a busy machine it takes more.

    That it has begun is the first thing it says; ``{late}`` in it is half a second after the time is over, ``{later}``
    when it was killed as well.
    """
    for seconds in (0.3, 1.2, 5.0):
        text = command.format(late=seconds + 0.5, later=seconds + 2.6)
        result = await finished(text, cwd, timeout=seconds, **more)
        assert result.timed_out
        if result.head_tail:
            break
    return result, seconds


TREES = {
    "a subshell": "sh -c '(sleep {late}; touch canary) & wait'",
    "a new session": "setsid sh -c 'sleep {late}; touch canary' & wait",
    "a daemon": "(setsid sh -c 'sleep {late}; touch canary' &) ; sleep 30",
    "a cleared environment": "(env -i setsid /bin/sh -c '/bin/sleep {late}; /usr/bin/touch canary' &) ; sleep 30",
    "deaf to TERM": "trap '' TERM; (sleep {later}; touch canary) & wait; sleep 30",
    "stopped": "(kill -STOP $BASHPID; touch canary) & wait",
}


@pytest.mark.parametrize("name", TREES)
async def test_a_timeout_ends_the_whole_tree_and_keeps_what_it_said(tmp_path, name):
    result, seconds = await timed_out(f"echo before; {TREES[name]}", tmp_path)
    assert result.ended == f"timed out after {seconds:g} s"
    assert result.head_tail.startswith("before\n")
    assert not result.still_running
    await asyncio.sleep(0.7)
    assert not (tmp_path / "canary").exists()


async def test_cancelling_ends_the_whole_tree_before_it_goes_on(tmp_path):
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await finished(f"setsid {NAP}44 & ({NAP}44 & {NAP}44) & wait", tmp_path, log=tmp_path / "log")
    assert not marked(f"{NAP}44")
    assert not (tmp_path / "log").exists()


@pytest.mark.parametrize(
    "command",
    [
        f"echo go; {NAP}45",
        f"trap '' TERM INT HUP; echo go; while :; do {NAP}45; done",
        f"echo go; {NAP}45 | {NAP}45 | {NAP}45",
    ],
    ids=["one", "deaf", "a pipeline"],
)
async def test_a_cancelled_command_is_gone_at_once_also_when_it_is_deaf_to_the_request(tmp_path, command):
    """The best of some tries counts: what takes longer each time does so by itself, not because others are busy."""
    took: list[float] = []
    while not took or (took[-1] > 0.2 and len(took) < 6):
        has_begun = asyncio.Event()
        running = asyncio.ensure_future(finished(command, tmp_path, on_output=lambda _, begun=has_begun: begun.set()))
        await has_begun.wait()
        began = time.monotonic()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        took.append(time.monotonic() - began)
        assert not marked(f"{NAP}45")
    assert min(took) <= 0.2


@pytest.mark.parametrize("_time", range(12))
async def test_what_a_cancelled_command_still_says_is_shown(tmp_path, _time):
    """Each time it is cancelled at another moment of its start."""
    pieces: list[str] = []
    command = "trap 'echo bye; exit' TERM; echo before; while :; do sleep 0.05; done"
    has_begun = asyncio.Event()

    def on_output(text: str) -> None:
        pieces.append(text)
        has_begun.set()

    running = asyncio.ensure_future(finished(command, tmp_path, on_output=on_output))
    await has_begun.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert "".join(pieces).startswith("before\n")
    assert "".join(pieces).endswith("bye\n")


async def test_an_end_is_told_when_all_of_its_output_was_taken_however_slowly_that_went(tmp_path):
    taken = bytearray()
    may_go_on = threading.Event()

    def slowly(data: bytes) -> None:
        may_go_on.wait(30)
        taken.extend(data)

    shell = shell_process("printf one; printf two >&2", tmp_path, slowly)
    await shell.start()
    assert await is_done(shell.exited, 30)
    assert not await is_done(shell.caught_up, 0.2)
    assert not taken
    may_go_on.set()
    assert await is_done(shell.caught_up, 30)
    assert taken == b"onetwo"


async def test_what_others_go_on_printing_is_not_waited_for(tmp_path):
    taken: list[bytes] = []
    command = "echo own; (while :; do echo theirs; done) & sleep 0.2"
    shell = shell_process(command, tmp_path, taken.append)
    tree = await shell.start()
    try:
        assert await is_done(shell.caught_up, 30)
        assert not shell.drained.done()
        assert b"".join(taken).startswith(b"own\n")
    finally:
        await in_thread(tree.terminate)
    assert await is_done(shell.drained, 30)


CLEANS_UP = "trap 'touch cleaning; sleep 0.3; touch cleaned' TERM; echo go; while [ ! -e cleaned ]; do sleep 0.02; done"


async def cancelled(haste: threading.Event, root: Path, *, twice: bool = False) -> None:
    """Runs a command that cleans up when it is cancelled, which happens as soon as it has begun."""
    has_begun = asyncio.Event()
    running = asyncio.ensure_future(finished(CLEANS_UP, root, on_output=lambda _: has_begun.set(), haste=haste))
    await has_begun.wait()
    running.cancel()
    if twice:
        await asyncio.sleep(0)
        running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_in_haste_a_cancelled_command_gets_no_time_to_clean_up(tmp_path):
    haste = threading.Event()
    haste.set()
    await cancelled(haste, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("twice", [False, True])
async def test_a_second_cancellation_makes_haste(tmp_path, twice):
    haste = threading.Event()
    await cancelled(haste, tmp_path, twice=twice)
    assert haste.is_set() is twice


async def test_cancelling_twice_still_leaves_nothing(tmp_path):
    async with asyncio.TaskGroup() as group:
        task = group.create_task(finished(f"trap '' TERM; {NAP}45; {NAP}45", tmp_path))
        await asyncio.sleep(0.3)
        task.cancel()
        await asyncio.sleep(0.1)
        task.cancel()
    assert task.cancelled()
    assert not marked(f"{NAP}45")


async def test_cancelling_at_once_leaves_nothing(tmp_path):
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(finished(f"{NAP}46", tmp_path)) for _ in range(5)]
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
    assert all(task.cancelled() for task in tasks)
    assert not marked(f"{NAP}46")


async def test_what_bubblewrap_confines_has_time_to_clean_up_too(tmp_path):
    program = shutil.which("bwrap")
    if program is None or not works(program):
        pytest.skip("bubblewrap does not work here")
    confine = Bubblewrap(program=program, bounds=Bounds(root=tmp_path, writable=(tmp_path,)))
    script = "trap 'sleep 0.2; touch cleaned; exit' TERM; echo go; while :; do sleep 0.02; done"
    await timed_out(script, tmp_path, confine=confine)
    assert (tmp_path / "cleaned").exists()


async def test_a_command_that_hears_the_request_to_end_may_say_goodbye(tmp_path):
    result, _ = await timed_out("trap 'echo bye; exit 0' TERM; echo go; while :; do sleep 0.05; done", tmp_path)
    assert result.head_tail.endswith("bye\n")


async def test_a_chain_of_processes_that_start_each_other_is_caught(tmp_path):
    chain = f"chain{os.getpid()}.sh"  # as others on the machine run this test too
    (tmp_path / chain).write_text(f"trap '' TERM; sleep 0.01; setsid bash {chain} & exit")
    result = await finished(f"env -i PATH=$PATH bash {chain}; sleep 9", tmp_path, timeout=0.4)
    assert not result.still_running
    assert not marked(chain)
    await asyncio.sleep(0.2)
    assert not marked(chain)


async def test_another_program_s_processes_are_left_alone(tmp_path):
    other = subprocess.Popen(f"{NAP}47".split(), start_new_session=True)
    try:
        await finished("sleep 9", tmp_path, timeout=0.2)
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


@pytest.mark.parametrize("command", ["echo a\0b", "echo \udcff\ud800", "x" * 3_000_000])
async def test_a_command_that_no_system_can_start_is_an_error_with_a_reason(tmp_path, command):
    with pytest.raises(CommandProblem):
        await finished(command, tmp_path)


async def test_a_missing_directory_is_named(tmp_path):
    with pytest.raises(CommandProblem, match="gone"):
        await finished("true", tmp_path / "gone")


async def test_commands_leave_no_thread_and_no_open_file(tmp_path):
    await finished("true", tmp_path)
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(10):
        await finished("echo x; exit 1", tmp_path, log=tmp_path / "log")
    for _ in range(1000):  # the last one's keeper may be on its way out
        if (after := len(list(Path("/proc/self/fd").iterdir()))) == before:
            break
        await asyncio.sleep(0.02)
    assert after == before


def test_secrets_do_not_reach_commands_unless_they_are_passed_on():
    environ = {
        "OPENAI_API_KEY": "s",
        "GH_TOKEN": "s",
        "db_password": "s",
        "MY_SECRET_THING": "s",
        "AWS_ACCESS_KEY_ID": "s",
        "AWS_SECRET_ACCESS_KEY": "s",
        "GOOGLE_APPLICATION_CREDENTIALS": "s",
        "GITHUB_PAT": "s",
        "PRIVATE_KEY": "s",
        "STRIPE_KEY": "s",
        "DB_PASS": "s",
        "NPM_CONFIG__AUTH": "s",
        "MYSQL_PWD": "s",
        "DOCKER_AUTH_CONFIG": "s",
        "AUTH_HEADER": "s",
        "COOKIE": "s",
        "SLACK_WEBHOOK_URL": "s",
        "SENTRY_DSN": "s",
        "AZURE_STORAGE_CONNECTION_STRING": "s",
        "SSH_AUTH_SOCK": "/run/agent",
        "DEPLOY_PUBLIC_KEY": "ssh-ed25519 AAAA",
        "HOME": "/h",
        "TOKENIZERS_PARALLELISM": "false",
    }
    passed = clean_environment(environ, keep=["AWS_*"])
    assert {name for name in passed if passed[name] == "s"} == {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}
    assert passed["TOKENIZERS_PARALLELISM"] == "false"
    assert {"SSH_AUTH_SOCK", "DEPLOY_PUBLIC_KEY"} <= set(passed)


def test_secrets_are_known_by_how_they_look_and_a_setting_of_gits_gets_empty():
    here = "/home/me/sk-learn-experiments-2024"
    harmless = {
        "PATH": f"{here}/bin:/bin",
        "PWD": here,
        "OLDPWD": "/",
        "LS_COLORS": "di=01;34",
        "AUTH_URL": "http://x",
        "LOOK": "Basic settings",
        "DATABASE_URL": "postgres://me:hunter2-long@db/shop",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "a.b",
    }
    hidden = {
        "STRIPE_SK": "sk_live_51HabcdEFGHijklMNOPqrst",
        "EXTRA": "Bearer abc-123",
        "HEADERS": "Authorization: token abc-def",
        "CHAT": "https://hooks.slack.com/services/T0001/B0001/abcdefgh",
        "GIT_CONFIG_VALUE_0": "AUTHORIZATION: basic YWJjOmRlZg==",
    }
    passed = clean_environment({**harmless, **hidden})
    assert harmless.items() - {("GIT_CONFIG_COUNT", "1")} <= passed.items()
    assert {name: passed[name] for name in hidden if name in passed} == {"GIT_CONFIG_VALUE_0": ""}


async def test_the_persons_settings_make_no_search_run_a_program(tmp_path):
    if shutil.which("rg") is None:
        pytest.skip("there is no ripgrep")
    (tmp_path / "a").write_text("hi\n")
    (tmp_path / "rc").write_text(f"--pre={tmp_path}/program\n")
    (tmp_path / "program").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    (tmp_path / "program").chmod(0o755)
    environ = clean_environment({**os.environ, "RIPGREP_CONFIG_PATH": str(tmp_path / "rc")})
    assert (await finished("rg hi a", tmp_path, env=environ)).head_tail == "hi\n"
    assert not (tmp_path / "ran").exists()


async def test_the_environment_cannot_change_what_commands_mean(tmp_path):
    (tmp_path / "rc").write_text("echo pwned\n")
    environ = {
        **os.environ,
        "BASH_ENV": str(tmp_path / "rc"),
        "ENV": str(tmp_path / "rc"),
        "BASH_FUNC_ls%%": "() { echo pwned; }",
        "SHELLOPTS": "xtrace",
        "CDPATH": "/",
    }
    result = await finished("ls rc; cd usr; pwd", tmp_path, env=clean_environment(environ))
    assert "pwned" not in result.head_tail
    assert result.head_tail.endswith(f"{tmp_path}\n")


async def test_git_does_not_run_a_program_named_by_fsmonitor(tmp_path):
    (tmp_path / "pwn.sh").write_text("#!/bin/sh\ntouch owned\n")
    (tmp_path / "pwn.sh").chmod(0o755)
    environ = clean_environment(
        {**os.environ, "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "a.b", "GIT_CONFIG_VALUE_0": "c"}
    )
    result = await finished(
        "git init -q . && git config core.fsmonitor ./pwn.sh && git status -s && git config a.b", tmp_path, env=environ
    )
    assert not (tmp_path / "owned").exists()
    assert result.head_tail.endswith("c\n")


async def test_no_hook_runs_where_git_only_reads(tmp_path):
    await finished("git init -q", tmp_path)
    hook = tmp_path / ".git/hooks/post-index-change"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\ntouch pwned\n")
    hook.chmod(0o755)
    (tmp_path / "a").write_text("x")
    command = "git add a; GIT_OPTIONAL_LOCKS=1 git status; git config core.fsmonitor; echo $GIT_NO_LAZY_FETCH"
    env = environment_for_reading(clean_environment(os.environ))
    result = await finished(command, tmp_path, env=env)
    assert not (tmp_path / "pwned").exists()
    assert result.head_tail.endswith("false\n1\n")
    (tmp_path / "b").write_text("x")  # without anything new git may leave its index alone
    await finished("git add b", tmp_path)
    assert (tmp_path / "pwned").exists()
