"""Finding words in a session of 10,000 messages: how long it takes, and how long the screen stands still for it."""

from __future__ import annotations

import asyncio
import time

from tests.benchmarks.row import Row, row
from tests.benchmarks.transcript import ROUNDS, opened, session


def run() -> list[Row]:
    """All rows."""
    taken = [asyncio.run(_sought()) for _ in range(ROUNDS)]
    return [
        row("words sought through 10,000 messages: CPU", [one[0] for one in taken], "ms"),
        row("longest stretch of CPU meanwhile", [one[1] for one in taken], "ms", bar="≤ 32", at_most=32),
        row("the next place", [one[2] for one in taken], "ms", bar="≤ 20", at_most=20),
    ]


async def _sought() -> tuple[float, float, float]:
    async with opened() as app:
        app.transcript.load(list(session(10_000)))
        app.transcript.flush()
        await asyncio.sleep(0.1)
        stall = 0.0

        async def watch() -> None:
            nonlocal stall
            last = time.thread_time()
            while True:
                await asyncio.sleep(0)
                now = time.thread_time()
                last, stall = now, max(stall, now - last)

        async with asyncio.TaskGroup() as group:
            watching = group.create_task(watch())
            started = time.process_time()
            await app.transcript.seek("question 7:")
            taken = time.process_time() - started
            watching.cancel()
        await app.transcript.seek("discount")
        started = time.process_time()
        await app.transcript.find_next("previous")
        return taken * 1_000, stall * 1_000, (time.process_time() - started) * 1_000
