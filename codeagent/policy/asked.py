"""What a person was asked about, and whether a yes to it still holds."""

from __future__ import annotations

from dataclasses import dataclass

from codeagent.core.approvals import ApprovalRequest, Decision, Mode, Verdict
from codeagent.core.protocols import Allowed, Plan
from codeagent.core.values import value
from codeagent.policy.command_case import CommandCase
from codeagent.policy.led_to import LedTo, leads_elsewhere, led_to
from codeagent.policy.surely_written import files_run


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


def _leads_elsewhere(asked: LedTo | None, now: LedTo | None) -> bool:
    return asked is not now if asked is None or now is None else leads_elsewhere(asked, now)


def meaning_of(case: CommandCase | None) -> Meaning | None:
    """The meaning of a command; None for other calls, which a plan says all about."""
    if case is None:
        return None
    return Meaning(
        verdict=case.verdict,
        overlooked=case.overlooked,
        files_run=case.seen_by(files_run),
        led_to=case.seen_by(led_to),
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
