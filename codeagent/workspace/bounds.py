"""What confined commands may do, and how their output tells that they were kept from something."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from codeagent.workspace import landlock
from codeagent.workspace.sensitive import places_at_home
from codeagent.workspace.services import PROCESSES, hidden_sockets, missed_service, missed_signal, without_opened

GIT_PARTS = ("hooks", "config", "info")
"""The parts of a repository's inside that can make programs run later."""

MEMORY = Path("/dev/shm")  # noqa: S108 - named, not used
"""Where programs share memory by files."""

_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "dri", "kfd", "nvidia*")
"""What is there for everybody. No terminals: ``tty`` is the one that a process belongs to, and commands have none."""

_DEVICES_FOLDER = Path("/dev")
_OPEN_ALREADY = re.compile(r"/dev/(?:std(?:in|out|err)|fd/\d+)$|/proc/(?:thread-)?self/fd/\d+$")
_NO_TERMINAL = re.compile(
    r"out of pty devices|no more ptys|failed to create pseudo-terminal"
    r"|\b(?:open|fork)pty\b.*(?:failed|[Pp]ermission denied)"
    r"|unable to allocate pty|posix_openpt.*[Pp]ermission denied|/dev/(?:pts/\d+|ttys\d+)\b.*[Pp]ermission denied"
    r"|create window failed: fork failed: Permission denied",
)
_BY_MOUNTS = r"[Rr]ead-only file system|Device or resource busy"
_BY_RIGHTS = r"[Pp]ermission denied|[Oo]peration not permitted"
_REFUSAL = re.compile(rf"{_BY_RIGHTS}|{_BY_MOUNTS}|\b(?:EACCES|EROFS|EPERM)\b")
_MOUNTED = re.compile(rf"{_BY_MOUNTS}|\bEROFS\b")
_PLAIN = re.compile(
    rf"[A-Za-z_.~/][^\s:]*: (?:.*[:\]] )?(?:{_BY_RIGHTS}|{_BY_MOUNTS})(?:: ['\"].*['\"]|, \w+ ['\"].*['\"])?\.?"
)
"""``touch: cannot touch 'x': Permission denied``, ``OSError: [Errno 30] Read-only file system: 'x'`` and their like."""

_OF_A_PROCESS = re.compile(r"/proc/\d+/(?:task/\d+/)?(\w+)")
_WRITTEN_OF_A_PROCESS = frozenset(
    {"comm", "oom_adj", "oom_score_adj", "clear_refs", "coredump_filter", "timerslack_ns", "sched", "autogroup"}
    | {"setgroups", "uid_map", "gid_map", "projid_map", "attr", "loginuid"}
)
"""All else of another process is there to be read."""

_NO_NETWORK = re.compile(
    r"Could not resolve host|Temporary failure in name resolution|Name or service not known|Network is unreachable"
    r"|nodename nor servname|getaddrinfo|EAI_AGAIN|ENETUNREACH|ECONNREFUSED|Connection refused"
    r"|[Cc]ould ?n.t connect|[Ff]ailed to connect",
)
_QUOTED = re.compile(r"'([^']+)'|\"([^\"]+)\"|‘([^’]+)’|`([^'`]+)['`]")
_CANNOT = re.compile(r"^(?:cannot|can't|could not|unable to|failed to) \w+ (?:(?:file|directory) )?")
_BEFORE = re.compile(r"(?:^|: )([^:]+): *$")
_SLASHED = re.compile(r"[^\s'\"‘’`:,;()\[\]]*/[^\s'\"‘’`:,;()\[\]]*")
_MOST_LINES = 400
_MOST_NAMED = 5
_LONGEST_NAME = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """One thing that a command was kept from: in words, and the line of its output that says so.

    ``written`` is the path that it would have written to. ``is_plain``: the line has the shape in which programs
    tell of their own errors. ``service`` is the name of the service that it was kept from, or of its socket, if any.
    """

    what: str
    line: str
    written: Path | None = None
    is_plain: bool = False
    service: str = ""

    def __str__(self) -> str:
        return self.what


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What confined commands may do: write below ``writable``, use the network or not, and services outside or not.

    ``protects_git``: in the repository of each writable folder the parts that make programs run are not writable.
    ``closed`` lies below ``writable`` and is not writable all the same; ``own`` are those of it that are
    the program's own folders, to be closed before they are made. ``opened`` are services, by name, that may be used
    all the same.
    """

    root: Path
    writable: tuple[Path, ...]
    has_network: bool = True
    has_services: bool = False
    opened: tuple[str, ...] = ()
    protects_git: bool = False
    closed: tuple[Path, ...] = ()
    own: tuple[Path, ...] = ()

    def may_write(self, path: Path) -> bool:
        """Whether a command may write there; links are followed, but to what a process has open: to each its own."""
        if _OPEN_ALREADY.match(str(path)):
            return True
        try:
            real = path.resolve()
        except (OSError, RuntimeError):  # a circle of links, or what another process has open
            return False
        links = [folder / ".git" for folder in self.writable] if self.protects_git else []
        if real in links or any(real.is_relative_to(link / part) for link in links for part in GIT_PARTS):
            return False
        if any(real.is_relative_to(place) for place in self.closed):
            return False
        return any(real.is_relative_to(folder) for folder in (*self.writable, *devices(), MEMORY))

    def hidden_sockets(self) -> tuple[Path, ...]:
        """The sockets of services that commands do not get to see where mounts can hide them."""
        found = () if self.has_services else hidden_sockets(os.environ)
        return without_opened(found, self.opened, os.environ) if self.opened else found

    @property
    def keeps_apart(self) -> bool:
        """Whether commands may signal no process but their own."""
        return not self.has_services and PROCESSES not in self.opened

    @property
    def leaves_unmade_open(self) -> bool:
        """Whether commands can make what starts programs where it is not there yet and nobody watches."""
        places = (place for place in self.closed if place not in self.own and not place.is_relative_to(self.root))
        return any(not place.exists() for place in places)

    def around(self, places: Sequence[Path]) -> tuple[Path, ...]:
        """The folders between the writable ones and those places of them that are in one, outermost first."""
        between = {
            parent
            for place in places
            for parent in place.parents
            if any(parent != top and parent.is_relative_to(top) for top in self.writable)
        }
        return tuple(sorted(between, key=lambda path: len(path.parts)))

    def refused(self, output: str, cwd: Path, *, by_mounts: bool = False) -> tuple[Refusal, ...]:
        """What a command that ran in ``cwd`` was kept from, as far as its output says so: paths, or the network.

        A path counts when these bounds, and not the rights of the file, keep the command from it. ``by_mounts``:
        they do so by mounts, which give another reason than rights do.
        """
        found: dict[str, Refusal] = {}
        hidden = cache(lambda: self.hidden_sockets() if by_mounts else ())
        for line in output.splitlines()[-_MOST_LINES:]:
            terminal = None if by_mounts else _terminal(line)
            refusal = terminal or self._refusal(line, cwd, by_mounts=by_mounts) or self._service(line, hidden)
            if refusal and refusal.service not in self.opened:
                found.setdefault(refusal.what, refusal)
        return tuple(found.values())[:_MOST_NAMED]

    def _refusal(self, line: str, cwd: Path, *, by_mounts: bool) -> Refusal | None:
        message = _REFUSAL.search(line)
        paths = list(_paths_in(line, message.start())) if message else []
        for name in paths if not by_mounts or _MOUNTED.search(line) else ():
            if not _is_read(name, line) and self._keeps_from(cwd, name):
                is_plain = _PLAIN.fullmatch(line.strip()) is not None
                verb = "using" if (cwd / name).is_relative_to(_DEVICES_FOLDER) else "writing to"
                return Refusal(what=f"{verb} {name}", line=line, written=cwd / name, is_plain=is_plain)
        if (read := next((name for name in paths if _is_read(name, line)), None)) is not None:
            return Refusal(what=f"reading {read}", line=line)
        if not self.has_network and (_NO_NETWORK.search(line) or (message and not paths)):
            return Refusal(what="using the network", line=line)
        return None

    def _service(self, line: str, hidden: Callable[[], tuple[Path, ...]]) -> Refusal | None:
        if name := missed_service(line, hidden):
            return Refusal(what=f"using {name}", line=line, service=name)
        if self.keeps_apart and landlock.abi() >= landlock.SCOPES_ABI and missed_signal(line):
            return Refusal(what="ending a process that codeagent did not start", line=line, service=PROCESSES)
        return None

    def _keeps_from(self, cwd: Path, name: str) -> bool:
        if len(name) > _LONGEST_NAME or not any(map(str.isalnum, name)):
            return False
        path = cwd / name
        try:
            return not self.may_write(path) and _is_writable(path)
        except (OSError, ValueError):
            return False


def closed_places(writable: Sequence[Path], chosen: Sequence[Path], own: Sequence[Path]) -> tuple[Path, ...]:
    """What commands must not write although it lies in a writable folder, links followed.

    That is ``own``, the program's folders, and what holds secrets or is run by itself in the home folder; but
    nothing that has one of the folders in it that the person ``chose`` to work in.
    """
    home = Path.home()
    named = dict.fromkeys(path.resolve() for path in (*own, *(home / place for place in places_at_home())))
    return tuple(
        path
        for path in named
        if any(path != top and path.is_relative_to(top) for top in writable)
        and not any(folder.resolve().is_relative_to(path) for folder in chosen)
    )


def devices() -> tuple[Path, ...]:
    """The devices that are there and that a confined command may use: graphics, and no terminal and no disk."""
    return tuple(path for name in _DEVICES for path in _DEVICES_FOLDER.glob(name))


def _terminal(line: str) -> Refusal | None:
    """A program that would run another in a terminal of its own, as script(1) does, cannot open that."""
    found = _NO_TERMINAL.search(line) if len(line) <= _LONGEST_NAME else None
    return Refusal(what="opening a terminal", line=line) if found else None


def _paths_in(line: str, message_at: int) -> Iterator[str]:
    """What the line may mean: quoted names, what stands right before the message, anything with a slash."""
    for groups in _QUOTED.findall(line):
        yield from (name for name in groups if name)
    if before := _BEFORE.search(line[:message_at]):
        yield _CANNOT.sub("", before[1].strip())
    yield from _SLASHED.findall(line)


def _is_read(name: str, line: str) -> bool:
    """Whether it is about reading what belongs to another process, which the kernel keeps confined ones from."""
    found = _OF_A_PROCESS.match(name)
    return found is not None and found[1] not in _WRITTEN_OF_A_PROCESS and not _MOUNTED.search(line)


def _is_writable(path: Path) -> bool:
    """Whether the file's own rights, or those of the folder it would be in, let this user write."""
    if path.exists() or path.is_symlink():
        return os.access(path, os.W_OK) or os.access(path.parent, os.W_OK)
    nearest = next((folder for folder in path.parents if folder.is_dir()), None)
    return nearest is not None and os.access(nearest, os.W_OK)
