"""Sees when a command changed what makes git run programs (hooks, settings, attributes), and puts it back.

Looked at are the repositories in a folder, bare ones too, their submodules and linked work trees.
One that is new counts when something in it would run by itself. Where the workspace
holds the home folder, new start-up files in that one count too: those that are there
the sandbox keeps as they are.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from codeagent.workspace.git_places import is_there
from codeagent.workspace.git_watched import (
    Entry,
    entry_at,
    files_of,
    folder_at,
    git_folders,
    git_links,
    guarded,
    is_armed,
    starts_in,
    where_now,
)

_MOST_FILES = 2_000
_SECTION = re.compile(r"\s*\[\s*([A-Za-z0-9.-]+)(?:\s+\"((?:[^\"\\]|\\.)*)\")?\s*\]\s*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class GitState:
    """The guarded files of the repositories in ``root``, and which folder each ``.git`` is (None: it is a file).

    ``starts`` are the home folder's places for start-up files that are there, with where links lead.
    """

    root: Path
    folders: tuple[Path, ...]
    entries: Mapping[Path, Entry]
    links: Mapping[Path, Entry | None]
    starts: Mapping[Path, Entry | None] = field(default_factory=dict[Path, Entry | None])


@dataclass(frozen=True, slots=True, kw_only=True)
class GitChange:
    """One guarded file that a command changed; None is no file.

    Where a whole ``.git`` was exchanged, ``moved_to`` is where the one that was there lies now.
    """

    path: Path
    before: Entry | None
    after: Entry | None
    moved_to: Path | None = None

    @property
    def can_be_undone(self) -> bool:
        """Whether what was there is known."""
        return self.before is None or self.before.data is not None or self.moved_to is not None


class GitWatch:
    """Compares before and after each command; what goes on running in between is held against the next one.

    A state from before the first thing that still runs is kept until nothing does:
    what it changes is seen at the end of the next command, or when somebody looks.
    Looked at are the workspace and the folders added to it. Safe to call on any thread.
    """

    def __init__(self, roots: Callable[[], Sequence[Path]]) -> None:
        self._roots = roots
        self._kept: tuple[GitState, ...] = ()
        self._lock = threading.Lock()

    def begin(self) -> tuple[GitState, ...]:
        """What the end of a command is to be compared with."""
        with self._lock:
            return self._kept or self._now()

    def end(self, began: tuple[GitState, ...], *, goes_on: bool) -> tuple[GitChange, ...]:
        """What changed since ``began``; ``goes_on``: something that was started still runs."""
        with self._lock:
            changes = tuple(change for state in began for change in git_changes(state))
            self._kept = self._now() if goes_on else ()
        return changes

    def look(self) -> tuple[GitChange, ...]:
        """What was changed by now by what goes on running; each change is told once."""
        return self.end(self._kept, goes_on=True) if self._kept else ()

    def look_again(self) -> None:
        """Changes were put back: what still runs is held against how things stand now."""
        with self._lock:
            if self._kept:
                self._kept = self._now()

    def go_on(self, began: tuple[GitState, ...]) -> None:
        """Something was started that goes on running."""
        with self._lock:
            self._kept = began

    def _now(self) -> tuple[GitState, ...]:
        roots = self._roots()
        apart = [root for root in roots if not any(root != other and root.is_relative_to(other) for other in roots)]
        return tuple(git_state(root) for root in apart)


def git_state(root: Path) -> GitState:
    """How things stand now; milliseconds, tens of them in a large workspace."""
    tops = [link for link in git_links(root) if is_there(link)]
    links = {link: folder_at(link) for link in tops if link.name == ".git"}
    folders = tuple(dict.fromkeys(folder for link in tops for folder in git_folders(link, root)))
    entries: dict[Path, Entry] = {}
    for path in (*links, *(path for folder in folders for path in guarded(folder))):
        if len(entries) < _MOST_FILES and (entry := entry_at(path)) is not None:
            entries[path] = entry
    return GitState(root=root, folders=folders, entries=entries, links=links, starts=starts_in(root))


def git_changes(before: GitState) -> tuple[GitChange, ...]:
    """What is different now, but for settings that only name a remote or what a branch follows.

    An exchanged ``.git`` comes first; then what is different in the one that was there.
    """
    now = git_state(before.root)
    exchanged = tuple(_exchanged(before, now))
    files: list[GitChange] = []
    for path in sorted({*before.entries, *now.entries, *(path for one in exchanged for path in _moved_files(one))}):
        was, place = before.entries.get(path), path
        around = next((one for one in exchanged if path.is_relative_to(one.path)), None)
        if around is not None:
            if around.path == path or (around.moved_to is None and now.entries.get(path) is None):
                continue
            if around.moved_to is not None:
                place = around.moved_to / path.relative_to(around.path)
        change = GitChange(path=path, before=was, after=entry_at(place))
        if change.before != change.after and not _is_of_no_account(change, before, now):
            files.append(change)
    return (*exchanged, *files, *_starts(before, now))


def _starts(before: GitState, now: GitState) -> Iterator[GitChange]:
    """Start-up files that are new, and links to such that something else stands in for."""
    for place in sorted(now.starts.keys() - before.starts.keys()):
        yield from (GitChange(path=path, before=None, after=entry_at(path)) for path in files_of(place))
    for place, was in before.starts.items():
        after = folder_at(place) or entry_at(place)
        if was is not None and after is not None and after != was:
            yield GitChange(path=place, before=was, after=after)


def _exchanged(before: GitState, now: GitState) -> Iterator[GitChange]:
    """Each ``.git`` folder that another one, a file or nothing stands in for."""
    for link, was in before.links.items():
        is_own = link.parent == before.root
        if was is None or now.links.get(link, folder_at(link)) == was or not (is_own or is_there(link)):
            continue
        after = folder_at(link) or entry_at(link)
        yield GitChange(path=link, before=was, after=after, moved_to=where_now(was, before.root))


def _moved_files(change: GitChange) -> Iterator[Path]:
    """The guarded files of a moved ``.git``, named as if it were in its place."""
    if change.moved_to is not None:
        for folder in git_folders(change.moved_to, change.moved_to):
            yield from (change.path / path.relative_to(change.moved_to) for path in guarded(folder))


def _is_of_no_account(change: GitChange, before: GitState, now: GitState) -> bool:
    """What goes with a whole repository, what comes with a new one and runs nothing, and harmless settings."""
    folder = max(
        (folder for folder in (*before.folders, *now.folders) if change.path.is_relative_to(folder)),
        key=lambda folder: len(folder.parts),
        default=None,
    )
    if folder is None:  # a .git that is a file or link
        return change.before is None or change.after is None
    if folder not in before.folders:
        return not is_armed(change.path, folder)
    return (change.after is None and not folder.is_dir()) or _is_harmless(change)


def undo_git_change(change: GitChange) -> bool:
    """Puts back what was there; False when it is no longer as the command left it. Raises OSError."""
    if (folder_at(change.path) or entry_at(change.path)) != change.after or not change.can_be_undone:
        return False
    if change.moved_to is not None:
        if folder_at(change.moved_to) != change.before:
            return False
        if change.after is not None:
            _put_aside(change.path)
        change.moved_to.rename(change.path)
        return True
    if change.after is not None and stat.S_ISDIR(change.after.mode):
        _put_aside(change.path)
    elif change.after is not None:
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


def _put_aside(path: Path) -> None:
    path.rename(path.with_name(f"{path.name}-put-aside-{secrets.token_hex(4)}"))


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
