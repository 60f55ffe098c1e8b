"""Linux Landlock: a ruleset with which a process gives up writing anywhere but below a few folders, for good.

It gives up all devices but a few as well, for reading too: whoever opens a person's terminal types and draws there.
A rule can only allow, so what may be read is everything beside them. It is made here and passed on as a descriptor;
workspace/keeper_program.py applies it to a command.

The numbers are those of ``<linux/landlock.h>``; see
https://docs.kernel.org/userspace-api/landlock.html. Landlock does not stop
``chmod``, ``utime`` and UDP.
"""

from __future__ import annotations

import ctypes
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

LEAST_ABI = 3
"""The first version that also guards truncation and moving files between folders."""
NETWORK_ABI = 4
"""The first version that can refuse TCP connections."""
CONTROL_ABI = 5
"""The first version that can refuse ioctl(2) on devices."""
SCOPES_ABI = 6
"""The first version that can keep a process and its descendants among themselves."""

_CREATE_RULESET, _ADD_RULE = 444, 445
_VERSION_FLAG = 1
_PATH_BENEATH = 1

_WRITE_FILE = 1 << 1
_READ_FILE = 1 << 2
_TRUNCATE = 1 << 14
_CONTROL_DEVICE = 1 << 15  # IOCTL_DEV
_FILE = _READ_FILE | _WRITE_FILE | _TRUNCATE
_MAKE_AND_REMOVE = sum(1 << bit for bit in range(4, 14))  # REMOVE_DIR … MAKE_SYM, REFER
_MAKE_DEVICES = 1 << 6 | 1 << 11  # root could make a disk anew, and write to it
_TCP = 0b11
_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11
_DEVICES = "/dev"
_MOUNTS = Path("/proc/self/mountinfo")
_OF_DEVICES = ("devpts", "devtmpfs")
_ESCAPED = re.compile(r"\\([0-7]{3})")


class _RulesetAttributes(ctypes.Structure):
    _fields_ = (
        ("handled_access_fs", ctypes.c_uint64),
        ("handled_access_net", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    )


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


@cache
def abi() -> int:
    """The kernel's Landlock version, 0 where there is none."""
    if sys.platform != "linux":
        return 0
    return max(0, _libc().syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION_FLAG)))


def make_ruleset(writable: Iterable[Path], devices: Iterable[Path], *, has_network: bool) -> int:
    """The descriptor of a ruleset that lets its process write only below ``writable``, and use no device but these.

    The caller closes it. Raises OSError.
    """
    libc = _libc()
    no_tcp = 0 if has_network or abi() < NETWORK_ABI else _TCP
    control = _CONTROL_DEVICE if abi() >= CONTROL_ABI else 0
    attributes = _RulesetAttributes(_FILE | control | _MAKE_AND_REMOVE, no_tcp)
    size = (2 if no_tcp else 1) * ctypes.sizeof(ctypes.c_uint64)
    ruleset = _create(libc, attributes, size)
    try:
        for path in _beside(frozenset(device_folders()), "/"):
            with suppress(OSError):  # such as a mount whose server is gone: that is not readable anyhow
                _allow(libc, ruleset, path, _READ_FILE)
        for path in writable:
            _allow(libc, ruleset, path, _FILE | _MAKE_AND_REMOVE & ~_MAKE_DEVICES)
        for path in devices:
            _allow(libc, ruleset, path, _FILE | control)
    except OSError:
        os.close(ruleset)
        raise
    return ruleset


def make_scope() -> int:
    """The descriptor of a ruleset whose processes signal only each other, and reach abstract sockets of no one else.

    It leaves files alone, so that mounts can still be made. The caller closes it. Raises OSError.
    """
    attributes = _RulesetAttributes(0, 0, _ABSTRACT_SOCKETS_AND_SIGNALS)
    return _create(_libc(), attributes, ctypes.sizeof(attributes))


def _create(libc: ctypes.CDLL, attributes: _RulesetAttributes, size: int) -> int:
    """``size``: older kernels know only the first fields."""
    return _checked(libc.syscall(_CREATE_RULESET, ctypes.byref(attributes), ctypes.c_size_t(size), ctypes.c_uint32(0)))


@cache
def device_folders() -> tuple[str, ...]:
    """Where devices are: ``/dev``, and what is mounted of it in folders for chroot(8); see proc_pid_mountinfo(5)."""
    with suppress(OSError):
        lines = _MOUNTS.read_bytes().decode(errors="surrogateescape").splitlines()
        mounts = ((front.split(), kind) for front, _, kind in (line.partition(" - ") for line in lines))
        found = (_ESCAPED.sub(_unescaped, front[4]) for front, kind in mounts if kind.startswith(_OF_DEVICES))
        return (_DEVICES, *(place for place in found if not f"{place}/".startswith(f"{_DEVICES}/")))
    return (_DEVICES,)


def _beside(shut: frozenset[str], folder: str) -> Iterator[str]:
    """The fewest paths below ``folder`` that hold everything but what is ``shut``."""
    try:
        entries = os.scandir(folder)
    except OSError:
        return
    with entries:
        for entry in entries:
            if entry.is_symlink() or entry.path in shut:
                continue
            if any(place.startswith(f"{entry.path}/") for place in shut):
                yield from _beside(shut, entry.path)
            else:
                yield entry.path


def _unescaped(found: re.Match[str]) -> str:
    return chr(int(found[1], 8))


def _allow(libc: ctypes.CDLL, ruleset: int, path: str | Path, access: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if access & ~_FILE and not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            access &= _FILE | _CONTROL_DEVICE
        rule = _PathBeneath(access, descriptor)
        _checked(
            libc.syscall(
                _ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(_PATH_BENEATH), ctypes.byref(rule), ctypes.c_uint32(0)
            )
        )
    finally:
        os.close(descriptor)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
