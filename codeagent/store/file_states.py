"""How files stand at one moment, and how they changed between two: values that the change log keeps."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from urllib.parse import quote, unquote_to_bytes

from pydantic import TypeAdapter

from codeagent.core.errors import FileProblem
from codeagent.store.blobs import Blobs
from codeagent.workspace.files import read_bytes
from codeagent.workspace.handles import opened_folder

SAME_MOMENT = 2.0
"""Seconds in which two changes may leave a file the same times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileState:
    """A file's content by its id, and its mode bits; of a link the content is where it leads, of a folder empty."""

    blob: str
    mode: int
    is_link: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """One file before and after; None is no file. ``name`` is relative to the workspace, or absolute outside.

    The name of a folder ends with a slash.
    """

    name: str
    before: FileState | None
    after: FileState | None

    @property
    def is_folder(self) -> bool:
        """Whether it is about a folder itself."""
        return self.name.endswith("/")


def folder_name(name: str) -> str:
    """How a change of a folder names it."""
    return f"{name}/"


def folder_state_of(path: Path) -> FileState | None:
    """How a folder stands now; None when there is none, or something else. Raises FileProblem."""
    found = _looked_at(path)
    if found is None or not stat.S_ISDIR(found.st_mode):
        return None
    return FileState(blob="", mode=stat.S_IMODE(found.st_mode))


def _looked_at(path: Path) -> os.stat_result | None:
    """What is there; behind a link that stands where a folder was there is nothing."""
    try:
        with opened_folder(path.parent) as folder:
            return os.stat(path.name or ".", dir_fd=folder, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            return None
        raise FileProblem(f"{path} cannot be looked at: {error.strerror}.") from error


def state_of(path: Path, blobs: Blobs) -> FileState | None:
    """How a file stands now, its content kept; None when there is none, or a folder.

    Raises FileProblem and CheckpointError. ``path`` is canonical save that it may be a link itself.
    """
    found = _looked_at(path)
    if found is None or stat.S_ISDIR(found.st_mode):
        return None
    if stat.S_ISLNK(found.st_mode):
        return FileState(blob=blobs.add(os.fsencode(path.readlink())), mode=0o777, is_link=True)
    return FileState(blob=blobs.add(read_bytes(path)), mode=stat.S_IMODE(found.st_mode))


def to_json(changes: Iterable[FileChange]) -> object:
    """Changes as the log keeps them; names may be any bytes."""
    return _changes().dump_python(tuple(replace(change, name=quoted(change.name)) for change in changes), mode="json")


def from_json(value: object) -> tuple[FileChange, ...]:
    """Changes from the log; raises ValueError for what is none."""
    return tuple(replace(change, name=unquoted(change.name)) for change in _changes().validate_python(value))


def quoted(name: str) -> str:
    """A file's name in plain letters, as in a web address."""
    return quote(os.fsencode(name))


def unquoted(text: str) -> str:
    """The name again."""
    return os.fsdecode(unquote_to_bytes(text))


@cache
def _changes() -> TypeAdapter[tuple[FileChange, ...]]:
    """Made when first needed, as the program starts without it."""
    return TypeAdapter(tuple[FileChange, ...])


@dataclass(slots=True, kw_only=True)
class Modes:
    """Mode bits that git's index cannot tell: the usual ones once, the others by name.

    ``fresh`` are files changed so shortly before the look that a further change
    in the same second would not show in their times: they are looked at again.
    ``large`` are files whose contents are not kept, with size and time (ns) of the last change.
    """

    plain: int = 0o644
    program: int = 0o755
    odd: dict[str, int]
    fresh: list[str]
    large: dict[str, tuple[int, int]] = field(default_factory=dict)

    def of(self, name: str, git_mode: str) -> int:
        """The mode bits of a file that git knows as ``git_mode``."""
        return self.odd.get(name, self.program if git_mode.endswith("755") else self.plain)

    def note(self, name: str, mode: int | None) -> None:
        """Remembers a file's mode bits; None when the file is gone."""
        self.odd.pop(name, None)
        if mode is not None and mode != (self.program if mode & 0o100 else self.plain):
            self.odd[name] = mode

    @classmethod
    def gather(cls, files: Mapping[int, Sequence[str]], fresh: list[str]) -> Modes:
        """The names of many files by their modes, the most frequent modes taken for the usual."""
        usual = sorted(files, key=lambda mode: len(files[mode]), reverse=True)
        plain = next((mode for mode in usual if not mode & 0o100), 0o644)
        program = next((mode for mode in usual if mode & 0o100), 0o755)
        odd = {name: mode for mode, names in files.items() if mode not in {plain, program} for name in names}
        return cls(plain=plain, program=program, odd=odd, fresh=fresh)

    @classmethod
    def load(cls, path: Path) -> Modes | None:
        """What was saved; None when there is nothing, or it is damaged."""
        with suppress(OSError, ValueError):
            found = _modes().validate_json(path.read_bytes())
            found.odd = {unquoted(name): mode for name, mode in found.odd.items()}
            found.fresh = [unquoted(name) for name in found.fresh]
            found.large = {unquoted(name): seen for name, seen in found.large.items()}
            return found
        return None

    def save(self, path: Path) -> None:
        """Keeps it in a private file; raises OSError."""
        kept = replace(
            self,
            odd={quoted(name): mode for name, mode in self.odd.items()},
            fresh=[quoted(name) for name in self.fresh],
            large={quoted(name): seen for name, seen in self.large.items()},
        )
        fresh = path.with_suffix(".new")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(_modes().dump_json(kept))
        fresh.replace(path)


@cache
def _modes() -> TypeAdapter[Modes]:
    """Made when first needed, as the program starts without it."""
    return TypeAdapter(Modes)
