"""``codeagent trust``: lets what a project brings along take effect, as long as it stays as it is."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from codeagent.cli.command_line import WordsParser
from codeagent.config.places import find_places
from codeagent.core.errors import ConfigError
from codeagent.core.text import show_invisible
from codeagent.policy.trust import can_take_effect, distrust, read_project, trust
from codeagent.workspace.private import way_out


def run(words: Sequence[str]) -> int:
    """Stores or removes the person's word on a directory; returns the exit code."""
    parser = WordsParser(
        prog="codeagent trust",
        description="Lets a project's settings, instructions and commands take effect until they change.",
    )
    parser.add_argument("path", nargs="?", type=Path, default=Path(), metavar="PATH", help="default: this directory")
    parser.add_argument("--remove", action="store_true", help="no longer trust it")
    found = parser.parse_args(words)
    root = found.path.expanduser().resolve()
    if not root.is_dir():
        raise ConfigError(f"{root} is not a directory.", hint="Name the directory of a project.")
    store = find_places(os.environ).trust_file
    if found.remove:
        _change(store, lambda: distrust(root, store))
        print(f"{show_invisible(str(root))} is not trusted any more.")
        return 0
    files = read_project(root)
    for file in files:
        print(show_invisible(f"{file.name}: {f'no effect, it {file.problem}' if file.problem else file.brings}"))
    if not can_take_effect(files):
        print(f"{show_invisible(str(root))} brings along nothing that could take effect, so there is nothing to trust.")
        return 0
    _change(store, lambda: trust(root, store, files))
    print(f"{show_invisible(str(root))} is trusted.")
    return 0


def _change(store: Path, change: Callable[[], None]) -> None:
    try:
        change()
    except OSError as error:
        raise ConfigError(f"{store} cannot be changed: {error.strerror}.", hint=way_out(error)) from error
