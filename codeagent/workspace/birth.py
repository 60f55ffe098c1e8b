"""When a folder was made, which the ordinary times of a file do not tell."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from pathlib import Path

_AT_CWD = -100
_NO_FOLLOW = 0x100
_BIRTH_TIME = 0x800
_SIZE = 256  # struct statx, Linux
_MASK_AT, _SECONDS_AT, _NANOSECONDS_AT = 0, 80, 88


def born_at(path: Path) -> float | None:
    """The time at which a file or folder was made, in seconds since 1970; None where the system cannot say."""
    if sys.platform == "darwin":
        try:
            return path.lstat().st_birthtime
        except OSError:
            return None
    if _STATX is None:
        return None
    buffer = ctypes.create_string_buffer(_SIZE)
    if _STATX(_AT_CWD, os.fsencode(path), _NO_FOLLOW, _BIRTH_TIME, buffer) != 0:
        return None
    raw = buffer.raw
    if not int.from_bytes(raw[_MASK_AT : _MASK_AT + 4], sys.byteorder) & _BIRTH_TIME:
        return None
    seconds = int.from_bytes(raw[_SECONDS_AT : _SECONDS_AT + 8], sys.byteorder, signed=True)
    return seconds + int.from_bytes(raw[_NANOSECONDS_AT : _NANOSECONDS_AT + 4], sys.byteorder) / 1e9


def _find_statx() -> Callable[..., int] | None:
    try:
        return ctypes.CDLL(None).statx
    except AttributeError:
        return None


_STATX = _find_statx()
