"""Secrets that code names: ``python3 -c "open('.env')"``, a here-document for a shell, ``trap "cat .env" EXIT``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from codeagent.core.approvals import Decision
from codeagent.policy.commands import Analysis, Command
from codeagent.policy.finding import Finding, ask_each_time
from codeagent.policy.named_paths import NamedPaths
from codeagent.policy.read_only import reading
from codeagent.policy.reading import Reading
from codeagent.policy.shell_words import Word
from codeagent.policy.wrappers import INTERPRETERS, SHELLS, base_name
from codeagent.workspace.git_places import is_there

_NAME = r"[\w@%+:,./~-]+"
_QUOTED = re.compile(rf"(?<=['\"]){_NAME}(?=['\"])")
_BARE = re.compile(_NAME)
_CODE = re.compile(r"[\s('\"]")
_SHELL_LIKE = SHELLS | {"trap", "eval", "source", ".", "sqlite3", "psql", "mysql", "vim", "vi", "ex", "ed", "make"}
_MOST_NAMES = 5_000


class FilesInCode:
    """Answers for the commands of one line; ``paths`` knows where they run and what stands against a file."""

    def __init__(self, analysis: Analysis, paths: NamedPaths) -> None:
        self._analysis = analysis
        self._paths = paths

    def by(self, command: Command) -> Iterator[Finding]:
        """What stands against the existing files that the code given to a command names."""
        name = base_name(command.simple.name)
        if name not in INTERPRETERS | _SHELL_LIKE or isinstance(reading(command.words), Reading):
            return
        pattern = _BARE if name in _SHELL_LIKE else _QUOTED
        folders = self._paths.folders(command.simple.places)
        found = (text for code in self._texts(command, name) for text in pattern.findall(code))
        names = [text for text in islice(found, _MOST_NAMES) if any(is_there(folder / text) for folder in folders)]
        for finding in self._paths.read(Reading(paths=tuple(map(Word, dict.fromkeys(names)))), command.simple.places):
            if finding.each_time or finding.decision is Decision.DENY:
                yield ask_each_time(finding.because)

    def _texts(self, command: Command, name: str) -> Iterator[str]:
        """The code: of its words, of its input, and for a shell also what the line prints."""
        yield from (word.text for word in command.words[1:] if _CODE.search(word.text))
        yield from command.simple.fed
        if name in SHELLS and not any(_CODE.search(word.text) for word in command.words[1:]):
            for other in self._analysis.everything():
                if other.simple.name in {"echo", "printf"}:
                    yield from (word.text for word in other.words[1:])
