"""May this repository configure us? Only when the person said so, and only as long as what it brings is the same."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from codeagent.core.approvals import Access, ConcernKind
from codeagent.core.errors import FileProblem, PathRefused
from codeagent.core.json_types import JsonObject, JsonValue
from codeagent.core.project import Brings, FileChange, ProjectFile, Standing, Trust
from codeagent.workspace.files import read_bytes
from codeagent.workspace.git_places import is_there, repository_of
from codeagent.workspace.paths import PathSandbox
from codeagent.workspace.private import change_private, read_private

SETTINGS = ".codeagent/config.toml"
COMMANDS = ".codeagent/commands"
INSTRUCTIONS = ("AGENTS.md", "CLAUDE.md")
UNTIL_MENDED = "As limits may be missing, every call is asked about until that is mended."
"""What is said where rules, or settings that may hold some, cannot be read."""

_LARGEST = {Brings.SETTINGS: 64 * 1024, Brings.INSTRUCTIONS: 1024 * 1024, Brings.COMMAND: 64 * 1024}
_MOST_COMMANDS = 200
_MOST_TEXT = 256 * 1024
_MOST_REMEMBERED = 10
_UNREADABLE = "unreadable"


def read_project(root: Path) -> tuple[ProjectFile, ...]:
    """Every file that would steer the program in the workspace ``root``, in a fixed order, the outermost first.

    Instructions count from the top of the repository down to the workspace; a byte in
    them that is not UTF-8 stands as U+FFFD. A link is followed inside the repository
    only, and never to a file that may hold secrets.
    """
    return tuple(_Reader(root.resolve()).read())


def can_take_effect(files: Sequence[ProjectFile]) -> bool:
    """Whether any of them would do something, so that there is something to ask."""
    return any(not file.problem for file in files)


def standing(files: Sequence[ProjectFile], root: Path, store: Path) -> Standing:
    """Whether the person trusts the workspace ``root`` with exactly these ``files``; ``store`` keeps the answers.

    Each of the latest states that were trusted counts, so that going back and forth
    between branches asks once for each.
    """
    if not can_take_effect(files):
        return Standing(trust=Trust.NOTHING_TO_TRUST)
    known = _remembered(read_private(store).get(_key(root)))
    now = _state_of(files)
    if now in known:
        return Standing(trust=Trust.TRUSTED)
    if not known:
        return Standing(trust=Trust.UNTRUSTED)
    return Standing(trust=Trust.CHANGED, changes=dict(_changes(known[-1], now)))


def trust_state(root: Path, store: Path) -> Trust:
    """Where the project stands with the person, as its files are now."""
    return standing(read_project(root), root, store).trust


def is_trusted(root: Path, store: Path) -> bool:
    """Whether what ``root`` brings along may take effect; where there is nothing, nothing may."""
    return trust_state(root, store) is Trust.TRUSTED


def trusted_settings(root: Path, store: Path) -> str | None:
    """The project's own settings as text, None when there are none or the person does not trust them."""
    files = read_project(root)
    return settings_of(files) if standing(files, root, store).trust is Trust.TRUSTED else None


def settings_of(files: Sequence[ProjectFile]) -> str | None:
    """The text of the settings among ``files``, if there are any that can take effect."""
    return next((file.text for file in files if file.brings is Brings.SETTINGS and not file.problem), None)


def fingerprint(files: Sequence[ProjectFile]) -> str:
    """One hash over names and contents."""
    digest = hashlib.sha256()
    for name, content in sorted(_state_of(files).items()):
        for part in (os.fsencode(name), content.encode()):
            digest.update(len(part).to_bytes(8, "big"))
            digest.update(part)
    return digest.hexdigest()


def trust(root: Path, store: Path, files: Sequence[ProjectFile] | None = None) -> None:
    """Remembers that the person trusts ``root`` with ``files`` (None: those that it has now); raises OSError."""
    state = _state_of(read_project(root) if files is None else files)

    def remember(content: JsonObject) -> None:
        others = [one for one in _remembered(content.get(_key(root))) if one != state]
        kept: list[JsonValue] = [dict(one) for one in (*others, state)[-_MOST_REMEMBERED:]]
        content[_key(root)] = kept

    change_private(store, remember)


def distrust(root: Path, store: Path) -> None:
    """Forgets that ``root`` was trusted; raises OSError."""

    def forget(content: JsonObject) -> None:
        content.pop(_key(root), None)

    change_private(store, forget)


def _key(root: Path) -> str:
    return str(root.resolve())


def _state_of(files: Sequence[ProjectFile]) -> dict[str, str]:
    return {os.fsencode(file.name).decode("utf-8", "backslashreplace"): file.digest for file in files}


def _remembered(found: JsonValue) -> list[dict[str, str]]:
    """The states that were trusted, the latest last; what is damaged was not."""
    states = found if isinstance(found, list) else []
    return [
        {name: digest for name, digest in state.items() if isinstance(digest, str)}
        for state in states
        if isinstance(state, dict) and state
    ]


def _changes(before: dict[str, str], now: dict[str, str]) -> Iterator[tuple[str, FileChange]]:
    for name, digest in now.items():
        if name not in before:
            yield name, FileChange.NEW
        elif before[name] != digest:
            yield name, FileChange.CHANGED
    for name in before.keys() - now.keys():
        yield name, FileChange.GONE


@dataclass(slots=True)
class _Reader:
    """Reads what a workspace brings along."""

    root: Path

    def read(self) -> Iterator[ProjectFile]:
        yield from self._there(self.root / SETTINGS, Brings.SETTINGS)
        for folder in self._folders():
            for name in INSTRUCTIONS:
                yield from self._there(folder / name, Brings.INSTRUCTIONS)
        yield from self._commands(self.root / COMMANDS)

    @property
    def top(self) -> Path:
        """The folder of the repository around the workspace, which itself is the top outside of one."""
        return repository_of(self.root) or self.root

    def _folders(self) -> list[Path]:
        """From the top of the repository down to the workspace."""
        below = self.root.relative_to(self.top).parts
        return [self.top.joinpath(*below[:depth]) for depth in range(len(below) + 1)]

    def _commands(self, folder: Path) -> list[ProjectFile]:
        """The Markdown files below a folder; where that is a link, or more than a person can look at, none."""
        problem = "is a link" if folder.is_symlink() else ""
        found: list[ProjectFile] = []
        for place, folders, files in os.walk(folder) if not problem else ():
            folders.sort()
            for name in sorted(files):
                found += self._there(Path(place) / name, Brings.COMMAND) if name.endswith(".md") else ()
            if len(found) > _MOST_COMMANDS or sum(len(file.text) for file in found) > _MOST_TEXT:
                problem = f"holds more than {_MOST_COMMANDS} files or {_MOST_TEXT // 1024} KiB, so none of them counts"
                break
        if not problem:
            return found
        return [ProjectFile(name=COMMANDS, brings=Brings.COMMAND, digest=_UNREADABLE, problem=problem)]

    def _there(self, path: Path, brings: Brings) -> Iterator[ProjectFile]:
        if not is_there(path):
            return
        file = ProjectFile(name=self._name(path), brings=brings, digest=_UNREADABLE)
        try:
            data = self._content(path, _LARGEST[brings])
            text = data.decode("utf-8-sig", "replace" if brings is Brings.INSTRUCTIONS else "strict")
        except (_Refused, UnicodeDecodeError) as error:
            yield replace(file, problem=str(error) if isinstance(error, _Refused) else "is not UTF-8 text")
            return
        if "\0" in text:
            yield replace(file, problem="is not text")
            return
        yield replace(file, text=text, digest=hashlib.sha256(data).hexdigest())

    def _name(self, path: Path) -> str:
        """The path as seen from the workspace, of a file in it or in a folder above it."""
        if path.is_relative_to(self.root):
            return str(path.relative_to(self.root))
        up = len(self.root.parts) - len(path.parent.parts)
        return "../" * up + path.name

    def _content(self, path: Path, limit: int) -> bytes:
        """The bytes that a path means; raises _Refused where it leads out of the repository or to secrets."""
        try:
            touch = PathSandbox(self.top).examine(str(path), Access.READ)
        except PathRefused:
            raise _Refused("is a link that leads in a circle") from None
        if touch.path is None or touch.concern is not None:
            is_secret = touch.concern is not None and touch.concern.kind is ConcernKind.SENSITIVE
            where = "a file that may hold secrets" if is_secret else "a place outside the project"
            raise _Refused(f"is a link to {where}: {touch.path}")
        try:
            return read_bytes(touch.path, limit=limit)
        except FileProblem as error:
            raise _Refused(str(error).removeprefix(f"{touch.path} ").partition(";")[0].rstrip(".")) from None


class _Refused(Exception):
    """Why a file has no effect, in words that follow its name."""
