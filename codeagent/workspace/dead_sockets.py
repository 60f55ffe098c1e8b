"""Tells which socket files nobody listens at, so that hiding them, which takes time, can be left out.

Connecting tells that for sure, but may start a program that systemd keeps a socket open for. So only that is tried
whose name the kernel's list does not hold (see proc_pid_net(5)): in there are all that listen in this network
namespace, and a socket of another one, such as that of a rootless Docker, starts nothing.
"""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Iterable
from pathlib import Path

_LISTED = Path("/proc/net/unix")
_FIELDS_BEFORE_THE_PATH = 7

_File = tuple[int, int, int]


class DeadSockets:
    """Remembers which files are not to be tried again: those that are listed, or that somebody listened at.

    That nobody does is found out anew each time.
    """

    def __init__(self, listed: Path = _LISTED) -> None:
        self._listed = listed
        self._alive: set[_File] = set()
        self._unlisted: set[_File] = set()

    def without_dead(self, paths: Iterable[Path]) -> tuple[Path, ...]:
        """Those of the socket files at which somebody listens, or may."""
        files = {path: file for path in paths if (file := _file(path)) is not None}
        self._look_up({path: file for path, file in files.items() if file not in self._alive | self._unlisted})
        return tuple(path for path, file in files.items() if file in self._alive or self._answers(path, file))

    def _look_up(self, files: dict[Path, _File]) -> None:
        """By their names alone: a program may have named its socket from another folder."""
        names = _names(self._listed) if files else None
        for path, file in files.items():
            (self._alive if names is None or path.name in names else self._unlisted).add(file)

    def _answers(self, path: Path, file: _File) -> bool:
        if not _is_refused(path):
            self._alive.add(file)
        return file in self._alive


def _names(listed: Path) -> frozenset[str] | None:
    """The last parts of the paths of all sockets in the kernel's list; None where there is none."""
    try:
        lines = listed.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return None
    rows = (line.split(maxsplit=_FIELDS_BEFORE_THE_PATH) for line in lines)
    return frozenset(row[-1].rpartition("/")[2] for row in rows if len(row) > _FIELDS_BEFORE_THE_PATH)


def _file(path: Path) -> _File | None:
    try:
        status = path.lstat()
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_ctime_ns


def _is_refused(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.setblocking(False)
        try:
            return client.connect_ex(os.fspath(path)) == errno.ECONNREFUSED
        except OSError:  # a path that is too long for an address
            return False
