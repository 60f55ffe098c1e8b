"""``codeagent doctor``: what works on this machine, and how to mend what does not."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from codeagent.checks import look_around
from codeagent.cli.command_line import WordsParser
from codeagent.cli.permission_rules import rules_here
from codeagent.cli.wrapping import wrapped
from codeagent.config.places import find_places
from codeagent.config.sources import load_settings
from codeagent.core.desk import Check, CheckState
from codeagent.core.errors import ConfigError
from codeagent.core.text import clean
from codeagent.keys import find_keys

_MARKS = {CheckState.GOOD: "✓", CheckState.LIMITED: "–", CheckState.MISSING: "✗"}
_HANG = 13


def run(words: Sequence[str]) -> int:
    """Prints one line a check; the exit code is 1 when something needed is missing."""
    WordsParser(prog="codeagent doctor", description="Checks what codeagent needs.").parse_args(words)
    root = Path.cwd()
    places = find_places(os.environ)
    loaded = load_settings(places, root, os.environ, {}, project=None)
    checks = (*look_around(loaded.settings, root, os.environ, find_keys(os.environ, places)), *_rules(root))
    for check in checks:
        print(wrapped(f"{_MARKS[check.state]} {check.name:<10} {clean(check.finding)}", sys.stdout, hang=_HANG))
        if check.remedy:
            print(wrapped(f"{' ' * _HANG}{clean(check.remedy)}", sys.stdout, hang=_HANG))
    return int(any(check.state is CheckState.MISSING for check in checks))


def _rules(root: Path) -> Iterator[Check]:
    """What is wrong with the rules that hold here: of the person's settings, the trusted project's, and stored."""
    try:
        rules_here(root)
    except ConfigError as error:
        yield Check(name="rules", state=CheckState.MISSING, finding=error.message, remedy=error.hint)
