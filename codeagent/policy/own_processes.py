"""Which processes a ``kill`` names that this agent surely started: the line's own, and its descendants."""

from __future__ import annotations

import os
import re
from pathlib import Path

from codeagent.policy.commands import Analysis
from codeagent.policy.effort import spend
from codeagent.policy.shell_words import Word

_JOB = re.compile(r"%(?:\d+|[%+-])")
_LAST = re.compile(r"-?\"?\$!\"?|\"?\$\(jobs -p\)\"?")
_SHELL = re.compile(r"-?\"?\$\$\"?")
_VARIABLE = re.compile(r"-?\"?\$(?:\{(\w+)\}|(\w+))\"?")
_MOST_ANCESTORS = 50


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


def _descends(pid: int, ancestor: int) -> bool:
    """Whether a process comes of another, as /proc tells; False where there is none."""
    for _ in range(_MOST_ANCESTORS):
        if pid <= 1:
            return False
        try:
            status = (Path("/proc") / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
            pid = int(status.rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            return False
        if pid == ancestor:
            return True
    return False
