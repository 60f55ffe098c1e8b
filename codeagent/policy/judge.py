"""Decides about a shell command or a path by rules and mode, without asking anybody, and says why."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from codeagent.core.approvals import Access, ConcernKind, Decision, Mode, Touch, Verdict
from codeagent.policy.command_case import CommandCase, Surroundings
from codeagent.policy.commands import analyze
from codeagent.policy.named_paths import NamedPaths
from codeagent.policy.rules import RuleSet, path_pattern, remedy
from codeagent.policy.verdicts import joined, path_verdict
from codeagent.workspace.paths import PathSandbox

_LONGEST_READER = 8_000
"""Characters that are looked through while everything else waits: a few milliseconds."""
_MOST_READER_PIPES = 200


class Judge:
    """Applies the rules; pure but for looking at the file system."""

    def __init__(self, sandbox: PathSandbox, rules: RuleSet) -> None:
        self._sandbox = sandbox
        self._rules = rules

    def call(self, tool: str, touches: Sequence[Touch], around: Surroundings) -> Verdict:
        """The verdict on a call of any tool but the shell."""
        return joined([self.touch(tool, touch, around) for touch in touches]) if touches else self._tool(tool)

    def command(self, command: str, cwd: Path, around: Surroundings) -> Verdict:
        """The verdict on a shell command that starts in ``cwd``."""
        return self.examine(command, cwd, around).verdict

    def examine(self, command: str, cwd: Path, around: Surroundings) -> CommandCase:
        """A shell command with the ruling on each of its parts."""
        paths = NamedPaths(self._sandbox, self._rules, cwd)
        return CommandCase(analyze(command), self._rules, paths, around)

    def is_read_only(self, command: str, cwd: Path) -> bool:
        """Whether a shell command surely changes nothing, wherever it reads; quick: of a long one this is not sure."""
        if len(command) > _LONGEST_READER or command.count("|") > _MOST_READER_PIPES:
            return False
        case = self.examine(command, cwd, Surroundings(mode=Mode.PLAN))
        if case.analysis.is_opaque or not case.analysis.commands:
            return False
        return not any(case.changes(part) for part in case.analysis.commands)

    def touch(self, tool: str, touch: Touch, around: Surroundings) -> Verdict:  # noqa: PLR0911 - strictest first
        """The verdict on one path that a tool reads or changes."""
        root, access = self._sandbox.root, touch.access
        shown = touch.written or (self._sandbox.show(touch.path) if touch.path else "the workspace")
        paths = (touch.path or root,)
        if access is Access.WRITE and around.mode is Mode.PLAN:
            return path_verdict(shown, Decision.DENY, "plan mode changes nothing.", "--mode ask")
        for decision in (Decision.DENY, Decision.ASK):
            rule = self._rules.find_path(decision, access, paths, root)
            if rule and decision is Decision.DENY:
                return path_verdict(shown, decision, f"the rule {rule} denies it.")
            if touch.concern and touch.concern.kind is ConcernKind.SENSITIVE:
                return path_verdict(shown, Decision.ASK, touch.concern.reason)
            if rule and decision is Decision.ASK:
                return path_verdict(shown, decision, f"the rule {rule} asks about it.")
        is_outside = touch.concern is not None
        rule = self._rules.find_path(Decision.ALLOW, access, paths, root, places_only=is_outside)
        if rule:
            return path_verdict(shown, Decision.ALLOW, f"the rule {rule} allows it.")
        flag = remedy((f"{tool}({path_pattern(self._sandbox.show(paths[0]))})",))
        if touch.concern:
            return path_verdict(shown, Decision.ASK, touch.concern.reason, flag)
        if access is Access.READ:
            return path_verdict(shown, Decision.ALLOW, "it only reads in the workspace.")
        if around.mode in {Mode.EDITS, Mode.AUTO}:
            return path_verdict(shown, Decision.ALLOW, f"{around.mode} mode changes files in the workspace.")
        return path_verdict(
            shown,
            Decision.ASK,
            "changes are asked about in ask mode.",
            f"{flag} or --mode edits" if flag else "--mode edits",
        )

    def _tool(self, tool: str) -> Verdict:
        """A call that touches no file: looking at or stopping what was started before."""
        for decision in (Decision.DENY, Decision.ASK):
            rule = self._rules.find_tool(decision, tool)
            if rule:
                return Verdict(decision=decision, because=f"The rule {rule} says so.")
        return Verdict(decision=Decision.ALLOW, because="It touches no file.")
