"""What was typed outlives the program: after a kill it is in the prompt of the next start."""

from __future__ import annotations

import json
import os
import signal
import time

from tests.journeys.conftest import UNTIL_GO
from tests.server.replies import Call, say


def kept(place) -> str:
    """The draft as it lies on the disk."""
    return "".join(json.loads(path.read_text())["text"] for path in place.home.rglob("draft.json"))


def killed_once_kept(place, terminal, text: str) -> None:
    """Kills the program when the draft is on the disk."""
    end = time.monotonic() + 30
    while kept(place) != text and time.monotonic() < end:
        terminal.pump(0.05)
    assert kept(place) == text
    os.kill(terminal.pid, signal.SIGKILL)
    terminal.wait_for_exit()


def test_a_draft_outlives_a_kill(place):
    with place.open() as terminal:
        terminal.wait("claude-test · ask")
        terminal.type("half a thought 你好")
        killed_once_kept(place, terminal, "half a thought 你好")
    with place.open() as terminal:
        terminal.wait(r"half a thought 你\s*好")


def test_what_waited_behind_a_slow_tool_outlives_a_kill(place, model_server):
    model_server.reply(say("", Call("bash", {"command": f"touch begun; {UNTIL_GO}"})))
    with place.open("--mode", "auto") as terminal:
        terminal.wait("claude-test · auto")
        terminal.type("run it")
        terminal.press("enter")
        terminal.wait_for_file(place.root / "begun")
        terminal.type("then the tests")
        terminal.press("enter")
        terminal.wait("queued: “then the tests”")
        terminal.type("and thi")
        killed_once_kept(place, terminal, "then the tests\nand thi")
    (place.root / "go").touch()
    with place.open() as terminal:
        terminal.wait(r"then the tests\n\s*and thi")
        terminal.press("ctrl+c")
    with place.open("--continue") as terminal:
        terminal.wait("run it")


def test_a_message_typed_while_a_tool_runs_reaches_the_model_and_leaves_no_draft(place, model_server):
    slow = say("", Call("bash", {"command": f"touch begun; {UNTIL_GO}"}))
    model_server.reply(slow, say("Both heard."))
    with place.open("--mode", "auto") as terminal:
        terminal.wait("claude-test · auto")
        terminal.type("run it")
        terminal.press("enter")
        terminal.wait_for_file(place.root / "begun")
        for text in ("first thing", "second thing"):
            terminal.type(text)
            terminal.press("enter")
            terminal.wait(f"queued: “{text}”")
        (place.root / "go").touch()
        terminal.wait("Both heard")
        terminal.wait_gone("queued:")
        end = time.monotonic() + 30
        while kept(place) and time.monotonic() < end:
            terminal.pump(0.05)
    assert kept(place) == ""
    sent = model_server.requests[-1].raw.decode()
    assert 0 < sent.index("first thing") < sent.index("second thing")


def test_an_open_edit_of_a_program_that_is_told_to_end_comes_back_by_name_and_is_not_sent(place, model_server):
    model_server.reply(say("", Call("write", {"path": "new.py", "content": "x = 1\n"})))
    with place.open() as terminal:
        terminal.wait("claude-test · ask")
        terminal.type("write it")
        terminal.press("enter")
        terminal.wait_for_answer("y approve")
        terminal.type("e")
        terminal.wait(r"ctrl\+s")
        terminal.type("mine")
        terminal.wait("mine")
        os.kill(terminal.pid, signal.SIGTERM)
        terminal.wait_for_exit()
    with place.open("--continue") as terminal:
        terminal.wait(r"your edit of new\.py from before · ↑ brings it")
        asked = len(model_server.requests)
        terminal.press("enter")
        terminal.press("up")
        terminal.wait(r"My edit of new\.py, which was not used:\n\s*minex = 1")
        assert len(model_server.requests) == asked
