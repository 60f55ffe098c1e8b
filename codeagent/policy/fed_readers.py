"""Secrets that one command of a line names and another one reads: ``find . -name .env | xargs cat`` and its kind."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

from codeagent.core.approvals import Decision
from codeagent.policy.commands import Analysis, Command
from codeagent.policy.effort import spend
from codeagent.policy.finding import Finding, ask_each_time
from codeagent.policy.found_files import FINDERS, found_by, shows_names_only
from codeagent.policy.named_paths import NamedPaths
from codeagent.policy.path_words import candidates
from codeagent.policy.reading import Reading
from codeagent.policy.shell_expansions import RUNS_IN_WORD
from codeagent.policy.shell_script import Direction
from codeagent.policy.shell_words import Word
from codeagent.policy.trees import whole_reading
from codeagent.policy.wrappers import ANYTHING, base_name
from codeagent.workspace.git_places import is_there

_VARIABLE = re.compile(r"\$\{?([A-Za-z_]\w*)")
_ENDING = re.compile(r"\*(\.\w+)")
_NOT_READERS = FINDERS | frozenset({"xargs", "for", "read", "cd", "export", "wc", "ls", "git", "seq", "sleep"})
_KEEPING = frozenset({"read", "mapfile", "readarray"})
_PARTS = re.compile(r"(?:\s|\\[0nt]|\0)+")
_PROSE = re.compile(r"<<.*\n(?:\S*\s+){10}", re.DOTALL)
_LARGEST_LIST = 500_000
_BYTES_IN_ONE = 500
_MOST_LISTS = 50
_FROM_LIST = Word("what stands in its list", is_known=False)
_LISTS = frozenset({ANYTHING, _FROM_LIST})
_LIST_OPTIONS = frozenset({"--files-from", "--files0-from", "--pathspec-from-file"})
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
            if isinstance(named, Finding):
                yield named
                continue
            if self._is_plainly_harmless(named):
                continue
            for finding in self._paths.read(named, command.simple.places):
                if finding.each_time or finding.decision is Decision.DENY:
                    yield ask_each_time(finding.because)  # what lies between the two may leave files out

    @cached_property
    def _unseen(self) -> dict[Word, None]:
        """The words of reading commands of which it is only known when they run which files they stand for."""
        return dict.fromkeys(
            word
            for command in self._analysis.everything()
            if command.words
            and base_name(command.simple.name) not in _NOT_READERS
            and not shows_names_only(command.words)
            for word in (*command.words[1:], *_listed_elsewhere(command.words))
            if not (word.is_known or word.values) and _is_fed(word)
        )

    @cached_property
    def _takes_lists(self) -> bool:
        """Whether what stands in a file, or in a text for the input, may be the names of the files that are read."""
        names = (base_name(command.simple.name) for command in self._analysis.everything())
        return (
            any(word in _LISTS for word in self._unseen)
            or any(problem.reason == RUNS_IN_WORD for problem in self._analysis.doubts)
            or not _KEEPING.isdisjoint(names)
        )

    def _named(self, command: Command) -> Iterator[Reading | Finding]:
        words, folders = command.words, self._paths.folders(command.simple.places)
        for setting in command.simple.assignments:
            if setting.value:
                yield Reading(paths=(Word(setting.value),))
            elif setting.value is None:
                text = command.simple.source.partition("=")[2]
                listed = _files(_PARTS.split(text.strip("()")), folders)
                yield Reading(paths=(Word(text, is_known=False), *listed))
        if self._takes_lists:
            yield from self._in_lists(command)
        if not words or not words[0].is_fixed:
            return
        name, texts = base_name(words[0].text), [word.text for word in words[1:]]
        if name in FINDERS:
            yield found_by(words)
        elif name in {"echo", "printf", "set"}:
            parts = [part for text in texts for part in _PARTS.split(text) if text != part]
            yield Reading(paths=(*words[1:], *_files(parts, folders)))
        elif name == "ls" and (listed := _listed(words)):
            yield listed
        elif name == "git" and texts[:1] == ["ls-files"]:
            has_others = any(text in {"-o", "--others"} or re.fullmatch(r"-[a-z]*o[a-z]*", text) for text in texts)
            operands = tuple(word for word in words[2:] if not word.text.startswith("-"))
            where = operands or _HERE
            yield Reading(paths=where, is_recursive=has_others, shows_tracked=True, limits=operands, git_words=_ALL)

    def _in_lists(self, command: Command) -> Iterator[Reading | Finding]:
        """The files whose names stand in the texts that the command is given to read, and in the files."""
        simple, folders = command.simple, self._paths.folders(command.simple.places)
        yield Reading(paths=_files([part for text in simple.fed for part in _PARTS.split(text)], folders))
        named = [one.target.text for one in simple.redirections if one.direction is Direction.READS]
        is_reader = not self._unseen.keys().isdisjoint(simple.words)
        if base_name(simple.name) not in _NOT_READERS - {"xargs"} and not is_reader:
            named += [text for word in simple.words[1:] if word.is_known for text in candidates(word)]
        for folder in folders:
            for text in named[:_MOST_LISTS]:
                lines = _lines(folder / text)
                if lines is None and (simple.name == "xargs" or _listed_elsewhere(simple.words)):
                    yield ask_each_time(f"{text} is too long a list of files to be looked through.")
                yield from (Reading(paths=found) for line in lines or () if (found := _listed_in(line, folder)))

    def _is_plainly_harmless(self, named: Reading) -> bool:
        """Whether only files with endings are named that no secret has, which need not be looked for."""
        endings = [_ENDING.fullmatch(pattern) for pattern in named.only]
        return bool(endings) and all(found and self._paths.is_free(Path(f"a{found[1]}")) for found in endings)


def _is_fed(word: Word) -> bool:
    """Whether a word stands for what another command said, and not for a variable of the environment."""
    variables = _VARIABLE.findall(word.text)
    if not word.may_split and _PROSE.search(word.text):
        return False  # a text of many words, such as the description of a change
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


def _listed_elsewhere(words: Sequence[Word]) -> tuple[Word, ...]:
    """A word for the files whose names a command reads from elsewhere: ``tar -T list`` and its kind."""
    whole = whole_reading(words)
    from_list = whole is not None and not all(word.is_known or word in words for word in whole.paths)
    options = any(word.text.partition("=")[0] in _LIST_OPTIONS for word in words[1:])
    return (_FROM_LIST,) if from_list or options else ()


def _files(texts: Sequence[str], folders: Sequence[Path]) -> tuple[Word, ...]:
    """Those that are the name of a file."""
    plain = dict.fromkeys(text.strip("\"'") for text in texts)
    spend(len(plain) * len(folders))
    return tuple(Word(text) for text in plain if text and any(is_there(folder / text) for folder in folders))


def _listed_in(line: str, folder: Path) -> tuple[Word, ...]:
    """The files that a line of a list names; none when there are other words in it, as in prose."""
    names = [text for part in _PARTS.split(line) if (text := part.strip("\"'"))]
    spend(len(names))
    return tuple(map(Word, names)) if all(is_there(folder / name) for name in names) else ()


def _lines(path: Path) -> list[str] | None:
    """The lines of a file that may be a list; None when it is too long for one to be looked through."""
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            return []
        if found.st_size > _LARGEST_LIST:
            return None
        spend(found.st_size // _BYTES_IN_ONE)
        return path.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except (OSError, ValueError):
        return []
