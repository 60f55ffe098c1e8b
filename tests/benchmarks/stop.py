"""Esc: from the key to the end of the turn, at each moment of a turn and with each protocol."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from tests.agent.services import PROTOCOLS, Scene
from tests.agent.test_faults import MOMENTS, moment_of, stop
from tests.benchmarks.row import Row, row
from tests.server.scripted_server import ScriptedServer

RUNS = 5


def run() -> list[Row]:
    """A row for each moment."""
    return [
        row(moment, asyncio.run(_stops(moment)), "ms", bar="≤ 200", at_most=200)
        for moment in MOMENTS
    ]  # fmt: skip


async def _stops(moment: str) -> list[float]:
    took: list[float] = []
    for name, make in PROTOCOLS.items():
        with tempfile.TemporaryDirectory() as folder, ScriptedServer() as server:
            provider = make("test", "key", server.url if name == "messages" else server.openai_url)
            scene = Scene(name, server, provider)
            for _ in range(RUNS):
                stage = moment_of(scene, moment, Path(folder))
                took.append(await stop(scene, stage, moment) * 1000)
            await provider.aclose()
    return took
