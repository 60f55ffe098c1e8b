"""Leaves out of a destructive command what surely is not there: nothing would be lost of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from codeagent.policy.commands import Analysis, Command
from codeagent.policy.destructive_git import given_options
from codeagent.policy.effort import spend
from codeagent.policy.shell_words import Word
from codeagent.policy.wrappers import base_name

_ON_FILES = {
    **dict.fromkeys(("rm", "shred", "srm", "truncate"), 0),
    **dict.fromkeys(("chmod", "chown", "chgrp"), 1),
}
"""Programs whose operands are files, with how many others they have before those."""

_MOST_LOOKED_AT = 50
_THEN = ("&&", "||", ";", "\n")


def commands_ahead(analysis: Analysis, changes: Callable[[Command], str]) -> Iterator[Command]:
    """The commands that a line begins with before any could make a file, so that they find what is there now.

    ``changes`` says why a command may change something; one that deletes does not make anything. Where something
    runs beside them, or they stand in a loop or a function, there are none.
    """
    if analysis.is_opaque or analysis.runs_on:
        return
    text = analysis.text
    for command in analysis.commands:
        source, text = command.simple.source, text.lstrip()
        rest = text.removeprefix(source).lstrip(" \t")
        if not text.startswith(source) or (rest and not rest.startswith(_THEN)):
            return
        yield command
        if changes(command) and base_name(command.simple.name) != "rm":
            return
        text = rest.lstrip("&|;\n \t")


def without_absent(command: Command, folder: Path) -> Command:
    """The command without the operands that are not there in ``folder``, without words where none is left."""
    words = command.words
    name = base_name(command.simple.name)
    if command.inner or not words:
        return command
    if name == "dd":
        kept = tuple(word for word in words if not (word.text.startswith("of=") and _is_absent(word, folder, "of=")))
        return _with_words(command, kept)
    before = _ON_FILES.get(name)
    operands = given_options(words[1:])[1]
    if before is None or len(operands) > _MOST_LOOKED_AT:
        return command
    absent = {id(word) for word in operands[before:] if not word.text.startswith("-") and _is_absent(word, folder)}
    if absent and len(absent) == len(operands[before:]):
        return _with_words(command, ())
    return _with_words(command, tuple(word for word in words if id(word) not in absent))


def _with_words(command: Command, words: tuple[Word, ...]) -> Command:
    return replace(command, simple=replace(command.simple, words=words))


def _is_absent(word: Word, folder: Path, prefix: str = "") -> bool:
    """Whether a word surely names nothing; where that cannot be looked up it may."""
    if not word.is_fixed:
        return False
    spend(1)
    try:
        (folder / word.text.removeprefix(prefix)).lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    return False
