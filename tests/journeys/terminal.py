"""A real terminal for the journeys: runs the program in a pty, types like a person, sees what a person sees."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import pyte

KEYS = {
    "enter": "\r",
    "esc": "\x1b",
    "tab": "\t",
    "shift+tab": "\x1b[Z",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "right": "\x1b[C",
    "left": "\x1b[D",
    "pageup": "\x1b[5~",
    "pagedown": "\x1b[6~",
    "backspace": "\x7f",
    "alt+enter": "\x1b\r",
    "alt+up": "\x1b[1;3A",
    "f1": "\x1bOP",
}

# What pyte does not know: kitty keyboard, mode queries, device attributes, control strings.
_UNKNOWN = re.compile(rb"\x1b\[[<>=?][0-9;]*u|\x1b\[\?[0-9;]*\$p|\x1b\[>[0-9;]*[a-zA-Z]|\x1b[P_].*?\x1b\\")


@dataclass(frozen=True, slots=True)
class Cell:
    """One character of the screen; colours as ``#rrggbb``, empty for the terminal's own."""

    text: str
    foreground: str
    background: str
    is_bold: bool
    is_italic: bool


_PIECES_SECONDS = 0.005
_UNFINISHED = re.compile(rb"\x1b(\[[0-9;?<>=$ ]*|[P_][^\x1b]*\x1b?)?$")


class _Screen(pyte.Screen):
    def select_graphic_rendition(self, *attributes: int, **kwargs: bool) -> None:
        if not kwargs.get("private"):
            super().select_graphic_rendition(*attributes)


def cells_after(output: bytes, columns: int, lines: int) -> list[list[pyte.screens.Char]]:
    """A screen of this size after all this output."""
    screen = _Screen(columns, lines)
    pyte.ByteStream(screen).feed(_UNKNOWN.sub(b"", output))
    return [[screen.buffer[line][column] for column in range(columns)] for line in range(lines)]


MODES = {
    "1000": "mouse",
    "1003": "mouse",
    "1004": "focus",
    "1006": "mouse",
    "1016": "mouse",
    "1049": "screen",
    "2004": "paste",
    "2048": "resize",
}


def left_on(raw: bytes) -> list[str]:
    """The modes that were switched on last, and not off again."""
    last = dict(re.findall(rb"\x1b\[\?(\d+)([hl])", raw))
    on = [MODES[number.decode()] for number, how in last.items() if how == b"h" and number.decode() in MODES]
    on += ["cursor"] * (last.get(b"25") == b"l") + ["wrap"] * (last.get(b"7") == b"l")
    return on + ["kitty"] * (raw.count(b"\x1b[>25u") > raw.count(b"\x1b[<u"))


class Terminal:
    """The program in a terminal of a given size; leaving the block ends it, and all it started."""

    def __init__(
        self,
        words: Sequence[str],
        *,
        cwd: Path,
        environ: Mapping[str, str] | None = None,
        columns: int = 100,
        lines: int = 30,
    ) -> None:
        self.columns, self.lines = columns, lines
        self._screen = _Screen(columns, lines)
        self._stream = pyte.ByteStream(self._screen)
        self.raw = self._waiting = b""
        self.exit_code: int | None = None
        self.started = time.monotonic()
        self.pid, self._descriptor = pty.fork()
        if self.pid == 0:  # the child
            for number in (signal.SIGINT, signal.SIGQUIT):
                signal.signal(number, signal.SIG_DFL)  # a shell ignores them in what it runs in the background
            os.chdir(cwd)
            inherited = {
                name: value
                for name, value in os.environ.items()
                if not name.startswith(("CODEAGENT", "PYTEST", "COLUMNS", "LINES"))
            }
            fixed = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}
            os.execvpe(words[0], list(words), {**inherited, **fixed, **(environ or {})})
        self._size(columns, lines)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number in (signal.SIGTERM, signal.SIGKILL):
            if self.exit_code is not None:
                break
            os.kill(self.pid, number)
            self.wait_for_exit(3)
        os.close(self._descriptor)

    @property
    def text(self) -> str:
        """The screen as text, blanks at line ends left out."""
        return "\n".join(line.rstrip() for line in self._screen.display)

    @property
    def before_cursor(self) -> str:
        """What stands in the row of the terminal's own cursor, up to it."""
        row = self._screen.buffer[self._screen.cursor.y]
        return "".join(row[column].data for column in range(self._screen.cursor.x))

    @property
    def cells(self) -> tuple[tuple[Cell, ...], ...]:
        """The screen cell by cell, with colours."""
        columns = range(self._screen.columns)
        lines = (self._screen.buffer[line] for line in range(self._screen.lines))
        return tuple(tuple(_cell(line[column]) for column in columns) for line in lines)

    def pump(self, seconds: float) -> bool:
        """Reads what the program prints for a while; False when it has ended."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if not select.select([self._descriptor], [], [], min(left, 0.05))[0]:
                continue
            try:
                data = os.read(self._descriptor, 65_536)
            except OSError:
                data = b""
            if not data:
                self._reap()
                return False
            self.raw += data
            self._show(data)
        return True

    def _show(self, data: bytes) -> None:
        """A sequence that came in two pieces waits for its end."""
        data = self._waiting + data
        cut = unfinished.start() if (unfinished := _UNFINISHED.search(data)) else len(data)
        self._waiting = data[cut:]
        self._stream.feed(_UNKNOWN.sub(b"", data[:cut]))

    def wait(self, pattern: str, seconds: float = 15) -> None:
        """Waits until the screen shows the pattern."""
        self.wait_until(lambda: re.search(pattern, self.text, re.MULTILINE) is not None, seconds, f"no {pattern!r}")

    def wait_gone(self, pattern: str, seconds: float = 15) -> None:
        """Waits until the screen does not show the pattern any more."""
        self.wait_until(lambda: re.search(pattern, self.text, re.MULTILINE) is None, seconds, f"still {pattern!r}")

    def wait_for_file(self, path: Path, seconds: float = 15) -> None:
        """Waits until there is such a file, which a command makes when it has begun."""
        self.wait_until(path.exists, seconds, f"no {path.name}, and")

    def wait_for_answer(self, words: str, seconds: float = 15) -> None:
        """Waits until the key of an answer, such as ``y approve``, stands out, which it does while it counts."""

        def counts() -> bool:
            found = [(row, line.find(words)) for row, line in enumerate(self._screen.display) if words in line]
            return any(self._screen.buffer[row][column].bold for row, column in found)

        self.wait_until(counts, seconds, f"{words!r} cannot be answered")

    def wait_for_exit(self, seconds: float = 10) -> int:
        """Waits until the program ends; its exit code, -1 when it goes on."""
        end = time.monotonic() + seconds
        while self.exit_code is None and time.monotonic() < end:
            if not self.pump(0.1):
                time.sleep(0.02)
                self._reap()
        return -1 if self.exit_code is None else self.exit_code

    def type(self, text: str, pause: float = 0.01) -> None:
        """Types characters, ``pause`` seconds apart."""
        for character in text:
            self.send(character)
            self.pump(pause)

    def press(self, *names: str) -> None:
        """Presses keys by name."""
        for name in names:
            self.send(KEYS[name] if name in KEYS else _control(name))
            self.pump(0.15)

    def paste(self, text: str) -> None:
        """Pastes text as terminals do."""
        self.send(f"\x1b[200~{text}\x1b[201~")
        self.pump(0.2)

    def send(self, text: str) -> None:
        """Sends characters as they are."""
        os.write(self._descriptor, text.encode())

    def hang_up(self) -> None:
        """The terminal goes away, as when its window is closed."""
        os.close(self._descriptor)
        self._descriptor = os.open(os.devnull, os.O_RDONLY)

    @property
    def flags(self) -> int:
        """How the terminal treats what is typed, as ``c_lflag`` of termios(3)."""
        return termios.tcgetattr(self._descriptor)[3]

    def resize(self, columns: int, lines: int) -> None:
        """Changes the size of the terminal."""
        self._screen.resize(lines, columns)
        self._size(columns, lines)
        self.pump(0.5)

    def wait_until(self, condition, seconds: float, problem: str) -> None:
        """Looks again after a moment: a picture may come in pieces, the last of which follow at once."""
        end = time.monotonic() + seconds
        while not (condition() and self.pump(_PIECES_SECONDS) and condition()):
            if time.monotonic() > end or not self.pump(0.05):
                if condition():
                    return
                raise AssertionError(f"{problem} on the screen:\n{self.text}")

    def _size(self, columns: int, lines: int) -> None:
        fcntl.ioctl(self._descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def _reap(self) -> None:
        if self.exit_code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.exit_code = os.waitstatus_to_exitcode(status)


def _cell(char: pyte.screens.Char) -> Cell:
    foreground, background = _colour(char.fg), _colour(char.bg)
    if char.reverse:
        foreground, background = background or "#000000", foreground or "#ffffff"
    looks = {"is_bold": char.bold, "is_italic": char.italics}
    return Cell(text=char.data or " ", foreground=foreground, background=background, **looks)


def _colour(name: str) -> str:
    if re.fullmatch("[0-9a-f]{6}", name):
        return f"#{name}"
    return "" if name == "default" else name.removeprefix("bright")


def _control(name: str) -> str:
    if name.startswith("ctrl+"):
        return chr(ord(name[5:]) & 31)
    return name
