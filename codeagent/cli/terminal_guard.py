"""Gives the terminal back when the program is ended before the app minds signals itself, fails, or dies at once.

Nothing of a dead process can do that, so a small one beside it waits on a pipe that only the program holds. The
system closes it before anybody learns of the death, so that a shell's next prompt mostly comes after that.
"""

import os
import sys
import termios
from _collections_abc import Sequence  # collections.abc would load all of collections

from codeagent.core.first_words import BRING_TITLE_BACK
from codeagent.core.quick_signal import SIGHUP, SIGINT, SIGKILL, SIGQUIT, SIGTERM, on_signal

_INPUT, _OUTPUT = 0, 1

ENTER = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[?2004h"
"""The screen of its own, no cursor, no wrapping, pastes told from typing."""

# Synchronised output, kitty keyboard, in-band resize, focus, paste, mouse, wrapping, cursor, the screen from before.
LEAVE = (
    "\x1b[?2026l\x1b[<u\x1b[?2048l\x1b[?1004l\x1b[?2004l"
    "\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1016l\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l"
)

_OURS, _THEIRS = b"o", b"t"
_PATIENCE = 300  # hundredths of a second

_PROMPT_IS_GONE = "codeagent was ended. Enter brings the prompt.\r\n"
_EDITOR_IS_GONE = "codeagent was ended, and so was your editor. Enter brings the prompt. Its file: "

_WAIT = f"""
import _signal as signal, os, termios, time
program, group = os.getppid(), os.getpgrp()
os.setsid()
for name in ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM"):
    signal.signal(getattr(signal, name), signal.SIG_IGN)
os.closerange(3, 1024)
os.chdir("/")
raw, editor, file = RAW, 0, b""
for line in open(0, "rb"):
    word, _, rest = line.rstrip().partition(b" ")
    raw = termios.tcgetattr(1) if word == {_OURS} else None
    pid, _, file = rest.partition(b" ")
    editor = int(pid or 0)
if editor:
    try:
        for number in signal.SIGHUP, signal.SIGCONT:
            os.killpg(group, number) if group == program else os.kill(editor, number)
        for _ in range({_PATIENCE}):
            time.sleep(0.01)
            os.kill(editor, 0)
    except ProcessLookupError:
        os.write(1, {_EDITOR_IS_GONE.encode()} + file + b"\\r\\n")
if raw:
    is_in_time = termios.tcgetattr(1) == raw
    os.write(1, {(LEAVE + BRING_TITLE_BACK).encode()} + (b"" if is_in_time else {_PROMPT_IS_GONE.encode()}))
    termios.tcflush(1, termios.TCIFLUSH)
    if is_in_time:
        termios.tcsetattr(1, termios.TCSAFLUSH, BEFORE)
"""
"""Where a shell was quicker its modes stay; its prompt was drawn on the screen that is left here.

What the terminal answered to the program is nothing that anybody typed at the shell. An editor that the program
started learns that nobody waits for it, as from a terminal that is closed: it would go on reading keys beside the
shell. It keeps what was typed in its own way. The whole group is told where that is the program's own.
"""


def put(text: str) -> None:
    """Writes text to the terminal to its end, which one write(2) is not held to when a signal comes."""
    left = text.encode()
    while left:
        left = left[os.write(_OUTPUT, left) :]


class TerminalWatch:
    """The process that waits; it has a session of its own, so that nothing typed and no hang-up reaches it."""

    def __init__(self, before: Sequence[object], raw: Sequence[object] | None) -> None:
        """Watches with the terminal's attributes to go back to, and those that the program gave it, if it did by now.

        Raises OSError. This is done while the instant prompt stands: ``subprocess`` would cost more than the rest.
        """
        # pkill -f by the name of a virtual environment finds the program alone; pathlib would have to be loaded
        python = os.path.realpath(sys.executable)  # noqa: TID251 - see above
        wait = _WAIT.replace("RAW", repr(raw)).replace("BEFORE", repr(before))
        environ = {name: told for name, told in os.environ.items() if name.startswith("LD_") or name == "PYTHONHOME"}
        reading, self._telling = os.pipe()
        try:
            self._pid = os.posix_spawn(
                python,
                (python, "-s", "-S", "-P", "-c", wait),
                environ,
                file_actions=(
                    (os.POSIX_SPAWN_DUP2, reading, 0),
                    (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
                ),
            )
        except OSError:
            os.close(self._telling)
            raise
        finally:
            os.close(reading)

    def tell(self, is_ours: bool) -> None:  # noqa: FBT001 - it is the one thing to tell
        """Whether the terminal is the program's now; not while it is suspended, or the person's editor has it."""
        self._write(_OURS if is_ours else _THEIRS)

    def tell_editor(self, pid: int, file: str) -> None:
        """The person's editor has the terminal; ``file`` is what it was started with."""
        self._write(b"%b %d %b" % (_THEIRS, pid, os.fsencode(" ".join(file.splitlines()))))

    def _write(self, words: bytes) -> None:
        try:
            os.write(self._telling, words + b"\n")
        except BrokenPipeError:  # somebody ended what waits
            return

    def end(self) -> None:
        """The terminal was given back."""
        os.kill(self._pid, SIGKILL)
        os.waitpid(self._pid, 0)
        os.close(self._telling)


class TerminalGuard:
    """How the terminal was, and the way back to it; usable in a ``with`` block."""

    def __init__(self) -> None:
        self.before = termios.tcgetattr(_INPUT)
        self.watch: TerminalWatch | None = None
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
        if self.watch is not None:
            self.watch.end()
            self.watch = None

    def begin_watch(self, *, is_raw: bool = False) -> None:
        """Has the terminal watched until the block is left, which is not worth failing for."""
        try:
            self.watch = TerminalWatch(self.before, termios.tcgetattr(_INPUT) if is_raw else None)
        except OSError:
            return

    def make_raw(self) -> None:
        """Keys come one by one, unchanged and without an echo, as the app reads them."""
        raw = termios.tcgetattr(_INPUT)
        raw[0] &= ~(termios.IXON | termios.IXOFF | termios.ICRNL | termios.INLCR | termios.IGNCR)
        raw[3] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN | termios.ISIG)
        raw[6][termios.VMIN] = 1
        termios.tcsetattr(_INPUT, termios.TCSANOW, raw)
        self._tell_watch(is_ours=True)

    def restore(self) -> None:
        """Gives the terminal back as it was; it may be gone."""
        try:
            put(LEAVE)
            termios.tcsetattr(_INPUT, termios.TCSANOW, self.before)
        except (OSError, termios.error):
            return
        finally:
            self._tell_watch(is_ours=False)

    def _tell_watch(self, *, is_ours: bool) -> None:
        if self.watch is not None:
            self.watch.tell(is_ours)

    def _leave(self, number: int, _frame: object) -> None:
        self.restore()
        os._exit(128 + number)
