"""One bash process and the threads around it: it never blocks the event loop, and none of its output is missed."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import select
import sys
import termios
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar

from codeagent.core.errors import CommandProblem
from codeagent.core.programs import find_bash
from codeagent.workspace import process_tree
from codeagent.workspace.bounds import Refusal
from codeagent.workspace.files import is_folder
from codeagent.workspace.keeper import Command, start_shell

_NO_START_FILES = ("--noprofile", "--norc", "-c")
_CHUNK = 65_536

Result = TypeVar("Result")


def bash_words(command: str) -> tuple[str, ...]:
    """The words that run ``command`` in bash, which calls itself just that in what it says."""
    return (find_bash(), *_NO_START_FILES, command, "bash")


class Confine(Protocol):
    """Keeps a command from what it may not touch, by other words or by a ruleset."""

    @property
    def keeps_apart(self) -> bool:
        """Whether the command may signal no process but those of other commands, nor reach its abstract sockets."""
        ...

    def wrapped(self, words: Sequence[str], cwd: Path) -> Sequence[str]:
        """The words to run in place of ``words``."""
        ...

    def ruleset(self) -> int | None:
        """The descriptor of a Landlock ruleset to be applied to them, which the caller closes. Raises OSError."""
        ...

    def keeps_from(self, path: Path) -> bool:
        """Whether a command may not write there."""
        ...

    def with_git_open(self) -> Confine:
        """The same, but for the parts of git that make programs run."""
        ...

    def with_services_open(self) -> Confine:
        """The same, but for services and other processes of this machine: those may be used."""
        ...

    def with_opened(self, services: Sequence[str]) -> Confine:
        """The same, but for the services of these names, as refusals have them: those alone may be used."""
        ...

    def refused(self, output: str, cwd: Path) -> tuple[Refusal, ...]:
        """What a command that ran in ``cwd`` was kept from, as far as its output says so."""
        ...


@dataclass(slots=True, kw_only=True)
class ShellProcess:
    """The process and the two threads around it: one starts it and waits for it, one reads what it puts out.

    ``take`` gets the output, in the reading thread. ``exited`` is the shell's exit code
    once it is gone, ``caught_up`` is done when ``take`` has had all that was written
    until then, ``drained`` when nothing can write to the output any more, ``over``
    when nothing is left of what it started (without a keeper: when the shell is gone).
    Once there is ``haste``, what is being stopped gets no time to clean up.
    """

    command: str
    cwd: Path
    env: Mapping[str, str]
    confine: Confine | None
    take: Callable[[bytes], None]
    haste: threading.Event = field(default_factory=threading.Event)
    started: Future[process_tree.Tree] = field(default_factory=Future)
    exited: Future[int] = field(default_factory=Future)
    caught_up: Future[None] = field(default_factory=Future)
    drained: Future[None] = field(default_factory=Future)
    over: Future[None] = field(default_factory=Future)
    _stopping: threading.Event = field(default_factory=threading.Event)
    _reading: int = -1
    _taken: int = 0
    _written_at_exit: int | None = None
    _read_lock: threading.Lock = field(default_factory=threading.Lock)

    async def start(self) -> process_tree.Tree:
        """Starts it; when cancelled meanwhile, ends it again. Raises CommandProblem."""
        self._reading, writing = os.pipe()
        threading.Thread(target=self._read, name="command output", daemon=True).start()
        threading.Thread(target=self._start_and_wait, args=(writing,), name="command", daemon=True).start()
        try:
            await is_done(self.started, None)
            return self.started.result()
        except asyncio.CancelledError:
            await in_thread(self.stop, at_cancel=self.haste.set)
            raise
        except (OSError, ValueError) as error:
            raise _not_started(error, self.cwd) from error

    def stop(self) -> None:
        """Ends it with everything it started, if it could be started at all. Blocks up to a few seconds."""
        self._stopping.set()
        with suppress(OSError, ValueError, CommandProblem):
            self.started.result().terminate(haste=self.haste)

    def _start_and_wait(self, writing: int) -> None:
        mark, odd_limit = process_tree.new_mark(), process_tree.odd_limit()
        words: Sequence[str] = bash_words(self.command)
        ruleset: int | None = None
        try:
            if self.confine is not None:
                words, ruleset = self.confine.wrapped(words, self.cwd), self.confine.ruleset()
            command = Command(
                words=words,
                cwd=self.cwd,
                env={**self.env, process_tree.MARK: mark},
                output=writing,
                odd_limit=odd_limit,
                ruleset=ruleset,
                is_apart=self.confine is not None and self.confine.keeps_apart,
            )
            shell = start_shell(command, self._stopping)
        except (OSError, ValueError, CommandProblem) as error:
            self.started.set_exception(error)
            return
        finally:
            os.close(writing)
            if ruleset is not None:
                os.close(ruleset)
        self.started.set_result(process_tree.plant(mark, shell.pid, odd_limit, shell.keeper))
        self.exited.set_result(shell.wait())
        self._note_exit()
        shell.wait_for_all()
        self.over.set_result(None)

    def _read(self) -> None:
        """To the end of the pipe, also when the shell is gone: what it left must not die of a closed pipe."""
        waiting = select.poll()
        waiting.register(self._reading, select.POLLIN)
        try:
            while waiting.poll() and self._read_once():
                pass
        finally:
            with self._read_lock:
                os.close(self._reading)
                self._reading = -1
            self._tell_caught_up()
            self.drained.set_result(None)

    def _read_once(self) -> bool:
        """Takes what is there; False at the end of the pipe."""
        with self._read_lock:
            if data := os.read(self._reading, _CHUNK):
                self.take(data)
                self._taken += len(data)
            is_enough = self._written_at_exit is not None and self._taken >= self._written_at_exit
        if is_enough:
            self._tell_caught_up()
        return bool(data)

    def _note_exit(self) -> None:
        """The shell is gone: what lies in the pipe now is still its own."""
        with self._read_lock:
            lies_there = _bytes_in(self._reading) if self._reading >= 0 else 0
            self._written_at_exit = self._taken + lies_there
        if not lies_there:
            self._tell_caught_up()

    def _tell_caught_up(self) -> None:
        with suppress(InvalidStateError):
            self.caught_up.set_result(None)


def _bytes_in(pipe: int) -> int:
    size = fcntl.ioctl(pipe, termios.FIONREAD, bytes(4))
    return int.from_bytes(size, sys.byteorder)


async def in_thread(function: Callable[[], Result], at_cancel: Callable[[], object] | None = None) -> Result:
    """Runs it to its end in a thread of its own, and only then lets a cancellation through.

    ``at_cancel`` is called as soon as a cancellation comes.
    """
    future: Future[Result] = Future()

    def work() -> None:
        try:
            future.set_result(function())
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            future.set_exception(error)

    threading.Thread(target=work, name="command end", daemon=True).start()
    cancelled: asyncio.CancelledError | None = None
    while not future.done():
        try:
            await is_done(future, None)
        except asyncio.CancelledError as error:
            cancelled = error
            if at_cancel is not None:
                at_cancel()
    if cancelled is not None:
        raise cancelled
    return future.result()


async def is_done(future: Future[Result], seconds: float | None) -> bool:
    """Waits for what a thread does, at most so long; unlike asyncio's own bridge it never cancels it."""
    loop, event = asyncio.get_running_loop(), asyncio.Event()

    def tell(_: Future[Result]) -> None:
        with suppress(RuntimeError):  # the loop may be closed before the last background process ends
            loop.call_soon_threadsafe(event.set)

    future.add_done_callback(tell)
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return future.done()


def _not_started(error: OSError | ValueError, cwd: Path) -> CommandProblem:
    if isinstance(error, ValueError):
        return CommandProblem("The command holds a NUL character or half of a character and can not be run.")
    if error.errno == errno.E2BIG:
        return CommandProblem("The command is too long for one call.", hint="Write it to a file and run that.")
    if not is_folder(cwd):
        return CommandProblem(f"The directory {cwd} does not exist.")
    return CommandProblem(f"The command could not be started: {error.strerror or error}.")
