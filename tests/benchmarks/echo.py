"""The echo of a key: at rest, and while a reply streams and eight commands report, in a new and in a long session."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from tests.benchmarks.driver import Screen, keep_long_session, place_with_server
from tests.benchmarks.row import Row, row
from tests.benchmarks.transcript import TEXT
from tests.server.replies import Call, Reply, Say

KEYS, KEYS_AT_REST = 150, 50
"""The slowest of a hundred is looked for only while all stream; at rest the median alone counts."""

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
            idle, _ = _echoes(screen, KEYS_AT_REST)
            screen.send("\x15go\r")
            screen.wait("Streaming")
            screen.rest(1)
            busy, own = _echoes(screen, KEYS)
    slow, own_slow = (statistics.quantiles(some, n=100)[98] for some in (busy, own))
    ratio = statistics.median(busy) / statistics.median(idle)
    return [
        row(f"{name}: echo at rest", idle, "ms"),
        row(f"{name}: echo while all stream", busy, "ms", bar="≤ 12", at_most=12),
        row(f"{name}: the slowest of a hundred", [slow], "ms", bar="≤ 32", at_most=32),
        row(f"{name}: against rest", [ratio], "", bar="≤ 2", at_most=2),
        row(f"{name}: echo, but for waiting for a processor", own, "ms"),
        row(f"{name}: the slowest of a hundred, but for that", [own_slow], "ms"),
    ]


def _echoes(screen: Screen, keys: int) -> tuple[list[float], list[float]]:
    """Milliseconds from a key to its letter on the screen; and without those in which others had the processor."""
    taken: list[float] = []
    own: list[float] = []
    for number in range(keys):
        letter = RARE[number % len(RARE)]
        if letter == RARE[0]:
            screen.send("\x15")  # the letters before go
            screen.rest(0.3)
        waited = screen.milliseconds_waited()
        screen.send(letter)
        taken.append(screen.wait(letter, 10) * 1000)
        own.append(max(taken[-1] - screen.milliseconds_waited() + waited, 0.0))
        screen.rest(PAUSE_SECONDS)
    return taken, own
