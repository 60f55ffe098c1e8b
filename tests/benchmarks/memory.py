"""Resident memory: at rest with the model's client loaded, and after 500 turns."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.benchmarks.driver import Screen, place_with_server
from tests.benchmarks.row import Row, row
from tests.benchmarks.transcript import SECTION
from tests.server.replies import Call, Reply, Say

TURNS = 500
SETTLING_SECONDS = 4


def run() -> list[Row]:
    """Each turn reads a file and answers with code and a table."""
    with tempfile.TemporaryDirectory() as folder, place_with_server(Path(folder)) as (root, environ, server):
        for number in range(TURNS):
            server.reply(Reply(parts=(Say("I'll look."), Call("read", {"path": "a.py"}))))
            server.reply(Reply(parts=(Say(SECTION.format(number=number), size=200), Say(f"That was turn-{number}-."))))
        with Screen(cwd=root, environ=environ) as screen:
            screen.wait("sandbox")
            screen.rest(SETTLING_SECONDS)
            idle = screen.megabytes()
            for number in range(TURNS):
                screen.send("look again, please\r")
                screen.wait(f"turn-{number}-")
                screen.rest(0.15)  # the turn ends with its last words
            screen.rest(SETTLING_SECONDS)
            later = screen.megabytes()
    return [
        row("memory at rest", [idle], "MB", bar="≤ 100", at_most=100),
        row(f"memory after {TURNS} turns", [later], "MB", bar="≤ 130", at_most=130),
    ]
