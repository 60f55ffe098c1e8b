"""The instant prompt: from exec to the first picture and to the echo of a letter, against an empty Textual app."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.benchmarks.row import Row, row
from tests.benchmarks.startup import EMPTY

RUNS = 15
MOST_RATIO = 0.12
LETTER = "x"


def paint_and_echo(
    words: Sequence[str], painted: bytes, echoed: re.Pattern[bytes], environ: Mapping[str, str], cwd: Path
) -> tuple[float, float]:
    """Milliseconds from exec to the picture, and to the echo of a letter that is typed as soon as it stands."""
    began = time.perf_counter()
    pid, descriptor = pty.fork()
    if pid == 0:
        os.chdir(cwd)
        fixed = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}
        os.execvpe(words[0], list(words), {**os.environ, **fixed, **environ})
    seen, stood = b"", 0.0
    try:
        while True:
            if not select.select([descriptor], [], [], 20)[0]:
                raise TimeoutError(f"{words} drew no {painted!r} or no echo")
            seen += os.read(descriptor, 65_536)
            now = (time.perf_counter() - began) * 1000
            if not stood and painted in seen:
                stood, seen = now, b""
                os.write(descriptor, LETTER.encode())
            elif stood and echoed.search(seen):
                return stood, now
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(descriptor)


def run() -> list[Row]:
    """All programs in turn, so that a slow moment of the machine hits all."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "empty.py").write_text(EMPTY)
        command = place / "codeagent"  # what an installer makes of the entry point
        command.write_text(f"#!{sys.executable}\nimport sys\nfrom codeagent.__main__ import main\nsys.exit(main())\n")
        command.chmod(0o755)
        environ = {
            "CODEAGENT_HOME": str(place / "home"),
            "ANTHROPIC_API_KEY": "x" * 20,
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "PYTHONDONTWRITEBYTECODE": "",  # an installed program has its bytecode beside it
            "PYTHONPYCACHEPREFIX": str(place / "bytecode"),
        }
        programs = {
            "empty Textual app": ([sys.executable, str(place / "empty.py")], b"eady-to-type"),
            "codeagent": ([str(command)], "›".encode()),
            "python -m codeagent": ([sys.executable, "-m", "codeagent"], "›".encode()),
        }
        echo = re.compile(rb" x\x1b")  # in the line of the prompt, before the cursor
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in programs}
        for number in range(RUNS + 1):
            for name, (words, painted) in programs.items():
                one = paint_and_echo(
                    words, painted, re.compile(rb"x") if name.startswith("empty") else echo, environ, place
                )
                if number:  # the first run fills the caches
                    found[name].append(one)
    rows = []
    for at, what in enumerate(("first picture", "echo of a letter")):
        empty = [one[0] for one in found["empty Textual app"]]
        for name, runs in found.items():
            rows.append(row(f"{what}: {name}", [one[at] for one in runs], "ms"))
            if not name.startswith("empty"):
                ratios = [one[at] / other for one, other in zip(runs, empty, strict=True)]
                rows.append(row(f"{what}: {name}, ratio", ratios, "", bar=f"≤ {MOST_RATIO}", at_most=MOST_RATIO))
    return rows
