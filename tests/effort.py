"""How much processor time a piece of work takes, told so that a busy machine does not matter."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

_TRIES = 3
_PIECE_SECONDS = 0.009
"""What the fixed piece of work takes where nothing else runs."""


def assert_takes_less(seconds: float, work: Callable[[], object]) -> None:
    """Checks that ``work`` takes less than so many seconds of the processor where nothing else runs.

    It is told by what a fixed piece of work takes right beside it, each the least of a few tries; the first try that
    is good is enough. What other tests left behind is not collected meanwhile.
    """
    took: list[float] = []
    pieces: list[float] = []
    gc.disable()
    try:
        while len(took) < _TRIES:
            pieces.append(_seconds(_piece))
            took.append(_seconds(work))
            if (effort := min(took) / min(pieces) * _PIECE_SECONDS) < seconds:
                return
    finally:
        gc.enable()
    raise AssertionError(f"it takes {effort:.3f} s, not less than {seconds} s")


def _seconds(work: Callable[[], object]) -> float:
    began = time.thread_time()
    work()
    return time.thread_time() - began


def _piece() -> None:
    words = [f"{number}:{number * 7}" for number in range(20_000)]
    assert len({word: word.split(":") for word in words}) == len(words)
