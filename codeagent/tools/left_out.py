"""What a look into a folder leaves out because a permission rule stands against reading it, and how that is said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

RuleAgainst = Callable[[Path], str]
"""The rule that denies or asks about reading a file, as it is written; empty when there is none."""


def no_rule(path: Path) -> str:
    """No rule stands against any file."""
    del path
    return ""


class LeftOut:
    """Counts what one look into ``top`` leaves out.

    A rule that concerns ``top`` itself was asked about before the look, and answered.
    """

    def __init__(self, rule_against: RuleAgainst, top: Path) -> None:
        self._rule_against = rule_against
        self._answered = rule_against(top)
        self._counts: Counter[str] = Counter()

    def takes(self, path: Path) -> bool:
        """Whether the file is left out."""
        rule = self._rule_against(path)
        if not rule or rule == self._answered:
            return False
        self._counts[rule] += 1
        return True

    def note(self) -> str:
        """One line that says what is missing, or an empty text; the names stay hidden."""
        if not self._counts:
            return ""
        parts = [f"{count:,} for the rule {rule}" for rule, count in self._counts.items()]
        return f"[left out: {', '.join(parts)}]"
