"""``codeagent demo``: a bundled script plays the model; everything else is the real program.

It works on a copy of a sample project in a temporary directory, with real tools,
diffs and approvals, and without any key or network.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from codeagent.cli.command_line import WordsParser
from codeagent.cli.options import OpenDesk
from codeagent.cli.screen import open_app
from codeagent.config.key_problems import keys_in_force
from codeagent.config.launch import Launch
from codeagent.config.places import find_places
from codeagent.core.errors import ConfigError
from codeagent.core.programs import temporary_folder

HERE = Path(__file__).parent
_NAME = "codeagent-demo"
REQUEST = "The totals are wrong when there is a discount. Find out why and fix it."


def run(words: Sequence[str], open_desk: OpenDesk) -> int:
    """Plays the demo; returns the exit code."""
    WordsParser(
        prog="codeagent demo", description="Plays a real session on a sample project; no key, no network."
    ).parse_args(words)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise ConfigError("The demo needs a terminal.", hint="Start codeagent demo in one.")
    return play(open_desk)


def play(open_desk: OpenDesk) -> int:
    """Copies the sample project, plays the script on it, and removes the copy again."""
    with _own_folder() as folder:
        root = folder.resolve() / "shop"
        shutil.copytree(HERE / "sample", root)
        home = folder / "home"
        launch = Launch(
            root=root,
            places=find_places({**os.environ, "CODEAGENT_HOME": str(home)}),
            environ={name: value for name, value in os.environ.items() if not name.startswith("CODEAGENT_")},
            flags={"model": {"name": f"scripted/{HERE / 'demo.jsonl'}"}},
            keeps_session=False,
        )
        return open_app(launch, find_places(os.environ), REQUEST, open_desk, keys_in_force=keys_in_force) or 0


@contextmanager
def _own_folder() -> Generator[Path]:
    """A new folder among the temporary ones, with a plain name where that is free; it is removed at the end."""
    plain = temporary_folder() / _NAME
    try:
        plain.mkdir(mode=0o700)
    except FileExistsError:
        with tempfile.TemporaryDirectory(prefix=f"{_NAME}-") as folder:
            yield Path(folder)
        return
    try:
        yield plain
    finally:
        shutil.rmtree(plain, ignore_errors=True)
