"""Opens files by their canonical path, so that a link somebody puts in the way meanwhile loses."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from codeagent.core.errors import FileProblem

_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_PIECE = 1 << 20

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISLNK, "a link that was put there meanwhile"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
_REASONS = {
    errno.ENOENT: ("does not exist", ""),
    errno.EACCES: ("may not be opened or changed by this user", "Its permissions or those of its folder forbid it."),
    errno.EPERM: ("may not be changed by this user", "The system forbids it, whatever its permissions say."),
    errno.EROFS: ("is on a read-only file system", ""),
    errno.ENOSPC: ("cannot be written: the disk is full", "Free some space, then try again."),
    errno.EDQUOT: ("cannot be written: the disk quota is used up", "Free some space, then try again."),
    errno.EFBIG: ("cannot be written: it would be larger than the system allows", ""),
    errno.ENOTDIR: ("lies below something that is no folder, or below a link that was put there meanwhile", ""),
    errno.ELOOP: ("is a link that was put there meanwhile", "Try again."),
    errno.EISDIR: ("is a folder", ""),
    errno.ENAMETOOLONG: ("has a name that is too long here", ""),
    errno.ETXTBSY: ("is a program that is running", ""),
}


@contextmanager
def problems_of(path: Path) -> Generator[None]:
    """Turns the system's errors inside the block into a FileProblem that names ``path``."""
    try:
        yield
    except OSError as error:
        said = os.strerror(error.errno).lower() if error.errno else str(error)
        reason, hint = _REASONS.get(error.errno or 0, (f"cannot be used: {said}", ""))
        raise FileProblem(f"{path} {reason}.", hint=hint) from error


@contextmanager
def opened_folder(path: Path) -> Generator[int]:
    """A descriptor of the folder, for the length of the block; no link is followed on the way. Raises OSError."""
    folder = os.open(path.anchor, _FOLDER)
    try:
        for name in path.parts[1:]:
            inner = os.open(name, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = inner
        yield folder
    finally:
        os.close(folder)


@contextmanager
def readable(folder: int) -> Generator[int]:
    """Another descriptor of the folder, for listing and syncing it, for the length of the block. Raises OSError."""
    opened = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    try:
        yield opened
    finally:
        os.close(opened)


@contextmanager
def opened_file(folder: int, name: str, path: Path, flags: int = os.O_RDONLY) -> Generator[int]:
    """A descriptor of a regular file in the folder with descriptor ``folder``, for the length of the block.

    ``path`` is for messages. Never waits and never wakes a device. Raises
    FileProblem for everything that is no regular file, and OSError.
    """
    _check_regular(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode, path)
    file = os.open(name, flags | _FILE, dir_fd=folder)
    try:
        _check_regular(os.fstat(file).st_mode, path)
        yield file
    finally:
        os.close(file)


def read_all(file: int, path: Path, limit: int) -> bytes:
    """Everything in the file from its start; ``limit`` is in bytes. Raises FileProblem for more, and OSError."""
    size = os.fstat(file).st_size
    pieces: list[bytes] = []
    total = 0
    while total <= limit and size <= limit:
        piece = os.pread(file, min(_PIECE, limit + 1 - total) if pieces or size < _PIECE else size + 1, total)
        if not piece:
            return pieces[0] if len(pieces) == 1 else b"".join(pieces)
        pieces.append(piece)
        total += len(piece)
    raise FileProblem(
        f"{path} is too large: {max(size, total):,} bytes; at most {limit:,} can be handled.",
        hint="Use a command such as head, tail or grep to look at parts of it.",
    )


def write_all(file: int, data: bytes) -> None:
    """Makes ``data`` the whole content of the file, and waits until it is on the disk. Raises OSError."""
    write_unsynced(file, data)
    os.fsync(file)


def write_unsynced(file: int, data: bytes) -> None:
    """The same without waiting for the disk. Raises OSError."""
    view = memoryview(data)
    position = 0
    while position < len(view):
        position += os.pwrite(file, view[position : position + _PIECE], position)
    os.ftruncate(file, len(view))


def _check_regular(mode: int, path: Path) -> None:
    if stat.S_ISREG(mode):
        return
    kind = next((name for test, name in _KINDS if test(mode)), "no regular file")
    raise FileProblem(f"{path} is {kind}; only regular files can be read or written.")
