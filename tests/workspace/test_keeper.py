"""A command ends with all that came of it, also with what does everything to get away."""

# ruff: noqa: ASYNC109, ASYNC110, ASYNC220 - nothing else runs on these loops
import asyncio
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from codeagent.workspace.process import clean_environment, run
from codeagent.workspace.process_tree import MARK, terminate_orphans, terminate_started

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

RUNS = os.getpid()
"""Makes the seconds that this run's processes sleep differ from those of others on the machine."""

ESCAPE = """
import os, resource, signal, sys
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
resource.setrlimit(resource.RLIMIT_MSGQUEUE, (4096, 4096))
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.closerange(0, 64)
open(sys.argv[1], "w").write("away")
os.execve(sys.argv[2], ["sleep", sys.argv[3]], {})
"""


def escaping(folder: Path, name: str) -> str:
    """A command that leaves parent, session, group, environment, limit and output behind, and says when it has."""
    (folder / "escape.py").write_text(ESCAPE)
    away = shlex.quote(str(folder / f"away-{name}"))
    return f"{sys.executable} -I -S escape.py {away} $(type -P sleep) {name}; until [ -s {away} ]; do sleep 0.02; done"


def alive(name: str) -> list[int]:
    """Living processes that sleep so long."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if words == f"sleep\0{name}\0".encode():
                found.append(int(entry.name))
    return found


def children(state: str) -> list[int]:
    own = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text("latin-1").rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == os.getpid() and fields[0] in state:
                own.append(int(entry.name))
    return own


async def eventually(is_so, seconds: float = 30) -> bool:
    deadline = time.monotonic() + seconds
    while not is_so() and time.monotonic() < deadline:
        await asyncio.sleep(0.02)
    return is_so()


async def finished(command: str, cwd: Path, *, timeout: float = 30, on_output=lambda _: None, env=None):
    env = clean_environment(os.environ) if env is None else env
    return await run(command, cwd=cwd, timeout=timeout, on_output=on_output, env=env)


async def test_what_gets_away_in_every_way_is_named_and_ends_with_the_program(tmp_path):
    result = await finished(escaping(tmp_path, f"{RUNS}5101"), tmp_path)
    assert [name.split(" (")[0] for name in result.still_running] == [f"sleep {RUNS}5101"]
    named = await asyncio.to_thread(terminate_started)
    assert [name.split(" (")[0] for name in named] == [f"sleep {RUNS}5101"]
    assert not alive(f"{RUNS}5101")


async def test_what_got_away_in_every_way_ends_when_the_time_is_over(tmp_path):
    timeout, away = 0.5, tmp_path / f"away-{RUNS}5102"
    while not away.exists():  # on a busy machine it takes a while to get away
        timeout *= 2
        result = await finished(f"{escaping(tmp_path, f'{RUNS}5102')}; sleep {RUNS}5102", tmp_path, timeout=timeout)
        assert result.timed_out
        assert not result.still_running
        assert not alive(f"{RUNS}5102")


async def test_cancelling_ends_what_got_away_and_nothing_of_other_commands(tmp_path):
    begun = {name: asyncio.Event() for name in (f"{RUNS}5103", f"{RUNS}5104")}
    tasks = {
        name: asyncio.ensure_future(
            finished(
                f"{escaping(tmp_path, name)}; echo; sleep {name}",
                tmp_path,
                timeout=50,
                on_output=lambda _, name=name: begun[name].set(),
            )
        )
        for name in begun
    }
    for event in begun.values():
        await event.wait()
    tasks[f"{RUNS}5103"].cancel()
    with pytest.raises(asyncio.CancelledError):
        await tasks[f"{RUNS}5103"]
    assert (len(alive(f"{RUNS}5103")), len(alive(f"{RUNS}5104"))) == (0, 2)
    tasks[f"{RUNS}5104"].cancel()
    with pytest.raises(asyncio.CancelledError):
        await tasks[f"{RUNS}5104"]
    assert not alive(f"{RUNS}5104")


async def test_neither_dead_children_nor_keepers_pile_up(tmp_path):
    before = set(children("RSDTZ"))
    for _ in range(50):
        await finished("(sleep 0.01 & sleep 0.02 &); setsid sleep 0.01 & true", tmp_path)
    assert await eventually(lambda: not set(children("RSDTZ")) - before)


async def test_what_the_program_itself_started_is_left_alone_also_in_a_session_of_its_own(tmp_path):
    own = [subprocess.Popen(["sleep", f"{RUNS}5105"], start_new_session=True)]
    running = asyncio.ensure_future(finished(f"sleep {RUNS}5106", tmp_path, timeout=1))
    own.append(subprocess.Popen(["setsid", "sleep", f"{RUNS}5105"], env={}))
    own.append(subprocess.Popen(["sh", "-c", f"setsid sleep {RUNS}5105 & exit 3"], start_new_session=True))
    try:
        assert await eventually(lambda: len(alive(f"{RUNS}5105")) == 3)
        await running
        await asyncio.to_thread(terminate_started)
        assert [process.poll() for process in own[:2]] == [None, None]
        assert own[2].wait() == 3
        assert len(alive(f"{RUNS}5105")) == 3
    finally:
        for pid in alive(f"{RUNS}5105"):
            os.kill(pid, signal.SIGKILL)
        for process in own:
            process.wait()


RUN = """
import asyncio, os, sys
from pathlib import Path
from codeagent.workspace.process import run
asyncio.run(run(sys.argv[1], cwd=Path.cwd(), timeout=60, on_output=lambda _: None, env=os.environ))
"""


async def killed_run(command: str, cwd: Path) -> None:
    """Runs a command in a program that is killed when the command has made the file ``ready``."""
    env = {**os.environ, "PYTHONPATH": str(Path.cwd())}
    program = subprocess.Popen([sys.executable, "-c", RUN, f"{command}; touch ready; sleep 50"], cwd=cwd, env=env)
    try:
        assert await eventually((cwd / "ready").exists)
    finally:
        program.kill()
        program.wait()


async def test_when_the_program_is_killed_everything_ends_by_itself(tmp_path):
    await killed_run(f"sleep {RUNS}5107 & {escaping(tmp_path, f'{RUNS}5107')}", tmp_path)
    assert (tmp_path / f"away-{RUNS}5107").exists()
    assert await eventually(lambda: not alive(f"{RUNS}5107"))


async def test_when_the_keeper_is_killed_too_the_next_start_ends_what_is_marked(tmp_path):
    await killed_run(f"sleep {RUNS}5108 & setsid sleep {RUNS}5108 & kill -9 $PPID", tmp_path)
    await asyncio.to_thread(terminate_orphans)
    assert not alive(f"{RUNS}5108")


async def test_a_command_that_kills_its_keeper_is_found_by_its_marks(tmp_path):
    result = await finished(
        f"env -i setsid sleep {RUNS}5109 & setsid sleep {RUNS}5109 & kill -9 $PPID; sleep {RUNS}5109", tmp_path
    )
    assert result.ended == "killed by SIGKILL"
    assert len([name for name in result.still_running if name.startswith(f"sleep {RUNS}5109")]) == 3
    await asyncio.to_thread(terminate_started)
    assert not alive(f"{RUNS}5109")


async def test_commands_see_nothing_of_the_keeper(tmp_path):
    (tmp_path / "look.py").write_text(
        "import os, signal\n"
        "print(sorted(name for name in os.listdir('/proc/self/fd') if int(name) < 30)[:4])\n"
        "print([n for n in range(1, 32) if signal.getsignal(n) == signal.SIG_IGN])\n"
        "print(open('/proc/self/environ', 'rb').read().count(b'\\0'), os.getsid(0) == os.getppid())\n"
    )
    env = {"PATH": os.environ["PATH"], "odd": "\udcff=ä"}
    result = await finished(f"env | sort; {sys.executable} -I -S look.py; true", tmp_path, env=env)
    shown = [
        line for line in result.head_tail.splitlines() if not line.startswith(("PATH=", f"{MARK}=", "_=", "SHLVL="))
    ]
    # Python itself ignores 13 and 25, and opened the folder it lists
    assert shown == [f"PWD={tmp_path}", "odd=\ufffd=ä", "['0', '1', '2', '3']", "[13, 25]", "6 True"]


async def test_a_signal_to_the_keeper_ends_nothing(tmp_path):
    result = await finished("for s in HUP INT QUIT TERM USR1 TSTP; do kill -$s $PPID; done; echo fine", tmp_path)
    assert (result.ended, result.head_tail) == ("exit code 0", "fine\n")
