"""Which files ``find`` and ``fd`` give to a command that they run, as far as their words tell."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from codeagent.policy.options import names
from codeagent.policy.reading import Reading
from codeagent.policy.shell_words import Word
from codeagent.policy.wrappers import base_name, inside, runs_behind

FINDERS = frozenset({"find", "gfind", "fd", "fdfind"})

_NAMES_ONLY = names(
    "rm rmdir unlink mkdir touch chmod chown chgrp mv ln ls stat du echo printf basename dirname realpath readlink test"
    " [ true false kill"
)
"""What these do with a file shows nothing of what is in it."""

_ALTERNATIVES = names("-o -or , ! -not")
_NAMING = names("-name -iname -path -ipath -wholename -iwholename")
_EXPRESSION = ("-", "(", "!", ",")
_FD_ALL = names("-H --hidden -u --unrestricted -uu")


def found_by(words: Sequence[Word]) -> Reading:
    """The files whose names ``find`` or ``fd`` would print."""
    by_fd = base_name(words[0].text).startswith("fd")
    return _by_fd(words[1:]) if by_fd else _by_find(words[1:]) or Reading()


def shows_names_only(words: Sequence[Word]) -> bool:
    """Whether what a command does with a file shows nothing of what is in it."""
    return bool(words) and words[0].is_fixed and base_name(words[0].text) in _NAMES_ONLY


def given_to_commands(words: Sequence[Word]) -> Reading | None:
    """What the commands that ``find -exec`` or ``fd -x`` runs read; None when none runs, or they only get names."""
    readers = [found for found in inside(words) if found.is_hidden or not shows_names_only(found.words)]
    if not readers:
        return None
    return _by_fd(words[1:]) if base_name(words[0].text).startswith("fd") else _by_find(words[1:])


def _by_find(words: Sequence[Word]) -> Reading | None:
    texts = [word.text for word in words]
    start = next(
        (at for at, text in enumerate(texts) if text.startswith(_EXPRESSION) and text not in {"-L", "-P", "-H"}),
        len(texts),
    )
    paths = tuple(word for word in words[:start] if not word.text.startswith("-"))
    if not all(word.is_known for word in paths) or not paths:
        paths = (*paths, Word("."))  # what is not known may be a test as well
    end = next((at for at, text in enumerate(texts) if text.startswith(("-exec", "-ok"))), len(texts))
    tests = _behind_prune(texts[start:end])
    if ("-type", "d") in pairwise(tests) and not _ALTERNATIVES & set(tests):
        return None
    only = () if _ALTERNATIVES & set(texts[end:]) else _patterns(tests)
    follows = bool({"-L", "-follow"} & set(texts[:end]))
    return Reading(paths=paths, is_recursive=True, only=only, follows_links=follows)


def _behind_prune(tests: list[str]) -> list[str]:
    """``-path ./x -prune -o …``: what is left out narrows nothing down, what follows does."""
    at = len(tests) - tests[::-1].index("-prune") if "-prune" in tests else 0
    return tests[at + 1 :] if tests[at : at + 1] in (["-o"], ["-or"]) else tests


def _patterns(tests: Sequence[str]) -> tuple[str, ...]:
    """The name that every file has; ``( -name A -o -name B )`` are two. Empty when it is not as simple as that."""
    tests = _without_exceptions(tests)
    found = [value for option, value in pairwise(tests) if option == "-name"]
    if not _ALTERNATIVES & set(tests):
        return tuple(found[:1])
    first, last = (tests.index("("), tests.index(")")) if "(" in tests and ")" in tests else (0, 0)
    group, rest = tests[first + 1 : last], (*tests[:first], *tests[last + 1 :])
    joints = [*group[2::3], "-o"]
    is_plain = group[0::3] == ["-name"] * len(joints) and set(joints) <= {"-o", "-or"} and not _ALTERNATIVES & set(rest)
    return tuple(group[1::3]) if is_plain else ()


def _without_exceptions(tests: Sequence[str]) -> list[str]:
    """What is left of the tests without ``-not -path X``, which leaves out files and brings in none."""
    left: list[str] = []
    at = 0
    while at < len(tests):
        if tests[at] in {"-not", "!"} and tests[at + 1 : at + 2] and tests[at + 1] in _NAMING:
            at += 3
        else:
            left.append(tests[at])
            at += 1
    return left


def _by_fd(words: Sequence[Word]) -> Reading:
    texts = [word.text for word in words]
    end = next((at + 1 for at, text in enumerate(texts) if runs_behind(text) is not None), len(texts))
    sees_all = bool(_FD_ALL & set(texts[:end])) or any(
        text[:1] == "-" != text[1:2] and set(text[1:]) & set("Hu") for text in texts[:end]
    )
    only = [value for option, value in pairwise(texts[:end]) if option in {"-e", "--extension"}]
    return Reading(
        paths=(Word("."),),
        is_recursive=True,
        only=tuple(f"*.{value.removeprefix('.')}" for value in only),
        skips_hidden=not sees_all,
    )
