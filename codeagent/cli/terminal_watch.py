"""Gives the terminal back when the program dies at once: killed, or by a fault below Python.

Nothing of a dead process can do that, so a small one beside it waits on a pipe that only the program holds. The
system closes it before anybody learns of the death, so that a shell's next prompt mostly comes after that.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from codeagent.cli.opening import Watch
from codeagent.cli.terminal_guard import LEAVE
from codeagent.tui.driver import BRING_TITLE_BACK

_OURS, _THEIRS = b"o", b"t"

_PROMPT_IS_GONE = "codeagent was ended. Enter brings the prompt.\r\n"

_WAIT = f"""
import _signal as signal, os, termios
for name in ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM"):
    signal.signal(getattr(signal, name), signal.SIG_IGN)
raw = None
while word := os.read(0, 1):
    raw = termios.tcgetattr(1) if word == {_OURS} else None
if raw:
    is_in_time = termios.tcgetattr(1) == raw
    if is_in_time:
        termios.tcsetattr(1, termios.TCSAFLUSH, BEFORE)
    os.write(1, {(LEAVE + BRING_TITLE_BACK).encode()} + (b"" if is_in_time else {_PROMPT_IS_GONE.encode()}))
"""
"""Where a shell was quicker its modes stay; its prompt was drawn on the screen that is left here."""


class TerminalWatch:
    """The process that waits; it has a session of its own, so that nothing typed and no hang-up reaches it."""

    def __init__(self, before: Sequence[object]) -> None:
        """``before`` are the terminal's attributes to go back to. Raises OSError."""
        python = Path(sys.executable).resolve()  # pkill -f by the name of a virtual environment finds the program alone
        reading, self._telling = os.pipe()
        try:
            self._process = subprocess.Popen(
                (python, "-s", "-S", "-P", "-c", _WAIT.replace("BEFORE", repr(before))),
                cwd="/",
                env={
                    name: value for name, value in os.environ.items() if name.startswith("LD_") or name == "PYTHONHOME"
                },
                stdin=reading,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError:
            os.close(self._telling)
            raise
        finally:
            os.close(reading)

    def tell(self, is_ours: bool) -> None:  # noqa: FBT001 - it is the one thing to tell
        """Whether the terminal is the program's now; not while it is suspended, or the person's editor has it."""
        with suppress(BrokenPipeError):  # somebody ended what waits
            os.write(self._telling, _OURS if is_ours else _THEIRS)

    def end(self) -> None:
        """The terminal was given back."""
        self._process.kill()
        self._process.wait()
        os.close(self._telling)


def start_watch(before: Sequence[object]) -> Watch | None:
    """Has the terminal watched, which is not worth failing for."""
    try:
        return TerminalWatch(before)
    except OSError:
        return None
