"""Nothing more can be written anywhere, not even a temporary file: work goes on, and that is said in words."""

from __future__ import annotations

import os
import subprocess

import pytest

from tests.journeys.conftest import PROGRAM
from tests.journeys.terminal import Terminal
from tests.server.replies import Call, Reply, Say

pytestmark = pytest.mark.journey

NO_ROOM = ("bash", "-c", 'ulimit -f 0; exec "$@"', "-")


def without_room(place, *words):
    run = [*NO_ROOM, *PROGRAM, *words]
    environ = {**os.environ, **place.environ}
    return subprocess.run(
        run, cwd=place.root, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


LOOK = Reply(parts=(Say("I look."), Call("read", {"path": "cart.py"}), Call("bash", {"command": "ls"})))


def test_a_session_goes_on_without_a_screen(place, model_server):
    model_server.reply(Reply(parts=(Say("Yes."),)))
    place.run("-p", "first")
    for words in (("-c",), ()):
        model_server.reply(LOOK, Reply(parts=(Say("Still here."),)))
        finished = without_room(place, "-p", "second", *words)
        assert finished.stdout == "Still here.\n"
        assert "fault" not in finished.stderr
        assert "goes on" in finished.stderr
    assert [path.name for path in (place.home).rglob("fault-*")] == []


def test_what_cannot_do_without_says_so(place):
    finished = without_room(place, "-p", "go", "--no-session")
    assert finished.returncode == 1
    assert finished.stderr.startswith("codeagent: There is no place for temporary files: ")
    assert len(finished.stderr.splitlines()) <= 2


def test_the_app_goes_on(place, model_server):
    model_server.reply(LOOK, Reply(parts=(Say("Still here."),)))
    words = [*NO_ROOM, *PROGRAM]
    with Terminal(
        words, cwd=place.root, environ={**place.environ, "EDITOR": "true"}, columns=100, lines=30
    ) as terminal:
        terminal.wait("claude-test", 30)
        terminal.type("go\r")
        terminal.wait("Still here", 30)
        terminal.type("draft")
        terminal.press("ctrl+g")
        terminal.wait("cannot be had", 20)
        assert "fault" not in terminal.text
        terminal.type(" and more")
        terminal.wait("draft and more", 20)
