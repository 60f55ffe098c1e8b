"""Gives the terminal back when the program is ended before the app minds signals itself, or when it fails."""

import os
import termios

from codeagent.cli.quick_signal import SIGHUP, SIGINT, SIGQUIT, SIGTERM, on_signal

_INPUT, _OUTPUT = 0, 1

ENTER = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[?2004h"
"""The screen of its own, no cursor, no wrapping, pastes told from typing."""

# Synchronised output, kitty keyboard, in-band resize, focus, paste, mouse, wrapping, cursor, the screen from before.
LEAVE = (
    "\x1b[?2026l\x1b[<u\x1b[?2048l\x1b[?1004l\x1b[?2004l"
    "\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1016l\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l"
)


class TerminalGuard:
    """How the terminal was, and the way back to it; usable in a ``with`` block."""

    def __init__(self) -> None:
        self.before = termios.tcgetattr(_INPUT)
        self._kept: dict[int, object] = {}

    def __enter__(self) -> "TerminalGuard":  # noqa: PYI034 - Self would load typing
        """From now on a signal ends the program with the terminal as it was."""
        for number in (SIGTERM, SIGHUP, SIGINT, SIGQUIT):
            if number not in self._kept:
                self._kept[number] = on_signal(number, self._leave)
        return self

    def __exit__(self, *_: object) -> None:
        """Signals mean again what they meant before."""
        for number, meant in self._kept.items():
            on_signal(number, meant)
        self._kept = {}

    def make_raw(self) -> None:
        """Keys come one by one, unchanged and without an echo, as the app reads them."""
        raw = termios.tcgetattr(_INPUT)
        raw[0] &= ~(termios.IXON | termios.IXOFF | termios.ICRNL | termios.INLCR | termios.IGNCR)
        raw[3] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN | termios.ISIG)
        raw[6][termios.VMIN] = 1
        termios.tcsetattr(_INPUT, termios.TCSANOW, raw)

    def restore(self) -> None:
        """Gives the terminal back as it was; it may be gone."""
        try:
            os.write(_OUTPUT, LEAVE.encode())
            termios.tcsetattr(_INPUT, termios.TCSANOW, self.before)
        except (OSError, termios.error):
            return

    def _leave(self, number: int, _frame: object) -> None:
        self.restore()
        os._exit(128 + number)
