"""Looks through a folder that a command reads as a whole: for files with secrets, and for links that lead outside."""

from __future__ import annotations

import os
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

from codeagent.core.approvals import Access
from codeagent.core.errors import PathRefused
from codeagent.policy.reading import Reading
from codeagent.workspace.paths import PathSandbox

_MOST_ENTRIES = 20_000
_LARGEST_IGNORE_FILE = 256 * 1024
_IGNORE_FILES = (".ignore", ".rgignore", ".gitignore", ".git/info/exclude")


def secret_below(top: Path, reading: Reading, sandbox: PathSandbox) -> str:
    """What in the folder ``top`` stands against the reading, as the end of a sentence; empty when nothing does."""
    seen = 0
    brought_back = [name for folder in top.parents for name in _brought_back(folder)] if reading.skips_hidden else []
    waiting = [str(top)]
    while waiting:
        folder = waiting.pop()
        try:
            entries = list(os.scandir(folder))
        except OSError:
            continue
        seen += len(entries)
        if seen > _MOST_ENTRIES:
            return "which holds more files than are looked at."
        if reading.skips_hidden:
            brought_back += _brought_back(Path(folder))
        for entry in entries:
            if reading.skips_hidden and entry.name.startswith(".") and not _fits(entry.name, brought_back):
                continue
            if entry.is_dir(follow_symlinks=False):
                if entry.name != ".git" and not reading.is_shallow:
                    waiting.append(entry.path)
            elif against := _against(entry, reading, sandbox):
                return against
    return ""


def _against(entry: os.DirEntry[str], reading: Reading, sandbox: PathSandbox) -> str:
    path = Path(entry.path)
    follows = reading.follows_links and entry.is_symlink()
    if reading.only and not _fits(entry.name, reading.only) and not follows:
        return ""
    if not reading.names_only and sandbox.is_sensitive(path):
        return f"where {sandbox.show(path)} may hold secrets."
    if follows and not _is_inside(path, sandbox, names_only=reading.names_only):
        return f"where the link {sandbox.show(path)} leads outside."
    return ""


def _fits(name: str, patterns: list[str] | tuple[str, ...]) -> bool:
    return any(fnmatch(name, pattern) for pattern in patterns)


def _brought_back(folder: Path) -> Iterator[str]:
    """Names that the ignore files of a folder take back in, hidden ones as well."""
    for name in _IGNORE_FILES:
        try:
            with (folder / name).open("rb") as file:
                text = file.read(_LARGEST_IGNORE_FILE).decode("utf-8", "replace")
        except OSError:
            continue
        for line in text.splitlines():
            if line.startswith("!"):
                yield line[1:].strip().rstrip("/").rpartition("/")[2].replace("\\", "")


def _is_inside(path: Path, sandbox: PathSandbox, *, names_only: bool) -> bool:
    try:
        touch = sandbox.examine(str(path), Access.READ)
    except PathRefused:
        return names_only and path.is_symlink() and not path.exists()
    return touch.concern is None
