"""What a person was asked about, and whether a yes to it still holds: where a command's words lead, what it runs."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from codeagent.core.approvals import ApprovalRequest, Decision, Mode, Verdict
from codeagent.core.protocols import Allowed, Plan
from codeagent.core.values import value
from codeagent.policy.command_case import CommandCase
from codeagent.policy.commands import Command
from codeagent.policy.effort import spend
from codeagent.policy.named_paths import NamedPaths
from codeagent.policy.shell_script import Direction
from codeagent.policy.shell_words import Word
from codeagent.policy.surely_written import is_clear, text_of
from codeagent.policy.wrappers import INTERPRETERS, base_name

_MOST_PLACES = 200
_RESOLVED = 5
_BEFORE_PATTERN = re.compile(r"(?:[^*?\[]*/)?")
_MOST_RUN = 200
_READ_BY_THEMSELVES = {
    "make": ("GNUmakefile", "makefile", "Makefile"),
    **dict.fromkeys(("npm", "npx", "yarn", "pnpm", "bun"), ("package.json",)),
}
_RUNNING = INTERPRETERS | _READ_BY_THEMSELVES.keys() | {"source", ".", "xargs", "parallel", "env"}

LedTo = Mapping[str, tuple[str, object]]
"""For each path that is named, where that really is, and which folder stands there, if one does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """What the words of a command come to by the files as they were looked at."""

    verdict: Verdict
    overlooked: tuple[str, ...]
    files_run: object
    led_to: LedTo | None

    def is_still(self, now: Meaning) -> bool:
        """Whether nothing more would be asked about; a rule that allows a part of it by now changes nothing."""
        asks = {part for part in now.verdict.parts if part.decision is not Decision.ALLOW}
        return (
            asks <= set(self.verdict.parts)
            and (bool(now.verdict.parts) or now.verdict.because == self.verdict.because)
            and now.overlooked == self.overlooked
            and now.files_run == self.files_run
            and not _leads_elsewhere(self.led_to, now.led_to)
        )


def meaning_of(case: CommandCase | None) -> Meaning | None:
    """The meaning of a command; None for other calls, which a plan says all about."""
    if case is None:
        return None
    return Meaning(
        verdict=case.verdict,
        overlooked=case.overlooked,
        files_run=case.seen_by(_files_run),
        led_to=case.seen_by(_led_to),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked, in which mode, and what the call came to when it was."""

    request: ApprovalRequest
    mode: Mode
    meaning: Meaning | None
    why_again: str = ""

    def is_still(self, now: Meaning | None) -> bool:
        """Whether the call would still do what was asked about."""
        if self.meaning is None or now is None:
            return self.meaning is now
        return self.meaning.is_still(now)


@value
class Yes(Allowed):
    """A person let the call run, as it was when ``question`` was asked."""

    question: Question

    def holds(self, plan: Plan, question: Question) -> bool:
        """Whether that is what would be asked about now, and nothing more would be warned of.

        Of a command that is too much to look at nobody can tell.
        """
        is_told = question.meaning is None or question.meaning.led_to is not None
        warned = set(self.question.request.warnings) | {self.question.why_again, question.why_again}
        return (
            is_told
            and self.plan.preview == plan.preview
            and warned.issuperset(question.request.warnings)
            and self.question.is_still(question.meaning)
        )


class Again:
    """The person changed the call, or the files that it is about changed, so it is judged anew."""

    __slots__ = ("plan", "why")

    def __init__(self, plan: Plan, why: str = "") -> None:
        self.plan, self.why = plan, why


def _files_run(commands: Iterable[Command], paths: NamedPaths) -> tuple[tuple[str, object], ...]:
    """The files that the line runs, or gives to what may run them, each with what tells it from another one.

    That is programs with a path, and where an interpreter is in the line every file that the line names.
    """
    every = [inner for command in commands for inner in command.everything()]
    kinds = {base_name(inner.simple.name).rstrip("0123456789.") or inner.simple.name for inner in every}
    runs = not _RUNNING.isdisjoint(kinds)
    beside = list(chain.from_iterable(_READ_BY_THEMSELVES.get(kind, ()) for kind in kinds))
    found: dict[Path, None] = {}
    for inner in every:
        texts = [text_of(word) for at, word in enumerate(inner.words) if is_clear(word) and (runs or not at)]
        if not runs:
            texts = [text for text in texts if "/" in text]
        opened = [one.target for one in inner.simple.redirections if one.direction is Direction.READS]
        texts += [text_of(target) for target in opened if is_clear(target)]
        for folder in paths.folders(inner.simple.places):
            found.update((folder / text, None) for text in (*texts, *beside) if text and "\0" not in text)
    spend(_RESOLVED * min(len(found), _MOST_RUN))
    return tuple((str(path), known) for path in islice(found, _MOST_RUN) if (known := _told_by(path)))


def _told_by(path: Path) -> object:
    """What differs between two files, or one before and after it was changed; None where no file is."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    is_file = stat.S_ISREG(status.st_mode)
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns) if is_file else None


def _led_to(commands: Iterable[Command], paths: NamedPaths) -> LedTo:
    """Where the first paths lead that the line names, patterns by the folder that they begin in."""
    every = chain.from_iterable(command.everything() for command in commands)
    named = chain.from_iterable(_named(inner, paths) for inner in every)
    found = dict.fromkeys(islice(named, _MOST_PLACES))
    spend(_RESOLVED * len(found))
    return {path: _there(path) for path in found}


def _leads_elsewhere(asked: LedTo | None, now: LedTo | None) -> bool:
    """Whether a path leads to another place by now, or to another folder; what was not there may have come.

    What was not looked at lies in a folder that has come since, and that is a word of the line itself.
    """
    if asked is None or now is None:
        return asked is not now
    return any(
        was_real != now[path][0] or (folder is not None and folder != now[path][1])
        for path, (was_real, folder) in asked.items()
        if path in now
    )


def _named(inner: Command, paths: NamedPaths) -> Iterator[str]:
    words = (*inner.words[1:], *(one.target for one in inner.simple.redirections))
    texts = [text for word in words if (text := _text(word)) and "\0" not in text]
    for folder in paths.folders(inner.simple.places):
        yield str(folder)
        yield from (str(folder / text) for text in texts)


def _text(word: Word) -> str:
    """The path that a word may be, without the name of an option before it."""
    if not word.is_known:
        return ""
    text = str(Path.home()) + word.text[1:] if word.has_tilde and word.text[1:2] in {"", "/"} else word.text
    if text.startswith("-"):
        text = text.partition("=")[2]
    found = _BEFORE_PATTERN.match(text) if word.glob else None
    return (found[0] or ".") if found else text


def _there(path: str) -> tuple[str, object]:
    try:
        real = Path(path).resolve()
        status = real.stat() if real.is_dir() else None
    except (OSError, RuntimeError, ValueError):  # a circle of links, or no path at all
        return path, None
    return str(real), (status.st_dev, status.st_ino) if status else None
