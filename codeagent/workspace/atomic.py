"""Writes files in one step: afterwards a file holds all of the new bytes or all of the old ones."""

from __future__ import annotations

import errno
import fcntl
import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from codeagent.core.errors import FileProblem, StaleFile
from codeagent.core.values import value
from codeagent.workspace.handles import opened_file, opened_folder, problems_of, read_all, readable, write_all
from codeagent.workspace.leftovers import COPY_PREFIX, new_temp_name, ready_name
from codeagent.workspace.metadata import copy_metadata
from codeagent.workspace.renames import exchange, rename_new

NO_RENAME_HERE = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY, errno.EXDEV})
_LONGEST_NAME = 60
_MOST_SWAPS = 8


def write_atomic(path: Path, data: bytes, *, expected: bytes | None, mode: int = 0o666) -> tuple[str, ...]:
    """Makes ``data`` the content of the file at a canonical path, and returns notes for people.

    ``expected`` is the content that the change was made from; None says that the file
    must not exist yet, and missing folders are made; a new file gets ``mode`` as far as
    the umask allows. Mode, owner and extended attributes of an old one are kept. Raises
    StaleFile when the file is another one now, also when somebody saves it in the very
    moment, and FileProblem when it cannot be written; either way the bytes that were
    there are there afterwards.
    """
    with problems_of(path):
        if expected is None:
            _create(path, data, mode)
            return ()
        try:
            with opened_folder(path.parent) as folder:
                return _replace(Target(path=path, folder=folder, expected=expected), data)
        except FileNotFoundError:
            raise StaleFile(f"{path} is gone.", hint="Look at what is there now.") from None


# --- a new file --------------------------------------------------------------------------------


def _create(path: Path, data: bytes, mode: int) -> None:
    made: list[Path] = []
    try:
        make_folders(path.parent, made)
        with opened_folder(path.parent) as folder:
            _check_free(folder, path)
            with temporary(folder, mode) as temp:
                write_all(temp.file, data)
                try:
                    rename_new(folder, temp.name, path.name)
                except FileExistsError:
                    raise appeared(path) from None
            _sync(folder)
    except BaseException:
        for empty in reversed(made):
            with suppress(OSError), opened_folder(empty.parent) as parent:
                os.rmdir(empty.name, dir_fd=parent)
        raise


def make_folders(path: Path, made: list[Path]) -> None:
    """Makes the folders that are missing and adds them to ``made``, outermost first."""
    try:
        path.lstat()
    except FileNotFoundError:
        make_folders(path.parent, made)
        with opened_folder(path.parent) as parent, suppress(FileExistsError):
            os.mkdir(path.name, dir_fd=parent)
            made.append(path)


def _check_free(folder: int, path: Path) -> None:
    with suppress(FileNotFoundError):
        os.stat(path.name, dir_fd=folder, follow_symlinks=False)
        raise appeared(path)


# --- a file that is there ----------------------------------------------------------------------


def _replace(target: Target, data: bytes) -> tuple[str, ...]:
    with target.opened() as old:
        if not may_write(target):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        if data == target.expected:
            return ()
        links = os.fstat(old).st_nlink
        reason = _replace_at_once(target, old, data)
    if reason:
        _write_in_place(target, data)
        return (f"written in place, not in one step: {reason}",)
    _sync(target.folder)
    if links > 1:
        return (f"hard link: {links - 1} other name{'s' if links > 2 else ''} of this file keep the old text",)  # noqa: PLR2004 - one link is the file itself
    return ()


def _replace_at_once(target: Target, old: int, data: bytes) -> str:
    """Exchanges the file for a new one; returns why that cannot be done here, nothing having changed."""
    try:
        with temporary(target.folder, 0o600) as temp:
            write_all(temp.file, data)
            if not copy_metadata(old, temp.file):
                return "its owner or group could not be kept otherwise"
            make_ready(target, temp, data)
            swap(target, temp)
    except OSError as error:
        if error.errno in NO_RENAME_HERE:
            return "its folder does not allow files to be replaced"
        raise
    return ""


def _write_in_place(target: Target, data: bytes) -> None:
    """Overwrites the file itself, a copy of the old bytes lying in the temp folder until that has worked."""
    with target.opened(os.O_RDWR) as file, _copy(target) as copy:
        try:
            write_all(file, data)
        except BaseException:
            try:
                write_all(file, target.expected)
            except OSError as error:
                copy.is_kept = True
                raise FileProblem(
                    f"{target.path} was written only in part; its old content is in {copy.name}."
                ) from error
            raise


@contextmanager
def _copy(target: Target) -> Generator[Temporary]:
    """The old bytes in the temp folder, for the length of the block or, after a crash, until somebody looks."""
    file, name = tempfile.mkstemp(prefix=COPY_PREFIX, suffix=f"-{target.path.name[-_LONGEST_NAME:]}")
    copy = Temporary(name=name, file=file)
    try:
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        write_all(file, target.expected)
        yield copy
    finally:
        os.close(file)
        if not copy.is_kept:
            Path(name).unlink(missing_ok=True)


def _sync(folder: int) -> None:
    """Makes the new name last; a file system that cannot do it for folders is not worth failing for."""
    with suppress(OSError), readable(folder) as opened:
        os.fsync(opened)


# --- swapping two files ------------------------------------------------------------------------


@value
class Target:
    """The file to replace: in the folder with descriptor ``folder``, and what it has to hold still."""

    path: Path
    folder: int
    expected: bytes

    @contextmanager
    def opened(self, flags: int = os.O_RDONLY) -> Generator[int]:
        """The file, once it is checked that it still holds what is expected."""
        with opened_file(self.folder, self.path.name, self.path, flags) as file:
            if not _holds(file, self.path, self.expected):
                raise changed_meanwhile(self.path)
            yield file


@dataclass(slots=True, kw_only=True)
class Temporary:
    """A new file in the target's folder, held locked so that a sweep sees that it is in use."""

    name: str
    file: int
    is_kept: bool = False


@contextmanager
def temporary(folder: int, mode: int) -> Generator[Temporary]:
    """A temporary file for the length of the block; what has its name afterwards goes, unless it ``is_kept``."""
    name = new_temp_name()
    with _open_temporary(folder, name, os.O_CREAT | os.O_EXCL, mode) as temp:
        yield temp


@contextmanager
def taken_up(folder: int, name: str) -> Generator[Temporary]:
    """The same with one that was kept in an earlier block. Raises FileNotFoundError when it is gone."""
    with _open_temporary(folder, name, 0, 0) as temp:
        yield temp


@contextmanager
def _open_temporary(folder: int, name: str, how: int, mode: int) -> Generator[Temporary]:
    file = os.open(name, os.O_RDWR | how | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=folder)
    temp = Temporary(name=name, file=file)
    try:
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield temp
    finally:
        os.close(file)
        if not temp.is_kept:
            with suppress(OSError):
                os.unlink(temp.name, dir_fd=folder)


def may_write(target: Target) -> bool:
    """Renaming would get round a write-protected file, so that is looked at first."""
    return os.access(
        target.path.name, os.W_OK, dir_fd=target.folder, effective_ids=os.access in os.supports_effective_ids
    )


def make_ready(target: Target, temp: Temporary, data: bytes) -> None:
    """From here on a crash may leave somebody else's save under the temporary name; the name tells it apart."""
    name = ready_name(temp.name, target.expected, data)
    os.rename(temp.name, name, src_dir_fd=target.folder, dst_dir_fd=target.folder)
    temp.name = name


def swap(target: Target, temp: Temporary) -> None:
    """Swaps the files, looks at what came out, and swaps back when that is not what was expected."""
    name = target.path.name
    if not exchange(target.folder, temp.name, name):
        with target.opened():
            os.rename(temp.name, name, src_dir_fd=target.folder, dst_dir_fd=target.folder)
        return
    if not _came_out(target, temp.name):
        _put_back(target, temp)


def _put_back(target: Target, temp: Temporary) -> None:
    """Gives the name back to the file that has the temporary one, and raises StaleFile.

    What comes out must be what was put in the time before; anything else was saved by
    somebody in between, is newer, and goes back in its turn.
    """
    temp.is_kept = True
    last = _identity(os.fstat(temp.file))
    with suppress(OSError):
        for _ in range(_MOST_SWAPS):
            current = _identity(os.stat(temp.name, dir_fd=target.folder, follow_symlinks=False))
            exchange(target.folder, temp.name, target.path.name)
            if _identity(os.stat(temp.name, dir_fd=target.folder, follow_symlinks=False)) == last:
                temp.is_kept = False
                raise changed_meanwhile(target.path)
            last = current
    raise FileProblem(f"{target.path} is being saved by somebody else; another version of it lies in {temp.name}.")


def _identity(state: os.stat_result) -> tuple[int, int, int, int]:
    """Tells files and their saved states apart; renaming leaves it as it is."""
    return state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns


def _came_out(target: Target, name: str) -> bool:
    try:
        with opened_file(target.folder, name, target.path) as file:
            return _holds(file, target.path, target.expected)
    except (OSError, FileProblem):
        return False


def _holds(file: int, path: Path, expected: bytes) -> bool:
    return os.fstat(file).st_size == len(expected) and read_all(file, path, len(expected)) == expected


def appeared(path: Path) -> StaleFile:
    """The error for a file that should not have been there."""
    return StaleFile(f"{path} exists by now.", hint="Read it, then decide how to change it.")


def changed_meanwhile(path: Path) -> StaleFile:
    """The error for a file that is no longer what the change was made from."""
    return StaleFile(f"{path} was changed meanwhile; nothing was written.", hint="Read it again, then repeat the call.")
