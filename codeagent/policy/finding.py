"""What stands against one path that a shell command names."""

from __future__ import annotations

from dataclasses import dataclass

from codeagent.core.approvals import Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What stands against a path. ``each_time`` cannot be lifted by a rule, ``is_refused`` by nobody;
    ``rule`` is the one that would lift it. ``is_far``: it writes neither to the workspace nor to a temporary folder.
    """

    decision: Decision
    because: str
    each_time: bool = False
    is_refused: bool = False
    is_unknown: bool = False
    is_write: bool = False
    is_far: bool = False
    rule: str = ""


def ask_each_time(because: str) -> Finding:
    """Something that no rule lifts."""
    return Finding(decision=Decision.ASK, because=because, each_time=True)
