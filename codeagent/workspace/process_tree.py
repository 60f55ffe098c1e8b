"""Finds and ends everything that a command started, also what left its group, its session and its parent.

A process belongs to a command when it carries the command's mark in its
environment, or is in the shell's session, or descends from the shell. On Linux
a keeper (workspace/keeper.py) is the parent of all orphans, which tells exactly
what is left. Should it be killed, there is still a resource limit of an odd size:
it is inherited even by what clears its environment and starts a session of its own.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from codeagent.workspace.keeper import Keeper

MARK = "CODEAGENT_COMMAND"
GRACE = 2.0
_KILL_PATIENCE = 2.0
_FIRST_POLL, _POLL = 0.004, 0.03
_LONGEST_NAME = 80
_ODD_LIMITS = 100_000
_OUR_SHELL = [b"--noprofile", b"--norc", b"-c"]
_LIMIT_LINE = b"Max msgqueue size"
_IGNORED_LINE = b"SigIgn:"
_PROC = Path("/proc")
_IS_LINUX = sys.platform == "linux"
_MOST_UNSEEN = 20
_numbers = itertools.count(1)
_left: list[Tree] = []
"""Trees of which something went on running when their shell was gone."""

_kept: list[Tree] = []
"""Trees that had a keeper when one was last planted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One living process of a command; ``started`` counts clock ticks, ``name`` is its command line, cut."""

    pid: int
    group: int
    started: int
    name: str

    def __str__(self) -> str:
        return f"{self.name} (pid {self.pid})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A command and all that came from it; ``shell`` is the pid it started with.

    ``started`` is when its keeper was, or where there is none the shell.
    """

    mark: str
    shell: int
    started: int
    odd_limit: int
    keeper: Keeper | None = None

    @property
    def is_kept(self) -> bool:
        """Whether a keeper says that something of it is left; False where there is none to say so."""
        return self.keeper is not None and self.keeper.lives

    @property
    def is_over(self) -> bool:
        """Whether its keeper says that nothing of it is left; False where there is none to say so."""
        return self.keeper is not None and self.keeper.has_kept_all

    def members(self) -> tuple[Member, ...]:
        """What is alive of it now, oldest first. Takes a few milliseconds."""
        if not _IS_LINUX:
            return parse_ps(_ps(), lambda mark: mark == self.mark, self.shell)
        if self.is_over:
            return ()
        statuses = _statuses()
        below = _below(self.keeper.pid, statuses) if self.keeper is not None and self.is_kept else set[int]()
        return _as_members(
            status
            for status in statuses
            if status.started >= self.started and (status.pid in below or self._is_member(status))
        )

    def terminate(self, grace: float = GRACE, haste: threading.Event | None = None) -> None:
        """Asks all of it to end, and ends by force what is left after ``grace`` seconds. Blocks meanwhile.

        As soon as there is ``haste`` it is ended by force.
        """
        _terminate(self.members, grace, haste or threading.Event(), (self,))

    def _is_member(self, status: _Status) -> bool:
        if status.session == self.shell:
            return True
        mark = _mark_of(status.pid)
        return mark == self.mark if mark else self.odd_limit != 0 and _odd_limit_of(status.pid) == self.odd_limit


def new_mark() -> str:
    """A mark for one command: who started it (a pid; on Linux also when and in which namespace) and a number."""
    own = os.getpid()
    status = _status(own)
    return f"{own}:{status.started if status else 0}:{_pid_namespace()}:{next(_numbers)}"


@cache
def _pid_namespace() -> str:
    """Which numbers of processes are meant: a container has its own, see pid_namespaces(7)."""
    try:
        return os.readlink("/proc/self/ns/pid").partition("[")[2].rstrip("]")  # noqa: PTH115 - no path
    except OSError:
        return "0"


def plant(mark: str, shell: int, odd_limit: int, keeper: Keeper | None) -> Tree:
    """The tree of a shell that was started this moment with ``mark`` in its environment and under ``odd_limit``."""
    status = _status(shell if keeper is None else keeper.pid)
    tree = Tree(mark=mark, shell=shell, started=status.started if status else 0, odd_limit=odd_limit, keeper=keeper)
    if keeper is not None:
        _kept[:] = [*(one for one in _kept if one.is_kept), tree]
    return tree


def odd_limit() -> int:
    """A limit of bytes in message queues (next to nothing uses them) that tells a command apart; 0 for none."""
    if not _IS_LINUX:
        return 0
    soft, _ = resource.getrlimit(resource.RLIMIT_MSGQUEUE)
    room = 1 << 30 if soft == resource.RLIM_INFINITY else soft
    return room - random.randrange(1, _ODD_LIMITS) if room > 2 * _ODD_LIMITS else 0  # noqa: S311 - no secret


def goes_on(tree: Tree) -> None:
    """Something of it runs on; it is ended with the program, also what has cleared its environment since."""
    if len(_left) >= _MOST_UNSEEN:
        _left[:] = [one for one in _left if one.members()]
    _left.append(tree)


def terminate_started() -> tuple[str, ...]:
    """Ends what commands of this program run left behind; says what it was. Blocks up to a few seconds."""
    own = new_mark().rpartition(":")[0]
    trees = {tree.mark: tree for tree in (*_left, *_kept)}
    return _terminate_marked(lambda mark: mark.rpartition(":")[0] == own, tuple(trees.values()))


def terminate_orphans() -> tuple[str, ...]:
    """Ends what was left by runs of this program that are dead; says what it was. Blocks up to a few seconds."""
    return _terminate_marked(_is_orphan)


def parse_ps(listing: str, belongs: Callable[[str], bool], shell: int = 0) -> tuple[Member, ...]:
    """Members in the output of ``ps -axwwE -o pid=,ppid=,pgid=,stat=,command=``, where there is no /proc.

    ``belongs`` judges a mark; what has none counts when it is in the group of ``shell`` or descends from it.
    """
    rows = [line.split(None, 4) for line in listing.splitlines()]
    living = [row for row in rows if len(row) == 5 and not row[3].startswith("Z")]  # noqa: PLR2004 - the five columns
    parents = {int(pid): int(parent) for pid, parent, _, _, _ in living}
    found: list[Member] = []
    for pid, _, group, _, command in living:
        name, _, rest = command.partition(f" {MARK}=")
        is_related = shell != 0 and (int(group) == shell or shell in _ancestry(int(pid), parents))
        if is_related or (rest and belongs(rest.split(None, 1)[0])):
            found.append(Member(pid=int(pid), group=int(group), started=0, name=name[:_LONGEST_NAME]))
    return tuple(sorted(found, key=lambda member: member.pid))


def _ancestry(pid: int, parents: dict[int, int]) -> set[int]:
    line: set[int] = set()
    while pid not in line and pid in parents:
        line.add(pid)
        pid = parents[pid]
    return line


def _ps() -> str:
    words = ["/bin/ps", "-axwwE", "-o", "pid=,ppid=,pgid=,stat=,command="]
    try:
        return subprocess.run(words, capture_output=True, check=False, timeout=5).stdout.decode("utf-8", "replace")
    except (OSError, subprocess.TimeoutExpired):
        return ""


def _terminate(
    members: Callable[[], tuple[Member, ...]], grace: float, haste: threading.Event, trees: Sequence[Tree] = ()
) -> None:
    """Parents get the signal before their children, so that none goes on to its next step.

    Looking takes a moment in which a process can slip past by forking: only a keeper that is gone proves
    that all is over, and where there is none a second look.
    Where all that is left has shut its ears to the signal, waiting is of no use.
    """
    asked: set[int] = set()
    pause = _FIRST_POLL
    deadline = time.monotonic() + grace
    while (alive := _left_of(members, trees)) is not None and time.monotonic() < deadline and not haste.is_set():
        if alive and all(member.pid in asked and _is_deaf(member.pid) for member in alive):
            break
        fresh = [member for member in alive if member.pid not in asked]
        _send(fresh, signal.SIGTERM)
        _send(fresh, signal.SIGCONT)
        asked.update(member.pid for member in fresh)
        haste.wait(pause)
        pause = min(pause * 2, _POLL)
    if alive is not None:
        for tree in trees:
            if tree.keeper is not None:
                tree.keeper.kill_all()
    deadline = time.monotonic() + _KILL_PATIENCE
    while (alive := _left_of(members, trees)) is not None and time.monotonic() < deadline:
        _send(alive, signal.SIGKILL)
        time.sleep(_POLL / 10)


def _left_of(members: Callable[[], tuple[Member, ...]], trees: Sequence[Tree]) -> tuple[Member, ...] | None:
    """What was seen, and may be nothing while a keeper still has something to keep; None when all is over."""
    seen = members() or members()
    return seen if seen or any(tree.is_kept for tree in trees) else None


def _send(members: list[Member] | tuple[Member, ...], number: signal.Signals) -> None:
    """A whole group at once where its leader is one of them, then each alone; what is not ours stays."""
    pids = {member.pid for member in members}
    for group in {member.group: None for member in members if member.group in pids}:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)
    for member in members:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(member.pid, number)


def _terminate_marked(belongs: Callable[[str], bool], trees: Sequence[Tree] = ()) -> tuple[str, ...]:
    def members() -> tuple[Member, ...]:
        if _IS_LINUX:
            marked = _as_members(status for status in _statuses() if belongs(_mark_of(status.pid)))
        else:
            marked = parse_ps(_ps(), belongs)
        all_of_it = {member.pid: member for member in (*marked, *(one for tree in trees for one in tree.members()))}
        return tuple(all_of_it[pid] for pid in sorted(all_of_it))

    found = tuple(str(member) for member in members())
    _terminate(members, GRACE, threading.Event(), trees)
    return found


def _is_orphan(mark: str) -> bool:
    pid, _, rest = mark.partition(":")
    started, _, rest = rest.partition(":")
    namespace = rest.partition(":")[0]
    if not (pid.isdecimal() and started.isdecimal()) or namespace != _pid_namespace():
        return False
    if _IS_LINUX:
        owner = _status(int(pid))
        return owner is None or owner.started != int(started)
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


@dataclass(frozen=True, slots=True)
class _Status:
    pid: int
    state: str
    parent: int
    group: int
    session: int
    started: int


def _status(pid: int) -> _Status | None:
    """Of /proc/PID/stat, whose second field may hold anything, brackets and newlines too."""
    try:
        text = (_PROC / str(pid) / "stat").read_bytes()
    except OSError:
        return None
    state, parent, group, session, *rest = text[text.rindex(b")") + 2 :].split()
    return _Status(pid, state.decode(), int(parent), int(group), int(session), int(rest[15]))


def _statuses() -> list[_Status]:
    """Of all living processes."""
    entries = os.listdir(_PROC)  # noqa: PTH208 - a Path for each of hundreds of processes costs more than the walk
    found = (_status(int(entry)) for entry in entries if entry.isdecimal())
    return [status for status in found if status is not None and status.state not in "ZX"]


def _below(pid: int, statuses: Sequence[_Status]) -> set[int]:
    """Its children, their children, and so on."""
    children: dict[int, list[int]] = {}
    for status in statuses:
        children.setdefault(status.parent, []).append(status.pid)
    line = [pid]
    for one in line:
        line += children.get(one, [])
    return set(line[1:])


def _as_members(statuses: Iterable[_Status]) -> tuple[Member, ...]:
    found = [Member(pid=one.pid, group=one.group, started=one.started, name=_name(one.pid)) for one in statuses]
    return tuple(sorted(found, key=lambda member: (member.started, member.pid)))


def _is_deaf(pid: int) -> bool:
    """Whether a process ignores the signal that asks it to end, where /proc tells."""
    try:
        status = (_PROC / str(pid) / "status").read_bytes()
    except OSError:
        return False
    ignored = status.partition(_IGNORED_LINE)[2].split(maxsplit=1)[:1]
    return bool(ignored) and int(ignored[0], 16) >> (signal.SIGTERM - 1) & 1 == 1


def _name(pid: int) -> str:
    try:
        words = (_PROC / str(pid) / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return "?"
    if words[1:4] == _OUR_SHELL:
        words = [b"bash -c", words[4]]  # a part of a command that runs by itself, as it was written
    return b" ".join(words).decode("utf-8", "replace").strip()[:_LONGEST_NAME] or "?"


def _mark_of(pid: int) -> str:
    try:
        environment = (_PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return ""
    _, found, rest = (b"\0" + environment).partition(b"\0" + MARK.encode() + b"=")
    return rest.partition(b"\0")[0].decode("ascii", "replace") if found else ""


def _odd_limit_of(pid: int) -> int:
    try:
        limits = (_PROC / str(pid) / "limits").read_bytes()
    except OSError:
        return 0
    soft = limits.partition(_LIMIT_LINE)[2].split(maxsplit=1)[:1]
    return int(soft[0]) if soft and soft[0].isdigit() else 0
