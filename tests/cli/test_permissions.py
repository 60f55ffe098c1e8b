from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pytest

from codeagent.cli import trust
from codeagent.cli.permissions import run
from codeagent.config.places import find_places, project_config_file
from codeagent.core.errors import ConfigError


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("x")
    return tmp_path


def test_a_command_is_explained_in_words(workspace, capsys):
    assert run(["check", "ls && touch x"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("ask: `touch` may change something.\n")
    assert "allow  ls" in out
    assert "--allow 'bash(touch x)'" in out


def test_what_would_be_lost_is_said(workspace, capsys):
    assert run(["check", "git push --force && rm -r a.txt"]) == 0
    out = capsys.readouterr().out
    assert "  ! Commits on the remote would be lost.\n  ! a.txt would be deleted.\n" in out
    assert run(["check", "--json", "git push --force"]) == 0
    assert json.loads(capsys.readouterr().out)["losses"] == ["Commits on the remote would be lost."]
    assert run(["check", "--json", "git push"]) == 0
    assert json.loads(capsys.readouterr().out)["losses"] == []


def test_a_verdict_comes_as_json(workspace, capsys):
    assert run(["check", "--json", "--mode", "plan", "ls; rm x"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["verdict"] == "deny"
    assert answer["opaque"] is False
    assert [(part["words"], part["verdict"]) for part in answer["parts"]] == [(["ls"], "allow"), (["rm", "x"], "deny")]
    assert all(part["because"] for part in answer["parts"])


def test_rules_are_taken_from_flags(workspace, capsys):
    assert run(["check", "--json", "--allow", "bash(touch *)", "--deny", "bash(touch y)", "touch x"]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "allow"


@pytest.mark.parametrize(
    ("arguments", "verdict"),
    [
        (["--path", "a.txt"], "allow"),
        (["--path", "a.txt", "--access", "write"], "ask"),
        (["--path", "a.txt", "--access", "write", "--mode", "edits"], "allow"),
        (["--path", "a.txt", "--access", "write", "--mode", "plan"], "deny"),
        (["--path", ".env"], "ask"),
        (["--path", ".env", "--allow", "read(.env)"], "ask"),
        (["--path", "../x"], "ask"),
        (["--path", "../x", "--access", "write", "--mode", "auto"], "deny"),
        (["--path", ".git/hooks/x", "--access", "write", "--mode", "auto"], "ask"),
        (["--path", "a.txt", "--deny", "read(*.txt)"], "deny"),
        (["--path", "a\0b"], "deny"),
    ],
)
def test_paths_are_judged_too(workspace, capsys, arguments, verdict):
    assert run(["check", "--json", *arguments]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == verdict


def test_many_requests_are_answered_line_by_line(workspace, capsys, monkeypatch):
    requests = [
        {"command": "ls"},
        {"command": "touch x", "mode": "auto", "confined": True},
        {"command": "touch x", "mode": "auto"},
        {"command": "echo $(x)", "allow": ["bash(echo *)"]},
        {"command": "rm x", "deny": ["bash(rm *)"]},
        {"command": "git push", "ask": ["bash(git push *)"], "allow": ["bash(git *)"]},
        {"path": "a.txt", "access": "read"},
        {"path": "a.txt", "access": "write", "mode": "edits"},
    ]
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(map(json.dumps, requests)) + "\n"))
    assert run(["check", "--json", "-"]) == 0
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [answer["verdict"] for answer in answers] == [
        "allow",
        "allow",
        "ask",
        "ask",
        "deny",
        "ask",
        "allow",
        "allow",
    ]
    assert answers[3]["opaque"] is True


@pytest.mark.parametrize(
    "request_line",
    [
        "{",
        "{}",
        '{"command": "ls", "path": "x"}',
        '{"command": "ls", "mode": "yolo"}',
        '{"command": "ls", "x": 1}',
        '{"command": "ls", "allow": ["no rule ("]}',
    ],
)
def test_a_request_that_makes_no_sense_is_answered_with_its_problem(workspace, capsys, monkeypatch, request_line):
    monkeypatch.setattr("sys.stdin", io.StringIO(request_line + '\n{"command": "ls"}\n'))
    assert run(["check", "--json", "-"]) == 2
    first, second = capsys.readouterr().out.splitlines()
    assert json.loads(first)["error"]
    assert json.loads(second)["verdict"] == "allow"


@pytest.mark.parametrize("arguments", [[], ["--allow", "bash(", "ls"], ["--path", "x", "ls"]])
def test_a_question_that_makes_no_sense_is_a_usage_error(workspace, capsys, arguments):
    assert run(["check", *arguments]) == 2
    assert "permissions" in capsys.readouterr().err


def test_half_characters_and_escapes_do_no_harm(workspace, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO('{"command": "echo \\ud83d"}\n'))
    assert run(["check", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "ask"
    assert run(["check", "echo \x1b]0;x\x07 \u202e"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "<U+202E>" in out


def test_escape_codes_in_what_is_complained_about_stay_out(workspace, capsys):
    assert run(["check", "--allow", "bash(\x1b]0;x\x07\x9b31m", "ls"]) == 2
    with pytest.raises(ConfigError) as raised:
        run(["check", "--\x1b]0;x\x07\x9b31m"])
    said = f"{capsys.readouterr().err}{raised.value}"
    assert not {"\x1b", "\x07", "\x9b"} & set(said)


@pytest.fixture
def at_home(workspace, tmp_path, monkeypatch):
    monkeypatch.setenv("CODEAGENT_HOME", str(tmp_path / "home"))
    return workspace


def listed(capsys):
    assert run(["list", "--json"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_a_rule_is_added_listed_and_removed(at_home, capsys):
    assert run(["add", "allow", "bash(npm test)"]) == 0
    assert "`npm test` word for word" in capsys.readouterr().out
    assert run(["add", "deny", "read(*.log)", "--scope", "always"]) == 0
    capsys.readouterr()
    rules = listed(capsys)
    assert [(rule["decision"], rule["rule"], rule["scope"]) for rule in rules] == [
        ("deny", "read(*.log)", "always"),
        ("allow", "bash(npm test)", "project"),
    ]
    assert all(rule["place"].startswith(str(at_home / "home")) for rule in rules)
    assert run(["remove", "allow", "bash(npm test)"]) == 0
    assert run(["remove", "deny", "read(*.log)", "--scope", "always"]) == 0
    capsys.readouterr()
    assert listed(capsys) == []


def test_a_rule_of_one_project_does_not_show_in_another(at_home, capsys, monkeypatch):
    run(["add", "ask", "bash(make *)"])
    run(["add", "ask", "bash(git push *)", "--scope", "always"])
    capsys.readouterr()
    (at_home / "other").mkdir()
    monkeypatch.chdir(at_home / "other")
    assert [rule["rule"] for rule in listed(capsys)] == ["bash(git push *)"]


def test_rules_of_the_settings_are_listed_with_their_file(at_home, capsys):
    config = find_places(os.environ).config_file
    config.parent.mkdir(parents=True)
    config.write_text('[permissions]\nallow = ["bash(pytest *)"]\n')
    assert run(["list"]) == 0
    out = capsys.readouterr().out
    assert "allow  bash(pytest *)" in out
    assert str(config) in out


def test_the_rules_that_hold_here_count_in_what_is_explained(at_home, capsys):
    config = find_places(os.environ).config_file
    config.parent.mkdir(parents=True)
    config.write_text('[permissions]\ndeny = ["bash(rm *)"]\n')
    run(["add", "allow", "bash(make *)"])
    capsys.readouterr()
    for command, verdict in (("rm x", "deny"), ("make test", "allow"), ("touch x", "ask")):
        assert run(["check", command]) == 0
        assert capsys.readouterr().out.startswith(verdict)


def test_a_request_on_a_line_is_judged_by_its_own_rules_alone(at_home, capsys, monkeypatch):
    run(["add", "allow", "bash(make *)"])
    capsys.readouterr()
    monkeypatch.setattr("sys.stdin", io.StringIO('{"command": "make test"}\n'))
    assert run(["check", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "ask"


@pytest.mark.parametrize(
    "words",
    [
        ["add", "allow", "no rule"],
        ["add", "allow", "fetch(x)"],
        ["add", "allow", "bash()"],
        ["remove", "allow", "bash(never stored)"],
    ],
)
def test_what_cannot_be_stored_or_removed_is_said(at_home, words):
    with pytest.raises(ConfigError):
        run(words)


def test_trust_that_cannot_be_kept_is_told_with_what_to_do(at_home, monkeypatch):
    Path("AGENTS.md").write_text("Be kind.")
    Path("file").write_text("")
    monkeypatch.setenv("CODEAGENT_HOME", str(Path("file").resolve()))
    with pytest.raises(
        ConfigError, match=r"trust.json cannot be changed: .*\. Make it writable, or set CODEAGENT_HOME"
    ):
        trust.run([])
    with pytest.raises(ConfigError, match="CODEAGENT_HOME"):
        trust.run(["--remove"])


def test_a_rule_of_the_projects_own_settings_says_so(at_home, capsys):
    places, root = find_places(os.environ), Path.cwd()
    places.config_file.parent.mkdir(parents=True)
    places.config_file.write_text('[permissions]\nask = ["bash(make *)"]\n')
    file = project_config_file(root)
    file.parent.mkdir(exist_ok=True)
    file.write_text('[permissions]\nask = ["bash(npm *)"]\nallow = ["bash(curl *)"]\n')
    trust.run([])
    capsys.readouterr()
    assert run([]) == 0
    own, brought = capsys.readouterr().out.splitlines()
    assert "your settings" in own
    assert own.endswith(str(places.config_file))
    assert "bash(npm *)" in brought
    assert "project settings" in brought
    assert brought.endswith(str(file))
    assert run(["list", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["rule"], row["scope"]) for row in rows] == [("bash(make *)", "always"), ("bash(npm *)", "project")]
