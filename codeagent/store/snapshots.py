"""Looks at all files of the workspace and says what changed since the last look; ignored files are left alone."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from codeagent.core.errors import CheckpointError
from codeagent.core.text import counted
from codeagent.store.blobs import Blobs, not_kept
from codeagent.store.file_states import SAME_MOMENT, FileChange, FileState, Modes, folder_name
from codeagent.store.first_look import copy_persons, copy_sibling, modes_of
from codeagent.store.folders import Folders
from codeagent.store.git_names import RULES, GitNames, Known, Listed, as_list, parents
from codeagent.workspace.private_git import PrivateGit

LARGEST = 20_000_000
"""Files of more bytes are not kept before a command; write and edit keep every file that they change."""

MOST_FILES = 100_000
MOST_BYTES = 1_000_000_000
_BULK = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What changed since the look before; ``uncovered`` changed too, but cannot be taken back."""

    changes: tuple[FileChange, ...]
    uncovered: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What is different from the last known state, as the index knew it and as it is."""

    changed: dict[str, Known]
    gone: dict[str, Known]
    listed: Listed
    stats: dict[str, os.stat_result]


class Snapshots:
    """The last known state of the workspace, in an index file of ours; for one thread at a time."""

    def __init__(self, git: PrivateGit, blobs: Blobs) -> None:
        """``git.index`` lies in the session's folder; those of its siblings are a good start for it."""
        self._git = git
        self._root = git.root
        self._blobs = blobs
        self._names = GitNames(git)
        self._modes_file = git.index.with_suffix(".modes")
        folders_file = git.index.with_suffix(".folders")
        self._files = (self._modes_file, folders_file, git.index)
        self._folders = Folders(git.root, self._names, folders_file)
        self._modes: Modes | None = None
        with suppress(OSError):
            git.index.with_name(f"{git.index.name}.lock").unlink()

    def renew(self) -> None:
        """Takes the state of all files as the last known one, whoever changed them; raises CheckpointError."""
        modes = self._begun()
        found = self._find()
        kept, modes.large = self._sorted_out(found.stats)
        self._take(found, kept, modes, self._touched(found, modes))

    def look(self) -> Look:
        """Says what changed and takes that as the last known state; raises CheckpointError.

        What was ignored before is left alone, also where the rules for that changed meanwhile.
        """
        modes, names = self._begun(), self._names
        found = self._find()
        was_ignored = self._was_ignored(found)
        for name in was_ignored:
            del found.stats[name]
        were_large = modes.large
        kept, modes.large = self._sorted_out(found.stats)
        uncovered = self._uncovered(were_large, modes.large, kept)
        touched = self._touched(found, modes)
        known_before = found.changed | found.gone | names.held([*touched])
        before = {name: _state(modes, name, known) for name, known in known_before.items()}
        there = {folder_name(folder) for name in was_ignored for folder in parents(name)}
        folders = (change for change in self._take(found, kept, modes, touched) if change.name not in there)
        now = [*kept, *touched]
        after = {name: _state(modes, name, known) for name, known in names.held(now).items()}
        names_now = sorted({*found.gone, *now}.difference(were_large))
        pairs = ((name, before.get(name), after.get(name)) for name in names_now)
        changes = (FileChange(name=name, before=old, after=new) for name, old, new in pairs if old != new)
        return Look(changes=(*folders, *changes), uncovered=uncovered)

    def set_mark(self) -> None:
        """Keeps the last known state beside, until the next mark; raises CheckpointError."""
        try:
            for path in self._files:
                fresh = path.with_suffix(f"{path.suffix}.new")
                fresh.unlink(missing_ok=True)
                fresh.hardlink_to(path)
                fresh.replace(path.with_suffix(f"{path.suffix}.mark"))
        except OSError as error:
            raise not_kept("The state of the files cannot be kept", error) from error

    def go_back(self) -> None:
        """Makes the marked state the last known one again, where a look since was cut off; raises CheckpointError."""
        marked = [path.with_suffix(f"{path.suffix}.mark") for path in self._files]
        if not all(path.exists() for path in marked) or self._is_at(marked):
            return
        try:
            for path, mark in zip(self._files, marked, strict=True):
                mark.replace(path)
        except OSError as error:
            raise CheckpointError(f"The state of the files cannot be found again: {error.strerror}.") from error
        self._modes = None
        self._folders.forget()
        self.set_mark()

    def _is_at(self, marked: list[Path]) -> bool:
        return all(path.exists() and path.samefile(mark) for path, mark in zip(self._files, marked, strict=True))

    def _begun(self) -> Modes:
        """Goes on from the session's own index, the latest of another session, the person's, or from nothing."""
        index = self._git.index
        if self._modes is None:
            if not all(path.exists() for path in self._files):
                index.unlink(missing_ok=True)  # none is of use without the others
            if index.exists() or copy_sibling(index, self._files[:-1]):
                self._modes = Modes.load(self._modes_file)
            if self._modes is None:
                names = copy_persons(self._git, self._blobs, LARGEST)
                self._folders.start(names)
                self._modes = modes_of(self._root, names)
        return self._modes

    def _find(self) -> _Found:
        changed, gone = self._names.changed()
        listed = self._names.new(gone)
        stats = self._stats((*changed, *(name for name in listed.files if name not in changed)))
        gone |= {name: known for name, known in changed.items() if name not in stats}
        return _Found(changed=changed, gone=gone, listed=listed, stats=stats)

    def _was_ignored(self, found: _Found) -> set[str]:
        """The new files that were ignored before, which they no longer are: their old contents are not known."""
        hidden = self._folders.changed_rules()
        known = found.changed | found.gone
        new = [name for name in found.listed.files if name in found.stats and name not in known]
        if not hidden and not any(name.rpartition("/")[2] == RULES for name in (*known, *new)):
            return set()
        was_ignored: set[str] = set()
        for base in set(found.listed.files.values()):
            inside = [name for name in new if found.listed.files[name] == base]
            places = {f"{folder}/{RULES}" for name in inside for folder in parents(name)} | {RULES}
            rules = {name: self._old_rules(name, known, hidden) for name in places if name in hidden or name not in new}
            was_ignored |= self._names.ignored(inside, rules, base)
        return was_ignored

    def _old_rules(self, name: str, known: dict[str, Known], hidden: dict[str, bytes]) -> bytes:
        if name in hidden:
            return hidden[name]
        if name in known:
            return self._blobs.read(known[name].blob) if known[name].git_mode.startswith("100") else b""
        try:
            return (self._root / name).read_bytes()
        except OSError:
            return b""

    def _touched(self, found: _Found, modes: Modes) -> dict[str, os.stat_result]:
        """Files that were changed so shortly before the last look that git may not see another change of their mode."""
        fresh = self._stats(name for name in modes.fresh if name not in found.stats and name not in found.gone)
        return {name: about for name, about in fresh.items() if self._has_new_mode(name, about)}

    def _take(
        self, found: _Found, kept: list[str], modes: Modes, touched: dict[str, os.stat_result]
    ) -> tuple[FileChange, ...]:
        """Makes what was found the last known state, and returns what changed of folders."""
        now = {name: found.stats[name] for name in kept} | touched
        fresh = self._stats(name for name in modes.fresh if name not in now and name not in found.gone)
        for name in found.gone:
            modes.note(name, None)
        for name, about in now.items():
            modes.note(name, stat.S_IMODE(about.st_mode) if stat.S_ISREG(about.st_mode) else None)
        modes.fresh = [name for name, about in (fresh | now).items() if _is_fresh(about)]
        try:
            modes.save(self._modes_file)
            folders = self._folders.look(found.listed, found.stats)
        except OSError as error:
            raise not_kept("The state of the files cannot be kept", error) from error
        self._take_in((*found.gone, *(name for name in found.changed if name in modes.large)), kept)
        return folders

    def _stats(self, names: Iterable[str]) -> dict[str, os.stat_result]:
        """The files and links among the names."""
        return {name: found for name in names if (found := self._stat(name)) is not None}

    def _stat(self, name: str) -> os.stat_result | None:
        try:
            found = os.lstat(f"{self._root}/{name}")
        except OSError:
            return None
        return found if stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode) else None

    def _uncovered(
        self, before: dict[str, tuple[int, int]], now: dict[str, tuple[int, int]], kept: list[str]
    ) -> tuple[str, ...]:
        """Files that changed and were or are too large to be kept, or cannot be read."""
        changed = [name for name, seen in now.items() if before.get(name) != seen]
        small = before.keys() & {*kept}
        return (*changed, *(name for name in before if name in small or (name not in now and not self._stat(name))))

    def _sorted_out(self, stats: dict[str, os.stat_result]) -> tuple[list[str], dict[str, tuple[int, int]]]:
        """The names to keep, and the files that are too large or cannot be read, with size and time."""
        kept: list[str] = []
        large: dict[str, tuple[int, int]] = {}
        total = 0
        for name, found in stats.items():
            is_readable = stat.S_ISLNK(found.st_mode) or os.access(f"{self._root}/{name}", os.R_OK)
            if found.st_size > LARGEST or not is_readable:
                large[name] = (found.st_size, found.st_mtime_ns)
            else:
                kept.append(name)
                total += found.st_size
        if len(kept) > MOST_FILES or total > MOST_BYTES:
            much = f"{counted(len(kept), 'file')}, {total // 1_000_000:,} MB"
            raise CheckpointError(f"There is too much here that was not kept before: {much}.")
        return kept, large

    def _take_in(self, gone: Iterable[str], kept: list[str]) -> None:
        given = [*map(os.fsencode, gone)]
        if given:  # by name alone: where they were may be a link by now, behind which git looks at nothing
            self._git.run("update-index", "-z", "--force-remove", "--stdin", given=as_list(given), seconds=600.0)
        if kept:
            given = [*map(os.fsencode, kept)]
            words = ("update-index", "-z", "--add", "--remove", "--replace", "--stdin")
            self._git.run(*words, given=as_list(given), borrows=len(given) > _BULK, seconds=600.0)
        elif not self._git.index.exists():
            self._git.run("read-tree", "--empty")  # a folder without files: git keeps no index of its own accord

    def _has_new_mode(self, name: str, found: os.stat_result) -> bool:
        if self._modes is None or not stat.S_ISREG(found.st_mode):
            return False
        git_mode = "100755" if found.st_mode & 0o100 else "100644"
        return self._modes.of(name, git_mode) != stat.S_IMODE(found.st_mode)


def index_name(top: Path) -> str:
    """The name of the index file for a folder that git's names start from."""
    return f"{sha256(bytes(top)).hexdigest()[:8]}.index"


def _state(modes: Modes, name: str, known: Known) -> FileState | None:
    if known.git_mode in {"000000", "160000"}:
        return None
    if known.git_mode == "120000":
        return FileState(blob=known.blob, mode=0o777, is_link=True)
    return FileState(blob=known.blob, mode=modes.of(name, known.git_mode))


def _is_fresh(found: os.stat_result) -> bool:
    return found.st_ctime > time.time() - SAME_MOMENT
