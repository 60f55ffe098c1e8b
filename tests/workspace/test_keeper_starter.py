"""Keepers are there whatever happens to what starts them, and a command cannot tell that it has one."""

# ruff: noqa: ASYNC109, ASYNC110, ASYNC220, ASYNC221, ASYNC240 - nothing else runs on these loops
import asyncio
import os
import shlex
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from codeagent.core.errors import CommandProblem
from codeagent.workspace import keeper, landlock
from codeagent.workspace.bounds import Bounds
from codeagent.workspace.confine import Landlock
from codeagent.workspace.process import clean_environment, run
from codeagent.workspace.process_tree import MARK, terminate_started

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there are no keepers elsewhere")

RUNS = os.getpid()
"""Makes the seconds that this run's processes sleep differ from those of others on the machine."""


async def finished(command: str, cwd: Path, *, timeout: float = 60, env=None, confine=None, on_output=lambda _: None):
    env = clean_environment(os.environ) if env is None else env
    return await run(command, cwd=cwd, timeout=timeout, on_output=on_output, env=env, confine=confine)


async def output(command: str, cwd: Path, **more) -> str:
    return (await finished(command, cwd, **more)).head_tail


def stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat from the state on; empty for a process that is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("latin-1").rpartition(")")[2].split()
    except OSError:
        return []


def programs(parent: int) -> list[int]:
    """Living children of a process that are starters or keepers."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and stat(int(entry.name))[1:2] == [str(parent)]:
            words = (entry / "cmdline").read_bytes()
            found += [int(entry.name)] if b"keeper_program" in words else []
    return found


def the_starter() -> int:
    """The one for commands that are not confined; that of the others has an argument."""
    words = {pid: Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0") for pid in programs(os.getpid())}
    (found,) = (pid for pid, line in words.items() if line.endswith(b".py"))
    return found


def end_starter() -> None:
    """The keeper that waits to be needed ends with it, and may take one more request before that."""
    for pid in programs(os.getpid()):
        os.kill(pid, signal.SIGKILL)


async def eventually(is_so, seconds: float = 30) -> bool:
    deadline = time.monotonic() + seconds
    while not is_so() and time.monotonic() < deadline:
        await asyncio.sleep(0.02)
    return is_so()


# --- what happens to the starter


async def test_when_the_starter_is_killed_commands_go_on_and_the_next_one_starts_another(tmp_path):
    begun = asyncio.Event()
    running = asyncio.ensure_future(
        finished("echo up; until [ -e go ]; do sleep 0.05; done; echo on", tmp_path, on_output=lambda _: begun.set())
    )
    await begun.wait()
    first = the_starter()
    end_starter()
    assert await output("echo next", tmp_path) == "next\n"
    assert await output("echo another", tmp_path) == "another\n"
    assert the_starter() != first
    assert stat(first) == []  # not even a zombie
    (tmp_path / "go").touch()
    assert (await running).head_tail == "up\non\n"


@pytest.mark.parametrize("which", ["starter", "spare"])
async def test_when_one_of_the_two_is_killed_no_command_fails(tmp_path, which):
    await finished("true", tmp_path)
    assert await eventually(lambda: len(programs(the_starter())) == 1)
    (spare,) = programs(the_starter())
    os.kill(the_starter() if which == "starter" else spare, signal.SIGKILL)
    for number in range(5):
        assert await output(f"echo {number}", tmp_path) == f"{number}\n"


async def stop_starter(tmp_path: Path) -> tuple[int, int]:
    """It and the keeper that waits to be needed."""
    await finished("true", tmp_path)
    starter = the_starter()
    assert await eventually(lambda: len(programs(starter)) == 1)
    (spare,) = programs(starter)
    for pid in (starter, spare):
        os.kill(pid, signal.SIGSTOP)
    return starter, spare


async def test_a_starter_that_does_not_answer_is_an_error_and_replaced(tmp_path, monkeypatch):
    stopped = await stop_starter(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(keeper, "_PATIENCE", 0.2)
        with pytest.raises(CommandProblem, match=r"could not be started: nothing answered for 0\.2 s\. Run it again"):
            await finished("touch ran", tmp_path)
    assert await output("echo fine", tmp_path) == "fine\n"
    assert await eventually(lambda: not any(stat(pid) for pid in stopped))
    assert not (tmp_path / "ran").exists()


async def test_a_command_whose_start_is_waited_for_can_be_cancelled(tmp_path, monkeypatch):
    await stop_starter(tmp_path)
    monkeypatch.setattr(keeper, "_PATIENCE_AT_END", 0.2)
    env = {**clean_environment(os.environ), **{f"LONG{number}": "x" * 100_000 for number in range(3)}}
    waiting = asyncio.ensure_future(finished("touch ran", tmp_path, env=env))
    await asyncio.sleep(0.1)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await output("echo fine", tmp_path) == "fine\n"
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("executable", ["", "/nowhere/python", "/bin/false"])
async def test_without_python_there_is_one_clear_error(tmp_path, monkeypatch, executable):
    end_starter()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", executable)
        with suppress(CommandProblem):
            await finished("true", tmp_path)
        with pytest.raises(CommandProblem, match=f"No command can be started, because {executable or 'Python'} can"):
            await finished("echo", tmp_path)
    assert await output("echo fine", tmp_path) == "fine\n"


async def test_the_starter_is_in_a_session_of_its_own_and_deaf_to_signals(tmp_path):
    await finished("true", tmp_path)
    starter = the_starter()
    assert await eventually(lambda: len(programs(starter)) == 1)
    (spare,) = programs(starter)
    assert await eventually(lambda: os.getsid(spare) == spare)
    assert os.getsid(starter) == starter
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGTSTP, signal.SIGUSR1):
        os.kill(starter, number)
        os.kill(spare, number)
    assert await output("echo $PPID", tmp_path) == f"{spare}\n"
    assert the_starter() == starter


async def test_neither_zombies_nor_memory_grow_with_commands(tmp_path):
    def memory() -> int:
        return int(Path(f"/proc/{the_starter()}/statm").read_text().split()[1])

    await finished("true", tmp_path)
    pid, before = the_starter(), memory()
    for _ in range(100):
        await finished("(sleep 0.01 &); true", tmp_path)
    assert await eventually(lambda: len(programs(pid)) == 1)  # the spare one
    assert not [
        entry
        for entry in Path("/proc").iterdir()
        if entry.name.isdecimal() and stat(int(entry.name))[:2] == ["Z", str(pid)]
    ]
    assert len(list(Path(f"/proc/{pid}/fd").iterdir())) <= 4
    assert (the_starter(), memory() - before < 50) == (pid, True)  # pages


# --- what happens to the program

PROGRAM = """
import asyncio, os, signal, sys
from pathlib import Path
from codeagent.workspace.process import run
signal.signal(signal.SIGUSR2, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
async def main():
    done = await run(sys.argv[1], cwd=Path.cwd(), timeout=60, on_output=lambda _: None, env=os.environ)
    Path("result").write_text(done.head_tail)
asyncio.run(main())
"""


def words_for_program(command: str) -> list[str]:
    return [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(Path.cwd())!r})\n{PROGRAM}", command]


async def test_starter_and_command_end_when_the_program_and_the_starter_are_killed(tmp_path):
    command = f"env -i setsid prlimit --msgqueue=4096 sleep {RUNS}6101 & touch ready; sleep {RUNS}6101"
    program = subprocess.Popen(words_for_program(command), cwd=tmp_path)
    try:
        assert await eventually((tmp_path / "ready").exists)
        (starter,) = programs(program.pid)
        keepers = programs(starter)
        os.kill(starter, signal.SIGKILL)
    finally:
        program.kill()
        program.wait()
    assert len(keepers) >= 1
    assert await eventually(lambda: not any(stat(pid) for pid in (starter, *keepers)))
    assert subprocess.run(["pgrep", "-f", f"sleep {RUNS}6101"], check=False, stdout=subprocess.DEVNULL).returncode == 1


async def test_the_starter_ends_with_the_program(tmp_path):
    program = subprocess.Popen(words_for_program("touch ready; until [ -e go ]; do sleep 0.05; done"), cwd=tmp_path)
    assert await eventually((tmp_path / "ready").exists)
    (starter,) = programs(program.pid)
    (tmp_path / "go").touch()
    assert await asyncio.to_thread(program.wait) == 0
    assert await eventually(lambda: not stat(starter))


# --- what a command sees

LOOK = """
import os, resource, signal
status = dict(line.split(':', 1) for line in open('/proc/self/status'))
print(sorted(int(name) for name in os.listdir('/proc/self/fd')))
print(*(status[name].strip() for name in ('SigBlk', 'Umask', 'NoNewPrivs')))
print([n for n in range(1, 65) if int(status['SigIgn'], 16) >> (n - 1) & 1])
print(os.nice(0), resource.getrlimit(resource.RLIMIT_NOFILE)[0], open('/proc/self/oom_score_adj').read().strip())
print(os.getsid(0) == os.getpgid(0) == os.getppid(), os.readlink('/proc/self/fd/0'), os.getcwd())
"""
PYTHON_IGNORES = [signal.SIGPIPE, signal.SIGXFSZ]


async def looked(folder: Path, how: str) -> list[str]:
    """What a command sees that the program runs for a shell that did ``how`` before it started that."""
    (folder / "look.py").write_text(LOOK)
    words = shlex.join(words_for_program(f"{sys.executable} -I -S look.py; true"))
    started = await asyncio.create_subprocess_shell(how.replace("PROGRAM", words), cwd=folder)
    assert await started.wait() == 0
    return (folder / "result").read_text().splitlines()


async def test_a_command_inherits_what_the_program_has_and_not_its_signals(tmp_path):
    adjusted = Path("/proc/self/oom_score_adj").read_text().strip()
    files, blocked, ignored, limits, place = await looked(tmp_path, "umask 027; ulimit -n 512; nice -n 5 PROGRAM")
    assert files == "[0, 1, 2, 3]"  # the last is the folder it lists
    assert blocked == "0000000000000000 0027 0"
    assert ignored == str([int(number) for number in PYTHON_IGNORES])
    assert limits == f"{os.nice(0) + 5} 512 {adjusted}"
    assert place == f"True /dev/null {tmp_path}"


@pytest.mark.parametrize(
    "how",
    [
        "PROGRAM <&- >&- 2>&-",
        "PROGRAM <&-",
        "trap '' HUP INT TERM; PROGRAM",
        f"env -i PATH={os.environ['PATH']} PROGRAM",
    ],
)
async def test_a_command_sees_nothing_of_how_the_program_was_started(tmp_path, how):
    files, blocked, ignored, _, place = await looked(tmp_path, how)
    assert files == "[0, 1, 2, 3]"
    assert blocked.startswith("0000000000000000 ")
    assert ignored == str([int(number) for number in PYTHON_IGNORES])
    assert place == f"True /dev/null {tmp_path}"


@pytest.mark.parametrize("is_confined", [False, True])
async def test_files_of_one_command_do_not_reach_another(tmp_path, is_confined):
    if is_confined and landlock.abi() < landlock.LEAST_ABI:
        pytest.skip("this kernel has no Landlock")
    confine = Landlock(bounds=Bounds(root=tmp_path, writable=(tmp_path,))) if is_confined else None
    await finished(f"sleep {RUNS}6102 & true", tmp_path, confine=confine)
    try:
        async with asyncio.TaskGroup() as group:
            look = "sleep 0.05; ls -l /proc/self/fd | grep -c ' -> '"
            shown = [group.create_task(output(look, tmp_path, confine=confine)) for _ in range(6)]
    finally:
        await asyncio.to_thread(terminate_started)
    assert [task.result() for task in shown] == ["4\n"] * 6


async def test_only_the_command_is_confined(tmp_path):
    if landlock.abi() < landlock.LEAST_ABI:
        pytest.skip("this kernel has no Landlock")
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    confine = Landlock(bounds=Bounds(root=inside, writable=(inside,)))
    assert (await finished("echo x > ../outside/a", inside, confine=confine)).exit_code == 1
    assert (await finished("echo x > ../outside/b", inside)).exit_code == 0
    assert [path.name for path in outside.iterdir()] == ["b"]


async def test_a_command_and_an_environment_larger_than_any_buffer_come_through(tmp_path):
    env = {**clean_environment(os.environ), **{f"LONG{number}": f"{number}" * 100_000 for number in range(4)}}
    long = "x" * 100_000
    seen = await output(f": {long}; echo ${{#LONG0}} ${{#LONG3}} {long[:5]}", tmp_path, env=env)
    assert seen == "100000 100000 xxxxx\n"


async def test_bytes_that_are_no_text_come_through_as_they_are(tmp_path):
    env = {**clean_environment(os.environ), "ODD": "\udcff=\n\udcfe"}
    seen = await output("printf '\udcfd' | od -An -tx1; printf %s \"$ODD\" | od -An -tx1", tmp_path, env=env)
    assert seen == " fd\n ff 3d 0a fe\n"
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\n "))
    odd.mkdir()
    assert await output('basename "$PWD" | od -An -tx1', odd) == " ff 0a 20 0a\n"


async def test_an_empty_environment_is_one(tmp_path):
    seen = await output("/usr/bin/env", tmp_path, env={})
    assert sorted(line.partition("=")[0] for line in seen.splitlines()) == sorted([MARK, "PWD", "SHLVL", "_"])


async def test_what_cannot_be_started_is_said_with_its_reason(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    gone.rmdir()
    with pytest.raises(CommandProblem, match="gone does not exist"):
        await finished("true", gone)
    with pytest.raises(CommandProblem, match="too long for one call"):
        await finished(": " + "x" * 300_000, tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(CommandProblem, match="file does not exist"):
        await finished("true", tmp_path / "file")
    monkeypatch.setattr("codeagent.workspace.shell_process.find_bash", lambda: "/nowhere/bash")
    with pytest.raises(CommandProblem, match="could not be started: No such file or directory"):
        await finished("true", tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may enter every folder")
async def test_a_folder_that_may_not_be_entered_is_said(tmp_path):
    (tmp_path / "shut").mkdir(mode=0)
    with pytest.raises(CommandProblem, match="could not be started: Permission denied"):
        await finished("true", tmp_path / "shut")


async def test_a_command_that_stops_its_keeper_can_be_cancelled(tmp_path):
    begun = asyncio.Event()
    command = f"kill -STOP $PPID; env -i setsid sleep {RUNS}6103 & echo; sleep {RUNS}6103"
    task = asyncio.ensure_future(finished(command, tmp_path, on_output=lambda _: begun.set()))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert subprocess.run(["pgrep", "-f", f"sleep {RUNS}6103"], check=False, stdout=subprocess.DEVNULL).returncode == 1
