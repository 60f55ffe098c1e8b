"""A project, a home of its own, and the program started in them as a person would."""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.journeys.terminal import Terminal
from tests.server.scripted_server import ScriptedServer

PROGRAM = (sys.executable, "-m", "codeagent")
CART = "def total(prices, discount):\n    full = sum(prices)\n    return full / (1 + discount)\n"


NAP = f"sleep 9{os.getpid()}"
"""Begins commands that are told apart by how long they sleep; other runs of the tests sleep otherwise."""


def sleeping(nap: str) -> list[str]:
    """The numbers of the processes that sleep so long, whoever started them."""
    pgrep = ["pgrep", "-f", f"^{nap}$"]
    return subprocess.run(pgrep, capture_output=True, text=True, check=False).stdout.split()


def wait_for(path: Path, seconds: float = 20) -> None:
    """Waits until there is such a file, where there is no terminal to look at meanwhile."""
    end = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < end, f"no {path.name}"
        time.sleep(0.01)


UNTIL_GO = "until [ -e go ]; do sleep 0.05; done"
"""What a command does that is to run until the test lets it end."""


@dataclass(frozen=True)
class Place:
    """Where one journey happens."""

    root: Path
    home: Path
    environ: dict[str, str]

    def open(self, *words: str, columns: int = 100, lines: int = 30, environ: dict[str, str] | None = None) -> Terminal:
        """Starts the program in a terminal."""
        return Terminal(
            [*PROGRAM, *words], cwd=self.root, environ={**self.environ, **(environ or {})}, columns=columns, lines=lines
        )

    def run_script(self, script: str, *inside: str) -> Terminal:
        """Runs a script of bash's in a terminal, ``inside`` another program when one is given."""
        return Terminal([*inside, "bash", "-c", script], cwd=self.root, environ=self.environ)

    def run(self, *words: str, piped: str | None = None, timeout: float = 60) -> subprocess.CompletedProcess[str]:
        """Runs the program without a terminal."""
        return subprocess.run(
            [*PROGRAM, *words],
            cwd=self.root,
            env={**os.environ, **self.environ},
            input=piped,
            stdin=subprocess.DEVNULL if piped is None else None,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def events(self, *words: str) -> tuple[list[dict[str, object]], int]:
        """Runs the program with ``--output-format stream-json``: its events and its exit code."""
        finished = self.run("--output-format", "stream-json", *words)
        assert finished.stderr == ""
        return [json.loads(line) for line in finished.stdout.splitlines()], finished.returncode


@pytest.fixture
def place(tmp_path: Path, model_server: ScriptedServer) -> Place:
    root = tmp_path / "shop"
    root.mkdir()
    (root / "cart.py").write_text(CART)
    environ = {
        "CODEAGENT_HOME": str(tmp_path / "home"),
        "CODEAGENT_MODEL": "anthropic/claude-test",
        "ANTHROPIC_API_KEY": "test-key-0123456789",
        "ANTHROPIC_BASE_URL": model_server.url,
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    return Place(root=root, home=tmp_path / "home", environ=environ)


@pytest.fixture
def chat_place(place: Place, model_server: ScriptedServer) -> Place:
    """The same, with the Chat Completions protocol."""
    environ = {
        **place.environ,
        "CODEAGENT_MODEL": "openai-chat/test",
        "OPENAI_BASE_URL": model_server.openai_url,
        "OPENAI_API_KEY": "test-key-0123456789",
    }
    return Place(root=place.root, home=place.home, environ=environ)


HELD = """
import sys, time
from pathlib import Path

folder = Path(__file__).parents[1]
while not (folder / "go").exists():
    time.sleep(0.005)
sys.path.remove(str(folder))
del sys.modules["textual"]
import textual
"""


def held(place, folder):
    """The place where the app is not loaded before there is a file ``go`` in the folder."""
    (folder / "textual").mkdir(parents=True)
    (folder / "textual/__init__.py").write_text(HELD)
    paths = f"{folder}{os.pathsep}{place.environ['PYTHONPATH']}"
    return replace(place, environ={**place.environ, "PYTHONPATH": paths})
