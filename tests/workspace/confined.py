"""The confinements that work on this machine, each to be tried."""

import os
import shutil
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from codeagent.workspace import landlock
from codeagent.workspace.bounds import Bounds
from codeagent.workspace.confine import Bubblewrap, Confinement, Landlock, works
from codeagent.workspace.keeper import Command, start_shell

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
    """Exit code and both streams of a script, started as the program starts commands."""
    root = confined.bounds.root
    ruleset = confined.ruleset()
    reading, writing = os.pipe()
    words = confined.wrapped(["bash", "-c", script], root)
    command = Command(
        words=words, cwd=root, env=os.environ, output=writing, ruleset=ruleset, is_apart=confined.keeps_apart
    )
    try:
        shell = start_shell(command, threading.Event())
    finally:
        os.close(writing)
        if ruleset is not None:
            os.close(ruleset)
    with os.fdopen(reading, "rb") as output:
        said = output.read().decode()
    code = shell.wait()
    shell.wait_for_all()
    return code, said
