"""What the agent changed is taken back from outside, also after the program was killed in the middle of it."""

import json
import os
import random
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.journeys.conftest import PROGRAM, wait_for

pytestmark = pytest.mark.journey

AUTO = ("--mode", "auto", "--sandbox", "off")


def script(place, *steps):
    """A model that makes these calls, one a step, and then is done."""
    lines = [{"say": "", "calls": [{"name": name, "arguments": arguments}]} for name, arguments in steps]
    path = place.root.parent / "script.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in [*lines, {"say": "Done."}]))
    return "--model", f"scripted/{path}"


def git(place, *words):
    subprocess.run(["git", "-c", "user.name=A", "-c", "user.email=a@b.c", *words], cwd=place.root, check=True)


def tree(root):
    files = (
        path for path in root.rglob("*") if ".git" not in path.parts and not path.name.startswith(".codeagent-tmp")
    )
    return {str(path.relative_to(root)): path.read_bytes() if path.is_file() else b"/" for path in sorted(files)}


def folder_of(link):
    try:
        return link.readlink()
    except OSError:  # the process is over
        return None


def wait_until_nobody_works_in(folder):
    """What a killed run had started writes on for a moment; where the system tells nothing of others, that long."""
    time.sleep(0.3)
    deadline = time.monotonic() + 20
    while folder in map(folder_of, Path("/proc").glob("[0-9]*/cwd")):
        assert time.monotonic() < deadline, "somebody still works there"
        time.sleep(0.02)


def undo(place, *words):
    return place.run("sessions", "undo", *words)


def test_undo_takes_back_the_last_call_then_the_one_before(place):
    start = tree(place.root)
    steps = script(place, ("write", {"path": "new.txt", "content": "n\n"}), ("bash", {"command": "echo x >> cart.py"}))
    assert place.run("-p", "go", *steps, *AUTO).returncode == 0
    after = tree(place.root)
    shown = undo(place)
    assert "-x" in shown.stdout
    assert "--yes" in shown.stderr
    assert tree(place.root) == after
    assert "Took back bash echo x >> cart.py: 1 file." in undo(place, "--yes").stdout
    assert tree(place.root) == {**start, "new.txt": b"n\n"}
    undo(place, "--yes")
    assert tree(place.root) == start
    nothing = undo(place, "--yes")
    assert (nothing.returncode, "changed nothing here" in nothing.stderr) == (1, True)
    undo(place, "--redo", "--yes")
    undo(place, "--redo", "--yes")
    assert tree(place.root) == after


def test_a_latest_session_without_a_change_names_the_older_one_that_has_some(place):
    steps = script(place, ("write", {"path": "new.txt", "content": "n\n"}))
    place.run("-p", "go", *steps, *AUTO)
    place.run("-p", "hello", *script(place), *AUTO)
    nothing = undo(place, "--yes")
    assert nothing.returncode == 1
    hint = nothing.stderr.partition("codeagent sessions ")[2]
    assert "Took back write new.txt" in place.run("sessions", *hint.split(), "--yes").stdout
    assert "changed nothing here" in undo(place, "--yes").stderr


def test_in_a_folder_below_it_undoes_the_same(place):
    start = tree(place.root)
    steps = script(place, ("write", {"path": "new.txt", "content": "n\n"}))
    place.run("-p", "go", *steps, *AUTO)
    inner = place.root / "inner" / "deep"
    inner.mkdir(parents=True)
    below = replace(place, root=inner)
    assert "Took back write new.txt: 1 file." in undo(below, "--yes").stdout
    inner.rmdir()
    inner.parent.rmdir()
    assert tree(place.root) == start
    elsewhere = undo(replace(place, root=place.root.parent), "--yes")
    assert (elsewhere.returncode, "No session was held in" in elsewhere.stderr) == (1, True)


def test_a_change_of_the_person_since_is_left_alone_until_they_say_so(place):
    steps = script(place, ("bash", {"command": "sed -i s/full/agent/ cart.py"}))
    place.run("-p", "go", *steps, *AUTO)
    (place.root / "cart.py").write_text("person\n")
    assert "left" in undo(place, "--yes").stdout
    assert (place.root / "cart.py").read_text() == "person\n"


def heard(place):
    """What the model has been told as the person's side of the conversation, oldest first."""
    (record,) = [path for path in place.home.rglob("*.jsonl") if "data" in path.parts]
    said = [json.loads(line)["event"] for line in record.read_text().splitlines()]
    return [
        block["text"]
        for event in said
        if event["kind"] == "history_appended" and event["message"]["kind"] == "user"
        for block in event["message"]["blocks"]
    ]


def test_the_model_hears_of_the_undo_with_the_next_message(place):
    place.run("-p", "go", *script(place, ("bash", {"command": "sed -i s/full/agent/ cart.py"})), *AUTO)
    undo(place, "--yes")
    place.run("-c", "-p", "and now?", *script(place), *AUTO)
    texts = heard(place)
    assert "took back a change of yours (bash sed -i s/full/agent/ cart.py)" in texts[-2]
    assert texts[-1] == "and now?"


def test_the_model_hears_once_of_a_file_that_changed_before_the_session_was_opened_again(place):
    reads = script(place, ("read", {"path": "cart.py"}))
    place.run("-p", "go", *reads, *AUTO)
    before = (place.root / "cart.py").read_text()
    (place.root / "cart.py").write_text(before + "# by the person\n")
    (line, *_) = before.splitlines()
    edit = script(place, ("edit", {"path": "cart.py", "old": line, "new": "# by the agent"}))
    place.run("-c", "-p", "and now?", *edit, *AUTO)
    assert heard(place)[-2:] == [
        "Since you last looked, files that you had read have changed: cart.py. Read again what you need of them.",
        "and now?",
    ]
    assert (place.root / "cart.py").read_text() == before + "# by the person\n"
    place.run("-c", "-p", "go on", *script(place), *AUTO)
    assert heard(place)[-2:] == ["and now?", "go on"]


def test_without_a_session_nothing_is_kept(place):
    steps = script(place, ("bash", {"command": "sed -i s/full/agent/ cart.py"}))
    assert place.run("-p", "go", *steps, *AUTO, "--no-session").returncode == 0
    assert list(place.home.rglob("changes.jsonl")) == []


def test_what_a_job_changed_before_a_kill_is_offered_and_left_alone_until_the_person_says_so(place):
    start = tree(place.root)
    gate = place.root.parent / "gate"
    os.mkfifo(gate)
    job = f"read -r _ < {gate}; echo job > job.txt; echo done > {gate}; sleep 600"
    call = {"name": "bash", "arguments": {"command": job, "background": True}}
    steps = place.root.parent / "script.jsonl"
    steps.write_text("\n".join(map(json.dumps, [{"say": "", "calls": [call]}, {"say": "Late.", "delay": 600}])))
    running = subprocess.Popen(
        [*PROGRAM, "-p", "go", "--model", f"scripted/{steps}", *AUTO],
        cwd=place.root,
        env={**os.environ, **place.environ},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 60
    while not [*place.home.rglob("running-jobs.json")] or [*place.home.rglob("pending-*.json")]:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    gate.write_text("go\n")
    assert gate.read_text() == "done\n"
    running.kill()
    running.wait(20)
    (place.root / "mine.txt").write_text("mine\n")
    shown = undo(place, "--yes")
    assert "cut off when codeagent was killed" in shown.stdout
    assert "changed while a job ran, by it or by you" in shown.stdout
    assert tree(place.root) == {**start, "job.txt": b"job\n", "mine.txt": b"mine\n"}
    undo(place, "--redo", "--yes")
    undo(place, "--yes", "--overwrite")
    assert tree(place.root) == start


def test_a_session_that_is_open_elsewhere_is_not_touched(place):
    steps = script(place, ("bash", {"command": "sed -i s/full/agent/ cart.py; touch ready; sleep 30"}))
    running = subprocess.Popen(
        [*PROGRAM, "-p", "go", *steps, *AUTO],
        cwd=place.root,
        env={**os.environ, **place.environ},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    wait_for(place.root / "ready")
    refused = undo(place, "--yes")
    running.send_signal(signal.SIGINT)
    running.wait(20)
    assert "open in another codeagent" in refused.stderr
    assert "Took back" in undo(place, "--yes").stdout
    assert "agent" not in (place.root / "cart.py").read_text()


MUCH = [
    step
    for number in range(3)
    for step in (
        ("write", {"path": f"n{number}/w.txt", "content": f"w{number}\n" * 2000}),
        ("bash", {"command": f"for i in 1 2 3 4 5; do echo $i >> cart.py; cp cart.py b{number}-$i; sleep 0.01; done"}),
        ("bash", {"command": f"rm -f b{number}-3; mv b{number}-4 n{number}/moved; chmod 600 b{number}-1; git add -A"}),
    )
]


def test_much_is_done_when_nobody_kills_it(place):
    place.run("-p", "go", *script(place, *MUCH), *AUTO)
    done = tree(place.root)
    assert {"n2/w.txt", "n2/moved", "b2-1"} <= set(done)
    assert "b2-3" not in done


@pytest.mark.timeout(180)
def test_killed_at_any_moment_all_that_was_done_can_be_taken_back_by_the_command(place):
    git(place, "init", "-q")
    (place.root / "mine.txt").write_text("untracked, mine\n")
    start = tree(place.root)
    moment = random.Random(7)
    steps = script(place, *MUCH)
    for _ in range(2):
        running = subprocess.Popen(
            [*PROGRAM, "-p", "go", *steps, *AUTO],
            cwd=place.root,
            env={**os.environ, **place.environ},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 20
        while tree(place.root) == start and running.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(moment.uniform(0, 0.8))
        running.kill()
        running.wait(20)
        wait_until_nobody_works_in(place.root)
        for name, data in tree(place.root).items():
            if name.endswith("w.txt"):
                assert data.count(b"\n") == 2000, name  # whole, or not there
        for _ in range(20):
            undone = undo(place, "--yes")
            if undone.returncode != 0:
                break
        assert "changed nothing here" in undone.stderr
        assert tree(place.root) == start


def made_much(place, count=6_000):
    """A session whose one call made so many files; the tree before it and after."""
    (place.root / "make.sh").write_text(f"mkdir many; for i in $(seq {count}); do echo $i > many/$i.txt; done\n")
    start = tree(place.root)
    assert place.run("-p", "go", *script(place, ("bash", {"command": "sh make.sh"})), *AUTO).returncode == 0
    after = tree(place.root)
    assert len(after) > count
    return start, after


@pytest.mark.timeout(180)
def test_a_long_undo_says_how_far_it_is_and_ctrl_c_stops_it_whole_or_not_at_all(place):
    start, after = made_much(place)
    with place.open("sessions", "undo") as terminal:
        terminal.wait("Do this", 60)
        terminal.type("y\n")
        terminal.wait(r"\d+%", 60)
        terminal.press("ctrl+c")
        assert terminal.wait_for_exit(60) == 130
        said = terminal.text
    assert "Traceback" not in said
    if "stopped; no file was changed" in said:
        assert tree(place.root) == after
        undo(place, "--yes")
    else:
        assert "it was too late to stop; all of it was done" in said
    assert tree(place.root) == start


@pytest.mark.parametrize(("key", "code"), [("ctrl+c", 130), ("ctrl+d", 0)])
def test_no_answer_to_the_question_leaves_all_as_it_is(place, key, code):
    place.run("-p", "go", *script(place, ("write", {"path": "new.txt", "content": "n\n"})), *AUTO)
    after = tree(place.root)
    with place.open("sessions", "undo") as terminal:
        terminal.wait("Do this")
        terminal.press(key)
        assert terminal.wait_for_exit(20) == code
        assert "Traceback" not in terminal.text
    assert tree(place.root) == after
