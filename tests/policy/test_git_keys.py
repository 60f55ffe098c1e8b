"""Keys in the settings of a repository are asked about however they would be shown, and only where there are any."""

from __future__ import annotations

import subprocess

import pytest

from codeagent.core.approvals import Mode
from codeagent.policy.check import Question, check_command

SHOWING = [
    "cat .git/config",
    "head .git/*",
    "grep -r AUTH .",
    "grep -rn AUTH .git",
    "rg --hidden AUTH",
    "rg -uu AUTH",
    "find . -type f -exec cat {} +",
    "tar cf - .",
    "cd src && cat ../.git/config",
]
ADDRESSES = [
    "git remote -v",
    "cd src && git remote --verbose",
    "git remote get-url origin",
    "git remote show",
    "git config --get remote.origin.url",
    "git config remote.origin.pushurl",
]


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / "workspace"
    (folder / "src").mkdir(parents=True)
    (folder / "src/a.py").write_text("x\n")
    git(folder, "init", "-q")
    git(folder, "remote", "add", "origin", "https://git.example/x.git")
    return folder


def git(folder, *words):
    subprocess.run(["git", "-C", folder, *words], check=True)


def outcomes(commands, root, mode=Mode.AUTO):
    return {command: check_command(command, Question(mode=mode), root).decision.value for command in commands}


@pytest.mark.parametrize(
    "setting",
    [
        ("http.https://git.example/.extraheader", "AUTHORIZATION: basic eDpoZWxsbw=="),
        ("remote.origin.url", "https://me:hunter2@git.example/x.git"),
    ],
)
def test_what_shows_a_key_in_the_settings_is_asked_about(root, setting):
    git(root, "config", *setting)
    assert set(outcomes(SHOWING + ADDRESSES, root).values()) == {"ask"}
    assert outcomes(["grep -r --include=*.py x .", "git status", "git config user.name", "git remote"], root) == {
        "grep -r --include=*.py x .": "allow",
        "git status": "allow",
        "git config user.name": "allow",
        "git remote": "allow",
    }


def test_without_a_key_nothing_is_asked(root):
    readers = [command for command in SHOWING + ADDRESSES if not command.startswith(("tar", "find"))]
    assert set(outcomes(readers, root, Mode.ASK).values()) == {"allow"}


def test_an_address_of_the_persons_own_settings_counts(root):
    (root.parent / ".gitconfig").write_text(
        '[url "https://me:hunter2@git.example/"]\n\tinsteadOf = https://git.example/\n'
    )
    assert outcomes(["git remote -v"], root) == {"git remote -v": "ask"}


def test_keys_in_the_settings_of_a_submodule_and_of_a_repository_inside_count(root):
    git(root, "init", "-q", "inner")
    assert outcomes(["grep -r x ."], root) == {"grep -r x .": "allow"}
    git(root / "inner", "config", "remote.origin.url", "https://me:hunter2@git.example/x.git")
    assert outcomes(["grep -r x ."], root) == {"grep -r x .": "ask"}
    (root / ".git/modules/libs/a").mkdir(parents=True)
    (root / ".git/modules/libs/a/config").write_text("[http]\n\textraheader = X-Key: 1\n")
    (root / "inner/.git/config").unlink()
    assert outcomes(["grep -r x ."], root) == {"grep -r x .": "ask"}
