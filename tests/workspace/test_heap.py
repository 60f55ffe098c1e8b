import ctypes
import sys
from pathlib import Path

import pytest

from codeagent.workspace.heap import give_back

BLOCKS, BYTES = 4_000, 4_000


def resident() -> int:
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Anonymous:")) * 1024


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the C library of Linux")
def test_what_was_freed_between_what_is_in_use_goes_back_to_the_system():
    if not hasattr(ctypes.CDLL(None), "malloc_trim"):
        pytest.skip("another C library")
    kept = [bytearray(BYTES) for _ in range(BLOCKS)]
    last = kept.pop()
    full = resident()
    kept.clear()
    give_back()
    assert full - resident() > BLOCKS * BYTES * 0.8
    assert len(last) == BYTES


def test_it_can_be_called_anywhere_and_again():
    give_back()
    give_back()
