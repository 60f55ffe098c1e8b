"""Says what would happen to a command or a path, without running anything: the answers of ``permissions check``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from codeagent.core.approvals import Access, Decision, Mode, Verdict, VerdictPart
from codeagent.core.errors import PathRefused
from codeagent.core.json_types import JsonObject
from codeagent.policy.command_case import Surroundings
from codeagent.policy.judge import Judge
from codeagent.policy.rules import RuleSet
from codeagent.workspace.paths import PathSandbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The mode, rules (in full form, such as ``bash(git *)``) and confinement that a question is asked for."""

    mode: Mode = Mode.ASK
    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    is_confined: bool = False


def check_command(command: str, question: Question, root: Path, extra_roots: Sequence[Path] = ()) -> Verdict:
    """The verdict on a shell command in the workspace ``root``; raises ConfigError for a rule that cannot be read."""
    judge, around = _judge(question, PathSandbox(root, extra_roots))
    return judge.command(command, root.resolve(), around)


def check_path(path: str, access: Access, question: Question, root: Path, extra_roots: Sequence[Path] = ()) -> Verdict:
    """The verdict on reading or changing a file; raises ConfigError for a rule that cannot be read."""
    sandbox = PathSandbox(root, extra_roots)
    judge, around = _judge(question, sandbox)
    try:
        touch = sandbox.resolve(path, access)
    except PathRefused as error:
        part = VerdictPart(words=(path,), decision=Decision.DENY, because=str(error))
        return Verdict(decision=Decision.DENY, because=str(error), parts=(part,))
    return judge.touch("read" if access is Access.READ else "edit", touch, around)


def _judge(question: Question, sandbox: PathSandbox) -> tuple[Judge, Surroundings]:
    rules = RuleSet.parse(deny=question.deny, ask=question.ask, allow=question.allow)
    return Judge(sandbox, rules), Surroundings(mode=question.mode, is_confined=question.is_confined)


def verdict_as_json(verdict: Verdict) -> JsonObject:
    """The verdict as one JSON object."""
    return {
        "verdict": verdict.decision.value,
        "opaque": verdict.is_opaque,
        "because": verdict.because,
        "losses": list(verdict.losses),
        "parts": [
            {"words": list(part.words), "verdict": part.decision.value, "because": part.because}
            for part in verdict.parts
        ],
    }


def verdict_as_text(verdict: Verdict) -> str:
    """The verdict for people: first the outcome, then each part with its reason."""
    lines = [f"{verdict.decision.value}: {verdict.because}", *(f"  ! {loss}" for loss in verdict.losses)]
    if len(verdict.parts) > 1 or any(part.because != verdict.because for part in verdict.parts):
        lines += [f"  {part.decision.value:<5}  {part.shown}  ({part.because})" for part in verdict.parts]
    if verdict.remedy:
        lines.append(f"To allow it: {verdict.remedy}")
    return "\n".join(lines)
