"""Finds files with secrets, or rules of their own, among those whose contents a git command would show."""

from __future__ import annotations

import time
from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

from codeagent.core.approvals import Access, Decision
from codeagent.policy.finding import Finding, ask_each_time
from codeagent.policy.git_programs import git_inside
from codeagent.policy.rules import RuleSet
from codeagent.workspace.git import run_git
from codeagent.workspace.git_index import tracked
from codeagent.workspace.git_places import is_there
from codeagent.workspace.paths import PathSandbox

_WITH_NAMES_ONLY = ("--name-only", "-z", "--format=", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv")
_FOR_DIFF = tuple(word for word in _WITH_NAMES_ONLY if word != "--format=")
_IN_THE_WAY = frozenset(
    {"--graph", "-s", "--no-patch", "--name-only", "--name-status", "--check", "-q", "--quiet", "--exit-code"}
)
_FORMATS = ("--format", "--pretty", "--oneline")
_SECONDS = 3.0


def tracked_secret(folder: Path, limits: Sequence[Path], sandbox: PathSandbox) -> str:
    """A file with secrets that the repository around ``folder`` knows, below ``limits`` if there are any."""
    for place in (folder, *folder.parents):
        if not is_there(place / ".git"):
            continue
        try:
            index = git_inside(place / ".git") / "index"
            status = index.stat()
            found = _secrets(index, (status.st_ino, status.st_size, status.st_mtime_ns), place, sandbox, sandbox.roots)
        except FileNotFoundError:
            continue
        except (OSError, ValueError):
            return f"a file of {sandbox.show(place)}"
        near = (path for path in found if not limits or any(path.is_relative_to(limit) for limit in limits))
        return next(map(sandbox.show, near), "")
    return ""


def shown_contents(
    folder: Path, words: Sequence[str], named: Sequence[str], sandbox: PathSandbox, rules: RuleSet
) -> Finding | None:
    """What stands against a git command that shows commits or changes, told by the files that are in them.

    ``words`` are the command and what follows it, ``named`` the commits or paths among them. The same command
    is run, but for names in place of contents; where that fails or takes long, it is asked about.
    """
    place = next((place for place in (folder, *folder.parents) if is_there(place / ".git")), None)
    if place is None:
        return None
    names = _names(folder, words, named)
    if names is None:
        return ask_each_time("which files it would show cannot be told beforehand.")
    asked: Finding | None = None
    for name in names:
        path = place / name
        if rule := rules.find_path(Decision.DENY, Access.READ, (path,), sandbox.root):
            because = f"it would show {sandbox.show(path)}, which the rule {rule} denies."
            return Finding(decision=Decision.DENY, because=because)
        if asked is None and sandbox.is_sensitive(path):
            asked = ask_each_time(f"it would show what was in {sandbox.show(path)}, which may hold secrets.")
        if asked is None and (rule := rules.find_path(Decision.ASK, Access.READ, (path,), sandbox.root)):
            asked = ask_each_time(f"it would show {sandbox.show(path)}, which the rule {rule} asks about.")
    return asked


def _names(folder: Path, words: Sequence[str], named: Sequence[str]) -> tuple[str, ...] | None:
    """The files in what the command would show; None when that is not known."""
    command, rest = words[0], [word for word in words[1:] if word not in _IN_THE_WAY]
    end = rest.index("--") if "--" in rest else len(rest)
    options, limits = rest[:end], rest[end:]
    if any(word.startswith("-L") for word in options):
        return ()  # one file, judged by its path
    if command == "status":
        command, options, limits = "diff", ["--cached"], []
    if command == "grep":
        return _searched(folder, named, limits)
    if command in {"show", "cat-file"}:
        objects = [word for word in named if ".." not in word]
        shown = _objects(folder, objects)
        if shown is None or shown == () or command == "cat-file":  # a commit or a tag by itself holds no contents
            return None if shown is None else ()
        options = [word for word in options if word not in objects or word in shown]
    added = _FOR_DIFF if command == "diff" else _WITH_NAMES_ONLY
    if command == "diff-tree":
        added = (*added, "-r")  # patches go into folders by themselves, names do not
    end_of_time = time.monotonic() + _SECONDS
    out = run_git(folder, command, *options, *added, *limits, seconds=_SECONDS)
    if out is None and not any(word.startswith(_FORMATS) for word in options):  # some take options only before paths
        out = run_git(folder, command, *added, *options, *limits, seconds=_SECONDS)
    if out is not None:
        return tuple(name for part in out.split("\0") if (name := part.strip("\n")))
    is_refused = time.monotonic() < end_of_time and _names_nothing(folder, named)
    return () if is_refused else None


def _objects(folder: Path, objects: Sequence[str]) -> tuple[str, ...] | None:
    """Those among ``objects`` that are shown as changes, HEAD when none is named; None where contents are shown.

    Contents of one file (``COMMIT:PATH``) do not count: they are judged by their path. Nothing is shown where
    git refuses.
    """
    commits = [word for word in objects if ":" not in word]
    if objects and not commits:
        return ()
    kinds = [_kind(folder, word) for word in commits]
    if _Kind.MISSING in kinds:
        return ()
    return None if _Kind.CONTENTS in kinds else tuple(commits) or ("HEAD",)


def _searched(folder: Path, named: Sequence[str], limits: Sequence[str]) -> tuple[str, ...] | None:
    """The files that ``git grep`` searches in commits among ``named`` or else as git knows them now."""
    found: list[str] = []
    commits = [word for word in named if run_git(folder, "cat-file", "-t", word, seconds=_SECONDS) is not None]
    lists = [("ls-tree", "-r", commit) for commit in commits if ":" not in commit]
    if not commits:
        lists = [("ls-files", *(limits or ["--", *named]))]
    for command, *rest in lists:
        out = run_git(
            folder, command, "--full-name", "-z", *(["--name-only"] if commits else []), *rest, seconds=_SECONDS
        )
        if out is None:
            return None
        found += [name for name in out.split("\0") if name]
    return tuple(found)


def _names_nothing(folder: Path, objects: Sequence[str]) -> bool:
    """Whether git refuses the command because a commit in it does not exist, be it the first one."""
    named = [part for word in objects for part in word.replace("...", "..").split("..")]
    return any(_kind(folder, word) is _Kind.MISSING for word in ("HEAD", *named) if word)


class _Kind(StrEnum):
    """What a word stands for."""

    COMMIT = "commit"
    CONTENTS = "contents"
    MISSING = "missing"


def _kind(folder: Path, word: str) -> _Kind:
    kind = run_git(folder, "cat-file", "-t", word, seconds=_SECONDS)
    if kind is None:
        return _Kind.COMMIT if is_there(folder / word) else _Kind.MISSING
    return _Kind.COMMIT if kind.strip() in {"commit", "tag"} else _Kind.CONTENTS


@lru_cache(maxsize=8)
def _secrets(
    index: Path, stamp: tuple[int, int, int], place: Path, sandbox: PathSandbox, roots: tuple[Path, ...]
) -> tuple[Path, ...]:
    """Kept until the index (``stamp``) or the folders of the workspace (``roots``) change."""
    del stamp, roots
    return tuple(path for name in tracked(index.parent) if sandbox.is_sensitive(path := place / name))
