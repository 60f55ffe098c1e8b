"""Files and folders that only their owner can read, whatever the umask."""

from __future__ import annotations

import os
from io import TextIOWrapper
from pathlib import Path


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
