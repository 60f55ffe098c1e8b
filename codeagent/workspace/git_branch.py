"""What a branch changed, committed or not, since it left the one it came from."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from codeagent.core.errors import FileProblem
from codeagent.workspace.files import read_bytes
from codeagent.workspace.git import run_git

MOST_FILES = 50
_SECONDS = 20.0
_USUAL = ("main", "master", "trunk")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    """A file's contents at the branch's start and now; None where it is not there."""

    name: str
    before: bytes | None
    after: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchChanges:
    """All since the commit that this branch shares with ``origin``; ``left_out`` files are not among them."""

    origin: str
    files: tuple[ChangedFile, ...]
    left_out: int = 0


def branch_changes(root: Path) -> BranchChanges | None:
    """The changes below ``root``, those of new files too; None without git, a repository, or a commit to compare with.

    The branch is compared with the default branch, or on that one itself with what it
    follows; where there is neither, with its last commit.
    """
    origin = _origin(root)
    base = _first_line(run_git(root, "merge-base", "HEAD", origin)) if origin else ""
    if not base:
        origin, base = "the last commit", _first_line(run_git(root, "rev-parse", "--verify", "-q", "HEAD"))
    if not base:
        return None
    flags = ("--name-only", "-z", "--relative", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules")
    changed = _names(run_git(root, "diff", *flags, base, "--", ".", seconds=_SECONDS))
    new = _names(run_git(root, "ls-files", "-z", "--others", "--exclude-standard", seconds=_SECONDS))
    names = list(dict.fromkeys((*changed, *new)))
    files = tuple(_file(root, base, name) for name in islice(names, MOST_FILES))
    return BranchChanges(origin=origin, files=files, left_out=max(len(names) - MOST_FILES, 0))


def _origin(root: Path) -> str:
    """The branch to compare with; empty when there is none."""
    here = _first_line(run_git(root, "symbolic-ref", "-q", "--short", "HEAD"))
    for name in _candidates(root):
        if name.removeprefix("origin/") != here and _first_line(run_git(root, "rev-parse", "--verify", "-q", name)):
            return name
    return _first_line(run_git(root, "rev-parse", "--abbrev-ref", "--symbolic-full-name", "@{upstream}"))


def _candidates(root: Path) -> Iterator[str]:
    """The default branch: as the remote has it, or by its usual names."""
    if default := _first_line(run_git(root, "symbolic-ref", "-q", "--short", "refs/remotes/origin/HEAD")):
        yield default
    for name in _USUAL:
        yield from (name, f"origin/{name}")


def _file(root: Path, base: str, name: str) -> ChangedFile:
    before = run_git(root, "cat-file", "blob", f"{base}:./{name}", seconds=_SECONDS)
    return ChangedFile(name=name, before=None if before is None else os.fsencode(before), after=_now(root / name))


def _now(path: Path) -> bytes | None:
    """What is there now; of a link, as git keeps it, where it leads."""
    try:
        return os.fsencode(path.readlink()) if path.is_symlink() else read_bytes(path)
    except (OSError, FileProblem):
        return None


def _names(out: str | None) -> list[str]:
    return [name for name in (out or "").split("\0") if name]


def _first_line(out: str | None) -> str:
    return (out or "").split("\n", 1)[0].strip()
