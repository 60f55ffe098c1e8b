"""Rules that a person stored from a question, for one project or for good; kept outside every repository."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from codeagent.core.approvals import Scope
from codeagent.core.json_types import JsonObject, JsonValue
from codeagent.workspace.private import change_private, read_private

_ALWAYS = "always"
_PROJECTS = "projects"


def load_grants(path: Path, root: Path) -> tuple[tuple[str, Scope], ...]:
    """The stored rules that hold in the workspace ``root``, each with its scope."""
    content = read_private(path)
    project = _table(content.get(_PROJECTS)).get(str(root))
    return (
        *((rule, Scope.ALWAYS) for rule in _texts(content.get(_ALWAYS))),
        *((rule, Scope.PROJECT) for rule in _texts(project)),
    )


def store_grants(path: Path, root: Path, rules: Iterable[str], scope: Scope) -> None:
    """Keeps rules for this project or for good; raises OSError."""
    wanted = tuple(rules)

    def add(content: JsonObject) -> None:
        if scope is Scope.ALWAYS:
            content[_ALWAYS] = _added(content.get(_ALWAYS), wanted)
        else:
            projects = _table(content.get(_PROJECTS))
            projects[str(root)] = _added(projects.get(str(root)), wanted)
            content[_PROJECTS] = projects

    change_private(path, add)


def forget_grant(path: Path, root: Path, rule: str) -> None:
    """Takes a stored rule back wherever it holds in this workspace; raises OSError."""

    def remove(content: JsonObject) -> None:
        content[_ALWAYS] = [kept for kept in _texts(content.get(_ALWAYS)) if kept != rule]
        projects = _table(content.get(_PROJECTS))
        projects[str(root)] = [kept for kept in _texts(projects.get(str(root))) if kept != rule]
        content[_PROJECTS] = projects

    change_private(path, remove)


def _added(old: JsonValue, rules: Iterable[str]) -> list[JsonValue]:
    return [*dict.fromkeys([*_texts(old), *rules])]


def _texts(value: JsonValue) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def _table(value: JsonValue) -> JsonObject:
    return dict(value) if isinstance(value, dict) else {}
