"""The names that a shell's pattern stands for now, and how many files are looked at for them."""

from __future__ import annotations

import fnmatch
import glob
import os
from collections.abc import Iterator
from pathlib import Path

from codeagent.policy.effort import spend
from codeagent.workspace.files import is_folder
from codeagent.workspace.git_places import is_there

_LOOKED_UP = 3
_PATTERN = 10
_LONG = 200


def glob_names(pattern: str, folder: Path | str) -> Iterator[str]:
    """The names below ``folder`` that fit: in the same order as the standard library's ``glob``; raises TooMuch.

    Unlike ``Path.glob`` this finds broken links, and takes ``**`` for one folder as bash does.
    """
    spend_on(pattern)
    return _fitting(pattern, str(folder), only_folders=False) if pattern else iter(())


def spend_on(pattern: str) -> None:
    """Draws on the allowance for turning a pattern into an expression, which takes the square of its length."""
    spend(_PATTERN + len(pattern) ** 2 // _LONG if pattern else 0)


def _fitting(pattern: str, folder: str, *, only_folders: bool) -> Iterator[str]:
    head, tail = _split(pattern)
    if not glob.has_magic(pattern):
        if _is_there(_joined(folder, head), tail):
            yield pattern
        return
    heads: Iterator[str] = iter([head])
    if head and head != pattern and glob.has_magic(head):
        heads = _fitting(head, folder, only_folders=True)
    for found in heads:
        below = _joined(folder, found)
        if glob.has_magic(tail):
            names = _names(below, tail, only_folders=only_folders)
        else:
            names = [tail] if _is_there(below, tail) else []
        for name in names:
            spend()
            yield _joined(found, name)


def _split(pattern: str) -> tuple[str, str]:
    """All before the last slash, and what is behind it."""
    head, slash, tail = pattern.rpartition("/")
    return head.rstrip("/") or (head + slash), tail


def _joined(folder: str, name: str) -> str:
    """As pathlib would, but that a pattern's dots and slashes stay as they are written."""
    if name.startswith("/") or not folder:
        return name
    return f"{folder}{name}" if folder.endswith("/") else f"{folder}/{name}"


def _is_there(folder: str, name: str) -> bool:
    spend(_LOOKED_UP)
    return is_there(Path(folder, name)) if name else is_folder(Path(folder))


def _names(folder: str, pattern: str, *, only_folders: bool) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if not only_folders or _is_folder(entry)]
    except OSError:
        return []
    spend(_LOOKED_UP + len(names))
    if not pattern.startswith("."):
        names = [name for name in names if not name.startswith(".")]
    return fnmatch.filter(names, pattern)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
