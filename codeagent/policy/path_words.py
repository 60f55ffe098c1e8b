"""Which paths a shell word could stand for: as it is written, in its parts, by the pattern or the end that is known."""

from __future__ import annotations

import fnmatch
import glob
import os
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path

from codeagent.policy.effort import spend
from codeagent.policy.shell_words import Word
from codeagent.workspace.files import is_folder
from codeagent.workspace.git_places import is_there
from codeagent.workspace.shell_process import bash_words

PLAIN_PATH = re.compile(r"[\w@%+:,./~-]+")
_OPTION_VALUE = re.compile(r"(?:--?[\w-]+=|-[A-Za-z]|[\w-]+=|@|file://)?(?P<path>.+)", re.DOTALL)
_MOST_ABOVE = 4
_GLOB = re.compile(r"[*?\[]")
_LOOKED_UP = 3
_PATTERN = 10
_LONG = 200
_BELOW_HOME = re.compile(r"(?:.*[=:@])?\$(?:HOME|\{HOME\})(?P<end>/[\w@%+:,./~-]+)", re.DOTALL)
_HOME_IN_VALUE = re.compile(r"[=:](~(?:/[\w@%+,./-]*)?)(?=:|$)")
_INSTEAD = re.compile(r"\$\{\w+:?[-+=]([\w@%+:,./~-]+)\}")
_BELOW_UNKNOWN = re.compile(r".*(?:\$\w+|[})`])(?P<end>/[\w@%+:,./~-]+)", re.DOTALL)


def matches(word: Word, folder: Path) -> Iterator[str]:
    """The names that a pattern stands for now when the shell is in ``folder``; none for any other word."""
    spend_on(word.glob)
    pattern = str(Path.home()) + word.glob[1:] if word.has_tilde else word.glob
    for text in _with_folder_above(pattern):
        yield from glob_names(text, folder)


def _with_folder_above(pattern: str) -> Iterator[str]:
    """The pattern; for an older bash, to which ``.`` and ``..`` are names like others, also what ``.*`` stands for."""
    parts = [(part, ".", "..") if _may_be_above(part) else (part,) for part in pattern.split("/")]
    count = sum(len(part) > 1 for part in parts)
    if not count or leaves_out_dots():
        yield pattern
    elif count > _MOST_ABOVE:
        yield "/"
    else:
        yield from map("/".join, product(*parts))


def _may_be_above(part: str) -> bool:
    return part.startswith(".") and _GLOB.search(part) is not None and fnmatch.fnmatchcase("..", part)


@cache
def leaves_out_dots() -> bool:
    """Whether the shell that runs commands has an option for that and it is set, as it is from bash 5.2 on."""
    asked = bash_words("shopt -q globskipdots")
    try:
        return (
            subprocess.run(asked, stdin=subprocess.DEVNULL, capture_output=True, timeout=5, check=False).returncode == 0
        )
    except (OSError, subprocess.TimeoutExpired):
        return False


def written(word: Word) -> str:
    """The path as the sandbox reads it: a quoted ``~`` is a name like any other."""
    return f"./{word.text}" if word.text.startswith("~") and not word.has_tilde else word.text


def is_other_home(word: Word) -> bool:
    """Whether it begins with somebody else's home folder, or another place that a tilde stands for."""
    return word.has_tilde and word.text != "~" and not word.text.startswith("~/")


def candidates(word: Word) -> Iterator[str]:
    """The parts of a word that could be a path: the word, an option's value, what stands around a colon."""
    whole = _OPTION_VALUE.fullmatch(word.text)
    texts = [word.text, *([whole["path"]] if whole else [])]
    texts += [part for text in tuple(texts) for part in re.split(r"[:,=@]", text)]
    for text in dict.fromkeys(texts):
        if text and not text.startswith("-") and PLAIN_PATH.fullmatch(text) and not re.match(r"\w+://", text):
            yield f"./{text}" if text.startswith("~") and not (word.has_tilde or text != word.text) else text


def is_telling(text: str) -> bool:
    """Whether a name without a folder is a file's beyond doubt, so that it matters though it is not there."""
    stem, dot, _ = text.rpartition(".")
    return text.startswith(".env") or bool(dot and stem)


def known_ends(word: Word) -> Iterator[str]:
    """The path that a word ends with, such as ``./.env`` of ``"$PWD/.env"``; one below ``$HOME`` is known whole.

    Also what stands in the place of a variable that is not set: ``.env`` of ``${x:-.env}``,
    and each part of a value that begins with a tilde: ``~/.ssh`` of ``a=~/.ssh``.
    """
    text = "" if word.is_known else word.text.replace('"', "")
    if found := _BELOW_HOME.fullmatch(text):
        yield f"~{found['end']}"
    elif found := _BELOW_UNKNOWN.fullmatch(text):
        yield f".{found['end']}"
    yield from _INSTEAD.findall(text)
    yield from _HOME_IN_VALUE.findall(text)


def exists(folder: Path, text: str) -> bool:
    """Whether there is something of this name; what cannot be a path is not there."""
    try:
        return (folder / text).exists()
    except (OSError, ValueError):
        return False


def glob_names(pattern: str, folder: Path | str) -> Iterator[str]:
    """The names below ``folder`` that fit: in the same order as the standard library's ``glob``; raises TooMuch.

    Unlike ``Path.glob`` this finds broken links, and takes ``**`` for one folder as bash does.
    """
    spend_on(pattern)
    return _fitting(pattern, str(folder), only_folders=False) if pattern else iter(())


def spend_on(pattern: str) -> None:
    """Draws on the allowance for turning a pattern into an expression, which takes the square of its length."""
    spend(_PATTERN + len(pattern) ** 2 // _LONG if pattern else 0)


def _fitting(pattern: str, folder: str, *, only_folders: bool) -> Iterator[str]:
    head, tail = _split(pattern)
    if not glob.has_magic(pattern):
        if _is_there(_joined(folder, head), tail):
            yield pattern
        return
    heads: Iterator[str] = iter([head])
    if head and head != pattern and glob.has_magic(head):
        heads = _fitting(head, folder, only_folders=True)
    for found in heads:
        below = _joined(folder, found)
        if glob.has_magic(tail):
            names = _names(below, tail, only_folders=only_folders)
        else:
            names = [tail] if _is_there(below, tail) else []
        for name in names:
            spend()
            yield _joined(found, name)


def _split(pattern: str) -> tuple[str, str]:
    """All before the last slash, and what is behind it."""
    head, slash, tail = pattern.rpartition("/")
    return head.rstrip("/") or (head + slash), tail


def _joined(folder: str, name: str) -> str:
    """As pathlib would, but that a pattern's dots and slashes stay as they are written."""
    if name.startswith("/") or not folder:
        return name
    return f"{folder}{name}" if folder.endswith("/") else f"{folder}/{name}"


def _is_there(folder: str, name: str) -> bool:
    spend(_LOOKED_UP)
    return is_there(Path(folder, name)) if name else is_folder(Path(folder))


def _names(folder: str, pattern: str, *, only_folders: bool) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if not only_folders or _is_folder(entry)]
    except OSError:
        return []
    spend(_LOOKED_UP + len(names))
    if not pattern.startswith("."):
        names = [name for name in names if not name.startswith(".")]
    return fnmatch.filter(names, pattern)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
