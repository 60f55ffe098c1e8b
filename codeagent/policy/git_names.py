"""Which files a git command would show contents of: the same command is run, but for names in place of contents."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import pairwise
from pathlib import Path

from codeagent.policy.effort import A_PROCESS, spend
from codeagent.workspace.git import run_git
from codeagent.workspace.git_places import is_there

_FOR_DIFF = (
    *("--name-status", "-z", "--no-relative", "--line-prefix=", "--no-color", "--no-ext-diff", "--no-textconv"),
    "--ignore-submodules=all",
)
_FOR_NAMES = ("--format=", *_FOR_DIFF)
_IN_THE_WAY = frozenset(
    {"--graph", "-s", "--no-patch", "--name-only", "--name-status", "--check", "-q", "--quiet", "--exit-code"}
    | {"--log-size"}
)
_MUST_BE_LAST = ("--format", "--pretty", "--oneline", "--relative", "--line-prefix")
"""Options that would put other text around the names: ours must come behind them."""

_MANY_REFS = ("--all", "--branches", "--tags", "--remotes", "--glob", "--bisect", "--reflog")
_COMBINING = frozenset({"-c", "--cc", "-m", "--combined-all-paths", "--remerge-diff"})
_PATTERN_SIGNS = frozenset("*?[\\")
_SECONDS = 3.0


def shown_names(folder: Path, words: Sequence[str], named: Sequence[str]) -> tuple[str, ...] | None:
    """The files whose contents a git command in ``folder`` would show; None when that is not known.

    ``words`` are the command and what follows it, ``named`` the commits or paths among them. The names start at the
    top of the repository. What git prints besides may be among them, a file's old name when it was moved as well.
    """
    found = _names(folder, words, named)
    return None if found is None else (*_behind_colons(named), *found)


def are_commits(folder: Path, named: Sequence[str]) -> bool:
    """Whether all of ``named`` surely stand for commits, or paths that limit them, and none for a file's contents."""
    return not any(":" in word for word in named) and (not named or _objects(folder, named) == tuple(named))


def is_pattern(word: str) -> bool:
    """Whether git takes a word that is no commit for a pattern of paths (``is_glob_special`` in git's ctype.c)."""
    return not _PATTERN_SIGNS.isdisjoint(word)


def _is_limit(word: str) -> bool:
    """Whether a word with a colon limits the paths of the commits that are shown, rather than naming contents."""
    return word.startswith((":!", ":^")) or (word.startswith(":") and is_pattern(word))


def _behind_colons(named: Sequence[str]) -> Iterator[str]:
    """What ``COMMIT:PATH`` may name: both parts may hold further colons."""
    for word in named:
        for at, character in enumerate(word):
            if character == ":" and word[at + 1 :] and not word.startswith(("./", "../"), at + 1):
                yield word[at + 1 :]


def _names(folder: Path, words: Sequence[str], named: Sequence[str]) -> tuple[str, ...] | None:  # noqa: PLR0911 - one return a kind of command
    command, rest = words[0], list(words[1:])
    end = rest.index("--") if "--" in rest else len(rest)
    options, limits = rest[:end], rest[end:]
    if command == "grep":
        return _searched(folder, named, limits)
    if command == "blame":
        return tuple(str(folder / word) for word in named)
    if ranges := _line_ranges(options):
        return _followed(folder, ranges, named)
    if command == "status":
        staged, changed = (_asked(folder, "diff", given, [], named) for given in (["--cached"], []))
        return None if staged is None or changed is None else (*staged, *changed)
    if command in {"stash", "reflog"} and named[:1] and named[0] in {"list", "show"}:
        return _behind_verb(folder, command, options, limits, named)
    if command in {"show", "cat-file"}:
        return _of_objects(folder, command, options, limits, named)
    if command in {"diff", "diff-tree"} and any(_is_without_names(folder, word) for word in named):
        return None
    return _asked(folder, command, options, limits, named)


def _behind_verb(
    folder: Path, command: str, options: Sequence[str], limits: Sequence[str], named: Sequence[str]
) -> tuple[str, ...] | None:
    """The same where a verb comes first. Git has a log made of all stashes by another git, which is not run here."""
    if command == "reflog" or named[0] == "show":
        return _asked(folder, command, options, limits, named[1:] or (("refs/stash",) if command == "stash" else ()))
    given = ["-g", "--first-parent", "-m", *(word for word in options if word != "list"), "refs/stash"]
    return None if limits else _asked(folder, "log", given, ["--"], ("refs/stash",))


def _of_objects(
    folder: Path, command: str, options: Sequence[str], limits: Sequence[str], named: Sequence[str]
) -> tuple[str, ...] | None:
    """The files in commits that are shown; a commit or a tag by itself holds no contents."""
    objects = [word for word in named if ".." not in word]
    shown = _objects(folder, objects)
    if shown is None or any(word.startswith(_MANY_REFS) for word in options):
        return None  # a tag may stand for contents
    if shown == () or command == "cat-file":
        return ()
    return _asked(folder, command, [word for word in options if word not in objects or word in shown], limits, named)


def _asked(
    folder: Path, command: str, options: Sequence[str], limits: Sequence[str], named: Sequence[str]
) -> tuple[str, ...] | None:
    """The names that git prints for the command; None when that fails or takes long."""
    added = _FOR_DIFF if command == "diff" else _FOR_NAMES
    if "--graph" in options:
        added = (*added, "--topo-order")
    if command == "diff-tree":
        added = (*added, "-r")  # patches go into folders by themselves, names do not
    given = [word for word in options if word not in _IN_THE_WAY]
    found: list[str] = []
    is_combined = command == "show" or any(word in _COMBINING or word.startswith("--diff-merges") for word in given)
    # Of a merge, git names a moved file by its new name only: told apart from moves, the old one is there as well.
    for moves in ((), ("--no-renames",)) if is_combined else ((),):
        end_of_time = time.monotonic() + _SECONDS
        out = _git(folder, command, *given, *added, *moves, *limits)
        if out is None and not any(word.startswith(_MUST_BE_LAST) for word in given):
            # Some take options only before paths.
            out = _git(folder, command, *added, *moves, *given, *limits)
        if out is None:
            is_refused = time.monotonic() < end_of_time and _names_nothing(folder, named)
            return () if is_refused else None
        found += [name for name in out.replace("\n", "\0").split("\0") if name]
    return tuple(dict.fromkeys(found))


def _line_ranges(options: Sequence[str]) -> list[str]:
    """The values of ``-L``."""
    return [word[2:] or value for word, value in pairwise([*options, ""]) if word.startswith("-L")]


def _followed(folder: Path, ranges: Sequence[str], named: Sequence[str]) -> tuple[str, ...] | None:
    """The files of which lines are followed through the history, by all the names that they had."""
    found: list[str] = []
    for path in dict.fromkeys(written.rpartition(":")[2] for written in ranges):
        out = _git(folder, "log", "--follow", *_FOR_NAMES, *named, "--", path)
        if out is None:
            return () if _names_nothing(folder, named) else None
        found += [name for name in out.replace("\n", "\0").split("\0") if name]
    return tuple(found)


def _objects(folder: Path, objects: Sequence[str]) -> tuple[str, ...] | None:
    """Those among ``objects`` that are shown as changes, HEAD when none is named; None where contents are shown.

    Contents of one file (``COMMIT:PATH``) do not count: they are judged by their path. Of a folder only names are
    shown, and nothing where git refuses.
    """
    commits = [word for word in objects if ":" not in word or _is_limit(word)]
    if objects and not commits:
        return ()
    kinds = {word: _kind(folder, word) for word in commits}
    if _Kind.MISSING in kinds.values():
        return ()
    if _Kind.CONTENTS in kinds.values():
        return None
    return tuple(word for word in commits if kinds[word] is _Kind.COMMIT) if commits else ("HEAD",)


def _is_without_names(folder: Path, word: str) -> bool:
    """Whether a word stands for contents that git does not call by their path, or not by all of it."""
    parts = [part for part in (word, *word.replace("...", "..").split("..")) if part]
    return any(
        (not part.endswith(":") and _type(folder, part) == "tree")
        if ":" in part
        else _kind(folder, part) in {_Kind.CONTENTS, _Kind.FOLDER}
        for part in dict.fromkeys(parts)
    )


def _searched(folder: Path, named: Sequence[str], limits: Sequence[str]) -> tuple[str, ...] | None:
    """The files that ``git grep`` searches in commits among ``named`` or else as git knows them now."""
    kinds = {word: kind for word in named if (kind := _type(folder, word))}
    if not kinds:
        is_limited = all(is_pattern(word) or is_there(folder / word) for word in named)
        return _listed(folder, "ls-files", "--", *(named if is_limited else ()), *limits[1:])
    found: list[str] = []
    for word, kind in kinds.items():
        top = word.rpartition(":")[2]
        if kind == "blob" and ":" in word:
            continue  # one file, judged by its path
        if (
            kind == "blob"
            or top.startswith(("./", "../"))
            or (kind == "tree" and top == word and not word.endswith("^{tree}"))
        ):
            return None  # where it lies is not told
        names = _listed(folder, "ls-tree", "-r", "--name-only", word)
        if names is None:
            return None
        found += [str(Path(top) / name) for name in names] if ":" in word else names
    return tuple(found)


def _listed(folder: Path, *words: str) -> tuple[str, ...] | None:
    command, *rest = words
    out = _git(folder, command, "--full-name", "-z", *rest)
    return None if out is None else tuple(name for name in out.split("\0") if name)


def _names_nothing(folder: Path, objects: Sequence[str]) -> bool:
    """Whether git refuses the command because a commit in it does not exist, be it the first one."""
    named = [part for word in objects for part in word.replace("...", "..").split("..")]
    return any(_kind(folder, word) is _Kind.MISSING for word in ("HEAD", *named) if word)


class _Kind(StrEnum):
    """What a word stands for."""

    COMMIT = "commit"
    CONTENTS = "contents"
    FOLDER = "folder"
    MISSING = "missing"


def _kind(folder: Path, word: str) -> _Kind:
    kind = _type(folder, word if ":" in word else f"{word}^{{}}")
    if kind is None:
        # Several commits or none, such as HEAD^!, or a path; a pattern is one, there or not.
        is_path = is_pattern(word) or _is_limit(word) or is_there(folder / word)
        is_one = is_path or _git(folder, "rev-parse", word, "--") is not None
        return _Kind.COMMIT if is_one else _Kind.MISSING
    return {"commit": _Kind.COMMIT, "tag": _Kind.COMMIT, "tree": _Kind.FOLDER}.get(kind, _Kind.CONTENTS)


def _type(folder: Path, word: str) -> str | None:
    """The type of the object that a word names; None when it names none."""
    kind = _git(folder, "cat-file", "-t", word)
    return kind.strip() if kind is not None else None


def _git(folder: Path, command: str, *words: str) -> str | None:
    spend(A_PROCESS)
    return run_git(folder, command, *words, seconds=_SECONDS)
