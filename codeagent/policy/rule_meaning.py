"""Says in words what a permission rule covers, so that a person sees it before storing the rule."""

from __future__ import annotations

from codeagent.core.approvals import Decision
from codeagent.policy.rules import READERS, WRITERS, Rule
from codeagent.policy.wrappers import INTERPRETERS, base_name, is_wrapper

_OUTCOMES = {
    Decision.ALLOW: "allows",
    Decision.ASK: "asks each time about",
    Decision.DENY: "denies",
}


def rule_meaning(text: str, decision: Decision) -> str:
    """One or two sentences on what the rule covers; raises ConfigError for one that means nothing."""
    rule = Rule.parse(text)
    said = f"It {_OUTCOMES[decision]} {_what(rule)}."
    return f"{said} {_limits(rule, decision)}".strip()


def _what(rule: Rule) -> str:
    if rule.tool == "*":
        return "every call" if rule.pattern is None else f"every call that fits {rule.pattern}"
    if rule.tool == "job":
        return "looking at and stopping background jobs"
    if rule.tool == "bash":
        return _commands(rule.pattern)
    verb = "reading" if rule.tool in READERS else "changing"
    if rule.pattern is None:
        return f"{verb} any file"
    where = "" if rule.names_a_place else " of this workspace"
    return f"{verb} files{where} that fit {rule.pattern}"


def _commands(pattern: str | None) -> str:
    if pattern is None or pattern.strip() == "*":
        return "every shell command"
    words = pattern.strip()
    if words.endswith(" *"):
        return f"`{words[:-2]}` with any further words, or none"
    if "*" in words:
        return f"commands of as many words that fit `{words}`"
    return f"`{words}` word for word, and nothing else"


def _limits(rule: Rule, decision: Decision) -> str:
    """What else is good to know, above all how much a rule that allows lets through."""
    if decision is Decision.ALLOW and rule.tool in READERS | WRITERS:
        return "Secrets and files that start programs are asked about all the same."
    if rule.tool in READERS:
        return "It holds for tools and for what a command names or searches, not for what a program opens by itself."
    if not rule.is_for_commands:
        return ""
    if decision is not Decision.ALLOW:
        return "Commands that hide what they run are asked about as well."
    name = base_name((rule.pattern or "*").split()[0])
    if name == "*" or is_wrapper(name) or name.rstrip("0123456789.") in INTERPRETERS:
        return "" if rule.is_exact else "That can run any program: be sure you want it."
    return "Every part of a list or pipe needs a rule; expansions and secrets are asked about all the same."
