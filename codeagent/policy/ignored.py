"""Which files ripgrep leaves out by itself because an ignore file says so; in doubt it does not.

Only lines count that all readers of such files take alike: a line ends with a line feed
and nothing else, what ripgrep stops reading at takes everything back in, and patterns
of unusual forms leave nothing out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from codeagent.policy.later import IgnoreSpec, ignore_spec
from codeagent.workspace.git_places import is_there

_LARGEST = 256 * 1024
_FOR_RIPGREP = (".ignore", ".rgignore")
_FOR_GIT = (".gitignore", ".git/info/exclude")
_MOST_TAKEN_BACK = 200
_MOST_STARS = 3
_TAKES_ALL_BACK = ("!*",)
_PLAIN = re.compile(r"/?(?:\*\*/)?(?:[\w.@+ ?/-]|\*(?!\*))+(?:/\*\*)?", re.ASCII)


def brought_back(folder: Path) -> Iterator[str]:
    """Patterns of names that the ignore files of a folder take back in, hidden ones as well."""
    for name in (*_FOR_RIPGREP, *_FOR_GIT):
        found = [line[1:].strip() for line in _lines(folder / name) if line.startswith("!")]
        yield from found if len(found) <= _MOST_TAKEN_BACK else ("*",)


def is_surely_ignored(path: Path, top: Path) -> bool:
    """Whether ripgrep, told to search ``top``, leaves ``path`` below it out.

    A file that takes anything back in makes the answer no, and so does a ``top``
    that is ignored itself: what is named on the command line is searched.
    """
    folders = path.parents
    repository = next((folder for folder in folders if is_there(folder / ".git")), None)
    is_ignored = False
    for folder in folders:
        is_above = folder in top.parents
        names = [*_FOR_RIPGREP]
        if repository is not None and folder.is_relative_to(repository):
            names += _FOR_GIT
        for found in map(_lines, (folder / name for name in names)):
            if any(line.startswith("!") for line in found):
                return False
            # Paths written above the place that is searched are not followed by all versions.
            lines = tuple(line for line in found if "/" not in line.rstrip("/")) if is_above else found
            if not lines:
                continue
            spec = _spec(lines)
            if is_above and spec.match_file(f"{top.relative_to(folder)}/"):
                return False
            is_ignored = is_ignored or spec.match_file(path.relative_to(folder))
    return is_ignored


@lru_cache(maxsize=64)
def _spec(lines: tuple[str, ...]) -> IgnoreSpec:
    return ignore_spec(line for line in lines if _PLAIN.fullmatch(line) and _is_quick(line))


def _is_quick(line: str) -> bool:
    """Whether a name is matched in no time: each further ``*`` multiplies the ways to look."""
    return line.removeprefix("/").removeprefix("**/").removesuffix("/**").count("*") <= _MOST_STARS


def _lines(file: Path) -> tuple[str, ...]:
    """The lines of an ignore file; none when there is no such file, and ``!*`` where it cannot be read as a whole."""
    try:
        if not file.is_file():
            return _TAKES_ALL_BACK if is_there(file) and not file.is_dir() else ()
        with file.open("rb") as opened:
            data = opened.read(_LARGEST + 1)
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return _TAKES_ALL_BACK
    except OSError:
        return ()
    if len(data) > _LARGEST:
        return _TAKES_ALL_BACK
    if text.startswith("\ufeff!"):
        text = text[1:]  # some versions read past the mark
    return tuple(line.removesuffix("\r") for line in text.split("\n"))
