"""Finding words in a session of 10,000 messages: how long it takes, and how long the screen stands still for it."""

from __future__ import annotations

import asyncio
import time

from tests.benchmarks.row import Row, row
from tests.benchmarks.stall import Stall, stall_rows, watched
from tests.benchmarks.transcript import ROUNDS, opened, session


def run() -> list[Row]:
    """All rows."""
    taken = [asyncio.run(_sought()) for _ in range(ROUNDS)]
    return [
        row("words sought through 10,000 messages: CPU", [one[0] for one in taken], "ms"),
        *stall_rows("", [one[1] for one in taken], 32),
        row("the next place", [one[2] for one in taken], "ms", bar="≤ 20", at_most=20),
    ]


async def _sought() -> tuple[float, Stall, float]:
    async with opened() as app:
        app.transcript.load(list(session(10_000)))
        app.transcript.flush()
        await asyncio.sleep(0.1)
        async with watched() as stall:
            started = time.process_time()
            await app.transcript.seek("question 7:")
            taken = time.process_time() - started
        await app.transcript.seek("discount")
        started = time.process_time()
        await app.transcript.find_next("previous")
        return taken * 1_000, stall, (time.process_time() - started) * 1_000
