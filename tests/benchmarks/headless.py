"""A run without a screen: from exec to the first request, against importing and making the bare client of its SDK."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from tests.benchmarks.row import Row, row
from tests.benchmarks.startup import processor_milliseconds
from tests.server.replies import Reply, Say
from tests.server.scripted_server import ScriptedServer

RUNS = 7
CLIENTS = {
    "anthropic/test": "import anthropic; anthropic.AsyncAnthropic(api_key='k', base_url='http://127.0.0.1:9')",
    "openai/test": "import openai; openai.AsyncOpenAI(api_key='k', base_url='http://127.0.0.1:9')",
    "openai-chat/test": "import openai; openai.AsyncOpenAI(api_key='k', base_url='http://127.0.0.1:9')",
}


def run() -> list[Row]:
    """Ours and the bare client in turn, so that a slow moment of the machine hits both."""
    rows = []
    with tempfile.TemporaryDirectory() as folder, ScriptedServer() as server:
        place = Path(folder)
        environ = {
            **os.environ,
            "CODEAGENT_HOME": str(place / "home"),
            "ANTHROPIC_API_KEY": "test-key",
            "OPENAI_API_KEY": "test-key",
            "ANTHROPIC_BASE_URL": server.url,
            "OPENAI_BASE_URL": server.openai_url,
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "PYTHONDONTWRITEBYTECODE": "",  # an installed program has its bytecode beside it
            "PYTHONPYCACHEPREFIX": str(place / "bytecode"),
        }
        project = place / "project"
        project.mkdir()
        for model, client in CLIENTS.items():
            ours, bare = [], []
            for number in range(RUNS + 1):
                one = _made(client, environ, project)
                two = _asked(model, server, environ, project)
                if number:  # the first run fills the caches
                    bare.append(one)
                    ours.append(two)
            rows += _rows(model, bare, ours)
    return rows


def _rows(model: str, bare: list[tuple[float, float]], ours: list[tuple[float, float]]) -> list[Row]:
    rows = []
    for at, what in enumerate(("clock", "processor")):
        theirs, mine = [run[at] for run in bare], [run[at] for run in ours]
        if all(theirs):
            ratios = [two / one for one, two in zip(theirs, mine, strict=True)]
            rows += [
                row(f"{model}, {what}: the bare client", theirs, "ms"),
                row(f"{model}, {what}: exec to first request", mine, "ms"),
                row(f"{model}, {what}: ratio", ratios, "", bar="≤ 1.15", at_most=1.15),
            ]
    return rows


def _made(client: str, environ: Mapping[str, str], cwd: Path) -> tuple[float, float]:
    """Milliseconds until the client was made: of the clock, and of the processor (Linux only)."""
    began = time.monotonic()
    words = [sys.executable, "-c", f"{client}; import os; os.write(1, b'made'); os.read(0, 1)"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ, cwd=cwd) as process:
        assert process.stdout is not None
        process.stdout.read(4)
        return (time.monotonic() - began) * 1000, processor_milliseconds(process.pid)


def _asked(model: str, server: ScriptedServer, environ: Mapping[str, str], cwd: Path) -> tuple[float, float]:
    """Milliseconds until the first request came in, likewise."""
    before = len(server.requests)
    server.reply(Reply(parts=(Say("Hello."),), delay=0.3))  # still running when it is looked at
    began = time.monotonic()
    words = [sys.executable, "-m", "codeagent", "-p", "hello", "--model", model]
    silent = subprocess.DEVNULL
    with subprocess.Popen(words, stdin=silent, stdout=silent, env=environ, cwd=cwd) as process:
        server.wait_for_requests(before + 1, 60)
        processor = processor_milliseconds(process.pid)
    return (server.requests[before].received_at - began) * 1000, processor
