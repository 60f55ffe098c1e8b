from __future__ import annotations

from pathlib import Path

from codeagent.agent.prompt import Instructions, system_prompt

ALL = ("bash", "edit", "glob", "grep", "ls", "read", "write")


def prompt(tools=ALL, **more):
    return system_prompt(root=Path("/src/shop"), platform="Linux", tools=tools, **more)


def test_it_is_short():
    assert len(prompt().encode()) <= 3_000


def test_it_names_the_workspace_and_the_platform():
    assert "/src/shop" in prompt()
    assert "Linux" in prompt()


def test_it_names_no_tool_that_is_not_there():
    text = prompt(tools=("read",))
    assert all(f" {name} " not in f" {text} ".replace(",", " ") for name in ("bash", "edit", "grep", "write"))


def test_it_says_that_a_denial_is_an_answer_where_something_can_be_denied():
    assert "A denial is an answer" in prompt()
    assert "A denial is an answer" not in prompt(tools=("read", "grep"))


def test_instructions_come_last_with_their_source():
    text = prompt(instructions=(Instructions(source="AGENTS.md", text="Use tabs.\n"),))
    assert text.endswith("# Instructions from AGENTS.md\nUse tabs.")


def test_it_is_the_same_each_time():
    assert prompt() == prompt()
