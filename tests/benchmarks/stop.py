"""Esc: from the key to the end of the turn, at each moment of a turn and with each protocol."""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

from codeagent.core.events import ApprovalAsked, StepStarted
from tests.agent.stage import Person, Shell, Write
from tests.agent.test_faults import MOMENTS, PROTOCOLS, Scene
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
            took += [await _stop(scene, moment, Path(folder)) for _ in range(RUNS)]
            await provider.aclose()
    return took


async def _stop(scene: Scene, moment: str, root: Path) -> float:
    answer, event = MOMENTS[moment]
    stage = scene.stage(Write(root), Shell(root), gate=Person() if event is ApprovalAsked else None)
    before = len(scene.server.requests)
    scene.server.reply(answer)
    turn = asyncio.ensure_future(stage.send())
    await stage.until(lambda told: isinstance(told, event))
    if event is StepStarted:
        await asyncio.to_thread(scene.server.wait_for_requests, before + 1)
    began = time.perf_counter()
    await stage.session.cancel()
    took = (time.perf_counter() - began) * 1000
    await turn
    return took
