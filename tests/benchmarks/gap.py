"""The gap between the end of a reply and the next request, against a scripted server.

Without a screen in a session of 500 turns, by one service or by all three in
turn, and in the app in a turn of 500 steps; half of the calls read a file, half
run ``true``. After them some turns without a screen are not timed: their steps are
counted, the lines of the program that the interpreter goes through, which no load
can change.

A machine is not as fast in one minute as in the next. So the last 50 turns are compared
with the first 50 of a second process, pair by pair: each of the two is answered only
when the other has asked. The bar is on processor time, since other programs lengthen
one gap and not the next. The two kinds of call take unlike times, so late ones are
compared with early ones of their kind.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Semaphore

from codeagent.config.launch import Launch
from codeagent.config.places import find_places
from codeagent.wiring import assemble
from tests.benchmarks.driver import Screen, processor_seconds
from tests.benchmarks.row import Row, row
from tests.benchmarks.steps import counted_steps
from tests.server.replies import Call, Reply, Say
from tests.server.scripted_server import CLOSING_TEXT, Request, ScriptedServer

TURNS = 500
EDGE = 50
CALLS = (("read", {"path": "a.py"}), ("bash", {"command": "true"}))
PROTOCOLS = {
    "anthropic": ("anthropic/test",),
    "openai-chat": ("openai-chat/test",),
    "switching": ("anthropic/test", "openai-chat/test", "openai/test"),
}
COUNTED = 20  # turns whose steps are counted, after the others
WARM = 100  # turns after which memory is looked at first


def run() -> list[Row]:
    """Each protocol by itself, then the app."""
    rows: list[Row] = []
    for name, models in PROTOCOLS.items():
        old, fresh = _side_by_side(partial(_without_screen, models), requests=2)
        ratio, grown = old.steps / fresh.steps, old.megabytes_grown
        rows += [
            *_rows(name, old, fresh, bar=20),
            row(f"{name}: steps of a turn, last against first", [ratio], "", bar="≤ 1.02", at_most=1.02),
            row(f"{name}: memory grown from turn {WARM} on", [grown], "MB", bar="≤ 15", at_most=15),
        ]
    return rows + _rows("app", *_side_by_side(_in_app, requests=1), bar=30)


class _Session(ScriptedServer):
    """A program and its server, which answers a request when it may and keeps nothing of what it has checked.

    ``clock`` tells how much processor time the program has used, ``used`` what it told
    before each turn that has its pair.
    """

    def __init__(self, turns: int, requests: int) -> None:
        super().__init__()
        seen = [Reply(parts=(Say("Seen."),))] * (requests - 1)
        for name, arguments in itertools.islice(itertools.cycle(CALLS), turns + COUNTED):
            self.reply(Reply(parts=(Say("I'll look."), Call(name, arguments))), *seen)
        self.turns, self.requests_of_turn = turns, requests
        self.clock: Callable[[], float] = float
        self.used: list[float] = []
        self.steps, self.megabytes_grown = 0, 0.0
        self._may = Semaphore(0)

    def record(self, request: Request) -> None:
        super().record(replace(request, raw=b"", body={}))
        self._may.acquire()

    def answer(self, count: int = 1) -> None:
        """Lets so many requests be answered."""
        self._may.release(count)

    @property
    def seconds(self) -> list[float]:
        """Of processor time for each turn that has its pair."""
        return [after - before for before, after in itertools.pairwise(self.used)]

    @property
    def gaps(self) -> list[float]:
        """Milliseconds from a reply with a call to the next request, for each turn."""
        every = self.requests_of_turn
        after = zip(self.answered_at[::every], self.requests[1::every], strict=False)
        return [(request.received_at - ended) * 1000 for ended, request in after][: self.turns]


def _side_by_side(program: Callable[[_Session], None], requests: int) -> tuple[_Session, _Session]:
    """An old session and a fresh one that take turns, of so many requests each."""
    alone = (TURNS - EDGE) * requests
    with _Session(TURNS, requests) as old, _Session(EDGE, requests) as fresh, ThreadPoolExecutor(2) as pool:
        running = [pool.submit(program, old)]
        try:
            old.answer(alone)
            old.wait_for_requests(alone + 1, 300)
            running.append(pool.submit(program, fresh))
            fresh.wait_for_requests(1, 60)
            for step in range(EDGE * requests):
                for session, before in (old, alone), (fresh, 0):
                    if step % requests == 0:
                        session.used.append(session.clock())
                    session.answer()
                    session.wait_for_requests(before + step + 2, 60)
            for session in old, fresh:
                session.used.append(session.clock())
        finally:
            for session in old, fresh:
                session.answer((TURNS + COUNTED) * requests)
            for one in running:
                one.result()
        assert old.refusals == fresh.refusals == []
        return old, fresh


def _rows(name: str, old: _Session, fresh: _Session, bar: float) -> list[Row]:
    rows = [row(f"{name}: gap, all {TURNS}", old.gaps, "ms", bar=f"≤ {bar}", at_most=bar)]
    for at, (kind, _) in enumerate(CALLS):
        first, last = fresh.gaps[at::2], old.gaps[at - EDGE :: 2]
        gap_ratios, ratios = _ratios(last, first), _ratios(old.seconds, fresh.seconds)[at::2]
        rows += [
            row(f"{name}: gap, first {len(first)} with {kind}", first, "ms"),
            row(f"{name}: gap, last {len(last)} with {kind}", last, "ms"),
            row(f"{name}: gap, last against first with {kind}", gap_ratios, ""),
            row(f"{name}: processor time, last against first with {kind}", ratios, "", bar="≤ 1.2", at_most=1.2),
        ]
    return rows


def _ratios(last: list[float], first: list[float]) -> list[float]:
    return [late / early for late, early in zip(last, first, strict=True)]


@contextmanager
def _place(url: str) -> Iterator[tuple[Path, dict[str, str]]]:
    """A project, and the environment to start the program in."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "project"
        root.mkdir()
        (root / "a.py").write_text("x = 1\n" * 50)
        environ = {
            "CODEAGENT_HOME": str(Path(folder) / "home"),
            "ANTHROPIC_API_KEY": "test-key",
            "OPENAI_API_KEY": "test-key",
            "ANTHROPIC_BASE_URL": url,
            "OPENAI_BASE_URL": f"{url}/v1",
            "PYTHONPATH": str(Path(__file__).parents[2]),
        }
        yield root, environ


def _in_app(session: _Session) -> None:
    """One turn of many steps."""
    words = ("--model", "anthropic/test", "--max-steps", "1000", "look")
    with _place(session.url) as (root, environ), Screen(*words, cwd=root, environ=environ) as screen:
        session.clock = screen.processor_seconds
        screen.wait(CLOSING_TEXT, 600)


def _without_screen(models: tuple[str, ...], session: _Session) -> None:
    """Many turns in a process of their own."""
    words = [sys.executable, "-m", __name__, session.url, str(session.turns), *models]
    with subprocess.Popen(words, cwd=Path(__file__).parents[2], stdout=subprocess.PIPE) as process:
        session.clock = partial(processor_seconds, process.pid)
        told, _ = process.communicate()
        session.steps, session.megabytes_grown = json.loads(told)


async def _send_all(url: str, turns: int, models: list[str]) -> tuple[int, float]:
    """The steps of those turns that are counted, and the megabytes grown before them."""
    flags = {"model": {"name": models[0]}, "budget": {"max_steps": 1_000}, "permissions": {"allow": ["bash(true)"]}}
    with _place(url) as (root, environ):
        launch = Launch(root=root, places=find_places(environ), environ=environ, flags=flags)
        parts = assemble(launch, lambda _event: None, None)
        others = itertools.cycle(models)
        steps = 0
        resident: list[float] = []
        for turn in range(turns + COUNTED):
            if turn in {WARM, turns}:
                resident.append(_resident_megabytes())
            if len(models) > 1:
                await parts.bench.set_model(next(others))
            with counted_steps() if turn >= turns else nullcontext(Counter[str]()) as counted:
                await parts.session.send("look again, please")
            steps += counted["line"]
        await parts.bench.set_model(models[0])  # a new client: the connections of the one before end with their loop
        parts.close()
        return steps, resident[-1] - resident[0]


def _resident_megabytes() -> float:
    """What the process holds in memory; 0 where the system does not say."""
    status = Path("/proc/self/statm")
    return int(status.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6 if status.exists() else 0.0


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_send_all(sys.argv[1], int(sys.argv[2]), sys.argv[3:]))))
