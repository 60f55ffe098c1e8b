"""Keeps commands from writing where they have no business, with what the operating system offers.

Bubblewrap where it works (it also protects the parts of ``.git`` that can make
programs run), else Landlock on Linux, ``sandbox-exec`` on macOS, else nothing,
and that is said.
"""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Self

from codeagent.core.approvals import Hold
from codeagent.core.programs import common_places, find_bash, find_program, pass_over, temporary_folder
from codeagent.workspace import landlock
from codeagent.workspace.bounds import GIT_PARTS, MEMORY, Bounds, Refusal, closed_places, devices
from codeagent.workspace.git_watched import git_folders
from codeagent.workspace.private import make_private_folder

_TRIAL_SECONDS = 5
_SERVICES = "what services do when asked by their sockets (docker, D-Bus, tmux)"
_OTHERS = "what it does to other processes"
_BY_NETWORK = "what services do when asked over the network"

_EVERYTHING_READ_ONLY = ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
_RIGHTS_OF_ROOT = (
    *("CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID", "CAP_KILL", "CAP_NET_BIND_SERVICE", "CAP_NET_RAW"),
    *("CAP_SETFCAP", "CAP_SETGID", "CAP_SETPCAP", "CAP_SETUID"),
)
"""What root needs to build and to install: less than containers leave it, and nothing that undoes a read-only mount."""

_OF_THE_KERNEL = tuple(Path("/proc") / name for name in ("sys", "sysrq-trigger", "irq", "bus"))
_MAC_SANDBOX = Path("/usr/bin/sandbox-exec")
_MAC_DEVICES = ("null", "zero", "random", "urandom", "tty", "ptmx", "dtracehelper", "stdin", "stdout", "stderr")
_MAC_TERMINALS = """\
(deny file-read-data file-write* file-ioctl (regex #"^/dev/(tty.+|cu[.].+|pty.+|console)$"))
(allow file-read-data file-write* file-ioctl
  (require-all (regex #"^/dev/ttys[0-9]+$") (extension "com.apple.sandbox.pty")))"""
"""Of terminals a process has those that it made; macOS marks them so."""


class Level(StrEnum):
    """How much a command may write."""

    READ_ONLY = "read-only"
    WORKSPACE_WRITE = "workspace-write"
    OFF = "off"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Confined:
    """What all ways to confine have in common: their bounds, and how these are loosened."""

    bounds: Bounds

    def ruleset(self) -> int | None:
        """The descriptor of a Landlock ruleset for the command, which the caller closes; None: there is none."""
        return None

    def keeps_from(self, path: Path) -> bool:
        """Whether a command may not write there."""
        return not self.bounds.may_write(path)

    def with_git_open(self) -> Self:
        """The same, but for the parts of git that make programs run: those may be written to."""
        return replace(self, bounds=replace(self.bounds, protects_git=False))

    def with_services_open(self) -> Self:
        """The same, but for services and other processes of this machine: those may be used."""
        return replace(self, bounds=replace(self.bounds, has_services=True))

    def with_opened(self, services: Sequence[str]) -> Self:
        """The same, but for the services of these names: those alone may be used."""
        return replace(self, bounds=replace(self.bounds, opened=tuple(services)))

    def refused(self, output: str, cwd: Path) -> tuple[Refusal, ...]:
        """What a command was kept from, as far as its output says so."""
        return self.bounds.refused(output, cwd)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bubblewrap(_Confined):
    """Confines by running the command in a file system of its own, see bwrap(1)."""

    program: str
    name: str = "bubblewrap"
    keeps_closed: bool = True

    @property
    def keeps_apart(self) -> bool:
        """Where the kernel can; a bubblewrap that must become root first could not any more."""
        is_setuid = bool(Path(self.program).stat().st_mode & stat.S_ISUID)
        return not is_setuid and _keeps_apart(self.bounds)

    @property
    def cannot_stop(self) -> str:
        """What gets past it, in words."""
        open_doors = [*(() if self.keeps_apart else (_OTHERS,)), *_services_left(self.bounds, are_hidden=True)]
        if self.bounds.leaves_unmade_open:
            open_doors.append("the making of start-up files in ~, as it lies in a folder that commands write to")
        return ", ".join(open_doors)

    def wrapped(self, words: Sequence[str], cwd: Path) -> Sequence[str]:
        """The words that run ``words`` confined. Raises OSError."""
        hidden = self.bounds.hidden_sockets()
        binds = [("--bind", path) for path in self.bounds.writable if path.exists()]
        binds += (*_binds_around(self.bounds, hidden), *_closing_binds(self.bounds))
        for folder in self.bounds.writable if self.bounds.protects_git else ():
            binds += _git_binds(folder)
        options = [*_EVERYTHING_READ_ONLY, *_few_rights()]
        options += (word for option, path in binds for word in (option, str(path), str(path)))
        for path in hidden:
            options += ["--ro-bind", os.devnull, str(path)]
        if not self.bounds.has_network:
            options += ["--unshare-net"]
        return [self.program, *options, "--chdir", str(cwd), "--", *words]

    def refused(self, output: str, cwd: Path) -> tuple[Refusal, ...]:
        """What a command was kept from, as far as its output says so."""
        return self.bounds.refused(output, cwd, by_mounts=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Landlock(_Confined):
    """Confines by the kernel's Landlock, which the command's first process applies to itself."""

    name: str = "Landlock"

    @property
    def keeps_apart(self) -> bool:
        """Where the kernel can."""
        return _keeps_apart(self.bounds)

    @property
    def keeps_closed(self) -> bool:
        """Whether it keeps commands from all that is closed to them: it cannot where that is in a writable folder."""
        return not self.bounds.closed and not self._opens_devices

    @property
    def _opens_devices(self) -> bool:
        """Whether devices lie in a writable folder, such as ``/`` or one around a folder for chroot(8)."""
        places = map(Path, landlock.device_folders())
        return any(place.is_relative_to(folder) for place in places for folder in self.bounds.writable)

    @property
    def cannot_stop(self) -> str:
        """What gets past it, in words."""
        open_doors = [
            "changing modes, owners and times of files",
            *(("the use of terminals and other devices",) if self._opens_devices else ()),
            "changes of .git's hooks and settings (shown afterwards)",
            *(
                ()
                if not self.bounds.closed
                else ("changes of codeagent's own settings and of files that start programs",)
            ),
            *(() if self.keeps_apart else (_OTHERS,)),
            *_services_left(self.bounds, are_hidden=False),
        ]
        if not self.bounds.has_network:
            knows_tcp = landlock.abi() >= landlock.NETWORK_ABI
            open_doors.append("all of the network but TCP" if knows_tcp else "the network: this kernel is too old")
        return ", ".join(open_doors)

    def wrapped(self, words: Sequence[str], cwd: Path) -> Sequence[str]:
        """The words as they are."""
        del cwd
        return words

    def ruleset(self) -> int:
        """The descriptor of a ruleset for the command, which the caller closes. Raises OSError."""
        return landlock.make_ruleset((*self.bounds.writable, MEMORY), devices(), has_network=self.bounds.has_network)


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxExec(_Confined):
    """Confines by macOS's Seatbelt, see sandbox-exec(1)."""

    name: str = "sandbox-exec"
    cannot_stop: str = f"what it reads of other processes, {_OTHERS}, {_SERVICES}"
    keeps_closed: bool = True
    keeps_apart: bool = False

    def wrapped(self, words: Sequence[str], cwd: Path) -> Sequence[str]:
        """The words that run ``words`` confined."""
        del cwd
        return [str(_MAC_SANDBOX), "-p", seatbelt_profile(self.bounds), *words]


def _keeps_apart(bounds: Bounds) -> bool:
    return bounds.keeps_apart and landlock.abi() >= landlock.SCOPES_ABI


def _services_left(bounds: Bounds, *, are_hidden: bool) -> Iterator[str]:
    if bounds.has_services or not are_hidden:
        yield _SERVICES
    elif bounds.has_network:
        yield _BY_NETWORK


def _few_rights() -> list[str]:
    """Takes from root what would let it out: it could mount anew, enter other processes, and set up the kernel.

    Anybody else gets a user namespace, in which all processes outside are a stranger's (user_namespaces(7)).
    """
    if os.geteuid() != 0:
        return ["--unshare-user-try"]
    kept = [word for right in _RIGHTS_OF_ROOT for word in ("--cap-add", right)]
    shut = [word for path in _OF_THE_KERNEL if path.exists() for word in ("--ro-bind", str(path), str(path))]
    return ["--cap-drop", "ALL", *kept, *shut]


def _binds_around(bounds: Bounds, hidden: Sequence[Path]) -> Iterator[tuple[str, Path]]:
    """Mounts the folders around what is closed or hidden on themselves, so that they cannot be moved away with it."""
    for folder in bounds.own:
        with suppress(OSError):
            make_private_folder(folder)
    yield from (("--bind", folder) for folder in bounds.around((*bounds.closed, *hidden)) if folder.is_dir())


def _closing_binds(bounds: Bounds) -> Iterator[tuple[str, Path]]:
    """What may not be written; a file in the way of one of the program's own folders stays in its way."""
    yield from (("--ro-bind", place) for place in bounds.closed if place.exists())
    for folder in bounds.own:
        reached = next(place for place in (folder, *folder.parents) if place.exists())
        if not reached.is_dir():
            yield "--ro-bind", reached


def _git_binds(root: Path) -> Iterator[tuple[str, Path]]:
    """Mounts ``.git`` on itself, so that it cannot be moved away, and what makes programs run read-only."""
    link = root / ".git"
    if link.is_symlink() or not link.exists():
        return
    yield "--bind" if link.is_dir() else "--ro-bind", link
    for folder in git_folders(link, root):
        for part in (*GIT_PARTS, "config.worktree", "commondir"):
            if (folder / part).exists() and not (folder / part).is_symlink():
                yield "--ro-bind", folder / part


Confinement = Bubblewrap | Landlock | SandboxExec


def find_confinement(
    level: Level,
    root: Path,
    write_dirs: Sequence[Path],
    *,
    has_network: bool,
    has_services: bool = False,
    own: Sequence[Path] = (),
) -> Confinement | None:
    """The strongest confinement that works here; None when the level is off or there is nothing.

    ``root`` and ``write_dirs`` are writable at the level workspace-write, with
    the temporary folder and the caches of common package tools. ``own`` are the
    program's folders, which are closed to commands wherever they lie.
    """
    pass_over((root, *write_dirs))
    if level is Level.OFF:
        return None
    temporary, *caches = common_places()
    if level is Level.READ_ONLY:
        # Nothing can be taken out of a writable folder again, so a workspace in the temporary one closes all of it.
        is_apart = not any(place.resolve().is_relative_to(temporary) for place in (root, *write_dirs))
        writable = [temporary] if is_apart else []
    else:
        writable = [root, *write_dirs, temporary, *caches]
    closed = closed_places(writable, (root, *write_dirs), own)
    bounds = Bounds(
        root=root,
        writable=tuple(dict.fromkeys(writable)),
        has_network=has_network,
        has_services=has_services,
        closed=closed,
        own=tuple(folder for folder in dict.fromkeys(path.resolve() for path in own) if folder in closed),
    )
    guarded = replace(bounds, protects_git=True)
    if sys.platform == "darwin":
        return SandboxExec(bounds=guarded) if _MAC_SANDBOX.exists() else None
    if (program := find_program("bwrap")) and works(program):
        return Bubblewrap(program=program, bounds=guarded)
    return Landlock(bounds=bounds) if landlock.abi() >= landlock.LEAST_ABI else None


def hold_of(found: Confinement | None) -> Hold:
    """How far commands are held by what was found: all of the truth that any screen tells."""
    if found is None:
        return Hold.NONE
    return Hold.WHOLE if found.keeps_closed else Hold.GAP


def in_words(found: Confinement, level: Level) -> str:
    """What holds commands, where they may write, and what it cannot stop."""
    home, temporary = Path.home(), temporary_folder()
    bounds = found.bounds
    shown = [
        "the workspace"
        if path == bounds.root
        else f"~/{path.relative_to(home)}"
        if path.is_relative_to(home)
        else str(path)
        for path in bounds.writable
        if path != temporary
    ]
    if temporary in bounds.writable:
        shown.append(f"{temporary} (temporary files)")
    places = f"to {', '.join(shown)}" if shown else "nowhere, as the workspace lies among temporary files"
    if bounds.closed and found.keeps_closed:
        places += ", but not to codeagent's own folders and to what holds keys or starts programs in ~"
    only = "only " if level is Level.READ_ONLY and shown else ""
    network = "network open" if bounds.has_network else "network closed"
    limits = f"; it cannot stop {found.cannot_stop}" if found.cannot_stop else ""
    return f"{hold_of(found)} by {found.name}: writes {only}{places}; {network}{limits}"


def seatbelt_profile(bounds: Bounds) -> str:
    """The profile in Seatbelt's language: all but writing outside, others' terminals, and the network where off."""
    allowed = " ".join(f"(subpath {json.dumps(str(path))})" for path in (*bounds.writable, Path("/dev/fd")))
    devices = " ".join(f'(literal "/dev/{name}")' for name in _MAC_DEVICES)
    links = [folder / ".git" for folder in bounds.writable] if bounds.protects_git else []
    protected = " ".join(f"(subpath {json.dumps(str(link / part))})" for link in links for part in GIT_PARTS)
    kept = " ".join(f"(literal {json.dumps(str(link))})" for link in links)
    closed = " ".join(f"(subpath {json.dumps(str(place))})" for place in bounds.closed)
    around = " ".join(f"(literal {json.dumps(str(folder))})" for folder in bounds.around(bounds.closed))
    lines = [
        "(version 1)",
        "(allow default)",
        '(deny file-write* (subpath "/"))',
        f"(allow file-write* {allowed} {devices})",
        _MAC_TERMINALS,
        *((f"(deny file-write* {protected})", f"(deny file-write-unlink {kept})") if links else ()),
        *((f"(deny file-write* {closed})",) if closed else ()),
        *((f"(deny file-write-unlink {around})",) if around else ()),
    ]
    if not bounds.has_network:
        lines.append("(deny network*)")
    return "\n".join(lines)


def works(program: str) -> bool:
    """Whether bubblewrap may make its namespaces here; containers and some systems refuse."""
    try:
        trial = subprocess.run(
            [program, *_EVERYTHING_READ_ONLY, *_few_rights(), find_bash(), "-c", ":"],
            capture_output=True,
            timeout=_TRIAL_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return trial.returncode == 0
