"""Keeps the C library (glibc) from holding on to memory that nobody uses."""

from __future__ import annotations

import ctypes
from contextlib import suppress

_MMAP_THRESHOLD, _ARENA_MAX = -3, -8  # malloc.h
_LARGE = 256 * 1024


def share_heap() -> None:
    """Threads that begin from now on take memory from one place; large pieces go back as soon as they are freed.

    Otherwise each thread gets a heap of its own, of which glibc returns little, and
    keeps what was freed of large pieces, the larger the longer the program runs:
    https://man7.org/linux/man-pages/man3/mallopt.3.html
    """
    with suppress(AttributeError, OSError):
        library = ctypes.CDLL(None)
        library.mallopt(_ARENA_MAX, 1)
        library.mallopt(_MMAP_THRESHOLD, _LARGE)


def give_back() -> None:
    """Returns what is free between what is in use; a quarter of a millisecond, nothing on other C libraries.

    Loading the model's SDK and long turns leave one to several megabytes behind, which
    glibc returns by itself only at the end of its heap:
    https://man7.org/linux/man-pages/man3/malloc_trim.3.html
    """
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
