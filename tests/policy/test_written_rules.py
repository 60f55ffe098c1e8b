"""A rule that cannot be read is never left out unsaid: the file, the line and the rule are named."""

from __future__ import annotations

import pytest

from codeagent.config.sources import Source, parse
from codeagent.core.approvals import Decision
from codeagent.core.errors import ConfigError
from codeagent.policy.written_rules import rules_of

WRONG = ["bash(", "x", "nosuch(*)", "Bash(rm *)", "", "bash()", "read(a*b*c*d*e*f*)", "bash('rm)"]


def source_of(text: str, name: str = "/home/me/config.toml") -> Source:
    return Source(name=name, tables=parse(name, text), text=text)


@pytest.mark.parametrize("decision", list(Decision))
@pytest.mark.parametrize("rule", WRONG)
def test_a_wrong_rule_is_refused_with_its_file_and_line(rule, decision):
    text = f'[model]\nname = "a/b"\n\n[permissions]\n{decision} = [\n  "bash(ls)",\n  "{rule}",\n]\n'
    line = 7 if rule else 5
    with pytest.raises(ConfigError, match=rf"^/home/me/config.toml, line {line}: permissions.{decision}: ") as caught:
        rules_of([source_of(text)])
    assert repr(rule) in caught.value.message


def test_a_rule_of_no_file_is_refused_with_the_name_of_its_source():
    flags = Source(name="the command line", tables={"permissions": {"deny": ("bash(",)}})
    with pytest.raises(ConfigError, match=r"^the command line: permissions.deny: 'bash\(' is no permission rule"):
        rules_of([flags])


def test_of_a_project_the_other_rules_hold_and_the_fault_is_told():
    project = source_of('[permissions]\ndeny = ["bash(git push *)", "bash("]\nask = ["x"]\n', "/shop/config.toml")
    rules, fault = rules_of([source_of('[permissions]\nallow = ["bash(ls)"]\n'), project], "/shop/config.toml")
    assert list(map(str, rules.rules(Decision.DENY))) == ["bash(git push *)"]
    assert list(map(str, rules.rules(Decision.ALLOW))) == ["bash(ls)"]
    assert "/shop/config.toml, line 2: permissions.deny: 'bash('" in fault
    assert "/shop/config.toml, line 3: permissions.ask: 'x'" in fault


def test_readable_rules_are_no_fault():
    assert rules_of([source_of('[permissions]\ndeny = ["bash(rm *)"]\n')])[1] == ""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('[permissions]\ndeny = ["x"]', 2),
        ('permissions.deny = ["x"]', 1),
        ('# the rules\n"permissions" . deny = ["x"]', 2),
        ('permissions = { ask = [], deny = ["x"] }', 1),
        ('[ "permissions" ]\n\n  "deny" = [\n    "bash(ls)", # "y"\n    \'x\',\n  ]', 5),
        ('[model]\nname = "a/b"\n[permissions]\nask = ["bash(x)"]\ndeny = ["x"]', 5),
        ('[permissions]\r\ndeny = ["bash(\\"x\\")", "x"]', 2),
        ('[permissions]\ndeny = ["\\u0078"]', 2),
    ],
)
def test_the_line_is_that_of_the_rule_however_the_setting_is_written(text, line):
    with pytest.raises(ConfigError, match=f"^/home/me/config.toml, line {line}: permissions.deny: 'x' is"):
        rules_of([source_of(text)])
