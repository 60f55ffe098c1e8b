"""Small JSON files that only the person may read and write: what was trusted and what was granted."""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from codeagent.core.json_types import JsonObject, JsonValue

_FOLDER_MODE = 0o700
_LARGEST = 4 * 1024 * 1024


def read_private(path: Path) -> JsonObject:
    """The file's object; empty when it is missing, damaged, or not the person's own."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return {}
    with os.fdopen(descriptor, "rb") as file:
        if os.fstat(descriptor).st_uid != os.getuid():
            return {}
        try:
            found: JsonValue = json.loads(file.read(_LARGEST))
        except ValueError:
            return {}
    return found if isinstance(found, dict) else {}


def change_private(path: Path, change: Callable[[JsonObject], None]) -> None:
    """Applies ``change`` to the file's object and stores it, one process at a time. Raises OSError."""
    path.parent.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
    lock = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        content = read_private(path)
        change(content)
        _replace(path, json.dumps(content, indent=1, sort_keys=True).encode())
    finally:
        os.close(lock)


def _replace(path: Path, data: bytes) -> None:
    """The new content takes the place of the old one whole or not at all; mkstemp makes files of mode 0600."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
