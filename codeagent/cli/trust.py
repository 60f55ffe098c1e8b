"""``codeagent trust``: lets a project's own settings take effect, as long as they stay as they are."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from codeagent.config.places import find_places
from codeagent.core.errors import ConfigError
from codeagent.core.text import show_invisible
from codeagent.policy.trust import distrust, trust, what_takes_effect


def run(words: Sequence[str]) -> int:
    """Stores or removes the person's word on a directory; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="codeagent trust", description="Lets a project's own settings take effect until they change."
    )
    parser.add_argument("path", nargs="?", type=Path, default=Path(), metavar="PATH", help="default: this directory")
    parser.add_argument("--remove", action="store_true", help="no longer trust it")
    found = parser.parse_args(words)
    root = found.path.expanduser().resolve()
    if not root.is_dir():
        raise ConfigError(f"{root} is not a directory.", hint="Name the directory of a project.")
    store = find_places(os.environ).trust_file
    if found.remove:
        distrust(root, store)
        print(f"{show_invisible(str(root))} is not trusted any more.")
        return 0
    effects = what_takes_effect(root)
    trust(root, store)
    for effect in effects:
        print(f"{show_invisible(str(effect.path.relative_to(root)))}: {effect.what}")
    print(f"{show_invisible(str(root))} is trusted" + ("." if effects else "; it brings nothing along so far."))
    return 0
