"""Lists the files below a folder as ripgrep would, with or without it: ignore files hold, links are not followed."""

from __future__ import annotations

import math
import os
import select
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from codeagent.core.errors import FileProblem
from codeagent.core.programs import find_program
from codeagent.tools.ignore import IgnoreFile, read_ignore_file
from codeagent.workspace.handles import opened_folder, problems_of
from codeagent.workspace.leftovers import TEMP_PREFIX

_IGNORE_FILES = (".rgignore", ".ignore", ".gitignore")
_GIT = ".git"
_CHUNK = 65_536
_STOP_LOOK = 0.1
_COMMON = (
    "--no-config",
    "--hidden",
    "--no-ignore-global",
    "--no-require-git",
    "--no-messages",
    "--glob=!.git",
    f"--glob=!{TEMP_PREFIX}*",
)


class Walk:
    """The files below ``root``, as paths relative to it, in the order of their names; stops when ``stop`` is set."""

    def __init__(self, root: Path, stop: threading.Event) -> None:
        self._root = root
        self._stop = stop

    def __iter__(self) -> Iterator[str]:
        open_folders = [self._entries(self._root, "", _rules_above(self._root))]
        while open_folders and not self._stop.is_set():
            found = next(open_folders[-1], None)
            if found is None:
                open_folders.pop()
            elif isinstance(found, str):
                yield found
            else:
                open_folders.append(self._entries(*found))

    def _entries(self, folder: Path, prefix: str, above: _Rules) -> Iterator[str | tuple[Path, str, _Rules]]:
        """The files in one folder, and in their place the folders to go into."""
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: os.fsencode(entry.name))
        except OSError:
            return
        rules = _with_folder(above, folder, {entry.name for entry in entries})
        for entry in entries:
            if entry.name == _GIT or entry.name.startswith(TEMP_PREFIX):
                continue
            is_folder = entry.is_dir(follow_symlinks=False)
            if not is_folder and not entry.is_file(follow_symlinks=False):
                continue
            if _is_ignored(rules, entry.path, is_folder=is_folder):
                continue
            name = prefix + entry.name
            yield (Path(entry.path), f"{name}/", rules) if is_folder else name


def list_files(root: Path, stop: threading.Event, ripgrep: str | None) -> Iterator[str]:
    """As Walk, through ripgrep where there is one."""
    if ripgrep is None:
        yield from Walk(root, stop)
        return
    words = [*ripgrep_words(ripgrep, root), "--files", "--null", "--sort=path", "./"]
    for name in output_of(words, root, stop, b"\0"):
        yield os.fsdecode(name).removeprefix("./")


def find_ripgrep() -> str | None:
    """The ripgrep program, or None."""
    return find_program("rg")


def ripgrep_words(ripgrep: str, root: Path) -> list[str]:
    """The start of a ripgrep command that sees the same files below ``root`` as Walk."""
    return [ripgrep, *_COMMON, *(() if any(_rules_above(root)) else ("--no-ignore-parent",))]


def output_of(
    words: Sequence[str], cwd: Path, stop: threading.Event, separator: bytes, deadline: float = math.inf
) -> Iterator[bytes]:
    """The pieces of a program's output; the program ends when ``stop`` is set or nobody reads on.

    ``cwd`` is canonical: a link that is put in its way is not followed. Raises FileProblem when
    that happens or the program fails, TimeoutError after ``deadline`` (of time.monotonic).
    """
    process = _started(words, cwd)
    try:
        if process.stdout is None or process.stderr is None:
            return
        rest = b""
        while not stop.is_set():
            if time.monotonic() > deadline:
                raise TimeoutError
            if not select.select([process.stdout], [], [], _STOP_LOOK)[0]:
                continue
            data = os.read(process.stdout.fileno(), _CHUNK)
            if not data:
                break
            *pieces, rest = (rest + data).split(separator)
            yield from pieces
        if rest:
            yield rest
        if not stop.is_set() and process.wait() > 1:
            problem = process.stderr.read().decode("utf-8", "replace").strip()
            if problem:
                raise FileProblem(f"The search failed: {problem[:500]}")
    finally:
        process.kill()
        process.communicate()


def _started(words: Sequence[str], cwd: Path) -> subprocess.Popen[bytes]:
    """A program in the folder ``cwd``; where the system has no names for open folders, a link put in the way counts."""
    with problems_of(cwd), opened_folder(cwd) as folder:
        held = Path(f"/proc/self/fd/{folder}")
        return subprocess.Popen(
            words,
            cwd=held if held.exists() else cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )


@dataclass(frozen=True, slots=True)
class _Rule:
    """One ignore file, which holds below ``folder``, a path that ends with a slash."""

    folder: str
    file: IgnoreFile


_Rules = tuple[tuple[_Rule, ...], ...]
"""For each kind of ignore file, its rules from the innermost folder outwards; git's come last."""


def _rules_above(root: Path) -> _Rules:
    """What the folders above say, up to the top of the repository; nothing when they ignore ``root`` itself."""
    folders = [*root.parents]
    inside = next((index for index, folder in enumerate([root, *folders]) if _is_there(folder / _GIT)), None)
    empty: _Rules = tuple(() for _ in _IGNORE_FILES)
    rules = empty
    for index, folder in reversed(list(enumerate(folders, start=1))):
        names = {name for name in (*_IGNORE_FILES, _GIT) if _is_there(folder / name)}
        if inside is not None and index > inside:
            names.discard(".gitignore")
        rules = _with_folder(rules, folder, names)
    return empty if _is_ignored(rules, str(root), is_folder=True) else rules


def _is_there(path: Path) -> bool:
    with suppress(OSError):
        return path.exists()
    return False


def _with_folder(above: _Rules, folder: Path, names: set[str]) -> _Rules:
    if names.isdisjoint({*_IGNORE_FILES, _GIT}):
        return above
    result: list[tuple[_Rule, ...]] = []
    for name, outer in zip(_IGNORE_FILES, above, strict=True):
        files = [folder / name] if name in names else []
        if name == ".gitignore" and _GIT in names:
            outer = ()  # noqa: PLW2901 - a repository in a repository knows nothing of the outer one
            files.append(folder / _GIT / "info" / "exclude")
        inner = (_Rule(f"{folder}/", read) for file in files if (read := _read(file)) is not None)
        result.append((*inner, *outer))
    return tuple(result)


def _read(file: Path) -> IgnoreFile | None:
    try:
        return read_ignore_file(file.read_text("utf-8", "replace"))
    except OSError:
        return None


def _is_ignored(rules: _Rules, path: str, *, is_folder: bool) -> bool:
    """The innermost ignore file that speaks of the path decides."""
    written = f"{path}/" if is_folder else path
    for kind in rules:
        for rule in kind:
            decision = rule.file.is_ignored(written[len(rule.folder) :])
            if decision is not None:
                return decision
    return False
