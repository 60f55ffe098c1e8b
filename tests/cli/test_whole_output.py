"""What is written arrives whole, however often the system takes only a part of it."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPT = """
import signal, sys
from codeagent.cli.main import buffer_output
from codeagent.cli.terminal_guard import put
buffer_output()
signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
for _ in range(3):
    WRITE("x" * 300_000 + "\\n")
signal.setitimer(signal.ITIMER_REAL, 0)
"""
WAYS = {
    "printed": "sys.stdout.write",
    "drawn by the app": "sys.__stdout__.write",
    "drawn before the app": "put",
}


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_nothing_is_lost_when_signals_cut_writes_short(way, unbuffered):
    """A pipe takes a part, the rest has to wait for the reader, and a signal ends that wait."""
    environ = {**os.environ, "PYTHONUNBUFFERED": unbuffered, "PYTHONPATH": str(Path(__file__).parents[2])}
    words = [sys.executable, "-c", SCRIPT.replace("WRITE", way)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, env=environ) as writer:
        time.sleep(0.3)
        got = writer.communicate()[0]
    assert (writer.returncode, len(got)) == (0, 3 * 300_001)
