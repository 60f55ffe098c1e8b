"""Sees when a command changed what makes git run programs (hooks, settings, attributes), and puts it back.

Looked at are the repository of a folder, its submodules and linked work trees,
as far as they lie in that folder. A repository that is new is nobody's to guard.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from codeagent.workspace.bounds import GIT_PARTS

_LARGEST = 1_000_000
_MOST_FILES = 2_000
_DEEPEST = 6
_SECTION = re.compile(r"\s*\[\s*([A-Za-z0-9.-]+)(?:\s+\"((?:[^\"\\]|\\.)*)\")?\s*\]\s*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A file or link as it was; ``data`` is None when it is too large to keep."""

    mode: int
    data: bytes | None
    stamp: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class GitState:
    """The guarded files of the repositories in ``folders``."""

    folders: tuple[Path, ...]
    entries: Mapping[Path, Entry]


@dataclass(frozen=True, slots=True, kw_only=True)
class GitChange:
    """One guarded file that a command changed; None is no file."""

    path: Path
    before: Entry | None
    after: Entry | None

    @property
    def can_be_undone(self) -> bool:
        """Whether what was there is known."""
        return self.before is None or self.before.data is not None


class GitWatch:
    """Compares before and after each command; what goes on running in between is held against the next one.

    A state from before the first thing that still runs is kept until nothing does:
    what it changes is seen at the end of the next command.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._kept: GitState | None = None

    def begin(self) -> GitState:
        """What the end of a command is to be compared with."""
        return self._kept or git_state(self._root)

    def end(self, began: GitState, *, goes_on: bool) -> tuple[GitChange, ...]:
        """What changed since ``began``; ``goes_on``: something that was started still runs."""
        changes = git_changes(began)
        self._kept = git_state(self._root) if goes_on else None
        return changes

    def go_on(self, began: GitState) -> None:
        """Something was started that goes on running."""
        self._kept = began


def git_state(root: Path) -> GitState:
    """How things stand now; a few milliseconds."""
    return _state(tuple(_git_folders(root)))


def git_changes(before: GitState) -> tuple[GitChange, ...]:
    """What is different now, but for settings that only name a remote or what a branch follows."""
    now = _state(before.folders).entries
    paths = sorted({*before.entries, *now})
    changes = (GitChange(path=path, before=before.entries.get(path), after=now.get(path)) for path in paths)
    return tuple(change for change in changes if change.before != change.after and not _is_harmless(change))


def undo_git_change(change: GitChange) -> bool:
    """Puts back what was there; False when it is no longer as the command left it. Raises OSError."""
    if _entry(change.path) != change.after or not change.can_be_undone:
        return False
    if change.after is not None:
        change.path.unlink()
    if change.before is not None and change.before.data is not None:
        change.path.parent.mkdir(parents=True, exist_ok=True)
        if stat.S_ISLNK(change.before.mode):
            change.path.symlink_to(os.fsdecode(change.before.data))
        else:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            with os.fdopen(os.open(change.path, flags, stat.S_IMODE(change.before.mode)), "wb") as file:
                os.fchmod(file.fileno(), stat.S_IMODE(change.before.mode))
                file.write(change.before.data)
    return True


def _git_folders(root: Path) -> Iterator[Path]:
    """The repository's own inside, and those of submodules and linked work trees in it."""
    top = root / ".git"
    if top.is_symlink() or not top.is_dir():
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


def _state(folders: tuple[Path, ...]) -> GitState:
    entries: dict[Path, Entry] = {}
    for folder in folders:
        for path in _guarded(folder):
            if len(entries) < _MOST_FILES and (entry := _entry(path)) is not None:
                entries[path] = entry
    return GitState(folders=folders, entries=entries)


def _guarded(folder: Path) -> Iterator[Path]:
    yield folder / "config.worktree"
    for part in GIT_PARTS:
        top = folder / part
        yield top
        waiting = [top] if not top.is_symlink() and top.is_dir() else []
        while waiting:
            with suppress(OSError):
                for path in waiting.pop().iterdir():
                    yield path
                    if path.is_dir() and not path.is_symlink():
                        waiting.append(path)


def _entry(path: Path) -> Entry | None:
    """A file or link; folders count through what is in them."""
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


def _is_harmless(change: GitChange) -> bool:
    """New remotes, and what branches follow: ``git push -u`` and ``git checkout -b`` write these."""
    before, after = change.before, change.after
    if change.path.name != "config" or before is None or after is None or before.mode != after.mode:
        return False
    old, new = _settings(before.data), _settings(after.data)
    if old is None or new is None:
        return False
    known = {section for section, _ in old}
    return all(_only_branch(*setting) for setting in old - new) and all(
        _only_branch(*setting) or (section not in known and _only_remote(*setting))
        for setting in new - old
        for section in (setting[0],)
    )


def _only_branch(section: str, setting: str) -> bool:
    return section.startswith("branch ") and setting.partition("=")[0].strip().lower() in {
        "",
        "remote",
        "merge",
        "rebase",
    }


def _only_remote(section: str, setting: str) -> bool:
    key, _, value = setting.partition("=")
    return section.startswith("remote ") and key.strip().lower() in {"", "url", "fetch"} and "::" not in value


def _settings(data: bytes | None) -> set[tuple[str, str]] | None:
    """Each line with the section it stands in; None for a file that is not plain enough to say."""
    text = (data or b"").decode("utf-8", "replace")
    if data is None or "\\" in text:
        return None
    found: set[tuple[str, str]] = set()
    section = ""
    for line in text.splitlines():
        if line.lstrip().startswith("["):
            match = _SECTION.match(line)
            if match is None:
                return None
            section = f"{match[1].lower()} {match[2] or ''}"
            found.add((section, ""))
        elif line.strip():
            found.add((section, line.strip()))
    return found
