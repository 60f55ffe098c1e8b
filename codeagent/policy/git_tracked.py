"""Finds files with secrets among those that git knows: their contents are in diffs and in the history."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from codeagent.policy.git_programs import git_inside
from codeagent.workspace.git_index import tracked
from codeagent.workspace.git_places import is_there
from codeagent.workspace.paths import PathSandbox


def tracked_secret(folder: Path, limits: Sequence[Path], sandbox: PathSandbox) -> str:
    """A file with secrets that the repository around ``folder`` knows, below ``limits`` if there are any."""
    for place in (folder, *folder.parents):
        if not is_there(place / ".git"):
            continue
        try:
            index = git_inside(place / ".git") / "index"
            status = index.stat()
            found = _secrets(index, (status.st_ino, status.st_size, status.st_mtime_ns), place, sandbox, sandbox.roots)
        except FileNotFoundError:
            continue
        except (OSError, ValueError):
            return f"a file of {sandbox.show(place)}"
        near = (path for path in found if not limits or any(path.is_relative_to(limit) for limit in limits))
        return next(map(sandbox.show, near), "")
    return ""


@lru_cache(maxsize=8)
def _secrets(
    index: Path, stamp: tuple[int, int, int], place: Path, sandbox: PathSandbox, roots: tuple[Path, ...]
) -> tuple[Path, ...]:
    """Kept until the index (``stamp``) or the folders of the workspace (``roots``) change."""
    del stamp, roots
    return tuple(path for name in tracked(index.parent) if sandbox.is_sensitive(path := place / name))
