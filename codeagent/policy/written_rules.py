"""Puts the rules of the settings in force, and says where one stands that cannot be read: no limit is lost unsaid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codeagent.config.settings import checked
from codeagent.config.sources import Source
from codeagent.core.approvals import Decision
from codeagent.core.errors import ConfigError
from codeagent.policy.rules import Rule, RuleSet


def rules_of(sources: Sequence[Source], project: str = "") -> tuple[RuleSet, str]:
    """All rules of the settings, and what is wrong with those of the source named ``project``, in a sentence.

    Of the project's the others hold. Raises ConfigError for a wrong one of any other source.
    """
    found: dict[Decision, list[Rule]] = {decision: [] for decision in Decision}
    faults: list[str] = []
    for source in sources:
        for decision, text in _written(source):
            try:
                found[decision].append(Rule.parse(text))
            except ConfigError as error:
                place = source.place("permissions", decision, text)
                if source.name != project:
                    raise ConfigError(f"{place}: permissions.{decision}: {error.message}", hint=error.hint) from error
                faults.append(f"{place}: permissions.{decision}: {error.message}")
    rules = RuleSet(deny=found[Decision.DENY], ask=found[Decision.ASK], allow=found[Decision.ALLOW])
    return rules, " ".join(faults)


def _written(source: Source) -> Iterator[tuple[Decision, str]]:
    asked = checked(source.tables).permissions
    for decision, texts in ((Decision.DENY, asked.deny), (Decision.ASK, asked.ask), (Decision.ALLOW, asked.allow)):
        yield from ((decision, text) for text in texts)
