"""Secrets that code names: ``python3 -c "open('.env')"``, a here-document for a shell, ``trap "cat .env" EXIT``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from codeagent.core.approvals import Decision
from codeagent.policy.commands import Analysis, Command
from codeagent.policy.finding import Finding, ask_each_time
from codeagent.policy.named_paths import NamedPaths
from codeagent.policy.read_only import reading
from codeagent.policy.reading import Reading
from codeagent.policy.shell_script import Places
from codeagent.policy.shell_words import Word
from codeagent.policy.wrappers import INTERPRETERS, SHELLS, base_name
from codeagent.workspace.git_places import is_there

_NAME = r"[\w@%+:,./~-]+"
_QUOTED = re.compile(rf"(?<=['\"]){_NAME}(?=['\"])")
_BARE = re.compile(_NAME)
_CODE = re.compile(r"[\s('\"]")
_SHELL_LIKE = SHELLS | {"trap", "eval", "source", ".", "sqlite3", "psql", "mysql", "vim", "vi", "ex", "ed", "make"}
_MOST_NAMES = 20_000
_TOO_MANY = "the code that it is given names more files than can be looked at."


class FilesInCode:
    """Answers for the commands of one line; ``paths`` knows where they run and what stands against a file."""

    def __init__(self, analysis: Analysis, paths: NamedPaths) -> None:
        self._analysis = analysis
        self._paths = paths
        self._answers: dict[tuple[re.Pattern[str], str, Places | None], tuple[Finding, ...]] = {}
        self._names_left = _MOST_NAMES

    def by(self, command: Command) -> Iterator[Finding]:
        """What stands against the existing files that the code given to a command names."""
        name = base_name(command.simple.name)
        if name not in INTERPRETERS | _SHELL_LIKE or isinstance(reading(command.words), Reading):
            return
        pattern, places = _BARE if name in _SHELL_LIKE else _QUOTED, command.simple.places
        for code in self._codes(command, name):
            if (pattern, code, places) not in self._answers:
                self._answers[pattern, code, places] = tuple(self._in_code(pattern, code, places))
            yield from self._answers[pattern, code, places]

    def _in_code(self, pattern: re.Pattern[str], code: str, places: Places | None) -> Iterator[Finding]:
        folders = self._paths.folders(places)
        names = dict.fromkeys(pattern.findall(code))
        self._names_left -= len(names) * len(folders)
        if self._names_left < 0:
            yield ask_each_time(_TOO_MANY)
            return
        found = [Word(text) for text in names if any(is_there(folder / text) for folder in folders)]
        for finding in self._paths.read(Reading(paths=tuple(found)), places):
            if finding.each_time or finding.decision is Decision.DENY:
                yield ask_each_time(finding.because)

    def _codes(self, command: Command, name: str) -> Iterator[str]:
        """The code: of its words, of its input, and for a shell also what the line prints."""
        yield from (word.text for word in command.words[1:] if _CODE.search(word.text))
        yield from command.simple.fed
        if name in SHELLS and not any(_CODE.search(word.text) for word in command.words[1:]):
            yield self._printed

    @cached_property
    def _printed(self) -> str:
        printing = (found for found in self._analysis.everything() if found.simple.name in {"echo", "printf"})
        return "\n".join(word.text for found in printing for word in found.words[1:])
