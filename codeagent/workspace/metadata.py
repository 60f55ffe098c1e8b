"""Copies what a file has besides its bytes: owner, mode bits, extended attributes and access lists."""

from __future__ import annotations

import ctypes
import os
import stat
import sys
from contextlib import suppress

_ACCESS_LIST = "system.posix_acl_access"
_MACOS_ACL, _MACOS_XATTR = 1, 4


def copy_metadata(source: int, target: int) -> bool:
    """Gives the file with descriptor ``target`` what ``source`` has; attributes as far as they may be set.

    False, the target being unusable, when owner or group cannot be kept.
    Raises OSError when the mode cannot be.
    """
    known, fresh = os.fstat(source), os.fstat(target)
    if (known.st_uid, known.st_gid) != (fresh.st_uid, fresh.st_gid):
        try:
            os.fchown(target, known.st_uid, known.st_gid)
        except PermissionError:
            return False
    _copy_attributes(source, target)
    os.fchmod(target, stat.S_IMODE(known.st_mode))
    return True


def _copy_attributes(source: int, target: int) -> None:
    if sys.platform == "darwin":
        with suppress(AttributeError):
            ctypes.CDLL(None).fcopyfile(source, target, None, _MACOS_ACL | _MACOS_XATTR)
    elif sys.platform == "linux":
        with suppress(OSError):
            names = os.listxattr(source)
            for name in names:
                with suppress(OSError):
                    os.setxattr(target, name, os.getxattr(source, name))
            if _ACCESS_LIST not in names and _ACCESS_LIST in os.listxattr(target):
                os.removexattr(target, _ACCESS_LIST)
