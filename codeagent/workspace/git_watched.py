"""Finds the repositories in a workspace, and in each the files that can make git run programs; start-up files too."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from codeagent.workspace.bounds import GIT_PARTS
from codeagent.workspace.git_index import submodules
from codeagent.workspace.git_places import is_there, looks_like_git
from codeagent.workspace.git_settings import program_in
from codeagent.workspace.sensitive import starts_at_home

_LARGEST = 1_000_000
_LARGEST_LINK = 4096
_DEEPEST = 6
_MOST_ENTRIES = 5_000
_MOST_SEARCHED = 50_000
_OWN_AT_HOME = (".config/codeagent", ".local/share/codeagent", ".local/state/codeagent")
_TO_FETCH = ("partialclone", "promisor", "partialclonefilter")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A file or link as it was; ``data`` is None when it is too large to keep, or a folder."""

    mode: int
    data: bytes | None
    stamp: tuple[int, int] = (0, 0)


def git_links(root: Path) -> Iterator[Path]:
    """Each ``.git`` of the workspace: its own, those that its index names, and those that lie near the top.

    And each folder near the top that git takes for a repository's inside whatever its name, as a bare one.
    """
    top = root / ".git"
    yield top
    with suppress(OSError, ValueError):
        yield from (root / name / ".git" for name in submodules(top))
    seen, waiting = 0, [root]
    while waiting and seen < _MOST_ENTRIES:
        below: list[Path] = []
        for folder in waiting:
            entries = _listed(folder)
            is_bare = looks_like_git({entry.name for entry in entries}.__contains__)
            if is_bare:
                yield folder
            for entry in entries:
                seen += 1
                if entry.name == ".git":
                    yield Path(entry.path)
                elif is_bare and entry.name == "objects":
                    continue
                elif seen < _MOST_ENTRIES and entry.is_dir(follow_symlinks=False):
                    below.append(Path(entry.path))
        waiting = below


def git_folders(link: Path, root: Path) -> Iterator[Path]:
    """The inside that a ``.git`` stands for, as far as it lies in ``root``, with its submodules' and work trees'."""
    top = _inside(link)
    if top is None or not top.is_relative_to(root):
        return
    yield top
    waiting = [(top / "modules", 0), (top / "worktrees", 0)]
    while waiting:
        folder, depth = waiting.pop()
        if folder.is_symlink() or not folder.is_dir():
            continue
        if (folder / "HEAD").exists():
            yield folder
            waiting.append((folder / "modules", depth + 1))
        elif depth < _DEEPEST:
            with suppress(OSError):
                waiting += [(inside, depth + 1) for inside in folder.iterdir()]


def guarded(folder: Path) -> Iterator[Path]:
    """The files in a repository's inside that can make git run programs."""
    yield folder / "config.worktree"
    yield folder / "commondir"
    for part in GIT_PARTS:
        yield folder / part
        yield from (Path(entry.path) for entry in _below(folder / part))


def starts_in(root: Path) -> dict[Path, Entry | None]:
    """The start-up files and folders of the person's home folder that are there, as far as they lie in ``root``.

    Of links, also of those on the way to them and to the program's own folders, with where they lead: nothing keeps
    a link from being exchanged.
    """
    home = Path.home().resolve()
    places = [path for path in (home / place for place in starts_at_home()) if path != root]
    ways = (
        parent for place in (*places, *(home / place for place in _OWN_AT_HOME)) for parent in (place, *place.parents)
    )
    links = {path: entry_at(path) for path in ways if path != root and path.is_relative_to(root) and path.is_symlink()}
    there: dict[Path, Entry | None] = {path: None for path in places if path.is_relative_to(root) and is_there(path)}
    return there | links


def files_of(place: Path) -> Iterator[Path]:
    """The file itself, or all in a folder."""
    if place.is_symlink() or not place.is_dir():
        yield place
    yield from (Path(entry.path) for entry in _below(place) if not entry.is_dir(follow_symlinks=False))


def entry_at(path: Path) -> Entry | None:
    """A file or link as it is now; folders count through what is in them."""
    try:
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            return Entry(mode=status.st_mode, data=os.fsencode(path.readlink()))
        if stat.S_ISDIR(status.st_mode):
            return None
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
            return Entry(mode=status.st_mode, data=None, stamp=(status.st_size, status.st_mtime_ns))
        return Entry(mode=status.st_mode, data=path.read_bytes())
    except OSError:
        return None


def folder_at(path: Path) -> Entry | None:
    """A folder with what tells it from every other one; None when there is none, or only a link."""
    try:
        status = path.lstat()
    except OSError:
        return None
    if not stat.S_ISDIR(status.st_mode):
        return None
    return Entry(mode=status.st_mode, data=None, stamp=(status.st_dev, status.st_ino))


def where_now(folder: Entry, root: Path) -> Path | None:
    """Where a folder was moved to in the workspace; None when it is not found."""
    seen, waiting = 0, [root]
    while waiting and seen < _MOST_SEARCHED:
        for entry in _listed(waiting.pop()):
            seen += 1
            if entry.is_dir(follow_symlinks=False):
                if entry.inode() == folder.stamp[1] and folder_at(Path(entry.path)) == folder:
                    return Path(entry.path)
                waiting.append(Path(entry.path))
    return None


def is_armed(path: Path, folder: Path) -> bool:
    """Whether a file of a new repository would run something: a live hook, or settings that name a program."""
    if path.is_relative_to(folder / "hooks"):
        return path.suffix != ".sample" and (path.is_symlink() or os.access(path, os.X_OK))
    if path.name in {"config", "config.worktree"} and path.parent == folder:
        try:
            return bool(named := program_in(path, is_nested=True)) and not named.endswith(_TO_FETCH)
        except OSError:
            return True
    return False


def _inside(link: Path) -> Path | None:
    if link.is_symlink():
        return None
    if link.is_dir():
        return link
    entry = entry_at(link)
    if entry is None or entry.data is None or len(entry.data) > _LARGEST_LINK:
        return None
    named = link.parent / os.fsdecode(entry.data).removeprefix("gitdir:").strip()
    with suppress(OSError, RuntimeError, ValueError):
        return named.resolve() if named.is_dir() else None
    return None


def _below(top: Path) -> Iterator[os.DirEntry[str]]:
    """All that is in a folder and further down; nothing where there is none, or a link to one."""
    waiting = [top] if not top.is_symlink() and top.is_dir() else []
    while waiting:
        for entry in _listed(waiting.pop()):
            yield entry
            if entry.is_dir(follow_symlinks=False):
                waiting.append(Path(entry.path))


def _listed(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []
