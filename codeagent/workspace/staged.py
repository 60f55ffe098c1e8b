"""Writes many files with few waits for the disk: each lies ready, whole, before the first of them takes its place."""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from codeagent.core.errors import StaleFile
from codeagent.core.values import value
from codeagent.workspace.atomic import (
    NO_RENAME_HERE,
    Target,
    appeared,
    make_folders,
    make_ready,
    may_write,
    swap,
    taken_up,
    temporary,
)
from codeagent.workspace.handles import opened_folder, problems_of, readable, write_unsynced
from codeagent.workspace.metadata import copy_metadata
from codeagent.workspace.renames import rename_new

_NO_FOLDER = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})


@value
class Staged:
    """The new content of the file ``path``, under the temporary ``name`` in the folder ``beside``."""

    path: Path
    beside: Path
    name: str

    def take_place(self, expected: bytes | None) -> bool:
        """Makes it the file; False, nothing done, where that takes another way.

        ``expected`` is what the file must hold still, None says that there must be none;
        missing folders are made. Raises StaleFile and FileProblem, the file then being as it was.
        """
        with problems_of(self.path):
            try:
                return self._created() if expected is None else self._swapped(expected)
            except OSError as error:
                if error.errno in NO_RENAME_HERE or error.errno == errno.ENOENT:
                    return False
                raise

    def drop(self) -> None:
        """Removes it, where it did not take its place."""
        with suppress(OSError), opened_folder(self.beside) as folder:
            os.unlink(self.name, dir_fd=folder)

    def _created(self) -> bool:
        make_folders(self.path.parent, [])
        with opened_folder(self.beside) as source, opened_folder(self.path.parent) as folder:
            try:
                rename_new(source, self.name, self.path.name, into=folder)
            except FileExistsError:
                raise appeared(self.path) from None
        return True

    def _swapped(self, expected: bytes) -> bool:
        with opened_folder(self.beside) as folder, taken_up(folder, self.name) as temp:
            temp.is_kept = True
            target = Target(path=self.path, folder=folder, expected=expected)
            with target.opened():
                temp.is_kept = False
            swap(target, temp)
        return True


def stage(path: Path, data: bytes, *, expected: bytes | None, mode: int) -> Staged | None:
    """Lays ``data`` ready as the content of a file with these mode bits; None where it cannot be written so.

    ``expected`` is what the file holds, None is no file. ``in_sync`` makes it last. Raises StaleFile and FileProblem.
    """
    with problems_of(path):
        try:
            return _beside_nothing(path, data, mode) if expected is None else _beside_old(path, data, expected, mode)
        except FileNotFoundError:
            raise StaleFile(f"{path} is gone.", hint="Look at what is there now.") from None
        except OSError as error:
            if error.errno in NO_RENAME_HERE:
                return None
            raise


def in_sync(places: Iterable[Path]) -> None:
    """Returns when all that was written is on the disks that the places lie on."""
    done: set[int] = set()
    for place in places:
        with suppress(OSError), opened_folder(place) as folder:
            disk = os.fstat(folder).st_dev
            if disk not in done:
                done.add(disk)
                _sync_disk(folder)


def _beside_old(path: Path, data: bytes, expected: bytes, mode: int) -> Staged | None:
    with opened_folder(path.parent) as folder:
        target = Target(path=path, folder=folder, expected=expected)
        with target.opened() as old, temporary(folder, 0o600) as temp:
            if not may_write(target):
                return None
            write_unsynced(temp.file, data)
            if not copy_metadata(old, temp.file):
                return None
            os.fchmod(temp.file, mode)
            make_ready(target, temp, data)
            temp.is_kept = True
        return Staged(path=path, beside=path.parent, name=temp.name)


def _beside_nothing(path: Path, data: bytes, mode: int) -> Staged | None:
    """In the innermost folder that is there: the ones below it will be on the same disk."""
    for beside in path.parents:
        try:
            with opened_folder(beside) as folder, temporary(folder, mode & 0o666 or 0o600) as temp:
                write_unsynced(temp.file, data)
                os.fchmod(temp.file, mode)
                temp.is_kept = True
            return Staged(path=path, beside=beside, name=temp.name)
        except OSError as error:
            if error.errno not in _NO_FOLDER:
                raise
    return None


def _sync_disk(folder: int) -> None:
    """Of one disk where the system can do that, else of all."""
    with readable(folder) as opened:
        sync = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
        if sync is None or sync(opened) != 0:
            os.sync()
