"""Looks at what the program needs on this machine, and says how to mend what is missing."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from codeagent.config.key_problems import key_problems
from codeagent.config.places import find_places
from codeagent.config.settings import Settings
from codeagent.core.desk import Check, CheckState
from codeagent.core.errors import ConfigError, NoModel
from codeagent.core.programs import find_program, named_by_path, pass_over
from codeagent.folders import write_folders
from codeagent.keys import Keys
from codeagent.models import choose_model, key_for
from codeagent.providers.catalog import Catalog
from codeagent.workspace.confine import Landlock, Level, find_confinement, in_words

_VERSION_SECONDS = 5
_BUBBLEWRAP = "bubblewrap, where it works, hides those sockets and lets programs open terminals (script, expect)."


def look_around(settings: Settings, root: Path, environ: Mapping[str, str], keys: Keys) -> tuple[Check, ...]:
    """All checks, in the order a new user needs them; runs ``git`` and ``rg`` once for their versions."""
    pass_over(write_folders(settings))
    return (
        _system(),
        _terminal(environ),
        *_model(settings, keys),
        _program(
            "git",
            needed_for="branch and state in the top line",
            remedy="Install git with your system's package manager.",
        ),
        _program(
            "rg",
            needed_for="faster searches; codeagent's own search takes its place",
            remedy="Install ripgrep with your system's package manager.",
        ),
        _sandbox(settings, root, find_places(environ).own),
        _workspace(root),
        *_folders(environ),
        *_keys(settings),
    )


def _system() -> Check:
    name = f"Python {platform.python_version()} on {platform.system()}"
    is_known = sys.platform in {"linux", "darwin"}
    return Check(
        name="system",
        state=CheckState.GOOD if is_known else CheckState.LIMITED,
        finding=name,
        remedy="" if is_known else "Linux and macOS are supported; on Windows use WSL.",
    )


def _terminal(environ: Mapping[str, str]) -> Check:
    term = environ.get("TERM", "")
    if not sys.stdout.isatty():
        return Check(
            name="terminal", state=CheckState.LIMITED, finding="output goes to a pipe", remedy="Only -p works."
        )
    columns, lines = os.get_terminal_size()
    colours = environ.get("COLORTERM") in {"truecolor", "24bit"} or environ.get("TERM_PROGRAM") in {
        "iTerm.app",
        "vscode",
    }
    finding = f"{term or 'unknown'}, {columns}×{lines}, {'full colour' if colours else 'few colours'}"
    if term in {"", "dumb"}:
        return Check(name="terminal", state=CheckState.MISSING, finding=finding, remedy="Set TERM, or use -p.")
    if not colours:
        return Check(
            name="terminal",
            state=CheckState.LIMITED,
            finding=finding,
            remedy="If your terminal can do more, set COLORTERM=truecolor.",
        )
    return Check(name="terminal", state=CheckState.GOOD, finding=finding)


def _model(settings: Settings, keys: Keys) -> Iterator[Check]:
    try:
        name = choose_model(settings.model, keys, Catalog())
    except ConfigError as error:
        yield Check(name="model", state=CheckState.MISSING, finding=error.message, remedy=error.hint or NoModel.WAYS)
        return
    yield Check(name="model", state=CheckState.GOOD, finding=str(name))
    if (opened := keys.store.close_file())[0]:
        yield Check(name="key file", state=CheckState.LIMITED, finding=opened[0], remedy=opened[1])
    try:
        key = key_for(name, settings.model, keys)
    except NoModel as error:
        yield Check(name="key", state=CheckState.MISSING, finding=error.message, remedy=error.hint)
    else:
        yield Check(name="key", state=CheckState.GOOD, finding=f"found: {key.place}" if key.place else "none needed")


def _keys(settings: Settings) -> Iterator[Check]:
    """Nothing while the keys are as they come."""
    problems = key_problems(settings.keys)
    if settings.keys and not problems:
        yield Check(name="keys", state=CheckState.GOOD, finding=f"{len(settings.keys)} of your own")
    for problem in problems:
        finding, _, remedy = problem.partition("; ")
        yield Check(name="keys", state=CheckState.LIMITED, finding=finding, remedy=remedy[:1].upper() + remedy[1:])


def _program(name: str, *, needed_for: str, remedy: str) -> Check:
    path = find_program(name)
    if path is None and (other := named_by_path(name, os.environ.get("PATH", os.defpath))):
        finding = f"{other} does not count: a command or a repository may have put it there"
        return Check(name=name, state=CheckState.LIMITED, finding=finding, remedy=remedy)
    if path is None:
        return Check(name=name, state=CheckState.LIMITED, finding=f"not found ({needed_for})", remedy=remedy)
    try:
        shown = subprocess.run(
            [path, "--version"], capture_output=True, text=True, timeout=_VERSION_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return Check(name=name, state=CheckState.LIMITED, finding=f"{path} does not answer", remedy=remedy)
    return Check(name=name, state=CheckState.GOOD, finding=shown.stdout.partition("\n")[0].strip() or path)


def _sandbox(settings: Settings, root: Path, own: Sequence[Path]) -> Check:
    level = Level(settings.sandbox.level)
    if level is Level.OFF:
        return Check(name="sandbox", state=CheckState.LIMITED, finding="off", remedy="Commands may write anywhere.")
    network, services = settings.sandbox.network, settings.sandbox.services
    found = find_confinement(level, root, write_folders(settings), has_network=network, has_services=services, own=own)
    if found is None:
        return Check(
            name="sandbox",
            state=CheckState.LIMITED,
            finding="nothing here can confine commands; auto mode asks before each",
            remedy="Use Linux 6.2 or newer, or install bubblewrap.",
        )
    if not found.keeps_closed:
        return Check(
            name="sandbox",
            state=CheckState.LIMITED,
            finding=f"{in_words(found, level)}; auto mode asks before each command",
            remedy="Install bubblewrap, or work in a folder that codeagent's own settings do not lie in.",
        )
    remedy = _BUBBLEWRAP if isinstance(found, Landlock) else ""
    return Check(name="sandbox", state=CheckState.GOOD, finding=in_words(found, level), remedy=remedy)


def _folders(environ: Mapping[str, str]) -> Iterator[Check]:
    """Where sessions, and what undo needs, are kept; nothing while both can be written."""
    places = find_places(environ)
    for name, folder in (("sessions", places.sessions), ("undo", places.checkpoints)):
        there = next(one for one in (folder, *folder.parents) if one.exists())
        if trouble := _hindrance(there):
            finding = f"{folder} cannot be written: {trouble}"
            remedy = "Mend that, or set CODEAGENT_HOME to another folder."
            yield Check(name=name, state=CheckState.LIMITED, finding=finding, remedy=remedy)


def _hindrance(folder: Path) -> str:
    """What keeps files from being made in a folder; empty when nothing is known to."""
    if not folder.is_dir():
        return f"{folder} is no folder"
    if not os.access(folder, os.W_OK):
        return f"{folder} is read-only"
    space = os.statvfs(folder)
    return "the disk is full" if space.f_blocks and not space.f_bavail else ""


def _workspace(root: Path) -> Check:
    if os.access(root, os.W_OK):
        return Check(name="workspace", state=CheckState.GOOD, finding=str(root))
    return Check(
        name="workspace",
        state=CheckState.LIMITED,
        finding=f"{root} is read-only",
        remedy="Start codeagent in a directory that you can write to.",
    )
