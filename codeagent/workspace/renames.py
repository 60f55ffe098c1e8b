"""Renames in one step that plain rename cannot do: swap two files, or take a name only when it is free."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Callable

_LINUX_NO_REPLACE, _LINUX_EXCHANGE = 1, 2
_MACOS_SWAP, _MACOS_EXCLUSIVE = 2, 4
_UNSUPPORTED = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP})


def exchange(folder: int, one: str, two: str) -> bool:
    """Swaps two names in the folder with descriptor ``folder``; False, nothing done, where that is not supported.

    Raises OSError, nothing done, for everything else that prevents it.
    """
    return _rename(folder, one, two, _MACOS_SWAP if sys.platform == "darwin" else _LINUX_EXCHANGE, into=folder)


def rename_new(folder: int, source: str, target: str, *, into: int | None = None) -> None:
    """Renames within the folder with descriptor ``folder``, or ``into`` another one, when ``target`` does not exist.

    Raises FileExistsError when it does, and OSError for everything else.
    """
    into = folder if into is None else into
    flags = _MACOS_EXCLUSIVE if sys.platform == "darwin" else _LINUX_NO_REPLACE
    if _rename(folder, source, target, flags, into=into):
        return
    try:
        os.link(source, target, src_dir_fd=folder, dst_dir_fd=into, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError:
        _rename_when_free(folder, source, target, into)
    else:
        os.unlink(source, dir_fd=folder)


def _rename_when_free(folder: int, source: str, target: str, into: int) -> None:
    """For file systems that have neither the call nor hard links: a moment is left in which both can exist."""
    try:
        os.stat(target, dir_fd=into, follow_symlinks=False)
    except FileNotFoundError:
        os.rename(source, target, src_dir_fd=folder, dst_dir_fd=into)
    else:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target)


def _find_call() -> Callable[[int, bytes, int, bytes, int], int] | None:
    library = ctypes.CDLL(None, use_errno=True)
    name = "renameatx_np" if sys.platform == "darwin" else "renameat2"
    try:
        call = library[name]
    except AttributeError:
        return None
    call.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    call.restype = ctypes.c_int
    return call


_CALL = _find_call()


def _rename(folder: int, source: str, target: str, flags: int, *, into: int) -> bool:
    if _CALL is None:
        return False
    if _CALL(folder, os.fsencode(source), into, os.fsencode(target), flags) == 0:
        return True
    number = ctypes.get_errno()
    if number in _UNSUPPORTED:
        return False
    raise OSError(number, os.strerror(number), source, None, target)
