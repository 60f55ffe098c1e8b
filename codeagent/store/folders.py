"""The folders of the workspace with their mode bits, empty ones too, which git does not keep."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from codeagent.store.file_states import FileChange, FileState, folder_name
from codeagent.store.git_names import RULES, GitNames, Listed, parents

TOP = "."
_MOST_LOOKED_INTO = 20_000
_LARGEST_RULES = 100_000


class Folders:
    """The last known folders, kept in a file; those in which all is ignored are known, what is in them is not."""

    def __init__(self, root: Path, names: GitNames, file: Path) -> None:
        self._root = root
        self._names = names
        self._file = file
        self._known: dict[str, int] | None = None
        self._ignored: set[str] = set()
        self.hidden_rules: dict[str, bytes] = {}
        """The ignore files, by name, that are ignored themselves, as they were at the last look."""

    @property
    def known(self) -> dict[str, int]:
        """Mode bits by name."""
        if self._known is None:
            self._known = _load(self._file)
        return self._known

    def look(self, listed: Listed, files: Iterable[str]) -> tuple[FileChange, ...]:
        """Takes the folders as they are for the known ones; says what changed. ``files`` are new. Raises OSError."""
        before = self.known
        now = dict(self._modes_of({TOP: None, **before}))
        now.update(self._modes_of({folder for name in files for folder in parents(name)}.difference(now)))
        self.hidden_rules = {}
        for folder in listed.folders:
            now.update(self._modes_of({folder, *parents(folder)}.difference(now)))
            now.update(self._below(folder, now))
        self._known = now
        if now != before or not self._file.exists():
            _save(self._file, now)
        names = sorted(name for name in {*before, *now} if before.get(name) != now.get(name))
        return tuple(
            FileChange(name=folder_name(name), before=_state(before.get(name)), after=_state(now.get(name)))
            for name in names
        )

    def start(self, files: Iterable[str]) -> None:
        """Takes the folders of these files for known."""
        inner = {name[:at] for name in files if (at := name.rfind("/")) > 0}
        self._known = dict(self._modes_of({*inner, *(folder for name in inner for folder in parents(name))}))

    def changed_rules(self) -> dict[str, bytes]:
        """The ignored ignore files that are different now, as they were."""
        return {name: old for name, old in self.hidden_rules.items() if self._content(name) != old}

    def forget(self) -> None:
        """What is in the file counts again."""
        self._known = None

    def _below(self, folder: str, known: dict[str, int]) -> Iterator[tuple[str, int]]:
        """The folders below one in which no file is known; ignored ones are left out, and the insides of git."""
        waiting, count = [folder], 0
        while waiting and count < _MOST_LOOKED_INTO:
            inner: list[str] = []
            for name in waiting:
                inner += self._inside(name)
            count += len(waiting)
            unknown = [name for name in inner if name not in known and name not in self._ignored]
            self._ignored |= self._names.ignored(unknown)
            waiting = [name for name in inner if name not in self._ignored]
            yield from self._modes_of(waiting)

    def _inside(self, folder: str) -> list[str]:
        found: list[str] = []
        with suppress(OSError), os.scandir(f"{self._root}/{folder}") as entries:
            for entry in entries:
                if entry.name == ".git":
                    return []
                if entry.name == RULES:
                    name = f"{folder}/{RULES}"
                    self.hidden_rules[name] = self._content(name)
                elif entry.is_dir(follow_symlinks=False):
                    found.append(f"{folder}/{entry.name}")
        return found

    def _content(self, name: str) -> bytes:
        try:
            with (self._root / name).open("rb") as file:
                return file.read(_LARGEST_RULES)
        except OSError:
            return b""

    def _modes_of(self, names: Iterable[str]) -> Iterator[tuple[str, int]]:
        """Those of the names that are folders; what lies behind a link that is one of the names is not here."""
        lstat, root = os.lstat, f"{self._root}/"
        others: set[str] = set()
        for name in sorted(names):
            if others and name.rpartition("/")[0] in others:
                others.add(name)
                continue
            try:
                mode = lstat(root + name).st_mode
            except OSError:
                mode = 0
            if stat.S_ISDIR(mode):
                yield name, stat.S_IMODE(mode)
            else:
                others.add(name)


def _state(mode: int | None) -> FileState | None:
    return None if mode is None else FileState(blob="", mode=mode)


def _load(file: Path) -> dict[str, int]:
    known: dict[str, int] = {}
    with suppress(OSError, ValueError):
        for line in os.fsdecode(file.read_bytes()).split("\0"):
            mode, _, name = line.partition(" ")
            if name:
                known[name] = int(mode, 8)
    return known


def _save(file: Path, known: dict[str, int]) -> None:
    fresh = file.with_suffix(".folders.new")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as out:
        out.write(b"".join(os.fsencode(f"{mode:o} {name}\0") for name, mode in known.items()))
    fresh.replace(file)
