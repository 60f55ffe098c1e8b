"""The gap between the end of a reply and the next request, against a scripted server.

Without a screen in a session of 500 turns, by one service or by all three in
turn, and in the app in a turn of 500 steps; half of the calls read a file, half
run ``true``. Between them some turns are not timed: their steps are counted, the
lines of the program that the interpreter goes through, which no load can change.

The two kinds of call take unlike times, so late ones are compared with early ones
of their kind: a median over both would lie between them, where it jumps. What is
timed is the program: the app's terminal only counts bytes, and its requests are
checked when it has ended, since the longer a reply takes to come, the more
pictures of its clock the app draws in the gap.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import statistics
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

from codeagent.config.launch import Launch
from codeagent.config.places import find_places
from codeagent.wiring import assemble
from tests.benchmarks.driver import Screen
from tests.benchmarks.row import Row, row
from tests.benchmarks.steps import counted_steps
from tests.server import messages_api
from tests.server.replies import Call, Reply, Say
from tests.server.scripted_server import Request, ScriptedServer

TURNS = 500
EDGE = 50
CALLS = (("read", {"path": "a.py"}), ("bash", {"command": "true"}))
PROTOCOLS = {
    "anthropic": ("anthropic/test",),
    "openai-chat": ("openai-chat/test",),
    "switching": ("anthropic/test", "openai-chat/test", "openai/test"),
}
COUNTED = 20  # turns whose steps are counted, early and late
WARM = 100  # turns after which memory is looked at first


def run() -> list[Row]:
    """Each protocol by itself, then the app."""
    rows: list[Row] = []
    for name, models in PROTOCOLS.items():
        gaps, steps, grown = asyncio.run(_gaps(models))
        rows += _rows(name, gaps, bar=20)
        ratio = sum(steps[COUNTED:]) / sum(steps[:COUNTED])
        rows.append(row(f"{name}: steps of a turn, last against first", [ratio], "", bar="≤ 1.02", at_most=1.02))
        rows.append(row(f"{name}: memory grown from turn {WARM} on", [grown], "MB", bar="≤ 15", at_most=15))
    return rows + _app_rows()


def _rows(name: str, gaps: list[float], bar: float) -> list[Row]:
    rows = [row(f"{name}: gap, all {len(gaps)}", gaps, "ms", bar=f"≤ {bar}", at_most=bar)]
    for at, (kind, _) in enumerate(CALLS):
        first, last = gaps[at:EDGE:2], gaps[at - EDGE :: 2]
        ratio = statistics.median(last) / statistics.median(first)
        rows += [
            row(f"{name}: gap, first {len(first)} with {kind}", first, "ms"),
            row(f"{name}: gap, last {len(last)} with {kind}", last, "ms"),
            row(f"{name}: last against first with {kind}", [ratio], "", bar="≤ 1.2", at_most=1.2),
        ]
    return rows


class _Clocked(ScriptedServer):
    """Notes with each request how much processor time the program has used."""

    def __init__(self) -> None:
        super().__init__(answers_unread=True)
        self.clock: Callable[[], float] = float
        self.used: list[float] = []

    def record(self, request: Request) -> None:
        self.used.append(self.clock())
        super().record(request)


def _app_rows() -> list[Row]:
    """One turn of many steps in the app."""
    with tempfile.TemporaryDirectory() as folder, _Clocked() as server:
        root = Path(folder) / "project"
        root.mkdir()
        (root / "a.py").write_text("x = 1\n" * 50)
        for name, arguments in itertools.islice(itertools.cycle(CALLS), TURNS):
            server.reply(Reply(parts=(Say("I'll look."), Call(name, arguments))))
        server.reply(Reply(parts=(Say("All of it is seen."),)))
        environ = {
            "CODEAGENT_HOME": str(Path(folder) / "home"),
            "ANTHROPIC_API_KEY": "test-key",
            "ANTHROPIC_BASE_URL": server.url,
            "PYTHONPATH": str(Path(__file__).parents[2]),
        }
        with Screen("--model", "anthropic/test", "--max-steps", "1000", "look", cwd=root, environ=environ) as screen:
            server.clock = screen.processor_seconds
            screen.wait("All of it is seen", 600)
        for request in server.requests:
            messages_api.check(json.loads(request.raw))
        requests = zip(server.answered_at, server.requests[1:], strict=False)
        gaps = [(request.received_at - ended) * 1000 for ended, request in requests]
        used = [(after - before) * 1000 for before, after in itertools.pairwise(server.used)]
        return [
            *_rows("app", gaps, bar=30),
            row(f"app: processor time of a step, first {EDGE}", used[:EDGE], "ms"),
            row(f"app: processor time of a step, last {EDGE}", used[-EDGE:], "ms"),
        ]


async def _gaps(models: tuple[str, ...]) -> tuple[list[float], list[int], float]:
    """Milliseconds between reply and request in each turn, steps of those counted, and the megabytes grown."""
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
        flags = {"model": {"name": models[0]}, "budget": {"max_steps": 1_000}, "permissions": {"allow": ["bash(true)"]}}
        launch = Launch(root=root, places=find_places(environ), environ=environ, flags=flags)
        parts = assemble(launch, lambda _event: None, None)
        calls = itertools.cycle(CALLS)
        others = itertools.cycle(models)
        gaps: list[float] = []
        steps: list[int] = []
        resident = 0.0
        for turn in range(TURNS + 2 * COUNTED):
            is_counted = 0 <= turn - EDGE < COUNTED or 0 <= turn - (TURNS + COUNTED - EDGE) < COUNTED
            if turn == WARM:
                resident = _resident_megabytes()
            if len(models) > 1:
                await parts.bench.set_model(next(others))
            name, arguments = next(calls)
            server.reply(Reply(parts=(Say("I'll look."), Call(name, arguments))), Reply(parts=(Say("Seen."),)))
            with counted_steps() if is_counted else nullcontext(Counter()) as counted:
                await parts.session.send("look again, please")
            if is_counted:
                steps.append(counted["line"])
            else:
                gaps.append((server.requests[1].received_at - server.answered_at[0]) * 1000)
            assert server.refusals == []
            server.requests.clear()  # the server shares this process
            server.answered_at.clear()
        grown = _resident_megabytes() - resident
        await parts.bench.set_model(models[0])  # a new client: the connections of the one before end with their loop
        parts.close()
        return gaps, steps, grown


def _resident_megabytes() -> float:
    """What the process holds in memory; 0 where the system does not say."""
    status = Path("/proc/self/statm")
    return int(status.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6 if status.exists() else 0.0
