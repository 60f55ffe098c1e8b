"""Which file codeagent starts when it needs a program: never one that a command or a repository may have put there."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

_CACHES = (
    ".cache/pip",
    ".cache/uv",
    ".cache/go-build",
    ".cargo/git",
    ".cargo/registry",
    ".npm",
    "go/pkg",
    "Library/Caches/pip",
    "Library/Caches/uv",
    "Library/Caches/go-build",
)
_SYSTEM_BASH = "/bin/bash"
_USUAL_TEMPORARY = "/tmp"  # noqa: S108 - where every system has it
_reachable: set[Path] = set()


def temporary_folder() -> Path:
    """The folder for temporary files, also while nothing can be written to any, as on a full disk."""
    try:
        found = tempfile.gettempdir()
    except FileNotFoundError:
        found = os.environ.get("TMPDIR") or _USUAL_TEMPORARY
    return Path(found).resolve()


def common_places() -> list[Path]:
    """Where commands may write in every workspace: the temporary folder first, then caches of common package tools."""
    caches = (Path.home() / cache for cache in _CACHES)
    return [temporary_folder(), *(path.resolve() for path in caches if path.is_dir())]


def pass_over(folders: Iterable[Path]) -> None:
    """From now on no program is taken from these folders either, which commands may write to, nor from below them."""
    _reachable.update(folder.resolve() for folder in folders)


def find_program(name: str, path: str | None = None) -> str | None:
    """Where the program ``name`` lies in the folders of ``path`` (else PATH), or None.

    Folders that are not absolute, the workspace, the repository around it and all where commands may write do not
    count, nor does a link from elsewhere into one of them.
    """
    barred = _barred()
    for folder in (os.environ.get("PATH", os.defpath) if path is None else path).split(os.pathsep):
        file = Path(folder, name)
        if not file.is_absolute() or not os.access(file, os.X_OK) or not file.is_file():
            continue
        if not any(place.is_relative_to(one) for place in _places(file) for one in barred):
            return str(file)
    return None


def find_bash() -> str:
    """The bash that runs commands; the system's own where PATH has none that counts."""
    return find_program("bash") or _SYSTEM_BASH


def named_by_path(name: str, path: str) -> str | None:
    """The file that a command starts by this name, wherever it lies in the folders of ``path``."""
    return shutil.which(name, path=path)


def _barred() -> list[Path]:
    """Where programs are passed over; the whole machine is not, even as a workspace: nothing would be left."""
    try:
        workspace = Path.cwd()
    except FileNotFoundError:  # it has been removed, and all in it
        return _open_to_commands()
    folders = (workspace, *workspace.parents)
    around = next((folder for folder in folders if os.access(folder / ".git", os.F_OK)), workspace)
    if Path.home().is_relative_to(around):
        around = workspace  # a home folder that is a repository holds the person's own programs
    return [place for place in (*_open_to_commands(), workspace, around) if place != Path("/")]


def _open_to_commands() -> list[Path]:
    """Where commands may write beside the workspace."""
    return [*_reachable, *common_places()]


def _places(file: Path) -> Iterator[Path]:
    """Where the file lies, and each place that links lead to from there."""
    for _ in range(40):  # as many as the kernel follows
        place = file.parent.resolve() / file.name
        yield place
        if not place.is_symlink():
            return
        file = place.parent / place.readlink()
