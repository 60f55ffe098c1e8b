"""Background jobs in the whole program: started, seen, stopped, and never left behind."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import time

import pytest

from tests.journeys.conftest import NAP, PROGRAM, UNTIL_GO, sleeping
from tests.server.replies import Call, Reply, Say

pytestmark = [pytest.mark.journey, pytest.mark.timeout(120)]
AUTO = ("--mode", "auto")
ALONE = ("unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "--kill-child")
CAN_BE_ALONE = (
    shutil.which("unshare") is not None
    and not subprocess.run([*ALONE, "true"], capture_output=True, check=False).returncode
)


def soon_gone(nap, seconds):
    end = time.monotonic() + seconds
    while sleeping(nap) and time.monotonic() < end:
        time.sleep(0.1)
    return not sleeping(nap)


def wait_for_sleeping(nap):
    """A shell that has begun does not sleep yet."""
    end = time.monotonic() + 20
    while not sleeping(nap):
        assert time.monotonic() < end, f"nobody sleeps {nap}"
        time.sleep(0.05)


def start_job(nap):
    """A job that is told apart by how long it sleeps."""
    return Reply(parts=(Call("bash", {"command": f"echo up; {nap}", "background": True}),))


def test_a_headless_run_reads_its_job_and_leaves_none_behind(place, model_server):
    model_server.reply(
        start_job(f"{NAP}01"),
        Reply(parts=(Call("job", {"id": 1, "action": "output"}),)),
        Reply(parts=(Say("It is up."),)),
    )
    events, code = place.events(*AUTO, "-p", "start it")
    assert code == 0
    ended = [event for event in events if event["type"] == "tool_ended"]
    assert ended[0]["text"].startswith("[started as job 1;")
    assert ended[1]["text"].startswith("up\n[job 1: running")
    assert [event["state"] for event in events if event["type"] == "job_changed"] == ["running"]
    assert sleeping(f"{NAP}01") == []


def test_the_model_hears_of_an_end_with_the_next_results(place, model_server):
    build = f"{UNTIL_GO}; exit 3"
    wait = "while [ ! -s pid ] || kill -0 $(cat pid) 2>/dev/null; do sleep 0.05; done"
    model_server.reply(
        Reply(parts=(Call("bash", {"command": f"echo $$ > pid; {build}", "background": True}),)),
        Reply(parts=(Call("bash", {"command": f"touch go; {wait}; sleep 0.7"}),)),
        Reply(parts=(Say("The build failed."),)),
    )
    events, code = place.events(*AUTO, "-p", "build it")
    assert code == 0
    (notice,) = [event for event in events if event["type"] == "notice"]
    assert re.fullmatch(r"job 1 \(.*exit 3\) is over after \d+ s: exit code 3\.", notice["text"])
    assert ": exit code 3; its output: " in json.dumps(model_server.requests[-1].messages[-1])
    assert "is over" not in json.dumps(model_server.requests[1].messages)
    assert model_server.refusals == []


def test_a_job_is_asked_about_as_a_command_is(place, model_server):
    serve = Call("bash", {"command": "touch up; sleep 60", "background": True})
    model_server.reply(Reply(parts=(serve,)), Reply(parts=(Say("Not started."),)))
    events, _ = place.events("-p", "start it")
    (ended,) = [event for event in events if event["type"] == "tool_ended"]
    assert ended["outcome"] == "denied"
    assert "--allow" in ended["text"]


def test_a_job_outlives_its_turn_is_listed_and_stopped_and_its_end_is_told(place, model_server):
    model_server.reply(start_job(f"{NAP}03"), Reply(parts=(Say("Started."),)))
    with place.open(*AUTO) as terminal:
        terminal.wait("›")
        terminal.type("start it")
        terminal.press("enter")
        terminal.wait("Started")
        terminal.wait(r"· 1 job\b")
        wait_for_sleeping(f"{NAP}03")
        terminal.press("ctrl+t")
        terminal.wait(f"job 1 +echo up; {NAP}03")
        terminal.wait("^ *│ up")
        terminal.type("x")
        terminal.wait("stopped")
        terminal.press("esc")
        terminal.wait(rf"job 1 \(echo up; {NAP}03\) is over after \d+ s: stopped")
        assert sleeping(f"{NAP}03") == []
        terminal.wait_gone(r"· 1 job\b")
        model_server.reply(Reply(parts=(Say("I see that it was stopped."),)))
        terminal.type("go on")
        terminal.press("enter")
        terminal.wait("I see that it was stopped")
        assert "is over after" in json.dumps(model_server.requests[-1].messages)
        assert model_server.refusals == []


@pytest.mark.parametrize("way", ["quit", "SIGTERM", "SIGHUP"])
def test_jobs_end_with_the_app(place, model_server, way):
    nap = NAP + {"quit": "04", "SIGTERM": "05", "SIGHUP": "06"}[way]
    model_server.reply(start_job(nap), Reply(parts=(Say("Started."),)))
    with place.open(*AUTO) as terminal:
        terminal.wait("›")
        terminal.type("start it")
        terminal.press("enter")
        terminal.wait("Started")
        wait_for_sleeping(nap)
        if way == "quit":
            terminal.press("ctrl+d")
        else:
            os.kill(terminal.pid, getattr(signal, way))
        assert terminal.wait_for_exit() == (0 if way == "quit" else 128 + getattr(signal, way))
        assert soon_gone(nap, 5)


def test_jobs_end_by_themselves_when_the_app_is_killed(place, model_server):
    """So that it can clean up nothing; one of the children has left its session."""
    with place.open(*AUTO, "--sandbox", "off") as terminal:
        start_two(terminal, model_server, f"{NAP}09", f"{NAP}10")
        os.kill(terminal.pid, signal.SIGKILL)
        terminal.wait_for_exit()
        assert soon_gone(f"{NAP}(09|10)", 30)


@pytest.mark.skipif(not CAN_BE_ALONE, reason="needs a namespace of processes of its own, see pid_namespaces(7)")
def test_the_next_start_ends_what_a_killed_run_left_and_says_so(place, model_server):
    """The program is killed with what should have ended its job and a child that left its session.

    Both runs are alone: any other start on this machine would end them as well.
    """
    program = shlex.join(PROGRAM)
    runs = f"{program} {shlex.join(AUTO)} --sandbox off; {program} -p hello >said 2>told; echo > is-over"
    with place.run_script(runs, *ALONE) as terminal:
        start_two(terminal, model_server, f"{NAP}07", f"{NAP}08")
        (bash,) = children(terminal.pid)
        (app,) = children(bash)
        (starter,) = children(app, "keeper_program")
        keepers = children(starter, "keeper_program")
        for pid in (starter, *keepers):  # else they end by themselves when the program is gone
            os.kill(pid, signal.SIGSTOP)
        model_server.reply(Reply(parts=(Say("Hello again."),)))
        for pid in (app, *keepers, starter):
            os.kill(pid, signal.SIGKILL)
        terminal.wait_for_file(place.root / "is-over", 60)
        assert (place.root / "said").read_text() == "Hello again.\n"
        told = (place.root / "told").read_text()
        assert "Ended what an earlier run had left running: " in told
        assert f"{NAP}07" in told
        assert f"{NAP}08" in told
        assert sleeping(f"{NAP}0[78]") == []


def children(pid, name=""):
    pgrep = ["pgrep", "-P", str(pid), "-f", name]
    return [int(word) for word in subprocess.run(pgrep, capture_output=True, text=True, check=False).stdout.split()]


def start_two(terminal, model_server, one, other):
    command = f"setsid {one} & echo up; {other}"
    model_server.reply(
        Reply(parts=(Call("bash", {"command": command, "background": True}),)), Reply(parts=(Say("Both are up."),))
    )
    terminal.wait("›")
    terminal.type("start it")
    terminal.press("enter")
    terminal.wait("Both are up.")
    wait_for_sleeping(one)
    wait_for_sleeping(other)
