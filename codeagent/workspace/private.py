"""Files and folders that only their owner can read, whatever the umask; small JSON files among them."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
import tempfile
from collections.abc import Callable
from io import TextIOWrapper
from pathlib import Path

from codeagent.core.json_types import JsonObject, JsonValue

_LARGEST = 4 * 1024 * 1024
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


def way_out(error: OSError) -> str:
    """What to do where a file of the program's own could not be written, in a sentence."""
    home = "set CODEAGENT_HOME to another folder."
    return f"Free some space, or {home}" if error.errno in _FULL else f"Make it writable, or {home}"


def make_private_folder(path: Path) -> None:
    """Makes a folder, and those above it that are missing, with mode 0700; raises OSError."""
    if path.is_dir():
        return
    if not path.parent.is_dir():
        make_private_folder(path.parent)
    path.mkdir(mode=0o700, exist_ok=True)
    path.chmod(0o700)


def open_private(path: Path, how: int) -> TextIOWrapper:
    """Opens a file for writing with mode 0600, never through a link; ``how`` is O_APPEND, O_TRUNC or O_EXCL.

    Raises OSError.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | how, 0o600)
    os.fchmod(descriptor, 0o600)
    return os.fdopen(descriptor, "w", encoding="utf-8")


def read_private(path: Path) -> JsonObject:
    """The object in a JSON file; empty when it is missing, damaged, or not the person's own."""
    return _read(path) or {}


def is_damaged(path: Path) -> bool:
    """Whether a JSON file is there, but holds no object that could be read, or is not the person's own."""
    return _read(path) is None


def close_to_others(path: Path) -> bool:
    """Takes a file of the person's own from everybody else; whether they had had it. Raises OSError."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        state = os.fstat(descriptor)
        is_open = stat.S_ISREG(state.st_mode) and state.st_uid == os.getuid() and bool(state.st_mode & 0o077)
        if is_open:
            os.fchmod(descriptor, 0o600)
        return is_open
    finally:
        os.close(descriptor)


def _read(path: Path) -> JsonObject | None:
    """What the file holds, nothing when it is missing, None when it cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError:
        return None
    try:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode) or state.st_uid != os.getuid():
            return None
        found: JsonValue = json.loads(os.read(descriptor, _LARGEST))
    except (ValueError, OSError, RecursionError):
        return None
    finally:
        os.close(descriptor)
    return found if isinstance(found, dict) else None


def change_private(path: Path, change: Callable[[JsonObject], None]) -> None:
    """Applies ``change`` to the object in a JSON file and stores it, one process at a time. Raises OSError."""
    make_private_folder(path.parent)
    lock = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        os.fchmod(lock, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        content = read_private(path)
        change(content)
        write_private(path, json.dumps(content, indent=1, sort_keys=True).encode())
    finally:
        os.close(lock)


def write_private(path: Path, data: bytes) -> None:
    """Writes a file with mode 0600; it takes the place of an old one, or of a link, whole or not at all.

    Raises OSError.
    """
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(descriptor, 0o600)
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
