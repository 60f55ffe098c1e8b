"""Which commands have services and other processes outside of the sandbox in reach: those that name them.

The sandbox hides such services from all others: a name that code puts together, a script, a build.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from codeagent.core.approvals import Decision
from codeagent.policy.beyond_sandbox import OUTSIDE, beyond_sandbox
from codeagent.policy.commands import Analysis, Command
from codeagent.policy.options import names
from codeagent.policy.real_programs import own_program
from codeagent.policy.shell_words import Word
from codeagent.policy.wrappers import base_name

_ASKED_ABOUT = OUTSIDE | names("gh glab secret-tool notify-send xclip xsel wl-copy wl-paste snap flatpak virsh nmcli")
"""Some need a service although nobody has to be asked for its sake: a store of keys, the clipboard."""


class NamedServices:
    """Answers for one line; ``is_own`` knows its processes, ``of_texts`` what it may run out of texts."""

    def __init__(
        self,
        analysis: Analysis,
        is_own: Callable[[Word], bool],
        of_texts: Callable[[Command], str],
        roots: Sequence[Path],
    ) -> None:
        self._analysis = analysis
        self._is_own = is_own
        self._of_texts = of_texts
        self._roots = roots

    def are_open(self, decision: Decision, changes: Callable[[Command], str]) -> bool:
        """Whether it runs with them in reach.

        With a yes to a question that could tell of them. Unasked, only where nothing else in the line could use
        them: all its commands are such programs by their bare names, or by ``changes`` only read.
        """
        commands = self._analysis.commands
        if decision is Decision.ASK:
            return any(map(self._is_named_in, commands))
        if decision is Decision.DENY or self._analysis.problems:
            return False
        others = [command for command in commands if not self._is_plain(command)]
        return len(others) < len(commands) and not any(map(changes, others))

    def _is_named_in(self, command: Command) -> bool:
        for found in command.everything():
            if base_name(found.simple.name).casefold() in _ASKED_ABOUT or beyond_sandbox(found.words, self._is_own):
                return True
        return bool(self._of_texts(command))

    def _is_plain(self, command: Command) -> bool:
        """Whether it is the program of that name as it was installed, and no other chosen by words around it."""
        words = command.words
        if not words or command.simple.assignments or any(found.problems for found in command.everything()):
            return False
        if not words[0].is_fixed or "/" in words[0].text or own_program(words[0].text, self._roots):
            return False
        return words[0].text in OUTSIDE
