"""The echo of a key: at rest, and while a reply streams and eight commands report, in a new and in a long session."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from tests.benchmarks.driver import Screen, keep_long_session, place_with_server
from tests.benchmarks.row import Row, row
from tests.benchmarks.transcript import TEXT
from tests.server.replies import Call, Reply, Say

KEYS = 150
PAUSE_SECONDS = 0.06
LONG = 10_000
JOBS = 8
RARE = [chr(code) for code in range(0x2D30, 0x2D68)]  # letters that nothing else draws
COMMAND = "i=0; while [ $i -lt 4000 ]; do echo line $i of the report; i=$((i+1)); sleep 0.05; done"


def run() -> list[Row]:
    """New and long sessions in turn."""
    return _rows("new session", 0) + _rows("10,000 messages", LONG)


def _rows(name: str, messages: int) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder, place_with_server(Path(folder)) as (root, environ, server):
        if messages:
            keep_long_session(root, environ, messages)
        jobs = [Call("bash", {"command": f"{COMMAND} # {number}", "background": True}) for number in range(JOBS)]
        server.reply(Reply(parts=tuple(jobs)), Reply(parts=(Say("Streaming now. "), Say(TEXT, size=16)), pace=0.005))
        words = ["--mode", "auto", "--sandbox", "off", "--allow", "bash(*)", *(["-c"] if messages else [])]
        with Screen(*words, cwd=root, environ=environ) as screen:
            screen.wait("sandbox")
            screen.rest(4)
            idle = _echoes(screen)
            screen.send("\x15go\r")
            screen.wait("Streaming")
            screen.rest(1)
            busy = _echoes(screen)
    ninety_nine = statistics.quantiles(busy, n=100)[98]
    ratio = statistics.median(busy) / statistics.median(idle)
    return [
        row(f"{name}: echo at rest", idle, "ms"),
        row(f"{name}: echo while all stream", busy, "ms", bar="≤ 12", at_most=12),
        row(f"{name}: the slowest of a hundred", [ninety_nine], "ms", bar="≤ 32", at_most=32),
        row(f"{name}: against rest", [ratio], "", bar="≤ 2", at_most=2),
    ]


def _echoes(screen: Screen) -> list[float]:
    """Milliseconds from a key to its letter on the screen."""
    taken = []
    for number in range(KEYS):
        letter = RARE[number % len(RARE)]
        if letter == RARE[0]:
            screen.send("\x15")  # the letters before go
            screen.rest(0.3)
        screen.send(letter)
        taken.append(screen.wait(letter, 10) * 1000)
        screen.rest(PAUSE_SECONDS)
    return taken
