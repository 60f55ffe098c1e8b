"""May this repository configure us? Only when the person said so, and only as long as what it brings is the same."""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from codeagent.core.json_types import JsonObject
from codeagent.workspace.private import change_private, read_private

_FILES = (
    (".codeagent/config.toml", "settings"),
    ("AGENTS.md", "instructions for the model"),
    ("CLAUDE.md", "instructions for the model"),
    (".codeagent/AGENTS.md", "instructions for the model"),
    (".mcp.json", "servers with tools of their own"),
    (".codeagent/mcp.json", "servers with tools of their own"),
)
_FOLDERS = (
    (".codeagent/commands", "commands of its own"),
    (".codeagent/hooks", "programs that run around tool calls"),
    (".codeagent/skills", "instructions for the model"),
)
_MOST_FILES = 500
_LARGEST = 1024 * 1024


class Trust(StrEnum):
    """Where a repository stands with the person."""

    NOTHING_TO_TRUST = "nothing"
    TRUSTED = "trusted"
    CHANGED = "changed"
    UNTRUSTED = "untrusted"


@dataclass(frozen=True, slots=True, kw_only=True)
class TakesEffect:
    """A file of the repository that would steer the program; ``what`` says in words how."""

    path: Path
    what: str


def what_takes_effect(root: Path) -> tuple[TakesEffect, ...]:
    """The files below ``root`` that would steer the program once it is trusted, in a fixed order."""
    found = [TakesEffect(path=root / name, what=what) for name, what in _FILES if _is_there(root / name)]
    for name, what in _FOLDERS:
        found += [TakesEffect(path=path, what=what) for path in _files_below(root / name)]
    return tuple(found)


def trust_state(root: Path, store: Path) -> Trust:
    """Whether the person trusts ``root`` as it is now; ``store`` is the file that answers are kept in."""
    effects = what_takes_effect(root)
    if not effects:
        return Trust.NOTHING_TO_TRUST
    known = read_private(store).get(_key(root))
    if known is None:
        return Trust.UNTRUSTED
    return Trust.TRUSTED if known == _fingerprint(root, effects) else Trust.CHANGED


def is_trusted(root: Path, store: Path) -> bool:
    """Whether what ``root`` brings along may take effect; where there is nothing, nothing may."""
    return trust_state(root, store) is Trust.TRUSTED


def trust(root: Path, store: Path) -> None:
    """Remembers that the person trusts ``root`` with exactly the files that it has now; raises OSError."""
    fingerprint = _fingerprint(root, what_takes_effect(root))

    def remember(content: JsonObject) -> None:
        content[_key(root)] = fingerprint

    change_private(store, remember)


def distrust(root: Path, store: Path) -> None:
    """Forgets that ``root`` was trusted; raises OSError."""

    def forget(content: JsonObject) -> None:
        content.pop(_key(root), None)

    change_private(store, forget)


def _key(root: Path) -> str:
    return str(root.resolve())


def _fingerprint(root: Path, effects: tuple[TakesEffect, ...]) -> str:
    """One hash over names and contents; lengths stand before both, so that nothing can be moved between them."""
    digest = hashlib.sha256()
    for effect in effects:
        for part in (os.fsencode(effect.path.relative_to(root)), _content(effect.path)):
            digest.update(len(part).to_bytes(8, "big"))
            digest.update(part)
    return digest.hexdigest()


def _content(path: Path) -> bytes:
    """The bytes that would take effect, links followed; what cannot be read whole never matches itself again."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                data = file.read(_LARGEST + 1)
                if len(data) <= _LARGEST:
                    return b"1" + data
    except OSError:
        pass
    return b"0" + os.urandom(16)


def _is_there(path: Path) -> bool:
    return path.is_symlink() or path.exists()


def _files_below(folder: Path) -> list[Path]:
    """Every file below a folder, links to folders not followed; what is too much counts as one unreadable thing."""
    found: list[Path] = []
    if folder.is_symlink():
        return [folder]
    for place, folders, files in os.walk(folder):
        links = [name for name in folders if (Path(place) / name).is_symlink()]
        found += [Path(place) / name for name in (*files, *links)]
        if len(found) > _MOST_FILES:
            return [folder]
    return sorted(found)
