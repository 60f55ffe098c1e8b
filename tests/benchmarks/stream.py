"""A reply of 80 kB in 20,000 pieces from a model service, through the whole app in a real terminal."""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.row import Row, row
from tests.benchmarks.transcript import TEXT, streamed_by_textual
from tests.journeys.terminal import Terminal
from tests.server.replies import Reply, Say
from tests.server.scripted_server import ScriptedServer

ROUNDS = 3
PROTOCOLS = ("anthropic/test", "openai/test", "openai-chat/test")
TICK = os.sysconf("SC_CLK_TCK")
PAINT = b"\x1b[?2026h"
ANSWER = "\x1b[?2026;2$y"  # the terminal can take a frame as a whole: so frames can be counted


def run() -> list[Row]:
    """Each protocol, against Textual's own Markdown."""
    textual = asyncio.run(streamed_by_textual())
    rows: list[Row] = []
    for model in PROTOCOLS:
        taken = [_streamed(model) for _ in range(ROUNDS)]
        cpu, before = [one[0] for one in taken], [one[3] for one in taken]
        rows += [
            row(f"{model}: CPU of the whole program", cpu, "s", bar="≤ 2.5", at_most=2.5),
            row(
                f"{model}: against Textual's Markdown alone",
                [statistics.median(cpu) / textual],
                "",
                bar="≤ 0.15",
                at_most=0.15,
            ),
            row(f"{model}: paints", [one[1] for one in taken], "/s", bar="≤ 30", at_most=30),
            row(f"{model}: echo of a key before", before, "ms"),
            row(
                f"{model}: echo of a key meanwhile",
                [one[2] for one in taken],
                "ms",
                bar="≤ 2 × before, or ≤ 100",
                at_most=max(2 * statistics.median(before), 100),
            ),
        ]
    return [*rows, row("Textual's Markdown stream, fed every 50 ms: CPU", [textual], "s")]


def _streamed(model: str) -> tuple[float, float, float, float]:
    """CPU seconds, paints a second, and ms until a typed letter stands in the prompt, while it streams and idle."""
    with tempfile.TemporaryDirectory() as folder, ScriptedServer() as server:
        root = Path(folder) / "project"
        root.mkdir()
        server.reply(Reply(parts=(Say("Ready now."),)), Reply(parts=(Say(f"{TEXT}\n\nThat was all.", size=4),)))
        environ = {
            "CODEAGENT_HOME": str(Path(folder) / "home"),
            "ANTHROPIC_API_KEY": "test-key",
            "OPENAI_API_KEY": "test-key",
            "ANTHROPIC_BASE_URL": server.url,
            "OPENAI_BASE_URL": server.openai_url,
            "PYTHONPATH": str(Path(__file__).parents[2]),
        }
        words = [sys.executable, "-m", "codeagent", "--model", model, "get ready"]
        with Terminal(words, cwd=root, environ=environ, columns=120, lines=40) as terminal:
            terminal.wait("Ready now", 60)
            terminal.wait("enter send", 60)
            terminal.send(ANSWER)
            terminal.pump(1)
            idle = [_echo(terminal, letter) for letter in "abcdefgh"]
            terminal.press("ctrl+c")
            painted, before, started = len(terminal.raw), _cpu(terminal.pid), time.monotonic()
            terminal.send("go\r")
            terminal.wait("Step", 30)
            busy: list[float] = []
            while "That was all" not in terminal.text:
                busy.append(_echo(terminal, "abcdefgh"[len(busy) % 8]))
                terminal.pump(0.05)
            taken = time.monotonic() - started
            used = _cpu(terminal.pid) - before
            paints = terminal.raw[painted:].count(PAINT) / taken
        return used, paints, statistics.median(busy), statistics.median(idle)


def _echo(terminal: Terminal, letter: str) -> float:
    """Milliseconds until a typed letter stands at the end of the prompt."""
    line = _prompt(terminal)
    pressed = time.monotonic()
    terminal.send(letter)
    while _prompt(terminal) == line and time.monotonic() < pressed + 5:
        terminal.pump(0.002)
    return (time.monotonic() - pressed) * 1_000


def _prompt(terminal: Terminal) -> str:
    return next((line for line in reversed(terminal.text.split("\n")) if line.startswith(" › ")), "")


def _cpu(pid: int) -> float:
    """The CPU seconds that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK
