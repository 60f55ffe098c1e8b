"""How long an event loop stands still: by the clock on the wall, which is what a person notices, and by its own CPU."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from tests.benchmarks.row import Row, row


class Stall:
    """The longest stretch between two looks, in ms; on a loaded machine others' work is part of ``wall``."""

    def __init__(self) -> None:
        self.wall = self.cpu = 0.0
        self._last = (time.perf_counter(), time.thread_time())

    def look(self) -> None:
        """Others have their turn."""
        now = (time.perf_counter(), time.thread_time())
        self.wall = max(self.wall, (now[0] - self._last[0]) * 1_000)
        self.cpu = max(self.cpu, (now[1] - self._last[1]) * 1_000)
        self._last = now


@asynccontextmanager
async def watched() -> AsyncGenerator[Stall]:
    """Looks at each turn of the loop, until the block ends; that keeps the loop busy, so count no CPU meanwhile."""
    stall = Stall()

    async def watch() -> None:
        while True:
            await asyncio.sleep(0)
            stall.look()

    async with asyncio.TaskGroup() as group:
        watching = group.create_task(watch())
        await asyncio.sleep(0)
        yield stall
        await asyncio.sleep(0)
        watching.cancel()


def stall_rows(name: str, stalls: Sequence[Stall], most: float) -> list[Row]:
    """The rows of several runs; the bar is for the clock on the wall."""
    prefix = f"{name}: " if name else ""
    return [
        row(f"{prefix}longest stall of the screen", [one.wall for one in stalls], "ms", bar=f"≤ {most}", at_most=most),
        row(f"{prefix}longest stretch of its CPU", [one.cpu for one in stalls], "ms", bar=f"≤ {most}", at_most=most),
    ]
