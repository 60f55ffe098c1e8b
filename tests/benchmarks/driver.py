"""The whole program in a terminal that only counts bytes: what is measured is the program, not the terminal."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from codeagent.config.places import find_places
from codeagent.core.approvals import Mode
from codeagent.core.events import HistoryAppended, SessionStarted, TurnEnd, TurnEnded, TurnStarted
from codeagent.core.messages import AssistantMessage, StopReason, TextBlock, UserMessage
from codeagent.store.journal import JournalFile
from codeagent.store.sessions import Sessions
from tests.server.scripted_server import ScriptedServer

COLUMNS, LINES = 120, 40
_PAGE = os.sysconf("SC_PAGE_SIZE")


class Screen:
    """The program in a pty; leaving the block ends it."""

    def __init__(self, *words: str, cwd: Path, environ: dict[str, str]) -> None:
        self.count = 0
        self._unsought = b""
        self.pid, self._descriptor = pty.fork()
        if self.pid == 0:
            os.chdir(cwd)
            fixed = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}
            command = [sys.executable, "-m", "codeagent", *words]
            os.execvpe(command[0], command, {**os.environ, **fixed, **environ})
        size = struct.pack("HHHH", LINES, COLUMNS, 0, 0)
        fcntl.ioctl(self._descriptor, termios.TIOCSWINSZ, size)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self._descriptor)

    def send(self, text: str) -> None:
        """Types."""
        os.write(self._descriptor, text.encode())

    def wait(self, wanted: str, seconds: float = 60) -> float:
        """Reads until the text was drawn, after what was waited for before; the seconds that took."""
        began = time.perf_counter()
        seen, sought = self._unsought, wanted.encode()
        while sought not in seen:
            left = began + seconds - time.perf_counter()
            if left <= 0 or not select.select([self._descriptor], [], [], left)[0]:
                raise TimeoutError(f"{wanted!r} was not drawn; the last was {seen[-400:]!r}")
            seen = seen[-len(sought) :] + self._read()
        self._unsought = seen.partition(sought)[2]
        return time.perf_counter() - began

    def rest(self, seconds: float) -> int:
        """Reads for a while; the bytes that came."""
        self._unsought = b""
        before, end = self.count, time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0:
            if select.select([self._descriptor], [], [], left)[0]:
                self._read()
        return self.count - before

    def processor_seconds(self) -> float:
        """What all threads used so far (Linux)."""
        return processor_seconds(self.pid)

    def milliseconds_waited(self) -> float:
        """How long its event loop, and this terminal, waited for a processor so far (Linux)."""
        waited = [Path(f"/proc/{pid}/schedstat").read_text().split()[1] for pid in (self.pid, os.getpid())]
        return sum(map(int, waited)) / 1e6

    def megabytes(self) -> float:
        """Resident memory now (Linux)."""
        return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * _PAGE / 1e6

    def forget_peak(self) -> None:
        """The peak is counted from now on (Linux)."""
        Path(f"/proc/{self.pid}/clear_refs").write_text("5")

    def peak_megabytes(self) -> float:
        """The most resident memory since the start, or since the peak was forgotten (Linux)."""
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) * 1024 / 1e6

    def _read(self) -> bytes:
        data = os.read(self._descriptor, 65_536)
        self.count += len(data)
        return data


def processor_seconds(pid: int) -> float:
    """What all threads of a process used so far, those that ended too (Linux).

    The clock's number is what clock_getcpuclockid(3) makes of the process's.
    """
    return time.clock_gettime(~pid << 3 | 2)


@contextmanager
def place_with_server(folder: Path) -> Iterator[tuple[Path, dict[str, str], ScriptedServer]]:
    """A project, the environment to start the program in, and the server that plays the model."""
    root = folder / "project"
    root.mkdir()
    (root / "a.py").write_text("x = 1\n" * 50)
    config = folder / "home" / "config"
    config.mkdir(parents=True)
    (config / "config.toml").write_text('[context]\ncompact_at = "off"\n[ui]\ntheme = "dark"\n')
    with ScriptedServer() as server:
        environ = {
            "CODEAGENT_HOME": str(folder / "home"),
            "CODEAGENT_MODEL": "anthropic/test",
            "ANTHROPIC_API_KEY": "test-key-0123456789",
            "ANTHROPIC_BASE_URL": server.url,
            "PYTHONPATH": str(Path(__file__).parents[2]),
        }
        yield root, environ, server


def keep_long_session(root: Path, environ: dict[str, str], messages: int) -> None:
    """A stored session of so many messages, for ``-c`` to go on with."""
    stored = Sessions(find_places(environ).sessions, root.resolve())
    session_id = stored.new_id()

    async def write() -> None:
        journal = JournalFile(stored.path(session_id), lambda text: text)
        await journal.append(
            SessionStarted(session_id=session_id, model="anthropic/test", mode=Mode.ASK, cwd=str(root))
        )
        for turn in range(1, messages // 2 + 1):
            question, answer = f"Question {turn}: why?", f"**Answer {turn}**: the total is wrong in `cart.py`."
            journal.note(TurnStarted(turn=turn, text=question))
            journal.note(HistoryAppended(message=UserMessage(blocks=(TextBlock(text=question),))))
            blocks = (TextBlock(text=answer),)
            journal.note(HistoryAppended(message=AssistantMessage(blocks=blocks, stop=StopReason.END_TURN)))
            await journal.append(TurnEnded(turn=turn, reason=TurnEnd.DONE, text=answer))
        journal.close()

    asyncio.run(write())
