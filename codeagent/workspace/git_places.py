"""Finds git's own folders and hook folders, whatever they are called, without running git."""

from __future__ import annotations

import re
from pathlib import Path

_HOOKS_PATH = re.compile(r"^[ \t]*(?:\[[^\]\n]*\][ \t]*)?hookspath[ \t]*=[ \t]*(.*)$", re.IGNORECASE | re.MULTILINE)
_LARGEST_CONFIG = 256 * 1024


def is_in_git_folder(path: Path, root: Path) -> bool:
    """Whether ``path`` lies, or once written would lie, in a folder that git takes for a repository's inside.

    Such a folder may have any name: a bare repository, one made with
    ``--separate-git-dir``, or one put together file by file. Looked at are the
    folders from ``root`` down to the one that holds ``path``.
    """
    written: str | None = path.name
    for folder in (path.parent, *path.parent.parents):
        if not folder.is_relative_to(root):
            return False
        if _looks_like_git(folder, written):
            return True
        written = folder.name
    return False


def is_hook(path: Path, root: Path) -> bool:
    """Whether a repository around ``path``, at or below ``root``, is configured to take its hooks from there."""
    for folder in path.parents:
        if not folder.is_relative_to(root):
            return False
        if any(path.is_relative_to(hooks) for hooks in _hook_folders(folder)):
            return True
    return False


def _looks_like_git(folder: Path, written: str) -> bool:
    """What git itself looks for (setup.c, is_git_directory), with the entry that is about to be written."""

    def holds(name: str) -> bool:
        return name == written or (folder / name).exists()

    return holds("HEAD") and ((holds("objects") and holds("refs")) or holds("commondir"))


def _hook_folders(folder: Path) -> list[Path]:
    found: list[Path] = []
    for config in (folder / ".git" / "config", folder / ".git" / "config.worktree"):
        try:
            if not config.is_file() or config.stat().st_size > _LARGEST_CONFIG:
                continue
            text = config.read_text("utf-8", "replace")
        except OSError:
            continue
        for value in _HOOKS_PATH.findall(text):
            name = value.strip().strip('"')
            if name:
                found.append((folder / Path(name).expanduser()).resolve())
    return found
