"""Where the first look of a session starts from: another session's index, the person's, or nothing."""

from __future__ import annotations

import os
import re
import shutil
import stat
import time
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from codeagent.core.errors import CheckpointError, FileProblem
from codeagent.store.blobs import Blobs
from codeagent.store.conversions import converted
from codeagent.store.file_states import SAME_MOMENT, Modes
from codeagent.store.git_names import as_list
from codeagent.workspace.files import read_bytes
from codeagent.workspace.git import run_git
from codeagent.workspace.private_git import PrivateGit

_MOST_STAGED = 2_000
_KIND = 0o170000
_BITS = 0o7777
_GITLINK = b"\0\0\xe0\0"
_PLAIN_ENTRY = re.compile(r"H (?:100|120)\d{3} [0-9a-f]+ 0\t([^\0]*)\0")


def copy_sibling(index: Path, beside: Iterable[Path]) -> bool:
    """Takes over the newest index of another session with the files ``beside`` it; False when there is none."""
    endings = [path.suffix for path in beside]
    siblings = [
        path
        for path in index.parent.parent.glob(f"*/{index.name}")
        if path != index and all(path.with_suffix(ending).exists() for ending in endings)
    ]
    for path in sorted(siblings, key=lambda path: path.stat().st_mtime, reverse=True)[:1]:
        with suppress(OSError):
            for ending in (*endings, index.suffix):
                _copy(path.with_suffix(ending), index.with_suffix(ending))
            return True
    return False


def copy_persons(git: PrivateGit, blobs: Blobs, largest: int) -> list[str]:
    """The person's index knows which files did not change since git looked; returns their names.

    Files of more than ``largest`` bytes are not kept.
    """
    theirs, index = git.surroundings.index, git.index
    if theirs is None or not theirs.is_file():
        return []
    try:
        _copy(theirs, index)
        for shared in theirs.parent.glob("sharedindex.*"):
            _copy(shared, git.folder / shared.name)
        names = _plain_names(git)
        if others := converted(git, names):
            git.run("update-index", "-z", "--force-remove", "--stdin", given=as_list(map(os.fsencode, others)))
            names = [name for name in names if name not in others]
    except (CheckpointError, OSError):
        index.unlink(missing_ok=True)  # an index that is damaged, or of a kind that this git cannot read
        return []
    _keep_staged(git, blobs, largest)
    return names


def modes_of(root: Path, names: Iterable[str]) -> Modes:
    """The mode bits of all files among the names, and which were changed a moment ago; quick for very many."""
    stat_of, limit = os.stat, int(time.time() - SAME_MOMENT)
    by_mode: defaultdict[int, list[str]] = defaultdict(list)
    fresh: list[str] = []
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in names:
            try:
                found = stat_of(name, dir_fd=folder, follow_symlinks=False)
            except OSError:
                continue
            by_mode[found[stat.ST_MODE]].append(name)
            if found[stat.ST_CTIME] >= limit:
                fresh.append(name)
    finally:
        os.close(folder)
    files = {mode & _BITS: inner for mode, inner in by_mode.items() if mode & _KIND == stat.S_IFREG}
    kinds = {stat.S_IFREG, stat.S_IFLNK}
    others = {name for mode, inner in by_mode.items() if mode & _KIND not in kinds for name in inner}
    return Modes.gather(files, [name for name in fresh if name not in others])


def _plain_names(git: PrivateGit) -> list[str]:
    """The names of all files in the index, once what is no plain file is out of it."""
    listed = git.run("ls-files", "-z", "-v")
    has_others = any(_GITLINK in path.read_bytes() for path in (git.index, *git.folder.glob("sharedindex.*")))
    if has_others or listed.count(b"\0H ") + listed.startswith(b"H ") < listed.count(b"\0"):
        return _take_off_flags(git)
    return os.fsdecode(listed)[2:-1].split("\0H ") if listed else []


def _take_off_flags(git: PrivateGit) -> list[str]:
    """Takes out what is no plain file, and flags that hide files from a look; returns the names of all others."""
    listed = os.fsdecode(git.run("ls-files", "-z", "-s", "-v"))
    names = _PLAIN_ENTRY.findall(listed)
    hidden: list[str] = []
    foreign: list[str] = []
    if len(names) < listed.count("\0"):
        for entry in listed.split("\0"):
            about, _, name = entry.partition("\t")
            if entry and not _PLAIN_ENTRY.fullmatch(f"{entry}\0"):
                is_foreign = " 160000 " in about or not about.endswith(" 0")
                (foreign if is_foreign else hidden).append(name)
    if foreign:
        git.run("update-index", "-z", "--force-remove", "--stdin", given=as_list(map(os.fsencode, foreign)))
    if hidden:
        given = as_list(map(os.fsencode, hidden))
        git.run("update-index", "-z", "--no-assume-unchanged", "--stdin", given=given)
        git.run("update-index", "-z", "--no-skip-worktree", "--stdin", given=given)
        names += hidden
    return names


def _keep_staged(git: PrivateGit, blobs: Blobs, largest: int) -> None:
    """What is staged but not committed lies in the person's repository only as long as nothing cleans up there."""
    top = git.surroundings.top
    words = ("diff-index", "--cached", "--name-only", "-z", "--no-ext-diff", "--no-textconv", "--no-renames")
    staged = run_git(top, *words, "--ignore-submodules=all", "HEAD")
    for name in (staged or "").split("\0")[:_MOST_STAGED]:
        if name:
            with suppress(FileProblem):
                blobs.add(read_bytes(top / name, limit=largest))


def _copy(source: Path, target: Path) -> None:
    """Copies a file with its times, by which git tells that an index is newer than the files; private."""
    fresh = target.with_name(f".{target.name}.{os.getpid()}")
    shutil.copy2(source, fresh)
    fresh.chmod(0o600)
    fresh.replace(target)
