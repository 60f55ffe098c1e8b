"""The sockets of programs outside of the sandbox that do what they are asked, and how a command tells of a missed one.

Docker starts containers that mount anything, systemd and the session's D-Bus start programs, tmux and editors run
what is sent to them, X11 types into other windows. Bubblewrap lays ``/dev/null`` over their sockets. ssh-agent and
gpg-agent stay: they sign, and run nothing. So do databases, which tests need.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path

from codeagent.workspace.dead_sockets import DeadSockets

_OF_THE_SYSTEM = (
    *("docker.sock", "podman/podman.sock", "containerd/*.sock", "k3s/containerd/*.sock", "crio/crio.sock"),
    *("cri-dockerd.sock", "buildkit/*.sock", "libvirt/*-sock*", "snapd*.socket", "multipass_socket"),
    *("dbus/system_bus_socket", "systemd/private", "systemd/io.systemd.*", "tailscale/tailscaled.sock"),
    *("screen/*/*", "screens/*/*", "WSL/*_interop"),
)
"""Below ``/run``."""

_TEMPORARY = Path("/tmp")  # noqa: S108 - where these programs put their sockets, whatever TMPDIR says
_AMONG_TEMPORARY = re.compile(
    r"tmux-\d+|u?screens|\.X11-unix|\.ICE-unix|emacs\d*|kitty.*|nvim.*|vscode-.*\.sock|zellij-.*|dbus-.*"
)
_ELSEWHERE = (
    *("/var/lib/lxd/unix.socket", "/var/snap/lxd/common/lxd/unix.socket", "/var/lib/incus/unix.socket"),
    *("/mnt/wslg/.X11-unix/X*", "/mnt/wslg/runtime-dir/*"),
)
_AT_HOME = (
    *(".docker/run/*.sock", ".docker/desktop/*.sock", ".colima/*/docker.sock", ".rd/docker.sock"),
    *(".orbstack/run/docker.sock", ".lima/*/sock/*.sock", ".screen/*"),
)
_NAMING = (
    *("DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS", "DOCKER_HOST", "CONTAINER_HOST", "TMUX", "NVIM"),
    *("NVIM_LISTEN_ADDRESS", "EMACS_SOCKET_NAME", "VSCODE_IPC_HOOK_CLI", "VSCODE_GIT_IPC_HANDLE", "KITTY_LISTEN_ON"),
    *("WEZTERM_UNIX_SOCKET", "ALACRITTY_SOCKET", "I3SOCK", "SWAYSOCK", "WAYLAND_DISPLAY", "WSL_INTEROP"),
    "SESSION_MANAGER",
)
"""Variables that name such sockets, alone or in an address."""

_AGENTS = frozenset({"gnupg", "keyring", "gcr", "openssh_agent", "ssh-agent.socket", "ssh-agent"})
"""What lies in a person's runtime folder and only signs, or hands out keys of ssh."""

_DEAD = DeadSockets()
_DEEPEST = 3
_MOST_IN_A_FOLDER = 1_000

_SAID_OF = {
    "Docker": r"[Cc]annot connect to the Docker daemon|failed to connect to the docker API"
    r"|[Ii]s the docker daemon running|Could not find a valid Docker environment",
    "Podman": r"[Cc]annot connect to Podman|unable to connect to Podman",
    "D-Bus": r"Failed to connect to (?:(?:user|system|session|user scope|system scope) )?bus\b"
    r"|Failed to get D-Bus connection|Error connecting: Could not connect|Could not connect to .*\bbus\b"
    r"|Cannot autolaunch D-Bus|run: *gh auth login",
    "tmux": r"no server running on /|error connecting to /\S*tmux",
    "the desktop": r"[Cc](?:an't|annot|ould not) (?:open|connect to) (?:the )?(?:X )?display"
    r"|[Uu]nable to open display|Missing X server or \$DISPLAY|failed to connect to (?:the )?[Ww]ayland",
}
_SAID = {name: re.compile(pattern) for name, pattern in _SAID_OF.items()}
_SOCKETS_OF: Mapping[str, tuple[re.Pattern[str], tuple[str, ...]]] = {
    "Docker": (re.compile("docker|colima|orbstack|/\\.lima/|/\\.rd/"), ("DOCKER_HOST",)),
    "Podman": (re.compile("podman"), ("CONTAINER_HOST", "DOCKER_HOST")),
    "D-Bus": (re.compile("/bus$|dbus|/systemd/"), ("DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS")),
    "tmux": (re.compile("/tmux-"), ("TMUX",)),
    "the desktop": (re.compile("X11-unix|ICE-unix|wayland|wslg"), ("WAYLAND_DISPLAY", "SESSION_MANAGER")),
}
"""How the paths of a service's sockets look, and the variables that name them."""

PROCESSES = "other processes"
"""What stands for them where services are named."""

_SAID_OF_A_SOCKET = re.compile(r"[Cc]onnection refused|ECONNREFUSED|[Cc]onnection reset|[Cc](?:ould not|annot) connect")
_NOT_PERMITTED = re.compile(r"[Oo]peration not permitted|\bEPERM\b")
_KILLING = re.compile(r"\bkill(?:all|ing|ed)?\b")
_PID = re.compile(r"\(?\b(\d+)\)? *[:-] *$")
_LONGEST_LINE = 1_000


def hidden_sockets(environ: Mapping[str, str]) -> tuple[Path, ...]:
    """The sockets that are there and that confined commands do not get to see, links followed.

    ``environ`` may name some of them, and an agent that stays. Those at which nobody listens are left out.
    """
    agent = environ.get("SSH_AUTH_SOCK", "")
    found = dict.fromkeys(filter(None, map(_socket, _candidates(environ))))
    return _DEAD.without_dead(path for path in found if not agent or path != _socket(Path(agent)))


def without_opened(hidden: Sequence[Path], opened: Sequence[str], environ: Mapping[str, str]) -> tuple[Path, ...]:
    """The sockets that stay hidden where the services of these names, or sockets of these paths, are in reach."""
    named: dict[str, list[Path | None]] = {}
    for name in opened:
        variables = _SOCKETS_OF[name][1] if name in _SOCKETS_OF else ()
        named[name] = [_socket(path) for variable in variables for path in _paths_in(environ.get(variable, ""))]
    return tuple(path for path in hidden if not any(_is_of(path, name, named[name]) for name in opened))


def _is_of(path: Path, name: str, named: Sequence[Path | None]) -> bool:
    if name not in _SOCKETS_OF:
        return str(path) == name
    return path in named or _SOCKETS_OF[name][0].search(str(path)) is not None


def missed_service(line: str, hidden: Callable[[], tuple[Path, ...]]) -> str:
    """Which service a line of output says it could not be reached, empty for none; ``hidden`` is seldom asked for."""
    if len(line) > _LONGEST_LINE:
        return ""
    if name := next((name for name, said in _SAID.items() if said.search(line)), ""):
        return name if hidden() else ""
    if _SAID_OF_A_SOCKET.search(line):
        return next((str(path) for path in hidden() if _is_named(path, line)), "")
    return ""


def missed_signal(line: str) -> bool:
    """Whether a line says that a process may not be ended which is this user's own."""
    message = _NOT_PERMITTED.search(line) if len(line) <= _LONGEST_LINE else None
    if message is None or not _KILLING.search(line):
        return False
    found = _PID.search(line[: message.start()])
    try:
        return os.geteuid() == 0 or found is None or (Path("/proc") / found[1]).stat().st_uid == os.geteuid()
    except OSError:
        return False


def _candidates(environ: Mapping[str, str]) -> Iterator[Path]:
    for variable in _NAMING:
        yield from _paths_in(environ.get(variable, ""))
    for folder in _runtime_folders(environ):
        yield from islice(_files_in(folder, _DEEPEST), _MOST_IN_A_FOLDER)
    yield from islice(_files_in(_TEMPORARY, _DEEPEST, _AMONG_TEMPORARY), _MOST_IN_A_FOLDER)
    for start, patterns in ((Path("/run"), _OF_THE_SYSTEM), (Path.home(), _AT_HOME), (Path("/"), _ELSEWHERE)):
        yield from chain.from_iterable(start.glob(pattern.removeprefix("/")) for pattern in patterns)


def _paths_in(address: str) -> Iterator[Path]:
    return map(Path, (text for text in re.split("[=,;:]", address) if text.startswith("/")))


def _runtime_folders(environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Where the sockets of a person's own services lie, see the XDG Base Directory Specification."""
    own = [Path("/run/user") / str(os.getuid())] if os.getuid() else sorted(Path("/run/user").glob("*"))
    named = Path(environ.get("XDG_RUNTIME_DIR", ""))
    return tuple(dict.fromkeys([*own, *([named] if named.is_absolute() else [])]))


def _files_in(folder: Path, deep: int, only: re.Pattern[str] | None = None) -> Iterator[Path]:
    """What may be a socket there and ``deep`` folders down, without agents and what cannot be read.

    ``only`` is for the names in the folder itself.
    """
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        if entry.name in _AGENTS or (only and not only.fullmatch(entry.name)) or entry.is_file(follow_symlinks=False):
            continue
        if not entry.is_dir(follow_symlinks=False):
            yield Path(entry.path)
        elif deep > 1:
            yield from _files_in(Path(entry.path), deep - 1)


def _socket(path: Path) -> Path | None:
    try:
        return path.resolve() if path.is_socket() else None
    except (OSError, RuntimeError, ValueError):
        return None


def _is_named(path: Path, line: str) -> bool:
    return any(name in line for name in (str(path), f"/var{path}"))
