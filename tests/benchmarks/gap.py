"""The gap between the end of a reply and the next request, in a session of 500 turns, against a scripted server."""

from __future__ import annotations

import asyncio
import itertools
import statistics
import tempfile
from pathlib import Path

from codeagent.config.launch import Launch
from codeagent.config.places import find_places
from codeagent.wiring import assemble
from tests.benchmarks.row import Row, row
from tests.server.replies import Call, Reply, Say
from tests.server.scripted_server import ScriptedServer

TURNS = 500
EDGE = 50
PROTOCOLS = {"anthropic": "anthropic/test", "openai-chat": "openai-chat/test"}


def run() -> list[Row]:
    """Each protocol by itself; half of the turns read a file, half run ``true``."""
    rows = []
    for name, model in PROTOCOLS.items():
        gaps = asyncio.run(_gaps(model))
        first, last = gaps[:EDGE], gaps[-EDGE:]
        ratio = statistics.median(last) / statistics.median(first)
        rows += [
            row(f"{name}: gap, all turns", gaps, "ms", bar="≤ 20", at_most=20),
            row(f"{name}: gap, first {EDGE}", first, "ms"),
            row(f"{name}: gap, last {EDGE}", last, "ms"),
            row(f"{name}: last against first", [ratio], "", bar="≤ 1.2", at_most=1.2),
        ]
    return rows


async def _gaps(model: str) -> list[float]:
    with tempfile.TemporaryDirectory() as folder, ScriptedServer() as server:
        root = Path(folder) / "project"
        root.mkdir()
        (root / "a.py").write_text("x = 1\n" * 50)
        environ = {
            "CODEAGENT_HOME": str(Path(folder) / "home"),
            "ANTHROPIC_API_KEY": "test-key",
            "OPENAI_API_KEY": "test-key",
            "ANTHROPIC_BASE_URL": server.url,
            "OPENAI_BASE_URL": server.openai_url,
        }
        flags = {"model": {"name": model}, "budget": {"max_steps": 1_000}, "permissions": {"allow": ["bash(true)"]}}
        parts = assemble(
            Launch(root=root, places=find_places(environ), environ=environ, flags=flags), lambda _event: None, None
        )
        calls = itertools.cycle([("read", {"path": "a.py"}), ("bash", {"command": "true"})])
        gaps: list[float] = []
        for _ in range(TURNS):
            name, arguments = next(calls)
            server.reply(Reply(parts=(Say("I'll look."), Call(name, arguments))), Reply(parts=(Say("Seen."),)))
            before = len(server.requests)
            await parts.session.send("look again, please")
            ended, asked = server.answered_at[before], server.requests[before + 1].received_at
            gaps.append((asked - ended) * 1000)
        parts.close()
        return gaps
