"""A test that runs out of time fails by itself: the others still run."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = """
import pytest


def waits():
    while True:
        pass


code = waits.__code__
no_line = b"\\xff"  # for eight instructions, see "location table" in CPython's InternalDocs/code_objects.md
waits.__code__ = code.replace(co_linetable=no_line * len(code.co_code))


@pytest.mark.timeout(0.1)
def test_that_never_ends():
    waits()


@pytest.mark.timeout(0.1)
def test_that_fails_because_it_never_ends():
    try:
        waits()
    finally:
        raise ValueError


def test_that_is_good():
    pass
"""


def test_one_that_runs_out_of_time_between_two_lines_is_reported_and_the_next_runs(tmp_path):
    (tmp_path / "test_slow.py").write_text(TESTS)
    words = ["-n0", "--reruns=0", "-p", "tests.conftest", "-c", os.devnull, f"--rootdir={tmp_path}", str(tmp_path)]
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *words], cwd=ROOT, env=environ, capture_output=True, text=True, check=False
    )
    assert "2 failed, 1 passed" in run.stdout, run.stdout + run.stderr
    assert "Failed: Timeout (>0.1s)" in run.stdout
