"""Makes verdicts: the strictest of several, the one on a path, and their reasons as sentences."""

from __future__ import annotations

from collections.abc import Sequence

from codeagent.core.approvals import Decision, Verdict, VerdictPart

ORDER = (Decision.ALLOW, Decision.ASK, Decision.DENY)
"""The strictest comes last."""


def joined(verdicts: Sequence[Verdict]) -> Verdict:
    """The strictest of one or more verdicts, with all their parts."""
    worst = max(verdicts, key=lambda verdict: ORDER.index(verdict.decision))
    return Verdict(
        decision=worst.decision,
        because=worst.because,
        parts=tuple(part for verdict in verdicts for part in verdict.parts),
        remedy=worst.remedy,
    )


def path_verdict(shown: str, decision: Decision, because: str, remedy: str = "") -> Verdict:
    """The verdict on one path, which is ``shown`` to people."""
    part = VerdictPart(words=(shown,), decision=decision, because=because)
    return Verdict(decision=decision, because=sentence(because), parts=(part,), remedy=remedy)


def sentence(text: str) -> str:
    """The text with a capital and a full stop; what begins with a command's or a file's name stays as it is."""
    if text.startswith(
        ("it ", "what ", "the rule ", "the repository", "where ", "changes ", "plan mode ", "edits mode ", "auto mode ")
    ):
        text = text[:1].upper() + text[1:]
    return text if text.endswith(".") else f"{text}."
