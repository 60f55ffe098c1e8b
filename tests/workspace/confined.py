"""The confinements that work on this machine, each to be tried."""

import shutil
import subprocess
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from codeagent.workspace import landlock
from codeagent.workspace.bounds import Bounds
from codeagent.workspace.confine import Bubblewrap, Confinement, Landlock, works

KINDS = ("landlock", "bubblewrap")


def confinement(kind: str, bounds: Bounds) -> Confinement:
    """One of the kinds, or a skipped test where this machine has none."""
    if kind == "landlock":
        if landlock.abi() < landlock.LEAST_ABI:
            pytest.skip("this kernel has no Landlock")
        return Landlock(bounds=bounds)
    program = shutil.which("bwrap")
    if program is None or not works(program):
        pytest.skip("bubblewrap does not work here")
    return Bubblewrap(program=program, bounds=replace(bounds, protects_git=True))


def bounds_in(folder: Path, *, has_network: bool = True, writes: bool = True) -> Bounds:
    """A workspace ``project`` beside a folder ``outside``; no writing at all without ``writes``."""
    root = folder / "project"
    root.mkdir()
    (folder / "outside").mkdir()
    return Bounds(root=root, writable=(root,) if writes else (), has_network=has_network)


def run_in(confined: Confinement, script: str) -> tuple[int, str]:
    """Exit code and both streams of a script, run as the program does: from a thread that was restricted."""
    found: list[tuple[int, str]] = []

    def start() -> None:
        confined.restrict_thread()
        root = confined.bounds.root
        words = confined.wrapped(["bash", "-c", script], root)
        run = subprocess.run(
            words,
            cwd=root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        found.append((run.returncode, run.stdout))

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    return found[0]
