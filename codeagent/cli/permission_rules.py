"""``codeagent permissions list``, ``add`` and ``remove``: the rules that hold here, and those that you stored."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from pathlib import Path

from codeagent.config.places import Places, find_places, project_config_file
from codeagent.config.settings import Settings
from codeagent.config.sources import load_settings, project_settings
from codeagent.core.approvals import Decision, Scope
from codeagent.core.desk import RuleSource
from codeagent.core.errors import ConfigError
from codeagent.core.text import show_invisible
from codeagent.policy.grants import Grant, forget_grant, load_grants, store_grants
from codeagent.policy.rule_meaning import rule_meaning
from codeagent.policy.rules import Rule
from codeagent.policy.trust import trusted_settings
from codeagent.policy.written_rules import rules_of
from codeagent.workspace.private import way_out

_DECISIONS = (Decision.DENY, Decision.ASK, Decision.ALLOW)
_SCOPES = (Scope.PROJECT, Scope.ALWAYS)
_WHERE = {Scope.PROJECT: "in this project", Scope.ALWAYS: "in every project"}


def add_parsers(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    """Adds the three commands to those of ``codeagent permissions``."""
    listing = add_parser("list", help="print the rules that hold in this directory")
    listing.add_argument("--json", action="store_true", help="one JSON object a rule")
    for name, what in (("add", "store a rule, outside the project"), ("remove", "take a stored rule back")):
        parser = add_parser(name, help=what)
        parser.add_argument("decision", choices=[str(one) for one in _DECISIONS], help="what happens to what fits it")
        parser.add_argument("rule", metavar="RULE", help="such as 'bash(pytest *)' or 'edit(src/**)'")
        parser.add_argument(
            "--scope", choices=[str(one) for one in _SCOPES], default=str(Scope.PROJECT), help="default: project"
        )


def run_rules(options: argparse.Namespace) -> int:
    """Lists, adds or removes; returns the exit code, raises ConfigError."""
    root, places = Path.cwd().resolve(), find_places(os.environ)
    if options.what in {None, "list"}:
        _list(root, places, as_json=options.what is not None and options.json)
        return 0
    decision, scope = Decision(options.decision), Scope(options.scope)
    try:
        rule = str(Rule.parse(options.rule))
    except ConfigError:
        if options.what != "remove":
            raise
        rule = options.rule  # one that cannot be read must be removable all the same
    grant = Grant(rule=rule, decision=decision, scope=scope)
    try:
        if options.what == "add":
            meaning = rule_meaning(grant.rule, decision)
            store_grants(places.grants_file, root, [grant])
            print(show_invisible(f"{decision} {grant.rule} holds {_WHERE[scope]} from now on. {meaning}"))
        elif grant in load_grants(places.grants_file, root):
            forget_grant(places.grants_file, root, grant)
            print(show_invisible(f"{decision} {grant.rule} no longer holds {_WHERE[scope]}."))
        else:
            raise ConfigError(
                f"No rule {decision} {grant.rule} is stored {_WHERE[scope]}.",
                hint="`codeagent permissions list` shows them.",
            )
    except OSError as error:
        text = f"{places.grants_file} cannot be changed: {error.strerror}."
        raise ConfigError(text, hint=way_out(error)) from error
    return 0


def rules_here(root: Path) -> dict[Decision, tuple[str, ...]]:
    """The rules that hold in the workspace ``root``, of the settings and stored; raises ConfigError."""
    rows = _rows(root.resolve(), find_places(os.environ))
    return {decision: tuple(row["rule"] for row in rows if row["decision"] == decision) for decision in _DECISIONS}


def _rows(root: Path, places: Places) -> list[dict[str, str]]:
    """Strictest first, as they are applied."""
    project = trusted_settings(root, places.trust_file)
    loaded = load_settings(places, root, os.environ, {}, project=project)
    rules_of(loaded.sources)
    brought = _brought_rules(root, project)
    stored = load_grants(places.grants_file, root)
    asked = loaded.settings.permissions
    settings = {Decision.DENY: asked.deny, Decision.ASK: asked.ask, Decision.ALLOW: asked.allow}
    found: list[dict[str, str]] = []
    for decision in _DECISIONS:
        here = brought.get(decision, ())
        own = settings[decision][: len(settings[decision]) - len(here)]  # the project's are added behind one's own
        kept = [(grant.rule, grant.scope) for grant in stored if grant.decision is decision]
        found += [_row(decision, rule, scope, RuleSource.PERSON, str(places.grants_file)) for rule, scope in kept]
        for rules, scope, place in (
            (own, Scope.ALWAYS, places.config_file),
            (here, Scope.PROJECT, project_config_file(root)),
        ):
            found += [_row(decision, rule, scope, RuleSource.SETTINGS, str(place)) for rule in rules]
    return found


def _brought_rules(root: Path, project: str | None) -> dict[Decision, tuple[str, ...]]:
    """The rules in the ``project``'s own settings, those that it may set; raises ConfigError."""
    if project is None:
        return {}
    harmless, _ = project_settings(project_config_file(root), project)
    asked = Settings.model_validate(harmless).permissions
    return {Decision.DENY: asked.deny, Decision.ASK: asked.ask}


def _list(root: Path, places: Places, *, as_json: bool) -> None:
    found = _rows(root, places)
    if as_json:
        for row in found:
            print(json.dumps(row))
        return
    if not found:
        print("No rules: the mode alone decides. Add one: codeagent permissions add allow 'bash(pytest *)'")
    width = max((len(row["rule"]) for row in found), default=0)
    for row in found:
        print(show_invisible(f"{row['decision']:<6} {row['rule']:<{width}}  {_holds(row):<16} {row['place']}"))


def _holds(row: dict[str, str]) -> str:
    """Where a rule holds, and whether a settings file says so, in a word or two."""
    return (
        f"{'project' if row['scope'] == Scope.PROJECT else 'your'} settings"
        if row["source"] == RuleSource.SETTINGS
        else row["scope"]
    )


def _row(decision: Decision, rule: str, scope: Scope, source: RuleSource, place: str) -> dict[str, str]:
    return {"decision": str(decision), "rule": rule, "scope": str(scope), "source": str(source), "place": place}
