"""How a command is started below a keeper, a small process that holds together whatever comes of the command.

On Linux one program (workspace/keeper_program.py, where the keeper and what is said to it are explained) runs beside
codeagent and forks a keeper for each command. It is started with the first command, or before
by ``get_ready``, and anew when somebody ended it. Elsewhere there is no keeper.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from codeagent.core.errors import CommandProblem
from codeagent.workspace import landlock

HAS_KEEPERS = sys.platform == "linux"
_PROGRAM = Path(__file__).with_name("keeper_program.py")
_PATIENCE = 30.0
"""Seconds in which a command must have started."""

_PATIENCE_AT_END = 1.0
"""The same, when it is to end already."""

_LOOK_EVERY = 50  # milliseconds
_UNKNOWN = -1
"""The pid of a shell that killed or stopped its keeper before that could tell it."""


@dataclass(slots=True, kw_only=True)
class Keeper:
    """The parent of a shell and of all its orphans; it is gone when nothing is left of them."""

    pid: int
    lives: bool = True
    has_kept_all: bool = False
    """It is gone because nothing was left, and not killed."""
    _orders: int
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def kill_all(self) -> None:
        """Has it kill what is left, until nothing is; returns at once."""
        with self._lock, suppress(OSError):
            if self.lives:
                os.write(self._orders, b"k")
                os.kill(self.pid, signal.SIGCONT)  # a command may have stopped it

    def is_gone(self, *, has_kept_all: bool) -> None:
        """Takes note of its end: its number may be another's soon."""
        with self._lock:
            self.lives, self.has_kept_all = False, has_kept_all
            os.close(self._orders)


@dataclass(slots=True, kw_only=True)
class StartedShell:
    """A shell that runs: its process number, and its keeper where there is one."""

    pid: int
    keeper: Keeper | None = None
    _process: subprocess.Popen[bytes] | None = None
    _news: _News | None = None

    def wait(self) -> int:
        """Blocks until the shell is gone; its exit code, negative for a signal."""
        if self._news is None:
            return self._process.wait() if self._process is not None else 0
        word, status = self._news.next()
        if word == "started":  # told so late that nobody waited for it
            word, status = self._news.next()
        if word == "exited":
            return os.waitstatus_to_exitcode(status)
        return -signal.SIGKILL  # somebody killed the keeper, and how the shell ends cannot be known

    def wait_for_all(self) -> None:
        """Blocks until nothing is left of what it started, as far as there is a keeper to know."""
        if self.keeper is not None and self._news is not None:
            word, _ = self._news.next()
            self.keeper.is_gone(has_kept_all=word == "over")
            self._news.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What is to run: words, a folder, an environment with a mark in it, and what tells it apart and confines it.

    ``odd_limit`` is its limit of bytes in message queues, ``ruleset`` the descriptor of a
    Landlock ruleset; only a keeper sets them, and 0 and None are none. Its output goes to the descriptor ``output``.
    ``is_apart``: it and its likes signal no other processes and reach no abstract sockets of theirs.
    """

    words: Sequence[str]
    cwd: Path
    env: Mapping[str, str]
    output: int
    odd_limit: int = 0
    ruleset: int | None = None
    is_apart: bool = False

    def request(self) -> bytes:
        """As the keeper reads it; raises ValueError for what no system can run."""
        variables = (f"{name}={value}" for name, value in self.env.items())
        texts = (str(self.odd_limit), str(self.cwd.absolute()), str(len(self.words)), *self.words, *variables)
        if any("\0" in text for text in texts):
            raise ValueError("embedded null byte")
        request = b"".join(os.fsencode(text) + b"\0" for text in texts)
        return b"%d\n%s" % (len(request), request)


def start_shell(command: Command, stopping: threading.Event) -> StartedShell:
    """Starts it in a session of its own. Raises OSError, ValueError, and CommandProblem where there is no keeper.

    It is waited for as long as it takes a machine under load, and next to not at all once ``stopping``.
    """
    if not HAS_KEEPERS:
        process = subprocess.Popen(
            command.words,
            cwd=command.cwd,
            env=command.env,
            stdin=subprocess.DEVNULL,
            stdout=command.output,
            stderr=command.output,
            start_new_session=True,
        )
        return StartedShell(pid=process.pid, _process=process)
    request = command.request()
    for _ in range(2):  # the first starter may have been ended since it was asked last
        if (shell := _start_below_keeper(command, request, stopping)) is not None:
            return shell
    raise _no_starter("it ends at once")


@cache
def get_ready(*, is_apart: bool = False) -> None:
    """Starts, on a thread, the program that will soon be asked for a keeper; does nothing when called again."""
    if HAS_KEEPERS:
        threading.Thread(target=_start_unasked, args=(is_apart,), name="keeper", daemon=True).start()


def _start_unasked(is_apart: bool) -> None:  # noqa: FBT001 - a thread's argument
    with suppress(CommandProblem), _one_at_a_time:
        _the_starter(is_apart=is_apart)


def _start_below_keeper(command: Command, request: bytes, stopping: threading.Event) -> StartedShell | None:
    """None when nothing of it was begun, because the starter was dead."""
    with ExitStack() as own, ExitStack() as theirs:
        news, telling = _pipe(own, theirs)
        obeying, orders = _pipe(theirs, own)
        ruleset = () if command.ruleset is None else (command.ruleset,)
        starter = _ask(command.output, telling, obeying, *ruleset, is_apart=command.is_apart)
        theirs.close()
        if starter is None:
            return None
        told, patience, keeper, word, number = _News(news), _Patience(stopping), 0, "", 0
        try:
            _write(orders, request, patience)
            word, number = told.next(patience)
            if word == "kept":
                keeper = number
                word, number = told.next(patience)
        except TimeoutError as error:
            if not keeper:
                _end(starter)
                raise CommandProblem(
                    f"The command could not be started: nothing answered for {patience.seconds:g} s.",
                    hint="Run it again; what should have started it is replaced.",
                ) from error
        if word == "failed":
            raise OSError(number, os.strerror(number))
        if not keeper:
            _end(starter)
            return None
        own.pop_all()
        pid = number if word == "started" else _UNKNOWN
        return StartedShell(pid=pid, keeper=Keeper(pid=keeper, _orders=orders), _news=told)


def _pipe(reading: ExitStack, writing: ExitStack) -> tuple[int, int]:
    """A pipe of which each end is closed with its stack."""
    ends = os.pipe()
    reading.callback(os.close, ends[0])
    writing.callback(os.close, ends[1])
    return ends


def _write(pipe: int, data: bytes, patience: _Patience) -> None:
    os.set_blocking(pipe, False)
    rest = memoryview(data)
    with suppress(BrokenPipeError):  # the keeper's silence says it
        while rest:
            try:
                rest = rest[os.write(pipe, rest) :]
            except BlockingIOError:
                patience.wait(pipe, select.POLLOUT)


class _Patience:
    """How long a command's start is waited for; much less when it is to end already."""

    def __init__(self, stopping: threading.Event) -> None:
        self._stopping = stopping
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        return _PATIENCE_AT_END if self._stopping.is_set() else _PATIENCE

    def wait(self, pipe: int, what: int) -> None:
        """Until the pipe is ready; raises TimeoutError."""
        waiting = select.poll()
        waiting.register(pipe, what)
        while not waiting.poll(_LOOK_EVERY):
            if time.monotonic() - self._began > self.seconds:
                raise TimeoutError


@dataclass(slots=True)
class _News:
    """What a keeper tells."""

    pipe: int
    _rest: bytes = b""

    def next(self, patience: _Patience | None = None) -> tuple[str, int]:
        """The next word and its number; nothing and 0 when the keeper is gone. Raises TimeoutError."""
        while b"\n" not in self._rest:
            if patience is not None:
                patience.wait(self.pipe, select.POLLIN)
            data = os.read(self.pipe, 4096)
            if not data:
                return "", 0
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        word, _, number = line.decode("ascii").partition(" ")
        return word, int(number or 0)

    def close(self) -> None:
        """No more of it."""
        os.close(self.pipe)


class _Starter:
    """The program that is asked for keepers."""

    def __init__(self, scope: int | None = None) -> None:
        """``scope`` is the descriptor of a ruleset for it and all its keepers. Raises OSError."""
        inherited = () if scope is None else (scope,)
        words = (sys.executable, "-s", "-S", "-P", str(_PROGRAM), *map(str, inherited))
        # none of Python's settings but where it lies, and no secrets
        env = {name: value for name, value in os.environ.items() if name.startswith("LD_") or name == "PYTHONHOME"}
        self._asking, asked = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._asking.setblocking(False)
        try:
            self._process = subprocess.Popen(
                words,
                cwd="/",
                env=env,
                stdin=asked.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                pass_fds=inherited,
            )
        except OSError:
            self._asking.close()
            raise
        finally:
            asked.close()

    def ask(self, *descriptors: int) -> bool:
        """For a keeper that gets these; False when it is dead, or so many requests lie there that it must be."""
        try:
            socket.send_fds(self._asking, [bytes([len(descriptors)])], descriptors)
        except (BrokenPipeError, ConnectionError, BlockingIOError):
            return False
        return True

    def end(self) -> None:
        """At once, and so does the keeper that waits to be needed; others go on."""
        self._asking.close()
        self._process.kill()
        self._process.wait()


_starters: dict[bool, _Starter] = {}
"""By whether its commands are kept apart from other processes: at most two."""

_one_at_a_time = threading.Lock()


def _ask(*descriptors: int, is_apart: bool) -> _Starter | None:
    """The starter that was asked, which was started if need be; None when it was dead, and is forgotten now."""
    with _one_at_a_time:
        starter = _the_starter(is_apart=is_apart)
        if starter.ask(*descriptors):
            return starter
    _end(starter)
    return None


def _the_starter(*, is_apart: bool) -> _Starter:
    if is_apart not in _starters:
        try:
            _starters[is_apart] = _apart() if is_apart else _Starter()
        except (OSError, ValueError) as error:
            raise _no_starter(getattr(error, "strerror", "") or str(error)) from error
    return _starters[is_apart]


def _apart() -> _Starter:
    scope = landlock.make_scope()
    try:
        return _Starter(scope)
    finally:
        os.close(scope)


def _end(starter: _Starter) -> None:
    with _one_at_a_time:
        for kind, known in tuple(_starters.items()):
            if known is starter:
                del _starters[kind]
                starter.end()


def _no_starter(reason: str) -> CommandProblem:
    return CommandProblem(
        f"No command can be started, because {sys.executable or 'Python'} can not: {reason}.",
        hint="Was it moved or upgraded? Start codeagent anew, or install it anew.",
    )
