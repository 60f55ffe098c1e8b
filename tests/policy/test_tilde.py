"""A home folder that the shell puts inside of a word, as in ``a=~/x``, is seen."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest

from codeagent.core.approvals import Mode
from codeagent.policy.check import Question, check_command
from codeagent.policy.commands import analyze

HOME = "/nowhere/home"
PARTS = (
    "a",
    "b",
    "~",
    "~",
    "~/x",
    "=",
    "=",
    ":",
    ":",
    "+",
    "/",
    "-",
    "0",
    "_",
    "x.y",
    "[0]",
    "{~,b}",
    "{a,b}",
    "{",
    ",",
    "}",
)
QUOTED = ('"~"', "'='", "\\~", "\\:", '""', '":~"', '"a"', "~+/", "~-", "~root", "~1")


@pytest.fixture
def linked(tmp_path, monkeypatch):
    """A workspace with a folder that leads everywhere by the names that the command line shows."""
    home, root = tmp_path / "home", tmp_path / "workspace"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh/config").write_text("x")
    (home / ".bash_history").write_text("x")
    root.mkdir()
    for name in ("a=", "a=x:", "a+=", "a[0]="):
        (root / name).symlink_to("/")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(root)
    return root


@pytest.mark.parametrize(
    "command",
    [
        "cat a=~/.bash_history",
        "cat a=x:~/.bash_history",
        "cat a+=~/.bash_history",
        "cat a[0]=~/.bash_history",
        "cd a=~ && cat .bash_history",
        'grep -rh "" a=~/',
        "cat a=~/.s*/c*",
        "head -n1 a=~/.s[s]h/conf*",
        'rg --hidden "" a=~',
        "find a=~",
        "ls -R a=~",
        "cat < a=~/.bash_history",
        "test -f a=~/.bash_history",
        "[[ -f a=~/.bash_history ]]",
        "cat {a=~,b}/.bash_history",
        "cat a={~,b}/.bash_history",
        "for f in a=~/.bash_history; do cat $f; done",
        "git -C a=~ status",
        "cat a=~root/x",
        "cat a=~+/../x",
        'cat a=~/".bash_history"',
    ],
)
def test_a_home_folder_inside_a_word_is_asked_about(linked, command):
    assert check_command(command, Question(), linked).decision.value == "ask"


@pytest.mark.parametrize(
    "command", ['cat "a=~/x"', "cat a=\\~/x", "cat a:~", "git log HEAD~3", "echo --a=~", "grep -n 'a=~' x"]
)
def test_a_tilde_that_the_shell_leaves_alone_is_a_name(linked, command):
    assert check_command(command, Question(), linked).decision.value == "allow"


@pytest.mark.parametrize(
    ("command", "because"),
    [
        ("dd if=x of=~/.bashrc", "never written"),
        ("dd if=~/.ssh/config of=x", "asked about each time"),
        ("tee a=x:~/.bashrc", "never written"),
        ("tee a=~/x:~/.bashrc:b", "never written"),
    ],
)
def test_what_is_told_of_such_a_word_stays_known_in_auto_mode(linked, command, because):
    verdict = check_command(command, Question(mode=Mode.AUTO, is_confined=True), linked)
    assert verdict.decision.value == "ask"
    assert because in verdict.because


def as_bash_would(words):
    """What is known of them: a word's text, with the home folder in the place of a tilde."""
    for word in words:
        if not word.is_known or word.glob or (word.has_tilde and word.text[1:2] not in {"", "/"}):
            yield None
        else:
            yield HOME + word.text[1:] if word.has_tilde else word.text


def test_words_that_are_known_are_those_that_bash_passes(tmp_path):
    environment = {"PATH": os.environ["PATH"], "HOME": HOME, "LC_ALL": "C.UTF-8"}
    choice = random.Random(7)
    written = ["".join(choice.choices(PARTS + QUOTED * (at % 2), k=choice.randint(1, 7))) for at in range(6_000)]
    script = "".join(f"printf '%s\\0' {word}; printf '\\n'\n" for word in written)
    bash = subprocess.run(
        ["bash"], input=script, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    known = 0
    for word, passed in zip(written, bash.stdout.split("\n")[:-1], strict=True):
        analysis = analyze(f"p {word}")
        if analysis.is_opaque:
            continue
        expected, meant = passed.split("\0")[:-1], list(as_bash_would(analysis.commands[0].words[1:]))
        if None not in meant:
            known += 1
            assert meant == expected, word
    assert known > 2_000
    assert not Path(HOME).exists()
