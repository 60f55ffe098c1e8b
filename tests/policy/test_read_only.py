from __future__ import annotations

import json
from pathlib import Path

import pytest

from codeagent.core.approvals import Decision
from codeagent.policy.check import Question, check_command

HERE = Path(__file__).parent


def commands(name):
    """One command a line, as JSON, because many hold line ends and invisible characters."""
    return [json.loads(line) for line in (HERE / name).read_text().splitlines()]


def test_commands_that_only_read_in_the_workspace_need_no_question(workspace):
    verdicts = {
        command: check_command(command, Question(), workspace) for command in commands("commands_harmless.jsonl")
    }
    assert {command: found for command, found in verdicts.items() if found.decision is not Decision.ALLOW} == {}


def test_everyday_commands_ask_only_where_they_may_do_more_than_read(project):
    wanted = {entry["command"]: entry["decision"] for entry in commands("commands_everyday.jsonl")}
    assert len(wanted) > 600
    assert {command: str(check_command(command, Question(), project).decision) for command in wanted} == wanted


def test_commands_that_may_do_more_are_asked_about(workspace):
    verdicts = {command: check_command(command, Question(), workspace) for command in commands("commands_asked.jsonl")}
    assert [command for command, found in verdicts.items() if found.decision is Decision.ALLOW] == []


def test_an_opaque_command_is_never_offered_a_rule(workspace):
    verdicts = [check_command(command, Question(), workspace) for command in commands("commands_asked.jsonl")]
    opaque = [found for found in verdicts if found.is_opaque]
    assert len(opaque) > 100
    assert [found for found in opaque if found.remedy] == []


@pytest.mark.parametrize("name", ["commands_harmless.jsonl", "commands_asked.jsonl"])
def test_every_part_says_why(workspace, name):
    for command in commands(name):
        verdict = check_command(command, Question(), workspace)
        assert verdict.because, command
        assert all(part.because and part.words for part in verdict.parts), command
