"""Which processes a ``kill`` names that this agent surely started: the line's own, and its descendants.

And which end everything, codeagent with it.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from codeagent.policy.beyond_sandbox import ends_own, kill_targets
from codeagent.policy.commands import Analysis
from codeagent.policy.effort import spend
from codeagent.policy.shell_words import Word, one_by_one
from codeagent.policy.wrappers import base_name

_JOB = re.compile(r"%(?:\d+|[%+-])")
_LAST = re.compile(r"-?\"?\$!\"?|\"?\$\(jobs -p\)\"?")
_SHELL = re.compile(r"-?\"?\$\$\"?")
_VARIABLE = re.compile(r"-?\"?\$(?:\{(\w+)\}|(\w+))\"?")
_BY_NAME = frozenset({"pkill", "killall", "skill"})
_HOW = re.compile(r"-(?:\d+|(?:SIG)?[A-Z][A-Z0-9+-]{2,}|[fxnoieacq]+|-(?:full|exact|newest|oldest|ignore-case|echo))")
_PLAIN_NAME = re.compile(r"[\w ./:=@-]+")
_MOST_ANCESTORS = 50
_KEEPER = "keeper_program.py"
_UNKNOWN = "which processes it ends is only known when it runs."
_ENDS_ALL = "it would end codeagent itself, or every program of yours."


class OwnProcesses:
    """Answers for the words of one line."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis

    def holds(self, word: Word) -> bool:
        """Whether a word of ``kill`` is the line's own shell, a job of it, or a process below this one."""
        if word.is_fixed and _JOB.fullmatch(word.text):
            return True
        if word.is_fixed:
            return word.text.isdecimal() and _descends(int(word.text), os.getpid())
        if _SHELL.fullmatch(word.text):
            return True
        if _LAST.fullmatch(word.text):
            return self._analysis.has_jobs
        variable = _VARIABLE.fullmatch(word.text)
        return variable is not None and self._is_background(variable[1] or variable[2])

    def ends_all(self, words: Sequence[Word], *, is_confined: bool) -> str:
        """Why a command may end codeagent or whatever runs, which no rule lets through; empty where it does not.

        Where nothing confines it what is not known is let through: nobody opens a wall for it.
        """
        name = base_name(words[0].text).casefold() if words and words[0].is_fixed else ""
        if name == "kill":
            targets = list(one_by_one(kill_targets(words[1:])))
            if any(word.is_fixed and _is_all_or_self(word.text) for word in targets):
                return _ENDS_ALL
            return _UNKNOWN if is_confined and not all(one.is_fixed or self.holds(one) for one in targets) else ""
        if name not in _BY_NAME or ends_own(name, words[1:], self.holds):
            return ""
        named = [word for word in words[1:] if not _HOW.fullmatch(word.text)]
        return "" if named and all(word.is_fixed and _is_another(word.text) for word in named) else _ENDS_ALL

    def _is_background(self, name: str) -> bool:
        """Whether a variable is set once in the line, to the process that was just put in the background."""
        commands = tuple(self._analysis.everything())
        spend(len(commands))
        setters = [
            command.simple.source
            for command in commands
            if any(one.name.partition("[")[0] == name for one in command.simple.assignments)
            or (command.simple.name in {"read", "for", "export", "declare", "local"} and name in command.simple.source)
        ]
        return self._analysis.has_jobs and setters == [f"{name}=$!"]


def _is_all_or_self(text: str) -> bool:
    """Whether a word of ``kill`` is all processes, the first of them, or codeagent, its group, what it came of."""
    try:
        number = int(text)
    except ValueError:
        return False
    pid = abs(number)
    if pid == 1 or pid in {os.getpid(), os.getpgrp(), os.getppid()} or _descends(os.getpid(), pid):
        return True
    return _KEEPER in _said_of(pid, "cmdline")


def _is_another(pattern: str) -> bool:
    """Whether a plain name is surely none that codeagent and its keeper go by."""
    if not _PLAIN_NAME.fullmatch(pattern) or pattern.startswith("-"):
        return False
    return not re.search(
        pattern, " ".join((*sys.orig_argv, str(Path(sys.executable).resolve()), _KEEPER, "codeagent")), re.IGNORECASE
    )


def _said_of(pid: int, what: str) -> str:
    """A file of a process in /proc; empty where there is none."""
    try:
        return (Path("/proc") / str(pid) / what).read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return ""


def _descends(pid: int, ancestor: int) -> bool:
    """Whether a process comes of another, as /proc tells; False where there is none."""
    for _ in range(_MOST_ANCESTORS):
        if pid <= 1:
            return False
        try:
            pid = int(_said_of(pid, "stat").rpartition(")")[2].split()[1])
        except (ValueError, IndexError):
            return False
        if pid == ancestor:
            return True
    return False
