"""Checkpoints of a repository with 50,000 files of which few changed: CPU of git and of our own, and what is stored."""

from __future__ import annotations

import os
import resource
import subprocess
import tempfile
import time
from pathlib import Path

from codeagent.store.change_store import ChangeStore
from tests.benchmarks.row import Row, row

FILES = 50_000
RUNS = 7


def make_repository(root: Path) -> None:
    """Folders of a hundred files each, all committed."""
    for number in range(FILES // 100):
        folder = root / f"part{number // 50}" / f"module{number}"
        folder.mkdir(parents=True)
        for inner in range(100):
            (folder / f"file{inner}.py").write_text(f"value = {number * inner}\n")
    environ = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    for words in (
        ("init", "-q"),
        ("add", "-A"),
        ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "gc.auto=0", "commit", "-qm", "all"),
        ("gc", "-q"),
    ):
        subprocess.run(["git", *words], cwd=root, env=environ, check=True, capture_output=True)


def cpu() -> float:
    """Seconds of this process and of those that it waited for."""
    ours, theirs = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return ours.ru_utime + ours.ru_stime + theirs.ru_utime + theirs.ru_stime


def change_few(root: Path, turn: int) -> None:
    """What happens between two looks."""
    for inner in range(5):
        (root / "part0" / "module1" / f"file{inner}.py").write_text(f"value = {turn} + {inner}\n")


def size(folder: Path) -> int:
    """Bytes of the contents that are stored; second names of the repository's own objects take none."""
    return sum(path.stat().st_size for path in folder.glob("git-*/objects/??/*"))


def run() -> list[Row]:
    """The very first look at a workspace, the first of a further session, and those before each command."""
    firsts, sessions, looks, walls = [], [], [], []
    with tempfile.TemporaryDirectory() as place:
        root = Path(place) / "work"
        make_repository(root)
        for turn in range(RUNS):
            state = Path(place) / f"state{turn}"
            change_few(root, turn)
            begun = cpu()
            ChangeStore(root, state, "one").look_before()
            firsts.append((cpu() - begun) * 1000)
            store = ChangeStore(root, state, "two")
            begun = cpu()
            store.look_before()
            sessions.append((cpu() - begun) * 1000)
            change_few(root, turn + 100)
            begun, started = cpu(), time.perf_counter()
            store.look_before()
            looks.append((cpu() - begun) * 1000)
            walls.append((time.perf_counter() - started) * 1000)
        stored = size(state)
    return [
        row("first look ever, CPU", firsts, "ms", bar="≤ 300", at_most=300),
        row("first look of a session, CPU", sessions, "ms", bar="≤ 300", at_most=300),
        row("look before a command, CPU", looks, "ms", bar="≤ 300", at_most=300),
        row("look before a command, time", walls, "ms"),
        row("stored", [stored / 1000], "kB", bar="≤ 100", at_most=100),
    ]
