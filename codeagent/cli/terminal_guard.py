"""Gives the terminal back when the program is ended while the app is still starting."""

from __future__ import annotations

import os
import signal
import sys
import termios
from collections.abc import Generator
from contextlib import contextmanager, suppress
from types import FrameType

_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)

# Synchronised output, kitty keyboard, in-band resize, focus, paste, mouse, cursor, and the screen from before.
_RESTORE = (
    "\x1b[?2026l\x1b[<u\x1b[?2048l\x1b[?1004l\x1b[?2004l"
    "\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1016l\x1b[0m\x1b[?25h\x1b[?1049l"
)


@contextmanager
def guarded_terminal() -> Generator[None]:
    """Until the app minds signals itself, one ends the program with the terminal as it was."""
    before = termios.tcgetattr(sys.stdin.fileno())

    def leave(number: int, _frame: FrameType | None) -> None:
        with suppress(OSError, termios.error):
            os.write(sys.stdout.fileno(), _RESTORE.encode())
            termios.tcsetattr(sys.stdin.fileno(), termios.TCSANOW, before)
        os._exit(128 + number)

    kept = {number: signal.signal(number, leave) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
