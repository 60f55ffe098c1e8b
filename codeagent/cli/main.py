"""The command ``codeagent``: finds out what was asked for and starts just that.

Imports stand inside the functions on purpose: ``--help`` and ``-p`` never load
the screen, and the first frame never waits for a model SDK.
"""

from __future__ import annotations

import asyncio
import errno
import io
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from codeagent.cli.first_frame import FirstFrame
from codeagent.cli.options import OpenDesk, Options
from codeagent.config.launch import PICK, Launch
from codeagent.config.places import Places, find_places
from codeagent.core.archive import Archive
from codeagent.core.desk import Approver, Desk, Errand, KeyProblem, LocalServer
from codeagent.core.errors import CodeagentError, ConfigError, NoModel, NoSuchSession
from codeagent.core.events import Emit

OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130
_OUTPUT, _ERRORS = 1, 2  # their numbers
_READER_GONE = frozenset({errno.EPIPE, errno.EIO})
_TAKES_NOTHING = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EBADF, errno.EIO, errno.EAGAIN})
_WITHOUT_A_SESSION = frozenset({"doctor", "sessions", "config", "trust", "permissions"})


def main(words: Sequence[str] | None = None, *, frame: FirstFrame | None = None) -> int:
    """Runs the program and returns its exit code; errors are one sentence on standard error.

    ``frame`` is the instant prompt, where it stands already.
    """
    open_closed_streams()
    buffer_output()
    try:
        try:
            code = _run(sys.argv[1:] if words is None else words, frame)
        finally:
            if frame is not None:
                frame.leave()
        return code if let_go_of_output() else code or FAILED
    except BrokenPipeError:
        let_go_of_output()
        return FAILED
    except CodeagentError as error:
        return fail(error)
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as fault:  # noqa: BLE001 - the program's top: a fault is one sentence, its report a file
        return _took_nothing(fault) or report(fault)


def _took_nothing(fault: Exception) -> int:
    """The exit code where it is only that the output takes nothing more, which is said; else 0."""
    problem = output_problem(fault) if isinstance(fault, OSError) else ""
    if not problem:
        return OK
    with suppress(OSError):
        let_go_of_output()
    complain(problem)
    return FAILED


def open_closed_streams() -> None:
    """Where a shell closed standard input nothing is read, and writing to closed output fails; no other file may get
    their numbers.
    """
    descriptor = os.open(os.devnull, os.O_RDWR)
    while descriptor <= _ERRORS:
        descriptor = os.open(os.devnull, os.O_RDWR)
    os.close(descriptor)
    if not sys.stdout:
        unwritable = os.open(os.devnull, os.O_RDONLY)
        os.dup2(unwritable, _OUTPUT)
        os.close(unwritable)
    sys.stdin = sys.stdin or os.fdopen(0, "r")
    sys.stdout = sys.stdout or os.fdopen(_OUTPUT, "w")
    sys.stderr = sys.stderr or os.fdopen(_ERRORS, "w")


def buffer_output() -> None:
    """Gives the output the buffers that ``PYTHONUNBUFFERED`` takes away.

    A signal may end a write early, see write(2). Only a buffer writes the rest: without one it is lost.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(getattr(stream, "buffer", None), io.RawIOBase):
            encoding, errors = stream.encoding, stream.errors
            whole = io.TextIOWrapper(io.BufferedWriter(stream.detach()), encoding, errors, line_buffering=True)
            setattr(sys, name, whole)
            setattr(sys, f"__{name}__", whole)


def let_go_of_output() -> bool:
    """Writes out what is left; False when nobody reads on, or the terminal is gone, which is no fault.

    Raises OSError where the output takes nothing more, which it then need not.
    """
    is_whole = True
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            is_whole = False
            if stream is sys.stdout and error.errno not in _READER_GONE:
                raise
    return is_whole


def output_problem(error: OSError) -> str:
    """The sentence on output that cannot be written; empty when the error is another: such a one names a file."""
    if error.filename is not None or error.errno not in _TAKES_NOTHING:
        return ""
    why = "standard output is closed" if error.errno == errno.EBADF else error.strerror
    return f"Not all of the output could be written: {why}."


def complain(text: str) -> None:
    """Says on standard error what went wrong, as far as that takes it; what it does not take is let go of."""
    from codeagent.cli.wrapping import wrapped

    try:
        print(wrapped(f"codeagent: {text}", sys.stderr), file=sys.stderr, flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def report(fault: Exception) -> int:
    """Keeps what is needed to mend a fault and says so in one sentence."""
    from codeagent.cli.faults import report_fault

    complain(report_fault(fault, os.environ))
    return FAILED


def fail(error: CodeagentError) -> int:
    """Says what went wrong and what to do, and returns the exit code for it."""
    from codeagent.core.text import clean

    ways = f" {NoModel.WAYS}" if isinstance(error, NoModel) and not error.hint else ""
    complain(f"{clean(str(error))}{ways}")
    return USAGE if isinstance(error, ConfigError | NoSuchSession) else FAILED


def _run(words: Sequence[str], frame: FirstFrame | None) -> int:
    """Like ``run``; a parser that printed its help ends the program no earlier than that is written out."""
    try:
        return run(words, frame)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else FAILED


def run(words: Sequence[str], frame: FirstFrame | None = None) -> int:  # noqa: PLR0911 - one return a subcommand
    """Starts the subcommand that comes first, or the main command."""
    if words and words[0] in _WITHOUT_A_SESSION:
        _log_to_file()
    match words[:1]:
        case ["demo"]:
            from codeagent.cli import demo

            return demo.run(words[1:], open_desk)
        case ["doctor"]:
            from codeagent.cli import doctor

            return doctor.run(words[1:])
        case ["sessions"]:
            from codeagent.cli import sessions

            return sessions.run(words[1:], _replay)
        case ["config"]:
            from codeagent.cli import config_command

            return config_command.run(words[1:], _check_key)
        case ["trust"]:
            from codeagent.cli import trust

            return trust.run(words[1:])
        case ["permissions"]:
            from codeagent.cli import permissions

            return permissions.run(words[1:])
        case _:
            return start(words, frame)


def start(words: Sequence[str], frame: FirstFrame | None = None) -> int:
    """The main command: a run without a screen with ``-p``, else the app."""
    options = _parsed(words) if words else Options()
    launch = prepare(options)
    if options.prints:
        from codeagent.cli.headless import run_headless, whole_prompt

        _log_to_file()
        prompt = whole_prompt(options.prompt, sys.stdin)
        return run_headless(partial(_open_headless, launch), prompt, options.output_format)
    require_terminal()
    from codeagent.cli.screen import Offers, open_app

    offers = Offers(servers=_servers, keep_key=partial(_keep_key, launch), check_key=_key_problem)
    older = partial(_stored, launch) if launch.resume == PICK else None
    code = open_app(
        launch,
        launch.places,
        options.prompt,
        open_desk,
        older=older,
        offers=offers,
        keep_theme=partial(keep_theme, launch.places),
        keys_in_force=_keys_in_force,
        first=frame,
    )
    if code is None:
        from codeagent.cli import demo

        return demo.play(open_desk)
    return code


def _keys_in_force(own: Mapping[str, str]) -> Mapping[str, str]:
    """The person's own keys, but for those that cannot be used; few have any."""
    if not own:
        return own
    from codeagent.config.key_problems import keys_in_force

    return keys_in_force(own)


def _servers() -> Sequence[LocalServer]:
    """The model servers that answer on this machine."""
    from codeagent.providers.local_servers import find_local_servers

    return find_local_servers()


def _keep_key(launch: Launch, service: str, key: str) -> str:
    """Keeps a key that was entered, and says where."""
    from codeagent.keys import find_keys

    return find_keys(launch.environ, launch.places).keep(service, key)


def _check_key(service: str, key: str) -> KeyProblem | None:
    """Asks the service whether it takes a key; the settings are the person's own and the environment's."""
    from codeagent.config.sources import load_settings
    from codeagent.model_services import check_key

    loaded = load_settings(find_places(os.environ), Path.cwd(), os.environ, {}, project=None)
    return check_key(service, key, loaded.settings.model)


def _key_problem(service: str, key: str) -> str:
    """In a sentence, what speaks against a key; empty when nothing does."""
    problem = _check_key(service, key)
    return problem.text if problem else ""


def keep_theme(places: Places, name: str) -> None:
    """A theme chosen in the app becomes a setting; raises ConfigError."""
    from codeagent.cli.config_command import change_setting

    change_setting(places, "ui.theme", name)


def _stored(launch: Launch) -> Archive:
    """The stored sessions of the workspace."""
    from codeagent.wiring import open_archive

    return open_archive(launch)


def _replay(path: Path, speed: float) -> int:
    """Plays a stored session; the screen is loaded for this alone."""
    require_terminal()
    from codeagent.cli import replay

    return replay.run(path, speed, find_places(os.environ))


async def open_desk(launch: Launch, emit: Emit, approver: Approver) -> Desk:
    """Opens a session for a screen that already stands: what is heavy is loaded on a thread."""
    from codeagent.cli.housekeeping import tidy_after_turns, wake_collector
    from codeagent.workspace.heap import share_heap

    share_heap()
    wiring = await asyncio.to_thread(_load_wiring)
    try:
        return await wiring(launch, tidy_after_turns(emit), approver)
    finally:
        wake_collector()


async def _open_headless(launch: Launch, emit: Emit) -> Errand:
    from codeagent.cli.housekeeping import wake_collector
    from codeagent.wiring import open_headless

    try:
        return await open_headless(launch, emit)
    finally:
        wake_collector()


def _load_wiring() -> OpenDesk:
    """The wiring, and all that it is made of."""
    from codeagent.wiring import open_desk as wired

    _log_to_file()
    return wired


def _log_to_file() -> None:
    """What is logged never comes to the terminal."""
    from codeagent.cli.faults import start_log

    start_log(os.environ)


def require_terminal() -> None:
    """Raises ConfigError where the app cannot be drawn."""
    hint = "Use -p to run without one: codeagent -p 'fix the tests'"
    if not has_terminal():
        raise ConfigError("There is no terminal to open the app in.", hint=hint)
    if os.environ.get("TERM", "") in {"", "dumb"}:
        raise ConfigError("This terminal says that it cannot draw a screen (TERM).", hint=hint)


def has_terminal() -> bool:
    """Whether a person sits at both ends."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def _parsed(words: Sequence[str]) -> Options:
    from codeagent.cli.command_line import parse_options

    return parse_options(words)


def prepare(options: Options) -> Launch:
    """Goes to the workspace and gathers what the start was asked for; raises ConfigError."""
    try:
        if options.directory is not None:
            os.chdir(options.directory)
        root = Path.cwd()
    except OSError as error:
        where = options.directory or "The current directory"
        raise ConfigError(f"{where} cannot be opened: {error.strerror}.", hint="Name a directory with -C.") from error
    return Launch(
        root=root,
        places=find_places(os.environ),
        environ=dict(os.environ),
        flags=options.tables,
        resume=options.resume,
        forks=options.forks,
        keeps_session=options.keeps_session,
        trusts=options.trusts,
    )
