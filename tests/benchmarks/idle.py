"""At rest: processor time, and bytes sent to the terminal."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.benchmarks.driver import Screen, place_with_server
from tests.benchmarks.row import Row, row

SETTLING_SECONDS, SECONDS, ROUNDS = 5, 10, 3


def run() -> list[Row]:
    """An open session in which nothing happens."""
    used, sent = [], []
    with (
        tempfile.TemporaryDirectory() as folder,
        place_with_server(Path(folder)) as (root, environ, _),
        Screen(cwd=root, environ=environ) as screen,
    ):
        screen.wait("sandbox")
        screen.rest(SETTLING_SECONDS)
        for _ in range(ROUNDS):
            before = screen.processor_seconds()
            sent.append(screen.rest(SECONDS) / SECONDS)
            used.append((screen.processor_seconds() - before) / SECONDS * 100)
    return [
        row("processor at rest", used, "%", bar="< 1", at_most=1),
        row("bytes a second to the terminal at rest", sent, "", bar="< 200", at_most=200),
    ]
