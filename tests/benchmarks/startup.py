"""Start-up: from exec to the app's first frame, against an empty Textual app with a text area in the same run."""

from __future__ import annotations

import os
import pty
import select
import signal
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.benchmarks.row import Row, row

RUNS = 9
OWN_FRAME = b"\x1b[?1003h"  # written together with the first frame of the app itself, after the instant prompt
EMPTY = """
from textual.app import App
from textual.widgets import TextArea

class Empty(App):
    def compose(self):
        yield TextArea("ready-to-type")

Empty().run()
"""


def first_paint(words: Sequence[str], marker: bytes, environ: Mapping[str, str], cwd: Path) -> tuple[float, float]:
    """Milliseconds from exec until the marker was drawn: of the clock, and of the processor (Linux only)."""
    began = time.perf_counter()
    pid, descriptor = pty.fork()
    if pid == 0:
        os.chdir(cwd)
        os.execvpe(words[0], list(words), {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", **environ})
    seen = b""
    try:
        while marker not in seen:
            if not select.select([descriptor], [], [], 20)[0]:
                raise TimeoutError(f"{words} never drew {marker!r}")
            seen += os.read(descriptor, 65_536)
        return (time.perf_counter() - began) * 1000, processor_milliseconds(pid)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(descriptor)


def processor_milliseconds(pid: int) -> float:
    """The processor time of all threads of a process so far; 0 where the system does not say."""
    times = [path.read_text().split()[0] for path in Path(f"/proc/{pid}/task").glob("*/schedstat")]
    return sum(map(int, times)) / 1e6


def run() -> list[Row]:
    """Both programs in turn, so that a slow moment of the machine hits both."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        empty = place / "empty.py"
        empty.write_text(EMPTY)
        environ = {
            "CODEAGENT_HOME": str(place / "home"),
            "ANTHROPIC_API_KEY": "x" * 20,
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "PYTHONDONTWRITEBYTECODE": "",  # an installed program has its bytecode beside it
            "PYTHONPYCACHEPREFIX": str(place / "bytecode"),
        }
        ours, theirs = [], []
        for number in range(RUNS + 1):
            one = first_paint([sys.executable, str(empty)], b"eady-to-type", environ, place)
            two = first_paint([sys.executable, "-m", "codeagent"], OWN_FRAME, environ, place)
            if number:  # the first run fills the caches
                theirs.append(one)
                ours.append(two)
    rows = []
    for at, what in enumerate(("clock", "processor")):
        mine, empty_app = [run[at] for run in ours], [run[at] for run in theirs]
        if not all(empty_app):
            continue
        ratios = [one / two for one, two in zip(mine, empty_app, strict=True)]
        rows += [
            row(f"{what}: empty Textual app", empty_app, "ms"),
            row(f"{what}: codeagent's first frame", mine, "ms"),
            row(f"{what}: ratio", ratios, "", bar="≤ 1.3", at_most=1.3),
        ]
    return rows
