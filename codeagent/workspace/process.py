"""Runs one shell command: output as it comes, within bounds, and nothing left running when it is stopped."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from codeagent.core.text import holds_secret
from codeagent.workspace import process_tree
from codeagent.workspace.process_output import Captured
from codeagent.workspace.shell_process import Confine, ShellProcess, in_thread, is_done

MODEL_CHARACTERS = 30_000
_LIVE_INTERVAL = 0.05
_PIPE_PATIENCE = 0.1
_READ_PATIENCE = 5.0
_SIGNAL_EXIT = 128

_NOT_PASSED_ON = re.compile(
    r"BASH_ENV|ENV|BASH_FUNC_.*|SHELLOPTS|BASHOPTS|PROMPT_COMMAND|PS4|CDPATH|GLOBIGNORE|IFS|VISUAL|SUDO_ASKPASS"
    r"|GIT_(DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|PREFIX|EXTERNAL_DIFF|SEQUENCE_EDITOR|CONFIG_PARAMETERS)"
    r"|RIPGREP_CONFIG_PATH|LESSOPEN|LESSCLOSE|TAR_OPTIONS"
)
_GIT_VALUE = re.compile(r"GIT_CONFIG_VALUE_\d+")
_NEUTRAL = {
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "MANPAGER": "cat",
    "GIT_PAGER": "cat",
    "SYSTEMD_PAGER": "cat",
    "EDITOR": "true",
    "GIT_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "true",
    "GIT_OPTIONAL_LOCKS": "0",
    "SSH_ASKPASS": "true",
    "SSH_ASKPASS_REQUIRE": "never",
    "GCM_INTERACTIVE": "never",
    "DEBIAN_FRONTEND": "noninteractive",
    "PYTHONUNBUFFERED": "1",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """How a command ended.

    ``ended`` says it in words; ``exit_code`` is None when it was killed.
    ``head_tail`` is its output, stdout and stderr in the order they came, cut in
    the middle when it is long (``is_cut``); ``log`` then holds all of it, unless
    ``log_problem``. ``still_running`` names what it left in the background.
    """

    ended: str
    exit_code: int | None
    timed_out: bool
    head_tail: str
    is_cut: bool
    total_bytes: int
    total_lines: int
    log: Path | None
    log_problem: str
    seconds: float
    still_running: tuple[str, ...]


async def run(  # noqa: PLR0913 - what a command needs; all but the first are named
    command: str,
    *,
    cwd: Path,
    timeout: float,  # noqa: ASYNC109 - running out of time is a way to end, with output, and no error
    on_output: Callable[[str], None],
    env: Mapping[str, str],
    log: Path | None = None,
    limit: int = MODEL_CHARACTERS,
    confine: Confine | None = None,
    secrets: tuple[str, ...] = (),
    haste: threading.Event | None = None,
) -> Finished:
    """Runs ``command`` in bash and returns when the shell is gone, not when its background children are.

    ``timeout`` is in seconds. ``on_output`` gets pieces as they come, at most about
    twenty a second; of a flood only the end. ``log`` must not exist yet; it is
    kept only when ``limit`` characters do not hold the output or something still
    writes to it, and holds none of ``secrets``. On timeout and when the task is cancelled everything the command
    started is ended, by force after two seconds or, cancelled again or with ``haste``, at once; cancellation then
    goes on. Raises CommandProblem when it can not be started.
    """
    captured = Captured(limit=limit, log=log, secrets=secrets)
    live = _Live(captured=captured, on_output=on_output, loop=asyncio.get_running_loop())
    haste = haste or threading.Event()
    shell = ShellProcess(command=command, cwd=cwd, env=env, confine=confine, take=live.take, haste=haste)
    began = time.monotonic()
    keep_log = False
    try:
        await shell.start()
        if timed_out := not await is_done(shell.exited, timeout):
            await in_thread(shell.stop)
        await is_done(shell.caught_up, _READ_PATIENCE)
        is_drained = await is_done(shell.drained, _PIPE_PATIENCE)
        still_running = await in_thread(lambda: left_of(shell))
        text, is_cut = captured.kept()
        keep_log = is_cut or not is_drained
    except asyncio.CancelledError:
        await _called_off(shell)
        live.finish()
        raise
    finally:
        live.end()
        shell.drained.add_done_callback(lambda _: captured.close(keep_log=keep_log))
    live.finish()
    code = shell.exited.result() if shell.exited.done() else None
    return Finished(
        ended=f"timed out after {timeout:g} s" if timed_out else ending(code),
        exit_code=code if code is not None and code >= 0 and not timed_out else None,
        timed_out=timed_out,
        head_tail=text,
        is_cut=is_cut,
        total_bytes=captured.total_bytes,
        total_lines=captured.total_lines,
        log=log if keep_log and captured.total_bytes else None,
        log_problem=captured.log_problem,
        seconds=time.monotonic() - began,
        still_running=still_running,
    )


async def _called_off(shell: ShellProcess) -> None:
    """Ends it, a further cancellation by force, and hears what it still says."""
    with suppress(asyncio.CancelledError):
        await in_thread(shell.stop, at_cancel=shell.haste.set)
    await is_done(shell.caught_up, _READ_PATIENCE)
    await is_done(shell.drained, _PIPE_PATIENCE)


def clean_environment(environ: Mapping[str, str], keep: Sequence[str] = ()) -> dict[str, str]:
    """The environment that commands get: no secrets, no pagers, editors or prompts, nothing that steers the shell
    or makes a program that only reads run another.

    ``keep`` holds name patterns (``AWS_*``) of secrets that are passed on all the same.
    """
    passed = {name: value for name, value in environ.items() if not _NOT_PASSED_ON.fullmatch(name)}
    for name, value in environ.items():
        if holds_secret(name, value) and not any(fnmatchcase(name, pattern) for pattern in keep):
            passed.pop(name, None)
            if _GIT_VALUE.fullmatch(name):
                passed[name] = ""  # git takes no setting at all when one of them is missing
    return _with_git_setting(passed | _NEUTRAL, "core.fsmonitor", "false")


def environment_for_reading(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment for a command that only reads: git runs no hook in it and fetches nothing."""
    quiet = {**environment, "GIT_NO_LAZY_FETCH": "1"}
    return _with_git_setting(quiet, "core.hooksPath", os.devnull)


def _with_git_setting(environment: Mapping[str, str], name: str, value: str) -> dict[str, str]:
    written = environment.get("GIT_CONFIG_COUNT", "")
    count = int(written) if written.isdecimal() else 0
    return {
        **environment,
        "GIT_CONFIG_COUNT": str(count + 1),
        f"GIT_CONFIG_KEY_{count}": name,
        f"GIT_CONFIG_VALUE_{count}": value,
    }


@dataclass(slots=True, kw_only=True)
class _Live:
    """Hands output on in pieces, not more often than a person can see; take is called from the reading thread."""

    captured: Captured
    on_output: Callable[[str], None]
    loop: asyncio.AbstractEventLoop
    _waits: bool = False
    _ended: bool = False
    _last: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, data: bytes) -> None:
        self.captured.add(data)
        with self._lock:
            if self._waits or self._ended:
                return
            self._waits = True
            self.loop.call_soon_threadsafe(self._arm)

    def _arm(self) -> None:
        self.loop.call_at(max(self.loop.time(), self._last + _LIVE_INTERVAL), self._show)

    def _show(self) -> None:
        with self._lock:
            self._waits = False
            if self._ended:
                return
        self._last = self.loop.time()
        self.finish()

    def end(self) -> None:
        """No more pieces by themselves."""
        with self._lock:
            self._ended = True

    def finish(self) -> None:
        """Shows what has come since the last piece."""
        if piece := self.captured.take_live():
            self.on_output(piece)


def left_of(shell: ShellProcess) -> tuple[str, ...]:
    """What still runs, looked at twice: the last process of a pipeline may be on its way out."""
    tree = shell.started.result()
    with suppress(TimeoutError):
        shell.over.result(_PIPE_PATIENCE)
    if tree.is_over or not (found := tree.members()):
        return ()
    time.sleep(_PIPE_PATIENCE)
    pids = {member.pid for member in found}
    left = tuple(str(member) for member in tree.members() if member.pid in pids)
    if left:
        process_tree.goes_on(tree)
    return left


def ending(code: int | None) -> str:
    """How a command ended, in words; a negative code is a signal, None is no end at all."""
    if code is None:
        return "could not be stopped"
    if code < 0:
        return f"killed by {_signal_name(-code) or f'signal {-code}'}"
    if code > _SIGNAL_EXIT and (name := _signal_name(code - _SIGNAL_EXIT)):
        return f"exit code {code} ({name})"
    return f"exit code {code}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return ""
