"""Finds git's own folders and hook folders, whatever they are called, without running git."""

from __future__ import annotations

import re
import stat
from collections.abc import Callable
from functools import partial
from pathlib import Path

_PLACES = re.compile(
    r"^[ \t]*(?:\[[^\]\n]*\][ \t]*)?"
    r"(?:(path)|hookspath|attributesfile|fsmonitor|clean|smudge|process|textconv|command|external)[ \t]*=[ \t]*(.*)$",
    re.IGNORECASE | re.MULTILINE,
)
"""Settings that name what git runs or reads settings from; ``include.path`` starts where the file lies."""
_COMMENT = re.compile(r"[ \t]+[#;].*$")
_LARGEST_CONFIG = 256 * 1024


def is_in_git_folder(path: Path, root: Path) -> bool:
    """Whether ``path`` lies, or once written would lie, in a folder that git takes for a repository's inside.

    Such a folder may have any name: a bare repository, one made with
    ``--separate-git-dir``, or one put together file by file. Looked at are the
    folders from ``root`` down to the one that holds ``path``.
    """
    written = path.name
    for folder in _folders(path, root):
        if looks_like_git(partial(_holds_or_will, folder, written)):
            return True
        written = folder.name
    return False


def is_hook(path: Path, root: Path) -> bool:
    """Whether a repository around ``path``, at or below ``root``, takes hooks, programs or settings from there."""
    return any(path.is_relative_to(hooks) for folder in _folders(path, root) for hooks in _hook_folders(folder))


def repository_of(folder: Path) -> Path | None:
    """The top of the repository that a folder lies in, told by its ``.git`` entry; None outside of one."""
    return next((one for one in (folder, *folder.parents) if is_there(one / ".git")), None)


def _folders(path: Path, root: Path) -> list[Path]:
    """The folders that hold ``path``, innermost first, up to ``root``; none when it is not below it."""
    if not path.is_relative_to(root):
        return []
    return list(path.parents)[: len(path.parts) - len(root.parts)]


def _holds_or_will(folder: Path, written: str, name: str) -> bool:
    """Whether a name is in a folder, or is the one that is about to be written."""
    return name.casefold() == written.casefold() or is_there(folder / name)


def looks_like_git(holds: Callable[[str], bool]) -> bool:
    """Whether git takes a folder for a repository's inside by the names in it (setup.c, is_git_directory)."""
    return holds("HEAD") and ((holds("objects") and holds("refs")) or holds("commondir"))


def is_there(path: Path) -> bool:
    """Whether the name is taken, be it by a link that leads nowhere: git takes such a HEAD too."""
    try:
        path.lstat()
    except OSError:
        return False
    return True


def _hook_folders(work_tree: Path) -> list[Path]:
    """Where the repository of a work tree says that its hooks and more settings are, beside git's own folder."""
    found: list[Path] = []
    for inside in _git_folders(work_tree / ".git"):
        for config in (inside / "config", inside / "config.worktree"):
            for includes, value in _PLACES.findall(_small_text(config)):
                start = inside if includes else work_tree
                found += [(start / Path(name).expanduser()).resolve() for name in _names_in(value)]
    return found


def _names_in(value: str) -> list[str]:
    """The places that a setting may mean: all of it, and each of its words that is a path."""
    whole = _COMMENT.sub("", value).strip().strip('"')
    words = [word.strip("'\"") for word in whole.split()]
    names = [whole, *(word for word in words if "/" in word.strip("./") and word != whole)]
    return [name for name in names if name and "\0" not in name]


def _git_folders(link: Path) -> list[Path]:
    """The folders with a repository's settings; in a linked work tree or submodule ``.git`` is a file naming one."""
    try:
        mode = link.stat().st_mode
    except OSError:
        return []
    if stat.S_ISDIR(mode):
        return [link]
    inside = link.parent / _small_text(link).removeprefix("gitdir:").strip()
    if inside == link.parent:
        return []
    common = _small_text(inside / "commondir").strip()
    return [inside, inside / common] if common else [inside]


def _small_text(path: Path) -> str:
    """What a small text file holds; nothing when there is none."""
    try:
        if path.is_file() and path.stat().st_size <= _LARGEST_CONFIG:
            return path.read_text("utf-8", "replace")
    except OSError:
        return ""
    return ""
