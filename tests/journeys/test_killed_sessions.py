"""The program is killed at a random moment of a session that changes files: nothing is torn, all can be undone.

``CODEAGENT_TEST_KILLS=100`` tries a hundred moments in place of a few.
"""

import asyncio
import json
import os
import random
import signal
import subprocess
import time

import pytest

from codeagent.agent.history import restore
from codeagent.config.places import find_places
from codeagent.core.approvals import Mode
from codeagent.core.errors import NothingToUndo
from codeagent.core.messages import TextBlock, UserMessage
from codeagent.store.change_store import ChangeStore
from codeagent.store.journal import JournalFile
from codeagent.store.sessions import Sessions
from codeagent.store.undoing import open_undoing
from codeagent.workspace.paths import PathSandbox
from codeagent.workspace.seen import SeenFiles
from tests.agent.stage import assert_valid
from tests.journeys.conftest import PROGRAM
from tests.server.replies import Reply, Say

pytestmark = pytest.mark.journey
KILLS = int(os.environ.get("CODEAGENT_TEST_KILLS", "4"))
LATEST = 2.5
"""Seconds after the first tool began; later the session is over."""

LONG = {letter: f"{letter}{'.' * 70}\n" * 3_000 for letter in "xyz"}
STEPS = [
    [("write", {"path": "long.txt", "content": LONG["x"]}), ("write", {"path": "new/deep.txt", "content": LONG["y"]})],
    [("bash", {"command": "for i in $(seq 40); do echo $i >> count.txt; sleep 0.01; done; rm -r lib; mkdir out"})],
    [("edit", {"path": "cart.py", "old": "1 + discount", "new": "1 - discount"})],
    [
        (
            "bash",
            {"command": "mv cart.py out/cart.py; chmod 755 out/cart.py; for i in 1 2 3; do echo > out/$i; done"},
        )
    ],
    [("write", {"path": "long.txt", "content": LONG["z"]}), ("bash", {"command": "git add -A; git commit -qm agent"})],
]


@pytest.fixture
def shop(place, tmp_path):
    (place.root / "lib").mkdir()
    (place.root / "lib" / "tax.py").write_text("RATE = 19\n")
    for words in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "-qm", "first"],
    ):
        subprocess.run(["git", *words], cwd=place.root, check=True)
    (place.root / "mine.txt").write_text("in no commit\n")
    script = tmp_path / "script.jsonl"
    steps = [{"say": "", "calls": [{"name": name, "arguments": words} for name, words in calls]} for calls in STEPS]
    steps.insert(2, {"say": "", "calls": [{"name": "read", "arguments": {"path": "cart.py"}}]})
    script.write_text("".join(json.dumps(step) + "\n" for step in [*steps, {"say": "Done."}]))
    return place, script


def files_of(root):
    return {
        str(path.relative_to(root)): (path.read_bytes(), path.stat().st_mode)
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(root).parts
    }


def run_until(moment, place, script):
    """Starts a session and kills it so many seconds after its first tool began."""
    words = ("-p", "go", "--model", f"scripted/{script}", "--mode", "auto", "--sandbox", "off")
    process = subprocess.Popen(
        [*PROGRAM, *words, "--output-format", "stream-json"],
        cwd=place.root,
        env={**os.environ, **place.environ},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    for line in process.stdout:
        if b'"tool_started"' in line:
            break
    time.sleep(moment)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()


def undo_all(store, seen, paths):
    """Takes back one change after the other, as the next start of the program could."""

    async def work():
        undoing = open_undoing(
            store, seen, lambda event: None, paths.show, is_running=lambda: False, mode=lambda: Mode.ASK
        )
        for _ in range(20):
            try:
                await undoing.timeline.carry_out(await undoing.timeline.plan_undo())
            except NothingToUndo:
                return
        raise AssertionError("there is no end to what can be taken back")

    asyncio.run(work())


@pytest.mark.parametrize("seed", range(KILLS))
def test_a_kill_at_any_moment_leaves_a_valid_session_whole_files_and_a_way_back(shop, model_server, seed):
    place, script = shop
    before = files_of(place.root)
    run_until(random.Random(seed).uniform(0, LATEST), place, script)

    model_server.reply(Reply(parts=(Say("Fine."),)))  # it is strict about what it is sent
    resumed = place.run("-c", "-p", "go on", "--model", "anthropic/claude-test")
    assert (resumed.returncode, resumed.stdout.strip()) == (0, "Fine."), resumed.stderr

    places, root = find_places({**os.environ, **place.environ}), place.root.resolve()
    sessions = Sessions(places.sessions, root)
    journal, past = JournalFile.reopen(sessions.path(sessions.latest()), redact=str)
    journal.close()
    assert_valid((*restore(past.events), UserMessage(blocks=(TextBlock(text="and then"),))))
    for name, (content, _) in files_of(root).items():
        if name in {"long.txt", "new/deep.txt"}:
            assert content.decode() in LONG.values()
        if name.endswith("cart.py"):
            assert content.count(b"discount") == 2

    store = ChangeStore(root, places.state / "checkpoints" / sessions.folder.name, sessions.latest())
    undo_all(store, SeenFiles(), PathSandbox(root))
    assert files_of(root) == before
