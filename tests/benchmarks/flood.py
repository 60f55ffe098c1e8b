"""A command that prints a gigabyte, the model's and the person's: what the program's memory grows by meanwhile."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.benchmarks.driver import Screen, place_with_server
from tests.benchmarks.row import Row, row
from tests.server.replies import Call, Reply, Say

COMMAND = "yes 'a line like any other' | head -c 1000000000"
SETTLING_SECONDS = 4
LONGEST_SECONDS = 300


def run() -> list[Row]:
    """Both in one session, after a command that prints little: what the first command loads does not count."""
    with tempfile.TemporaryDirectory() as folder, place_with_server(Path(folder)) as (root, environ, server):
        for number, command in enumerate(("echo little", COMMAND)):
            server.reply(Reply(parts=(Call("bash", {"command": command, "timeout": LONGEST_SECONDS}),)))
            server.reply(Reply(parts=(Say(f"That was turn-{number}-."),)))
        with Screen("--mode", "auto", cwd=root, environ=environ) as screen:
            screen.wait("sandbox")
            _ask(screen, 0)
            models = _growth(screen, partial(_ask, screen, 1))
            persons = _growth(screen, partial(_shell, screen))
    return [
        row("memory grows by, the model's command", [models], "MB", bar="≤ 20", at_most=20),
        row("memory grows by, the person's command", [persons], "MB", bar="≤ 20", at_most=20),
    ]


def _growth(screen: Screen, command: Callable[[], None]) -> float:
    screen.rest(SETTLING_SECONDS)
    before = screen.megabytes()
    screen.forget_peak()
    command()
    screen.rest(SETTLING_SECONDS)
    return screen.peak_megabytes() - before


def _ask(screen: Screen, number: int) -> None:
    screen.send("run it, please\r")
    screen.wait(f"turn-{number}-", LONGEST_SECONDS)


def _shell(screen: Screen) -> None:
    screen.send(f"!{COMMAND}; echo over-$((1+1))\r")
    screen.wait("over-2", LONGEST_SECONDS)
