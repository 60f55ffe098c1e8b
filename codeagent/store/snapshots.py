"""Looks at all files of the workspace and says what changed since the last look; ignored files are left alone."""

from __future__ import annotations

import os
import re
import shutil
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from codeagent.core.errors import CheckpointError, FileProblem
from codeagent.store.blobs import Blobs
from codeagent.store.file_states import FileChange, FileState, Modes
from codeagent.workspace.files import read_bytes
from codeagent.workspace.git import run_git
from codeagent.workspace.private_git import PrivateGit

LARGEST = 20_000_000
"""Files of more bytes are not kept before a command; write and edit keep every file that they change."""

MOST_FILES = 100_000
MOST_BYTES = 1_000_000_000
_FEW = 20
_BULK = 1_000
_MOST_STAGED = 2_000
_SAME_MOMENT = 2.0
_KIND = 0o170000
_BITS = 0o7777
_PLAIN_ENTRY = re.compile(r"H (?:100|120)\d{3} [0-9a-f]+ 0\t([^\0]*)\0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What changed since the look before; ``uncovered`` changed too, but cannot be taken back."""

    changes: tuple[FileChange, ...]
    uncovered: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """What the index holds of a file."""

    git_mode: str
    blob: str


class Snapshots:
    """The last known state of the workspace, in an index file of ours; for one thread at a time."""

    def __init__(self, git: PrivateGit, blobs: Blobs) -> None:
        """``git.index`` lies in the session's folder; those of its siblings are a good start for it."""
        self._git = git
        self._root = git.root
        self._blobs = blobs
        self._modes_file = git.index.with_suffix(".modes")
        self._files = (self._modes_file, git.index)
        self._modes: Modes | None = None
        self._large: dict[str, tuple[int, int]] = {}
        with suppress(OSError):
            git.index.with_name(f"{git.index.name}.lock").unlink()

    def look(self) -> Look:
        """Takes the state of all files as the last known one; raises CheckpointError."""
        if self._modes is None:
            self._modes = self._begin()
        modes, names = self._modes, _Names(self._git)
        changed, gone = names.changed()
        new = [name for name in names.new() if name not in changed]
        stats = self._stats((*changed, *new))
        gone |= {name: known for name, known in changed.items() if name not in stats}
        kept, uncovered = self._sorted_out(stats)
        fresh = self._stats(name for name in modes.fresh if name not in stats and name not in gone)
        touched = {name: found for name, found in fresh.items() if self._has_new_mode(name, found)}
        known_before = changed | gone | names.held([*touched])
        before = {name: _state(modes, name, known) for name, known in known_before.items()}
        now = {name: stats[name] for name in kept} | touched
        for name in gone:
            modes.note(name, None)
        for name, found in now.items():
            modes.note(name, stat.S_IMODE(found.st_mode) if stat.S_ISREG(found.st_mode) else None)
        modes.fresh = [name for name, found in (fresh | now).items() if _is_fresh(found)]
        self._save(modes)
        self._take_in(gone, kept)
        after = {name: _state(modes, name, known) for name, known in names.held([*now]).items()}
        pairs = ((name, before.get(name), after.get(name)) for name in sorted({*gone, *now}))
        changes = (FileChange(name=name, before=old, after=new) for name, old, new in pairs if old != new)
        return Look(changes=tuple(changes), uncovered=uncovered)

    def set_mark(self) -> None:
        """Keeps the last known state beside, until the next mark; raises CheckpointError."""
        try:
            for path in self._files:
                fresh = path.with_suffix(f"{path.suffix}.new")
                fresh.unlink(missing_ok=True)
                fresh.hardlink_to(path)
                fresh.replace(path.with_suffix(f"{path.suffix}.mark"))
        except OSError as error:
            raise CheckpointError(f"The state of the files cannot be kept: {error.strerror}.") from error

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
        self.set_mark()

    def _is_at(self, marked: list[Path]) -> bool:
        return all(path.exists() and path.samefile(mark) for path, mark in zip(self._files, marked, strict=True))

    def _stats(self, names: Iterable[str]) -> dict[str, os.stat_result]:
        """The files and links among the names."""
        return {name: found for name in names if (found := self._stat(name)) is not None}

    def _stat(self, name: str) -> os.stat_result | None:
        try:
            found = os.lstat(f"{self._root}/{name}")
        except OSError:
            return None
        return found if stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode) else None

    def _sorted_out(self, stats: dict[str, os.stat_result]) -> tuple[list[str], tuple[str, ...]]:
        """The names to keep, and those of files that changed but are too large or cannot be read."""
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
            raise CheckpointError(
                f"There is too much here that was not kept before: {len(kept):,} files, {total // 1_000_000:,} MB."
            )
        uncovered = tuple(name for name, seen in large.items() if self._large.get(name) != seen)
        self._large = large
        return kept, uncovered

    def _take_in(self, gone: Iterable[str], kept: list[str]) -> None:
        given = [*map(os.fsencode, gone), *map(os.fsencode, kept)]
        if given:
            words = ("update-index", "-z", "--add", "--remove", "--replace", "--stdin")
            self._git.run(*words, given=_list(given), borrows=len(given) > _BULK, seconds=600.0)

    def _has_new_mode(self, name: str, found: os.stat_result) -> bool:
        if self._modes is None or not stat.S_ISREG(found.st_mode):
            return False
        git_mode = "100755" if found.st_mode & 0o100 else "100644"
        return self._modes.of(name, git_mode) != stat.S_IMODE(found.st_mode)

    def _save(self, modes: Modes) -> None:
        try:
            modes.save(self._modes_file)
        except OSError as error:
            raise CheckpointError(f"The state of the files cannot be kept: {error.strerror}.") from error

    # --- the first look of a session

    def _begin(self) -> Modes:
        """Goes on from the session's own index, the latest of another session, the person's, or from nothing."""
        index = self._git.index
        names: list[str] = []
        if not self._modes_file.exists():
            index.unlink(missing_ok=True)  # neither is of use without the other
        if not index.exists() and not self._copy_sibling():
            names = self._copy_persons()
        elif (modes := Modes.load(self._modes_file)) is not None:
            return modes
        return Modes.gather(*self._modes_of(names))

    def _modes_of(self, names: list[str]) -> tuple[dict[str, int], list[str]]:
        """The mode bits of all files among the names, and which were changed a moment ago; quick for very many."""
        root, lstat, limit = f"{self._root}/", os.lstat, time.time() - _SAME_MOMENT
        modes: dict[str, int] = {}
        fresh: list[str] = []
        for name in names:
            try:
                found = lstat(root + name)
            except OSError:
                continue
            mode = found.st_mode
            if mode & _KIND == stat.S_IFREG:
                modes[name] = mode & _BITS
            elif mode & _KIND != stat.S_IFLNK:
                continue
            if found.st_ctime > limit:
                fresh.append(name)
        return modes, fresh

    def _copy_sibling(self) -> bool:
        index = self._git.index
        siblings = [path for path in index.parent.parent.glob(f"*/{index.name}") if path.with_suffix(".modes").exists()]
        for path in sorted(siblings, key=lambda path: path.stat().st_mtime, reverse=True)[:1]:
            with suppress(OSError):
                _copy(path.with_suffix(".modes"), self._modes_file)
                _copy(path, index)
                return True
        return False

    def _copy_persons(self) -> list[str]:
        """The person's index knows which files did not change since git looked; returns their names."""
        theirs, index = self._git.surroundings.index, self._git.index
        if theirs is None or not theirs.is_file():
            return []
        try:
            _copy(theirs, index)
            for shared in theirs.parent.glob("sharedindex.*"):
                _copy(shared, self._git.folder / shared.name)
            names = self._take_off_flags()
        except (CheckpointError, OSError):
            index.unlink(missing_ok=True)  # an index that is damaged, or of a kind that this git cannot read
            return []
        self._keep_staged()
        return names

    def _take_off_flags(self) -> list[str]:
        """Takes out what is no plain file, and flags that hide files from a look; returns the names of all others."""
        listed = os.fsdecode(self._git.run("ls-files", "-z", "-s", "-v"))
        names = _PLAIN_ENTRY.findall(listed)
        hidden: list[str] = []
        foreign: list[str] = []
        if len(names) < listed.count("\0"):
            for entry in listed.split("\0"):
                about, _, name = entry.partition("\t")
                if entry and not _PLAIN_ENTRY.fullmatch(f"{entry}\0"):
                    is_foreign = " 160000 " in about or not about.endswith(" 0")
                    (foreign if is_foreign else hidden).append(name)
        if foreign:
            self._git.run("update-index", "-z", "--force-remove", "--stdin", given=_list(map(os.fsencode, foreign)))
        if hidden:
            self._git.run(
                "update-index", "-z", "--no-assume-unchanged", "--stdin", given=_list(map(os.fsencode, hidden))
            )
            self._git.run("update-index", "-z", "--no-skip-worktree", "--stdin", given=_list(map(os.fsencode, hidden)))
            names += hidden
        return names

    def _keep_staged(self) -> None:
        """What is staged but not committed lies in the person's repository only as long as nothing cleans up there."""
        top = self._git.surroundings.top
        words = ("diff-index", "--cached", "--name-only", "-z", "--no-ext-diff", "--no-textconv", "--no-renames")
        staged = run_git(top, *words, "--ignore-submodules=all", "HEAD")
        for name in (staged or "").split("\0")[:_MOST_STAGED]:
            if name:
                with suppress(FileProblem):
                    self._blobs.add(read_bytes(top / name, limit=LARGEST))


class _Names:
    """What git says of names; each answer is one run of git."""

    def __init__(self, git: PrivateGit) -> None:
        self._git = git

    def changed(self) -> tuple[dict[str, _Known], dict[str, _Known]]:
        """The known files that look changed, and those that are gone, as the index knows them."""
        out = self._git.run("diff-files", "-z", "--raw", "--relative", "--ignore-submodules=all", "--", ".")
        changed: dict[str, _Known] = {}
        gone: dict[str, _Known] = {}
        fields = os.fsdecode(out).split("\0")
        for about, name in zip(fields[0::2], fields[1::2], strict=False):
            git_mode, _, blob, _, what = about.removeprefix(":").split(" ")
            (gone if what == "D" else changed)[name] = _Known(git_mode=git_mode, blob=blob)
        return changed, gone

    def new(self) -> Iterator[str]:
        """The files that are not known and not ignored, those of repositories inside included."""
        waiting = [""]
        while waiting:
            folder = waiting.pop()
            at = self._git.root / folder if folder else None
            out = self._git.run("ls-files", "-z", "--others", "--exclude-standard", at=at)
            for name in os.fsdecode(out).split("\0"):
                if name.endswith("/"):
                    waiting.append(folder + name)
                elif name:
                    yield folder + name

    def held(self, names: list[str]) -> dict[str, _Known]:
        """What the index holds of these files now."""
        if not names:
            return {}
        given = ("--", *names) if len(names) <= _FEW else ()
        wanted = set(names)
        held: dict[str, _Known] = {}
        for entry in os.fsdecode(self._git.run("ls-files", "-z", "-s", *given)).split("\0"):
            about, _, name = entry.partition("\t")
            if name in wanted:
                git_mode, blob, _ = about.split(" ")
                held[name] = _Known(git_mode=git_mode, blob=blob)
        return held


def index_name(top: Path) -> str:
    """The name of the index file for a folder that git's names start from."""
    return f"{sha256(bytes(top)).hexdigest()[:8]}.index"


def _state(modes: Modes, name: str, known: _Known) -> FileState | None:
    if known.git_mode in {"000000", "160000"}:
        return None
    if known.git_mode == "120000":
        return FileState(blob=known.blob, mode=0o777, is_link=True)
    return FileState(blob=known.blob, mode=modes.of(name, known.git_mode))


def _list(names: Iterable[bytes]) -> bytes:
    return b"".join(name + b"\0" for name in names)


def _is_fresh(found: os.stat_result) -> bool:
    return found.st_ctime > time.time() - _SAME_MOMENT


def _copy(source: Path, target: Path) -> None:
    """Copies a file with its times, by which git tells that an index is newer than the files; private."""
    fresh = target.with_name(f".{target.name}.{os.getpid()}")
    shutil.copy2(source, fresh)
    fresh.chmod(0o600)
    fresh.replace(target)
