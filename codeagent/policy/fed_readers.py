"""Secrets that one command of a line names and another one reads: ``find . -name .env | xargs cat`` and its kind."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

from codeagent.core.approvals import Decision
from codeagent.policy.commands import Analysis, Command
from codeagent.policy.finding import Finding, ask_each_time
from codeagent.policy.found_files import FINDERS, found_by, shows_names_only
from codeagent.policy.named_paths import NamedPaths
from codeagent.policy.reading import Reading
from codeagent.policy.shell_words import Word
from codeagent.policy.wrappers import ANYTHING, base_name

_VARIABLE = re.compile(r"\$\{?([A-Za-z_]\w*)")
_ENDING = re.compile(r"\*(\.\w+)")
_NOT_READERS = FINDERS | frozenset({"xargs", "for", "read", "cd", "export", "wc", "ls", "git", "seq", "sleep"})
_ALL = (ANYTHING,)  # of git's files their names count, and not what it would show of them
_HERE = (Word("."),)


class FedReaders:
    """Answers for the commands of one line; ``paths`` knows where they run and what stands against a file."""

    def __init__(self, analysis: Analysis, paths: NamedPaths) -> None:
        self._analysis = analysis
        self._paths = paths

    def by(self, command: Command) -> Iterator[Finding]:
        """What stands against the names that the command gives, where another one of the line may read such files."""
        if not self._unseen:
            return
        for named in self._named(command):
            if self._is_plainly_harmless(named):
                continue
            for finding in self._paths.read(named, command.simple.places):
                if finding.each_time or finding.decision is Decision.DENY:
                    yield ask_each_time(finding.because)  # what lies between the two may leave files out

    @cached_property
    def _unseen(self) -> tuple[Word, ...]:
        """The words of reading commands of which it is only known when they run which files they stand for."""
        return tuple(
            word
            for command in self._analysis.everything()
            if command.words
            and base_name(command.simple.name) not in _NOT_READERS
            and not shows_names_only(command.words)
            for word in command.words[1:]
            if not (word.is_known or word.values) and _is_fed(word)
        )

    def _named(self, command: Command) -> Iterator[Reading]:
        words = command.words
        for setting in command.simple.assignments:
            if setting.value:
                yield Reading(paths=(Word(setting.value),))
        if not words or not words[0].is_fixed:
            return
        name, texts = base_name(words[0].text), [word.text for word in words[1:]]
        if name in FINDERS:
            yield found_by(words)
        elif name in {"echo", "printf"} and ANYTHING in self._unseen:
            yield Reading(paths=tuple(words[1:]))
        elif name == "ls" and (listed := _listed(words)):
            yield listed
        elif name == "git" and texts[:1] == ["ls-files"]:
            has_others = any(text in {"-o", "--others"} or re.fullmatch(r"-[a-z]*o[a-z]*", text) for text in texts)
            operands = tuple(word for word in words[2:] if not word.text.startswith("-"))
            where = operands or _HERE
            yield Reading(paths=where, is_recursive=has_others, shows_tracked=True, limits=operands, git_words=_ALL)

    def _is_plainly_harmless(self, named: Reading) -> bool:
        """Whether only files with endings are named that no secret has, which need not be looked for."""
        endings = [_ENDING.fullmatch(pattern) for pattern in named.only]
        return bool(endings) and all(found and self._paths.is_free(Path(f"a{found[1]}")) for found in endings)


def _is_fed(word: Word) -> bool:
    """Whether a word stands for what another command said, and not for a variable of the environment."""
    variables = _VARIABLE.findall(word.text)
    return not variables or "`" in word.text or "$(" in word.text or any(not name.isupper() for name in variables)


def _listed(words: Sequence[Word]) -> Reading | None:
    """What ``ls`` names: a folder's files, hidden ones only when it is told to; with ``-l`` its lines are no names."""
    letters = {letter for word in words[1:] if word.text[:1] == "-" != word.text[1:2] for letter in word.text[1:]}
    longs = {word.text for word in words[1:] if word.text.startswith("--")}
    if "l" in letters:
        return None
    return Reading(
        paths=tuple(word for word in words[1:] if not word.text.startswith("-")) or _HERE,
        is_recursive=True,
        is_shallow="R" not in letters and "--recursive" not in longs,
        skips_hidden=not (letters & set("aAf") or longs & {"--all", "--almost-all"}),
    )
