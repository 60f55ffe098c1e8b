"""What a rule denies does not show when the folder above it is looked at."""

from __future__ import annotations

import asyncio
import subprocess

import pytest

from codeagent.core.approvals import Hold, Mode
from codeagent.core.protocols import ToolContext
from codeagent.policy.gate import ToolGate
from codeagent.policy.rules import RuleSet
from codeagent.tools.glob import GlobTool
from codeagent.tools.grep import GrepTool
from codeagent.tools.ls import LsTool
from codeagent.tools.read import ReadTool
from codeagent.tools.walk import find_ripgrep
from codeagent.workspace.paths import PathSandbox
from codeagent.workspace.seen import SeenFiles

ENGINES = ["", *([found] if (found := find_ripgrep()) else [])]


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "workspace"
    for name in ("a.py", "run.log", "plans/next.md", "src/keys.py", "src/b.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("word\n")
    return folder


def look(root, name, ripgrep="", *, deny=(), ask=(), **arguments):
    sandbox, rules = PathSandbox(root), RuleSet.parse(deny=deny, ask=ask)
    gate = ToolGate(sandbox, rules, None, lambda _: None, lambda: Mode.ASK, hold=Hold.NONE)
    against = gate.rule_against_reading
    tools = {
        "grep": GrepTool(sandbox, SeenFiles(), ripgrep, against),
        "glob": GlobTool(sandbox, ripgrep, against),
        "ls": LsTool(sandbox, against),
        "read": ReadTool(sandbox, SeenFiles(), against),
    }
    tool = tools[name]

    async def run():
        plan = await tool.plan(tool.Arguments.model_validate(arguments), ToolContext(call_id="c"))
        return (await plan.run(lambda _: None)).text

    return asyncio.run(run())


@pytest.mark.parametrize("kind", ["deny", "ask"])
@pytest.mark.parametrize("ripgrep", ENGINES)
def test_grep_finds_nothing_in_files_that_a_rule_stands_against(root, ripgrep, kind):
    text = look(root, "grep", ripgrep, pattern="word", **{kind: ["read(*.log)", "read(plans/**)", "read(src/keys.py)"]})
    assert "a.py" in text
    assert "src/b.py" in text
    assert "1→word\n[left out: 1 for the rule read(plans/**), 1 for the rule read(*.log)" in text
    assert "next.md" not in text
    assert "keys.py\n" not in text
    assert "run.log" not in text


@pytest.mark.parametrize("ripgrep", ENGINES)
def test_glob_lists_no_name_that_a_rule_stands_against(root, ripgrep):
    text = look(root, "glob", ripgrep, pattern="**", deny=["read(*.log)", "read(src/keys.py)"])
    assert set(text.split("\n")[:-1]) == {"a.py", "plans/next.md", "src/b.py"}
    assert text.endswith("[left out: 1 for the rule read(*.log), 1 for the rule read(src/keys.py)]")


@pytest.mark.parametrize("name", ["ls", "read"])
def test_a_listed_folder_does_not_show_what_a_rule_denies(root, name):
    text = look(root, name, path=".", deny=["read(*.log)", "read(plans/**)"])
    assert text.split("\n")[:2] == ["src/", "a.py  5 B"]
    assert "run" not in text
    assert "plans/\n" not in text


def test_a_name_that_a_rule_denies_is_not_suggested(root):
    with pytest.raises(Exception, match=r"does not exist") as caught:
        look(root, "read", path="run.lo", deny=["read(*.log)"])
    assert "run.log" not in str(caught.value)


def test_a_folder_that_was_asked_about_is_shown_whole(root):
    assert look(root, "ls", path="plans", ask=["read(plans/**)"]) == "next.md  5 B"


def test_without_rules_nothing_is_said(root):
    assert "left out" not in look(root, "ls", path=".")
    subprocess.run(["git", "init", "-q", root], check=True)
    assert "left out" not in look(root, "grep", pattern="word")
