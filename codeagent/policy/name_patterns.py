"""May a file fit a pattern as grep, ripgrep, find and ignore files have them? Where they differ, it may.

They agree on ``*`` and ``?``; braces are alternatives to ripgrep alone, a backslash
quotes for all of them but not for Python, and sets have several forms.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import chain

_MOST_ALTERNATIVES = 64
_LONGEST = 1_000
_GROUP = re.compile(r"\{([^{}]*)\}")
_PLAIN_SET = re.compile(r"\[\w+\]", re.ASCII)
_UNCERTAIN = re.compile(r"[{}]|\\[,/]")
_PLAIN_FOLDER = re.compile(r"\w[\w.-]*", re.ASCII)
_TYPES: Mapping[str, tuple[str, ...]] = {
    "py": ("*.py", "*.pyi", "*.pyw"),
    "js": ("*.js", "*.jsx", "*.mjs", "*.cjs", "*.vue"),
    "ts": ("*.ts", "*.tsx", "*.mts", "*.cts"),
    "rust": ("*.rs",),
    "go": ("*.go",),
    "css": ("*.css", "*.scss"),
    "swift": ("*.swift",),
}
"""Of the types of ripgrep those that are plain endings, as any version has them. What adds types is not let through."""

_EVERYTHING = ((frozenset[str](), "*"),)


def may_fit(path: str, pattern: str) -> bool:
    """Whether ``pattern`` may be meant to fit the file at ``path``; plain folders in the one must be in the other."""
    *folders, name = path.lower().split("/")
    if "{" in name or "}" in name:
        return True
    return any(needed <= set(folders) and fnmatchcase(name, plain) for needed, plain in _plain_patterns(pattern))


def of_names(pattern: str) -> str:
    """The part of a pattern that is about the file's own name, wherever the file is."""
    folders, _, name = pattern.rstrip("/").rpartition("/")
    return "*" if "{" in folders else name or "*"


def of_types(types: Sequence[str]) -> tuple[str, ...]:
    """The patterns of the types that ``rg -t`` names; none when one of them is not known here."""
    return tuple(chain.from_iterable(_TYPES[one] for one in types)) if all(one in _TYPES for one in types) else ()


@lru_cache(maxsize=256)
def _plain_patterns(pattern: str) -> tuple[tuple[frozenset[str], str], ...]:
    """Patterns with ``*``, ``?`` and plain sets only that together fit all that ``pattern`` may fit.

    Each with the folders that it names plainly, all in small letters.
    """
    if len(pattern) > _LONGEST:
        return _EVERYTHING
    found: list[str] = []
    waiting = [pattern.lower()]
    while waiting:
        text = waiting.pop()
        if group := _GROUP.search(text):
            waiting += [text[: group.start()] + choice + text[group.end() :] for choice in group[1].split(",")]
        else:
            found.append(text)
        if len(waiting) + len(found) > _MOST_ALTERNATIVES:
            return _EVERYTHING
    if any(map(_UNCERTAIN.search, found)) or ("{" in pattern and ("\\" in pattern or "[" in pattern)):
        return _EVERYTHING
    split = [text.rstrip("/").split("/") for text in found]
    return tuple(
        (frozenset(filter(_PLAIN_FOLDER.fullmatch, folders)), "".join(_simplified(name or "*")))
        for *folders, name in split
    )


def _simplified(text: str) -> Iterator[str]:
    """The parts of a pattern; a set of an unusual form may be anything, with all that may belong to it."""
    at = 0
    while at < len(text):
        if text[at] == "\\":
            yield _literal(text[at + 1 : at + 2])
            at += 2
        elif found := _PLAIN_SET.match(text, at):
            yield found[0]
            at = found.end()
        elif text[at] == "[":
            yield "*"
            at = max(text.rfind("]"), at) + 1
        else:
            yield text[at]
            at += 1


def _literal(character: str) -> str:
    return f"[{character}]" if character in {"*", "?", "["} else character
