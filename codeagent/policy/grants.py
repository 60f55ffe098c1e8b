"""Rules that a person stored, for one project or for good; kept outside every repository."""

from __future__ import annotations

import errno
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from codeagent.core.approvals import Decision, Scope
from codeagent.core.errors import ConfigError
from codeagent.core.json_types import JsonObject, JsonValue
from codeagent.core.values import value
from codeagent.workspace.private import change_private, is_damaged, read_private

_ALWAYS = "always"
_PROJECTS = "projects"


@value
class Grant:
    """One stored rule as it is written, with its outcome and where it holds."""

    rule: str
    decision: Decision = Decision.ALLOW
    scope: Scope = Scope.PROJECT


def load_grants(path: Path, root: Path) -> tuple[Grant, ...]:
    """The stored rules that hold in the workspace ``root``; raises ConfigError where the file cannot be read."""
    if is_damaged(path):
        raise ConfigError(f"The stored rules in {path} cannot be read.", hint="Mend that file or remove it.")
    content = read_private(path)
    project = _table(content.get(_PROJECTS)).get(str(root))
    return (*_read(_table(content.get(_ALWAYS)), Scope.ALWAYS), *_read(_table(project), Scope.PROJECT))


def store_grants(path: Path, root: Path, grants: Iterable[Grant]) -> None:
    """Keeps rules for this project or for good; raises OSError, also where the file holds what cannot be read."""
    wanted = tuple(grants)

    def add(content: JsonObject) -> None:
        if is_damaged(path):  # writing it anew would lose what it holds
            raise OSError(errno.EINVAL, "it is damaged")
        for grant in wanted:
            rules = _rules(content, root, grant.scope)
            rules[grant.decision.value] = [*dict.fromkeys([*_texts(rules.get(grant.decision.value)), grant.rule])]

    change_private(path, add)


def forget_grant(path: Path, root: Path, grant: Grant) -> None:
    """Takes a stored rule back; raises OSError."""

    def remove(content: JsonObject) -> None:
        rules = _rules(content, root, grant.scope)
        kept = _texts(rules.get(grant.decision.value))
        rules[grant.decision.value] = [rule for rule in kept if rule != grant.rule]

    change_private(path, remove)


def _rules(content: JsonObject, root: Path, scope: Scope) -> JsonObject:
    """The table, made where it is missing, that rules of a scope are kept in by their outcome."""
    if scope is Scope.ALWAYS:
        rules = _table(content.get(_ALWAYS))
        content[_ALWAYS] = rules
        return rules
    projects = _table(content.get(_PROJECTS))
    rules = _table(projects.get(str(root)))
    projects[str(root)] = rules
    content[_PROJECTS] = projects
    return rules


def _read(rules: JsonObject, scope: Scope) -> Iterator[Grant]:
    """What is no text is given as it is written, so that nobody takes it for nothing."""
    for decision in Decision:
        found = rules.get(decision.value, [])
        for rule in found if isinstance(found, list) else [found]:
            yield Grant(rule=rule if isinstance(rule, str) else json.dumps(rule), decision=decision, scope=scope)


def _texts(found: JsonValue) -> tuple[str, ...]:
    return tuple(item for item in found if isinstance(item, str)) if isinstance(found, list) else ()


def _table(found: JsonValue) -> JsonObject:
    return dict(found) if isinstance(found, dict) else {}
