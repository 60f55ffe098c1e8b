"""Says what undo would bring back: for the gate, which asks less where nothing can be lost."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from codeagent.core.errors import CheckpointError
from codeagent.core.text import show_invisible
from codeagent.store.change_store import ChangeStore
from codeagent.store.snapshots import LARGEST

_MOST_FILES = 20_000
_MOST_BYTES = 500_000_000


class UndoCover:
    """What the checkpoint before a command holds, asked before it is taken; safe on any thread."""

    def __init__(self, store: ChangeStore) -> None:
        self._store = store
        self._promised: set[str] = set()

    def gap(self, paths: Sequence[Path]) -> str:
        """Why undo would not bring back everything at and below ``paths``, or an empty string when it would."""
        present = [path for path in paths if path.is_symlink() or path.exists()]
        try:
            return next(self._gaps(present), "")
        except CheckpointError as error:
            return f"{error.message[:1].lower()}{error.message[1:].rstrip('.')}"
        except OSError as error:
            return f"{self._shown(error.filename)} cannot be looked at"

    def too_large(self, paths: Sequence[Path]) -> tuple[Path, ...]:
        """The files among ``paths`` that are not kept before a command."""
        return tuple(path for path in paths if path.is_file() and path.lstat().st_size > LARGEST)

    def promise(self, call_id: str) -> None:
        """The call is let through because the checkpoint holds what it would delete: without one it must not run."""
        self._promised.add(call_id)

    def is_promised(self, call_id: str) -> bool:
        """Whether that was said of the call; it is forgotten with the answer."""
        is_promised = call_id in self._promised
        self._promised.discard(call_id)
        return is_promised

    def _gaps(self, paths: Sequence[Path]) -> Iterator[str]:
        root, size = self._store.root, 0
        for path in paths:
            if not path.parent.resolve().is_relative_to(root) or path == root:
                yield f"{self._shown(path)} lies outside the workspace"
                return
        for count, found in enumerate(inner for path in paths for inner in _walk(path)):
            about = found.lstat()
            size += about.st_size
            if ".git" in found.parts or _is_repository(found):
                yield f"{self._shown(found)} belongs to git"
            elif not (stat.S_ISDIR(about.st_mode) or stat.S_ISREG(about.st_mode) or stat.S_ISLNK(about.st_mode)):
                yield f"{self._shown(found)} is no ordinary file"
            elif stat.S_ISREG(about.st_mode) and about.st_size > LARGEST:
                yield f"{self._shown(found)} is too large to be kept"
            elif stat.S_ISREG(about.st_mode) and not os.access(found, os.R_OK):
                yield f"{self._shown(found)} cannot be read"
            if count > _MOST_FILES or size > _MOST_BYTES:
                yield "there is too much to be looked at"
                return
        yield from self._ignored(paths)

    def _ignored(self, paths: Sequence[Path]) -> Iterator[str]:
        """Ignored files are not kept; those of a repository inside follow its own ignore files as well."""
        git = self._store.git
        words = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory", "--")
        if paths:
            names = [str(path.parent.resolve() / path.name) for path in paths]
            for name in os.fsdecode(git.run(*words, *names)).split("\0"):
                if name:
                    yield f"git ignores {self._shown(git.root / name)}"

    def _shown(self, path: str | Path | None) -> str:
        text = str(path)
        return show_invisible(text.removeprefix(f"{self._store.root}/"))


def _walk(path: Path) -> Iterator[Path]:
    """The path and everything below it; links are not followed."""
    yield path
    if path.is_dir() and not path.is_symlink():
        for folder, folders, files in os.walk(path, onerror=_give_up):
            for name in (*folders, *files):
                yield Path(folder, name)


def _is_repository(path: Path) -> bool:
    """Whether it is a repository without a work tree: without its empty folders it is none any more."""
    return (path / "HEAD").is_file() and (path / "refs").is_dir() and (path / "objects").is_dir()


def _give_up(error: OSError) -> None:
    raise error
