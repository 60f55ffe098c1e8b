import ctypes
import os
import subprocess
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


HEAPS = """
import ctypes, threading
library = ctypes.CDLL(None)
library.fopen.restype, library.fopen.argtypes = ctypes.c_void_p, [ctypes.c_char_p] * 2
library.malloc_info.argtypes, library.fclose.argtypes = [ctypes.c_int, ctypes.c_void_p], [ctypes.c_void_p]
kept, ready = [], threading.Barrier(9)

def work():
    kept.append(bytearray(5_000))
    ready.wait()

for _ in range(8):
    threading.Thread(target=work).start()
ready.wait()
file = library.fopen(b"/dev/stdout", b"w")
library.malloc_info(0, file)
library.fclose(file)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the C library of Linux")
def test_threads_take_memory_from_one_place():
    if not hasattr(ctypes.CDLL(None), "malloc_info"):
        pytest.skip("another C library")

    environ = {name: text for name, text in os.environ.items() if not name.startswith(("MALLOC_", "GLIBC_"))}

    def heaps(before: str) -> int:
        command = [sys.executable, "-c", before + HEAPS]
        done = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
        return done.stdout.count("<heap nr=")

    assert heaps("") > 1
    assert heaps("from codeagent.workspace.heap import share_heap\nshare_heap()\n") == 1
