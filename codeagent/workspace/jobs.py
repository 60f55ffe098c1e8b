"""Background jobs: commands that run on while the conversation does, each with its output, a stop, and an end."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from codeagent.core.errors import CommandProblem
from codeagent.core.jobs import Job, JobState
from codeagent.workspace import process_tree
from codeagent.workspace.process import MODEL_CHARACTERS, ending, left_of
from codeagent.workspace.process_output import Captured
from codeagent.workspace.shell_process import Confine, ShellProcess, in_thread

MOST_RUNNING = 20
_TAIL_BYTES = 4_096
_KEPT = 300  # of the whole output: the log has it, looks have what is new
_READ_PATIENCE = 5.0
_END_PATIENCE = 0.2
_CLOSING_NOTICED = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What a job put out since the last look; ``is_cut`` when it was too much and its middle was left out."""

    job: Job
    output: str
    is_cut: bool
    log_problem: str


KeepChanges = Callable[[int, bool], Coroutine[None, None, str]]
"""Keeps what a job changed, told by its number and whether it ended by itself, and says it in words."""


async def _keep_nothing(number: int, by_itself: bool) -> str:  # noqa: FBT001 - as KeepChanges has it
    del number, by_itself
    return ""


class Jobs:
    """All jobs of a session; ``tell`` hears of each that starts and ends, in the event loop that started it."""

    def __init__(self, tell: Callable[[Job], None], keep_changes: KeepChanges = _keep_nothing) -> None:
        """``keep_changes`` runs in that loop as well, at each end before it is told."""
        self._keep_changes = keep_changes
        self._tell = tell
        self._running: list[_Running] = []
        self._is_closed = False

    async def start(  # noqa: PLR0913 - what a command needs; all but the first are named
        self,
        command: str,
        *,
        cwd: Path,
        env: Mapping[str, str],
        log: Path,
        timeout: float | None,  # noqa: ASYNC109 - running out of time is a way for a job to end
        confine: Confine | None,
        at_end: Callable[[], str] = lambda: "",
        secrets: tuple[str, ...] = (),
    ) -> Job:
        """Starts a command and comes back at once; it ends by itself, by ``stop``, after ``timeout`` seconds, or here.

        All its output goes to ``log``, which must not exist yet. Raises CommandProblem
        when it can not be started, or when too many run already. ``at_end`` is asked on
        another thread what else there is to say of its end.
        """
        if sum(one.state is JobState.RUNNING for one in self._running) >= MOST_RUNNING:
            raise CommandProblem(f"{MOST_RUNNING} jobs are running already.", hint="Stop one of them first.")
        job = _Running(number=len(self._running) + 1, command=command, log=log, timeout=timeout, secrets=secrets)
        shell = ShellProcess(command=command, cwd=cwd, env=env, confine=confine, take=job.take)
        self._running.append(job)
        try:
            job.tree = await shell.start()
        except (CommandProblem, asyncio.CancelledError):
            self._running.remove(job)
            raise
        loop = asyncio.get_running_loop()

        def ended() -> None:
            with suppress(RuntimeError):  # the loop is closed when the program ends the job
                loop.call_soon_threadsafe(self._tell_unless_closed, job.now())

        def changed(by_itself: bool) -> str:  # noqa: FBT001 - it has one argument
            return "" if self._is_closed else self._changed(loop, job.number, by_itself=by_itself)

        begun = job.now()
        self._tell(begun)
        over = (shell, ended, at_end, changed)
        threading.Thread(target=job.see_to_its_end, args=over, name="job", daemon=True).start()
        return begun

    def all(self) -> tuple[Job, ...]:
        """Every job of the session, oldest first."""
        return tuple(job.now() for job in self._running)

    async def look(self, number: int, patience: float = 0.0) -> Look:
        """What is new of a job; waits at most ``patience`` seconds for something new. Raises CommandProblem."""
        job = self._find(number)
        await job.something_new(patience)
        return job.look()

    def news(self) -> tuple[Job, ...]:
        """Jobs that have ended since somebody looked at them last; each is told once."""
        return tuple(job.now() for job in self._running if job.is_news())

    async def stop(self, number: int) -> None:
        """Ends a job with all it started, by force after two seconds; one that has ended stays as it is.

        Raises CommandProblem.
        """
        await in_thread(self._find(number).end)

    def close(self) -> None:
        """Ends every job, all at once, and tells nobody any more. Blocks up to a few seconds."""
        self._is_closed = True
        ends = [threading.Thread(target=job.end, name="job end") for job in self._running if not job.is_over]
        for end in ends:
            end.start()
        for end in ends:
            end.join()

    def _changed(self, loop: asyncio.AbstractEventLoop, number: int, *, by_itself: bool) -> str:
        """On a job's thread: waits for what is kept of its changes, unless the program is about to end."""
        work = self._keep_changes(number, by_itself)
        try:
            kept = asyncio.run_coroutine_threadsafe(work, loop)
        except RuntimeError:  # the loop is closed
            work.close()
            return ""
        while not self._is_closed:
            with suppress(TimeoutError):
                try:
                    return kept.result(_CLOSING_NOTICED)
                except CancelledError:
                    return ""
        kept.cancel()
        return ""

    def _tell_unless_closed(self, job: Job) -> None:
        if not self._is_closed:
            self._tell(job)

    def _find(self, number: int) -> _Running:
        if 1 <= number <= len(self._running):
            return self._running[number - 1]
        count = len(self._running)
        known = (
            "None was started." if not count else f"The jobs are 1 to {count}." if count > 1 else "The only job is 1."
        )
        raise CommandProblem(f"There is no job {number}.", hint=known)


@dataclass(slots=True, kw_only=True)
class _Running:
    """One job; every method may be called from any thread."""

    number: int
    command: str
    log: Path
    timeout: float | None
    secrets: tuple[str, ...] = ()
    tree: process_tree.Tree | None = None
    state: JobState = JobState.RUNNING
    ended: str = ""
    left: tuple[str, ...] = ()
    changed: str = ""
    _began: float = field(default_factory=time.monotonic)
    _over_at: float | None = None
    _all: Captured = field(init=False)
    _fresh: Captured = field(init=False)
    _tail: bytearray = field(default_factory=bytearray)
    _over: threading.Event = field(default_factory=threading.Event)
    _is_stopping: bool = False
    _is_end_known: bool = False
    _waiting: Callable[[], None] | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._all = Captured(limit=_KEPT, log=self.log, secrets=self.secrets)
        self._fresh = Captured(limit=MODEL_CHARACTERS, secrets=self.secrets)

    @property
    def is_over(self) -> bool:
        """Whether nothing of it is left to end."""
        return self._over.is_set() and not self.left

    def take(self, data: bytes) -> None:
        """More output."""
        with self._lock:
            self._all.add(data)
            self._fresh.add(data)
            self._tail += data
            del self._tail[:-_TAIL_BYTES]
        self._wake()

    def see_to_its_end(
        self,
        shell: ShellProcess,
        tell: Callable[[], None],
        at_end: Callable[[], str],
        changed: Callable[[bool], str],
    ) -> None:
        """In a thread of its own: waits for the end, or brings it about when the time is over."""
        timed_out = False
        try:
            code: int | None = shell.exited.result(self.timeout)
        except TimeoutError:
            timed_out = True
            self._terminate()
            code = shell.exited.result() if shell.exited.done() else None
        with suppress(TimeoutError):
            shell.caught_up.result(_READ_PATIENCE)
            shell.drained.result(_END_PATIENCE)
        shell.drained.add_done_callback(lambda _: self._all.close(keep_log=True))
        left = left_of(shell)
        more = at_end()
        changes = changed(not timed_out and not self._is_stopping)
        with self._lock:
            self._over_at = time.monotonic()
            self.left = left
            self.changed = changes
            self.state = JobState.STOPPED if self._is_stopping else JobState.ENDED
            self.ended = f"timed out after {self.timeout:g} s" if timed_out else ending(code)
            if self._is_stopping:
                self.ended = "stopped"
            self.ended += f"; {more}" if more else ""
        self._over.set()
        self._wake()
        tell()

    def end(self) -> None:
        """Ends it and all it left, and returns when its end is known."""
        with self._lock:
            self._is_stopping = self._is_stopping or not self._over.is_set()
        self._terminate()
        self._over.wait(process_tree.GRACE)
        with self._lock:
            self.left = ()

    def now(self) -> Job:
        """How it stands."""
        with self._lock:
            return Job(
                number=self.number,
                command=self.command,
                state=self.state,
                seconds=(self._over_at or time.monotonic()) - self._began,
                ended=self.ended,
                tail=self._tail.decode("utf-8", "replace"),
                log=str(self.log) if self._all.total_bytes else "",
                left=self.left,
                changed=self.changed,
            )

    def look(self) -> Look:
        """What is new, which then is new no more."""
        with self._lock:
            fresh, self._fresh = self._fresh, Captured(limit=MODEL_CHARACTERS, secrets=self.secrets)
            self._is_end_known = self._over.is_set()
        output, is_cut = fresh.kept()
        return Look(job=self.now(), output=output, is_cut=is_cut, log_problem=self._all.log_problem)

    def is_news(self) -> bool:
        """Whether its end was not told before."""
        with self._lock:
            is_news = self._over.is_set() and not self._is_end_known
            self._is_end_known = self._is_end_known or is_news
        return is_news

    async def something_new(self, patience: float) -> None:
        """Returns when there is output that was not looked at, when the job is over, or when patience ends."""
        loop, event = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(event.set)

        with self._lock:
            if self._fresh.total_bytes or self._over.is_set():
                return
            self._waiting = wake
        with suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await event.wait()

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            waiting()

    def _terminate(self) -> None:
        if self.tree is not None:
            self.tree.terminate()
