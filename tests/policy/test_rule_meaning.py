"""A rule says in words what it covers."""

from __future__ import annotations

import pytest

from codeagent.core.approvals import Decision
from codeagent.core.errors import ConfigError
from codeagent.policy.rule_meaning import rule_meaning


@pytest.mark.parametrize(
    ("rule", "decision", "said"),
    [
        ("bash(git status)", Decision.ALLOW, "It allows `git status` word for word, and nothing else."),
        ("bash(git status *)", Decision.ALLOW, "It allows `git status` with any further words, or none."),
        ("bash(npm run test:*)", Decision.ALLOW, "It allows commands of as many words that fit `npm run test:*`."),
        ("bash", Decision.DENY, "It denies every shell command."),
        ("bash(*)", Decision.ALLOW, "That can run any program"),
        ("bash(python *)", Decision.ALLOW, "That can run any program"),
        ("bash(sudo *)", Decision.ALLOW, "That can run any program"),
        ("edit(src/**)", Decision.ASK, "It asks each time about changing files of this workspace that fit src/**."),
        ("read(~/notes/**)", Decision.ALLOW, "It allows reading files that fit ~/notes/**. Secrets"),
        ("read(private/**)", Decision.DENY, "not for what a program opens by itself."),
        ("*", Decision.DENY, "It denies every call."),
    ],
)
def test_a_rule_in_words(rule, decision, said):
    assert said in rule_meaning(rule, decision)


def test_an_exact_command_is_not_called_any_program():
    assert "any program" not in rule_meaning("bash(python x.py)", Decision.ALLOW)


@pytest.mark.parametrize("rule", ["", "bash(", "fetch(x)", "bash()", "Bash(ls)"])
def test_what_is_no_rule_is_refused(rule):
    with pytest.raises(ConfigError):
        rule_meaning(rule, Decision.ALLOW)
