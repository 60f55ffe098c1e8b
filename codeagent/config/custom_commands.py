"""Where commands of one's own come from: Markdown files of the person's, and of a project that is trusted."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from codeagent.core.commands import COMMANDS
from codeagent.core.custom_commands import CustomCommand, FoundCommands, read_command

FOLDER = "commands"
_NAME = re.compile(r"\w[\w-]*(:\w[\w-]*)*")
_LARGEST = 64 * 1024
_MOST = 200
_DEEPEST = 4
_EMPTY = "there is nothing in it to send"
_BUILT_IN = frozenset(str(command.name) for command in COMMANDS)


def find_custom_commands(own: Path, project: Path, is_trusted: Callable[[], bool]) -> FoundCommands:
    """Reads both folders; a file ``git/commit.md`` makes ``/git:commit``. Call it on a thread.

    Of two commands of one name the person's own counts. ``is_trusted`` is asked
    after the project's files were read, so that exactly what was read is what is
    trusted; without trust only their names are known.
    """
    mine = _Folder(own, follows_links=True)
    mine.read()
    theirs = _Folder(project, follows_links=False)
    theirs.read()
    if theirs.commands and not is_trusted():
        withheld = tuple(theirs.commands)
        return FoundCommands(
            folder=own, commands=_sorted(mine.commands), notices=tuple(mine.notices), withheld=withheld
        )
    twice = sorted(mine.commands.keys() & theirs.commands.keys())
    hidden = (f"{theirs.commands[name].path}: there is a /{name} of your own, which counts." for name in twice)
    notices = (*mine.notices, *theirs.notices, *hidden)
    return FoundCommands(folder=own, commands=_sorted(theirs.commands | mine.commands), notices=notices)


def why_no_command(name: str, text: str) -> str:
    """Why a file with that text makes no command of that name, without the stop; empty where it makes one."""
    return _unusable(name) or ("" if read_command(name, Path(), text).body else _EMPTY)


def _unusable(name: str) -> str:
    if not _NAME.fullmatch(name):
        return "a name has letters, digits, - and _"
    return f"/{name} is one of codeagent's own. Give it another name" if name in _BUILT_IN else ""


def _sorted(commands: dict[str, CustomCommand]) -> tuple[CustomCommand, ...]:
    return tuple(commands[name] for name in sorted(commands))


@dataclass(slots=True)
class _Folder:
    """One folder of commands, read."""

    path: Path
    follows_links: bool
    commands: dict[str, CustomCommand] = field(default_factory=dict[str, CustomCommand])
    notices: list[str] = field(default_factory=list[str])

    def read(self) -> None:
        """Reads every command; what is none is told."""
        for number, path in enumerate(self._files()):
            if number == _MOST:
                self.notices.append(f"{self.path} holds more than {_MOST} files; the others are left out.")
                return
            self._take(path)

    def _files(self) -> Iterator[Path]:
        if self.path.is_symlink() and not self.follows_links:
            return
        for place, folders, files in os.walk(self.path, followlinks=self.follows_links):
            is_deep = len(Path(place).relative_to(self.path).parts) >= _DEEPEST
            folders[:] = [] if is_deep else sorted(folders)
            yield from (Path(place) / name for name in sorted(files) if name.endswith(".md"))

    def _take(self, path: Path) -> None:
        name = ":".join(path.relative_to(self.path).with_suffix("").parts)
        if unusable := _unusable(name):
            self.notices.append(f"{path} makes no command: {unusable}.")
        elif name in self.commands:
            self.notices.append(f"{path} makes no command: {self.commands[name].path} has the same name.")
        else:
            try:
                command = read_command(name, path, self._text(path))
            except (OSError, ValueError) as error:
                reason = error.strerror if isinstance(error, OSError) else str(error)
                self.notices.append(f"{path} makes no command: {reason}.")
                return
            if command.body:
                self.commands[name] = command
            else:
                self.notices.append(f"{path} makes no command: {_EMPTY}.")

    def _text(self, path: Path) -> str:
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
        if not self.follows_links:
            if path.is_symlink():
                raise ValueError("it is a link")
            flags |= os.O_NOFOLLOW
        with os.fdopen(os.open(path, flags), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ValueError("it is no plain file")
            data = file.read(_LARGEST + 1)
        if len(data) > _LARGEST:
            raise ValueError(f"it is larger than {_LARGEST // 1024} KiB")
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            raise ValueError("it is not UTF-8") from None
