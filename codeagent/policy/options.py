"""Reads a program's options by a list of those it may get; anything else is named as unknown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from codeagent.policy.shell_words import Word

_COUNT = re.compile(r"-\d+")
GIT_VALUED = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"})
"""Git's own options that take the next word along."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """Options that a program may get.

    ``flags`` and ``valued`` are single letters, the latter followed by a value;
    ``longs`` may have a value behind ``=``, ``long_valued`` have one in any case.
    Those in ``paths`` (letters and long names) name a file in their value.
    ``counts`` allows a bare number such as ``-20``.
    """

    flags: str
    valued: str
    longs: frozenset[str]
    long_valued: frozenset[str]
    paths: frozenset[str]
    counts: bool


@dataclass(frozen=True, slots=True)
class Given:
    """The options and operands of one command; ``values`` holds pairs of option and value.

    ``late`` are words behind the first operand that are values: programs that take options only
    before it see files in them.
    """

    names: frozenset[str]
    values: tuple[tuple[str, Word], ...]
    operands: tuple[Word, ...]
    after_dashes: int
    late: tuple[Word, ...] = ()

    @property
    def paths(self) -> tuple[Word, ...]:
        """The operands that stand behind ``--``."""
        return self.operands[self.after_dashes :]

    def of(self, *names: str) -> tuple[Word, ...]:
        """The values of the options of these names."""
        return tuple(value for name, value in self.values if name in names)


def names(text: str) -> frozenset[str]:
    """A set of words written with blanks between them."""
    return frozenset(text.split())


def allow(
    flags: str = "", valued: str = "", longs: str = "", long_valued: str = "", paths: str = "", *, counts: bool = False
) -> Allowed:
    """What ``Allowed`` says, long names written with blanks between them."""
    return Allowed(
        flags=flags,
        valued=valued,
        longs=names(longs),
        long_valued=names(long_valued),
        paths=names(paths),
        counts=counts,
    )


def split_git(
    words: Sequence[Word], valued: frozenset[str] = GIT_VALUED
) -> tuple[list[tuple[str, str]], Sequence[Word]]:
    """The options of git's own among the words behind ``git``, and the words from its command on.

    Each with the word that it takes along, for those that are ``valued``, and else with an empty text.
    """
    options: list[tuple[str, str]] = []
    at = 0
    while at < len(words) and words[at].text.startswith("-"):
        text, width = words[at].text, 2 if words[at].text in valued else 1
        options.append((text, "".join(word.text for word in words[at + 1 : at + width])))
        at += width
    return options, words[at:]


def read_options(words: Sequence[Word], allowed: Allowed) -> Given | str:
    """Tells options and operands apart, or names the first option that is not allowed.

    A word that is not known before it runs counts as an operand: who judges the
    operands must refuse it where it could be an option.
    """
    seen: set[str] = set()
    values: list[tuple[str, Word]] = []
    operands: list[Word] = []
    late: list[Word] = []
    at = 0
    while at < len(words):
        word = words[at]
        text = word.text
        at += 1
        if not text.startswith("-") or text == "-":
            operands.append(word)
        elif not word.is_known or (word.glob and not _is_plain_glob(word, allowed)):
            return f"{text} is not known before it runs"
        elif text == "--":
            break
        elif allowed.counts and _COUNT.fullmatch(text):
            seen.add("number")
        else:
            taken = _long(text, words[at:], allowed, seen, values) if text.startswith("--") else None
            if taken is None:
                taken = _short(text, words[at:], allowed, seen, values)
            if taken is None:
                return f"{text} is not known to be harmless"
            late += words[at : at + taken] if operands else ()
            at += taken
    return Given(frozenset(seen), tuple(values), (*operands, *words[at:]), len(operands), tuple(late))


def _is_plain_glob(word: Word, allowed: Allowed) -> bool:
    """``--include=*.py``: file names can only take its place by giving the same option another harmless value."""
    name, equals, _ = word.text.partition("=")
    return bool(equals) and name.startswith("--") and name[2:] in (allowed.longs | allowed.long_valued) - allowed.paths


def _long(
    text: str, rest: Sequence[Word], allowed: Allowed, seen: set[str], values: list[tuple[str, Word]]
) -> int | None:
    """Takes ``--name``, ``--name=value`` or ``--name value``; how many further words that took."""
    name, equals, value = text[2:].partition("=")
    if name not in allowed.longs and name not in allowed.long_valued:
        return None
    seen.add(name)
    if equals:
        values.append((name, Word(value)))
    elif name in allowed.long_valued:
        if not rest or rest[0].may_split:
            return None
        values.append((name, rest[0]))
        return 1
    return 0


def _short(
    text: str, rest: Sequence[Word], allowed: Allowed, seen: set[str], values: list[tuple[str, Word]]
) -> int | None:
    """Takes a cluster such as ``-la`` or ``-n5``; how many further words that took."""
    for at in range(1, len(text)):
        letter = text[at]
        if letter in allowed.valued:
            seen.add(letter)
            if at + 1 < len(text):
                values.append((letter, Word(text[at + 1 :])))
                return 0
            if not rest or rest[0].may_split:
                return None
            values.append((letter, rest[0]))
            return 1
        if letter not in allowed.flags:
            return None
        seen.add(letter)
    return 0
