"""Which files a destructive command would take with it, where that can be said for certain."""

from __future__ import annotations

import stat
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from pathlib import Path

from codeagent.policy.effort import A_PROCESS, spend
from codeagent.policy.path_words import glob_names
from codeagent.policy.shell_words import Word
from codeagent.policy.wrappers import base_name
from codeagent.workspace.git import is_joining, not_looked_at, uncommitted
from codeagent.workspace.git_places import is_there

_MOST_MATCHES = 1_000
_RM_LETTERS = frozenset("rRfvd")
_RM_OPTIONS = frozenset({"--recursive", "--force", "--verbose", "--dir"})
_CLEAN_LETTERS = frozenset("fdq")

Stake = tuple[Path, ...] | None
"""Files and folders that would be lost as far as they are there; None when nobody can tell."""


def at_stake(words: Sequence[Word], folder: Path) -> Stake:
    """What a destructive command would delete or overwrite when it runs in ``folder``; None when that is not certain.

    ``folder`` is absolute. Only commands that lose nothing but these files are known
    here: one that moves branches, the index or other machines is not.
    """
    if not words or not words[0].is_fixed:
        return None
    name = base_name(words[0].text)
    spend(len(words))
    if name == "rm":
        return _rm(words[1:], folder)
    if name != "git" or len(words) < 2 or not all(word.is_fixed for word in words):  # noqa: PLR2004 - git and its command
        return None
    find = _GIT.get(words[1].text)
    spend(A_PROCESS if find else 0)
    return find([word.text for word in words[2:]], folder) if find else None


def are_files(word: Word, folder: Path) -> bool:
    """Whether an operand surely names nothing but files, or links, that are there now."""
    found = _named_by(word, folder) if word.is_known and not word.has_tilde else None
    return bool(found) and all(map(_is_file, found))


def _is_file(path: Path) -> bool:
    try:
        return not stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


def _named_by(word: Word, folder: Path) -> Stake:
    """What an operand stands for in a folder; None when that is too much, or goes through a link."""
    names = [word.text]
    if word.glob:
        found = list(islice(glob_names(word.glob, folder), _MOST_MATCHES + 1))
        names = found or names  # a pattern without a match stands for itself
    if len(names) > _MOST_MATCHES or any(not name or (name.endswith("/") and _is_link(folder, name)) for name in names):
        return None
    return tuple(folder / name for name in names)


def _rm(words: Sequence[Word], folder: Path) -> Stake:
    """The operands of ``rm``, patterns resolved; a link is deleted itself, unless a slash makes it its target."""
    found: list[Path] = []
    is_over = False
    for word in words:
        if not word.is_known or word.has_tilde:
            return None
        text = word.text
        if not is_over and text.startswith("-") and text != "-":
            is_over = text == "--"
            if not (is_over or text in _RM_OPTIONS or (text[1:] and set(text[1:]) <= _RM_LETTERS)):
                return None
            continue
        if (names := _named_by(word, folder)) is None:
            return None
        found += names
    return tuple(found)


def _is_link(folder: Path, name: str) -> bool:
    path = folder / name.rstrip("/")
    return is_there(path) and path.is_symlink()


def _tracked(operands: Sequence[str], folder: Path) -> Stake:
    """Files below the operands that git knows and that are not as git knows them."""
    if not operands:
        return None
    found = uncommitted(folder, operands)
    return None if found is None else _written_anew(found.changed, folder, operands)


def _written_anew(changed: Sequence[Path], folder: Path, operands: Sequence[str]) -> Stake:
    """What goes when git writes files: they, those that it does not look at, and what is in their folders' way."""
    unseen = not_looked_at(folder, operands)
    if unseen is None:
        return None
    files = (*changed, *unseen)
    folders = {parent for file in files for parent in file.parents}
    return (*files, *(path for path in sorted(folders) if path.is_symlink() or not path.is_dir()))


def _restore(words: Sequence[str], folder: Path) -> Stake:
    """``git restore`` of files from the index: nothing but the files is touched."""
    operands = [word for word in words if word != "--"]
    return None if any(word.startswith(("-", ":")) for word in operands) else _tracked(operands, folder)


def _checkout(words: Sequence[str], folder: Path) -> Stake:
    """``git checkout -- PATHS`` and ``git checkout PATH`` do the same; with a commit they change the index as well."""
    if words[:1] == ["--"] or (len(words) == 1 and is_there(folder / words[0])):
        return _restore(words, folder)
    return None


def _reset(words: Sequence[str], folder: Path) -> Stake:
    """``git reset --hard`` to the same commit, where nothing is staged and no merge under way that would go with it."""
    if list(words) not in (["--hard"], ["--hard", "HEAD"], ["-q", "--hard"], ["--hard", "-q"]):
        return None
    found = uncommitted(folder)
    if found is None or found.has_staged or is_joining(folder):
        return None
    return _written_anew(found.changed, folder, [])


def _clean(words: Sequence[str], folder: Path) -> Stake:
    """``git clean`` of files that are not ignored, and not of repositories inside."""
    letters = "".join(word[1:] for word in words if word.startswith("-") and not word.startswith("--"))
    operands = [word for word in words if not word.startswith("-")]
    if any(word.startswith("--") for word in words) or not set(letters) <= _CLEAN_LETTERS or letters.count("f") > 1:
        return None
    found = uncommitted(folder, operands or ["."])
    return None if found is None else found.new


_GIT: Mapping[str, Callable[[Sequence[str], Path], Stake]] = {
    "restore": _restore,
    "checkout": _checkout,
    "reset": _reset,
    "clean": _clean,
}
