"""A shell command taken apart, as plain values: its simple commands, their words, files and settings."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from codeagent.policy.shell_words import Word

Places = frozenset[tuple[Word, ...]]
"""Where a command may run: each a chain of the folders that ``cd`` was given before it."""

START: Places = frozenset({()})


@dataclass(frozen=True, slots=True)
class Problem:
    """Why it is not certain what a command does.

    ``is_hidden`` when commands may run that were not found, ``is_unread`` when that is because
    something was too much to look at, which anybody could bring about.
    """

    reason: str
    is_hidden: bool = False
    is_unread: bool = False

    @classmethod
    def unread(cls, reason: str) -> Problem:
        """A part of a command was not looked at."""
        return cls(reason, is_hidden=True, is_unread=True)


TOO_DEEP = Problem.unread("it is nested too deeply")
TOO_MANY = Problem.unread("it holds more commands and words than are looked at")


class Direction(StrEnum):
    """What a redirection does with its file."""

    READS = "reads"
    WRITES = "writes"
    APPENDS = "appends"


@dataclass(frozen=True, slots=True)
class Redirection:
    """A file that the shell itself opens for a command."""

    direction: Direction
    target: Word


@dataclass(frozen=True, slots=True)
class Assignment:
    """A variable that is set; ``value`` is None when it is not one known word."""

    name: str
    value: str | None


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """A program or builtin with its words, as it is written; ``words`` is empty for lone settings and redirections.

    ``fed`` are the texts of here-strings and here-documents, which it gets as its input.
    """

    words: tuple[Word, ...]
    source: str
    assignments: tuple[Assignment, ...] = ()
    redirections: tuple[Redirection, ...] = ()
    problems: tuple[Problem, ...] = ()
    places: Places | None = START
    fed: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The command word when it is known, else an empty string."""
        return self.words[0].text if self.words and self.words[0].is_fixed else ""


@dataclass(frozen=True, slots=True)
class Script:
    """Every simple command of a text, wherever the grammar can hide one, and what is uncertain about the whole.

    ``follows_loops``: some words say what the variable of a loop stands for. ``runs_on``: a
    part of it may still run when it is over.
    """

    commands: tuple[SimpleCommand, ...]
    problems: tuple[Problem, ...]
    follows_loops: bool = False
    runs_on: bool = False
