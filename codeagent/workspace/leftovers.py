"""The names of temporary files, the sweep that removes those of runs that crashed, and the copies they left."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import secrets
import stat
import tempfile
import time
from collections import deque
from contextlib import suppress
from enum import Enum, auto
from pathlib import Path

from codeagent.core.errors import FileProblem
from codeagent.core.values import value
from codeagent.workspace.handles import opened_file, opened_folder, read_all

TEMP_PREFIX = ".codeagent-tmp-"
COPY_PREFIX = "codeagent-copy-"
_NAME = re.compile(
    re.escape(TEMP_PREFIX) + r"(?P<process>\d{1,10})-(?P<run>[0-9a-f]{8})-[0-9a-f]{8}"
    r"(?:-(?P<old>[0-9a-f]{16})-(?P<new>[0-9a-f]{16}))?"
)
_THIS_RUN = secrets.token_hex(4)
_LONGEST_WRITE = 60.0


def new_temp_name() -> str:
    """A name that nobody else uses, that searches hide, and that says which process made it."""
    return f"{TEMP_PREFIX}{os.getpid()}-{_THIS_RUN}-{secrets.token_hex(4)}"


def ready_name(name: str, old: bytes, new: bytes) -> str:
    """The name of a temporary file that is about to trade places with another: it says what either may hold.

    Anything else that has this name after a crash was saved by somebody in that very moment, and is kept.
    """
    return f"{name}-{_digest(old)}-{_digest(new)}"


@value
class Swept:
    """How many files were removed, and those kept because they hold what somebody saved during a write."""

    removed: int = 0
    saves: tuple[Path, ...] = ()


def sweep_leftovers(root: Path, seconds: float = 1.0) -> Swept:
    """Removes temporary files that crashed runs left below ``root``, never those in use.

    Folders that cannot be read, links and git's own folders are passed over. The start of the program waits for
    it, so after ``seconds`` what lies deepest in a huge tree is left to another time.
    """
    removed = 0
    saves: list[Path] = []
    end = time.monotonic() + seconds
    waiting = deque([root])
    while waiting:
        folder = waiting.popleft()
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith(TEMP_PREFIX):
                    found = _sweep(folder, entry.name)
                    removed += found is _Leftover.REMOVED
                    saves += [folder / entry.name] if found is _Leftover.SAVE else []
                elif entry.name != ".git" and entry.is_dir(follow_symlinks=False):
                    waiting.append(folder / entry.name)
        if time.monotonic() > end:
            break
    return Swept(removed=removed, saves=tuple(saves))


def interrupted_copies() -> tuple[Path, ...]:
    """Copies of the old bytes of files that a crashed run was overwriting; those in use are passed over."""
    try:
        folder = Path(tempfile.gettempdir())
    except FileNotFoundError:  # nothing can be written to any
        return ()
    return tuple(path for path in sorted(folder.glob(f"{COPY_PREFIX}*")) if _is_abandoned(path))


def _is_abandoned(path: Path) -> bool:
    """The temp folder is everybody's: only this user's own regular files count."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        state = os.fstat(file)
        if not stat.S_ISREG(state.st_mode) or state.st_uid != os.geteuid():
            return False
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(file)
    return True


class _Leftover(Enum):
    REMOVED = auto()
    SAVE = auto()
    LEFT = auto()


def _sweep(folder: Path, name: str) -> _Leftover:
    match = _NAME.fullmatch(name)
    if match is None or match["run"] == _THIS_RUN:
        return _Leftover.LEFT
    try:
        with opened_folder(folder.resolve()) as parent, opened_file(parent, name, folder / name) as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_in_use(int(match["process"]), os.fstat(file)):
                return _Leftover.LEFT
            content = read_all(file, folder / name, os.fstat(file).st_size) if match["old"] else b""
            if match["old"] and _digest(content) not in {match["old"], match["new"]}:
                return _Leftover.SAVE
            os.unlink(name, dir_fd=parent)
    except (OSError, FileProblem):
        return _Leftover.LEFT
    return _Leftover.REMOVED


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()


def _is_in_use(process: int, state: os.stat_result) -> bool:
    """A writer holds a lock, save for the moment in which the old file has the name: then it lives and is quick.

    A number that is our own belongs to an earlier run; in containers that is the rule.
    """
    if state.st_uid != os.geteuid():
        return True
    if process == os.getpid() or time.time() - state.st_ctime > _LONGEST_WRITE:
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
