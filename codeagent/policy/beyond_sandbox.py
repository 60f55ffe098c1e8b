"""Which commands have done elsewhere what no sandbox around them can hold: by services, later, or on other machines."""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from codeagent.policy.options import names
from codeagent.policy.shell_words import Word
from codeagent.policy.wrappers import base_name

_SERVICE = "{} has it done by a service outside of the sandbox."
_LATER = "{} can start programs outside of the sandbox, also when this is over."
_DESKTOP = "{} has it done by a program outside of the sandbox."
_MACHINE = "{} acts on another machine, where nothing holds it and /undo does not reach."
ENDS = "{} may end processes that this agent did not start."

_CONTAINERS = names("docker podman nerdctl docker-compose podman-compose ctr crictl lxc incus buildah")
_LOOKS = names(
    "ps images logs inspect version info stats top port history search diff events ls list config df help status show"
)
_GROUPS = names(
    "container image volume network context system compose buildx builder manifest plugin node service stack swarm pod"
)
_VALUED = names("-H --host --context -c --config -l --log-level -f --file -p --project-name --profile --env-file")

_UNITS_LOOKS = names(
    "status show cat help list-units list-unit-files list-timers list-sockets list-jobs list-dependencies"
    " list-machines is-active is-enabled is-failed is-system-running get-default show-environment"
    " list-sessions list-users session-status user-status list tree introspect"
)
_TMUX_LOOKS = names(
    "ls list-sessions lsw list-windows lsp list-panes list-keys list-commands list-buffers list-clients capture-pane"
    " capturep display-message display has-session has show-options show show-environment info"
)
_TELLS = names("--version -V --help -h")


def beyond_sandbox(words: Sequence[Word], is_own: Callable[[Word], bool]) -> str:
    """Why the sandbox cannot hold what the command does, as a sentence; empty where it can, or nothing is changed.

    ``is_own`` says of a word whether it surely stands for a process that this agent started.
    """
    if not words or not words[0].is_fixed:
        return ""
    name, rest = base_name(words[0].text).casefold(), words[1:]
    texts = [word.text for word in rest]
    kind = KINDS.get(name)
    if kind is None:
        socket = next((found for word in rest if (found := _socket(word))), "")
        return f"It may speak to a service outside of the sandbox, through {socket}." if socket else ""
    reason, only_looks = kind
    if texts and set(texts) <= _TELLS:
        return ""
    if reason is ENDS:
        return "" if ends_own(name, rest, is_own) else reason.format(name)
    return "" if only_looks(texts) else reason.format(name)


def _never(_texts: Sequence[str]) -> bool:
    return False


def _first(texts: Sequence[str], valued: frozenset[str] = frozenset()) -> list[str]:
    """The words from the first that is no option on; ``valued`` options take the next word along."""
    at = 0
    while at < len(texts) and texts[at].startswith("-"):
        at += 2 if texts[at] in valued else 1
    return list(texts[at:])


def _container_looks(texts: Sequence[str]) -> bool:
    found = _first(texts, _VALUED)
    if found[:1] and found[0] in _GROUPS:
        found = _first(found[1:], _VALUED)
    return bool(found) and found[0] in _LOOKS


def _unit_looks(texts: Sequence[str]) -> bool:
    found = _first(texts, names("-t --type -p --property -n --lines -o --output -M --machine -H --host"))
    return not found or found[0] in _UNITS_LOOKS


def _service_looks(texts: Sequence[str]) -> bool:
    return texts[-1:] == ["status"] or "--status-all" in texts


def _tmux_looks(texts: Sequence[str]) -> bool:
    found = _first(texts, names("-L -S -f -c"))
    return bool(found) and found[0] in _TMUX_LOOKS and not any("#(" in text for text in texts)  # which runs programs


def _has(*wanted: str) -> Callable[[Sequence[str]], bool]:
    return lambda texts: any(text in wanted for text in texts)


def _stays_here(texts: Sequence[str]) -> bool:
    """Whether ``scp`` or ``rsync`` names no other machine."""
    return not any(re.match(r"[\w.@-]+:|\[|[a-z]+://", text) for text in texts if not text.startswith("-"))


KINDS: Mapping[str, tuple[str, Callable[[Sequence[str]], bool]]] = {
    **dict.fromkeys(_CONTAINERS, (_SERVICE, _container_looks)),
    **dict.fromkeys(("systemctl", "loginctl", "machinectl", "busctl"), (_SERVICE, _unit_looks)),
    **dict.fromkeys(("service", "rc-service"), (_SERVICE, _service_looks)),
    **dict.fromkeys(("systemd-run", "pkexec", "dbus-send", "gdbus", "qdbus"), (_SERVICE, _never)),
    "launchctl": (_SERVICE, _has("list", "print", "blame", "version")),
    "crontab": (_LATER, _has("-l")),
    "at": (_LATER, _has("-l", "-c")),
    "batch": (_LATER, _never),
    "tmux": (_DESKTOP, _tmux_looks),
    "screen": (_DESKTOP, _has("-ls", "-list", "-v")),
    **dict.fromkeys(("emacsclient", "xdg-open", "gio", "osascript", "wmctrl", "xdotool"), (_DESKTOP, _never)),
    **dict.fromkeys(("ssh", "sftp", "mosh"), (_MACHINE, _has("-Q", "-G"))),
    **dict.fromkeys(("scp", "rsync"), (_MACHINE, _stays_here)),
    **dict.fromkeys(("kill", "pkill", "killall", "skill", "fuser"), (ENDS, _never)),
}
"""By the program's name: the reason, and what tells that it only looks."""

OUTSIDE = frozenset(name for name, (reason, _) in KINDS.items() if reason is not _MACHINE)
"""The programs that have done what they do by other processes of this machine."""


def ends_own(name: str, words: Sequence[Word], is_own: Callable[[Word], bool]) -> bool:
    """Whether nothing is ended, or only what this agent started."""
    texts = [word.text for word in words]
    if name == "fuser":
        return not any(text in {"-k", "--kill"} or re.fullmatch(r"-[a-z]*k[a-z]*", text) for text in texts)
    if name == "pkill":
        return texts[:1] == ["-P"] and texts[1:] == ["$$"]
    if name != "kill":
        return texts[:1] in (["-l"], ["--list"])
    return all(map(is_own, kill_targets(words)))


def kill_targets(words: Sequence[Word]) -> Sequence[Word]:
    """The words behind ``kill`` that name what is ended; none where it only looks."""
    texts = [word.text for word in words]
    if any(text in {"-l", "-L", "--list", "--table", "-0"} for text in texts[:1]) or texts[:2] == ["-s", "0"]:
        return ()
    if re.fullmatch(r"-(?:\d+|(?:SIG)?[A-Z][A-Z0-9+-]*)", "".join(texts[:1]), re.IGNORECASE):
        words = words[1:]
    elif texts[:1] in (["-s"], ["-n"], ["--signal"]):
        words = words[2:]
    return words[1:] if [word.text for word in words[:1]] == ["--"] else words


def _socket(word: Word) -> str:
    """The socket that a word names, alone or behind ``=``, ``:`` or ``,``."""
    for text in re.split("[=:,]", word.text) if word.is_known and "/" in word.text else ():
        if text.startswith("/"):
            try:
                if stat.S_ISSOCK(Path(text).stat().st_mode):
                    return text
            except (OSError, ValueError):
                continue
    return ""
