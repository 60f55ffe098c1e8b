"""Commands that read files which they do not name answer to the rules on reading."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from codeagent.core.approvals import Decision, Mode
from codeagent.policy.check import Question, check_command

ANY_COMMAND = Question(allow=("bash(*)",))
DENIED = "read(top/private/**)"
BY_MODE = Question(mode=Mode.AUTO, is_confined=True)


@pytest.fixture
def repository(tmp_path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "private").mkdir()
    for name in ("private/a.txt", "src/b.txt"):
        (tmp_path / name).write_text("text")
    _add(tmp_path)
    return tmp_path


def _add(folder: Path) -> None:
    subprocess.run(["git", "init", "-q", folder], check=True)
    subprocess.run(["git", "-C", folder, "add", "-Af"], check=True)


@pytest.mark.parametrize("question", [ANY_COMMAND, BY_MODE], ids=["rule", "auto"])
@pytest.mark.parametrize("kind", ["deny", "ask"])
@pytest.mark.parametrize(
    "command",
    [
        "ls | xargs cat",
        "xargs -a list cat",
        "find . -exec cat {} +",
        "find . -type f -print0 | xargs -0 grep x",
        "fd . -x cat",
        "ls | xargs -n1 awk 1",
        "ls | xargs -I{} sh -c 'cat {}'",
        'for f in $(ls); do cat "$f"; done',
    ],
)
def test_a_reader_of_files_known_only_when_it_runs_asks_where_rules_limit_reading(repository, question, kind, command):
    limited = Question(
        mode=question.mode, is_confined=question.is_confined, allow=question.allow, **{kind: ("read(private/**)",)}
    )
    finds_all = command in {"find . -exec cat {} +", "fd . -x cat"}
    expected = Decision.DENY if kind == "deny" and finds_all else Decision.ASK
    assert check_command(command, limited, repository).decision is expected


@pytest.mark.parametrize("command", ["ls | xargs cat", "find . -exec cat {} +", "git grep x", "git archive HEAD"])
def test_without_rules_on_reading_a_rule_for_any_command_is_enough(repository, command):
    assert check_command(command, ANY_COMMAND, repository).decision is Decision.ALLOW


@pytest.mark.parametrize(
    ("command", "decision"),
    [
        ("git grep x", Decision.DENY),
        ("git -C src grep x -- :/", Decision.DENY),
        ("git grep x HEAD", Decision.DENY),
        ("git grep x HEAD -- private", Decision.DENY),
        ("sudo git grep x", Decision.DENY),
        ("git grep x -- private", Decision.DENY),
        ("git grep x -- ':(top)'", Decision.DENY),
        ("git grep --no-index x", Decision.DENY),
        ("git archive HEAD", Decision.DENY),
        ("git cat-file --batch-all-objects --batch", Decision.DENY),
        ("git format-patch -1 --stdout", Decision.DENY),
        ("git grep x -- src", Decision.ALLOW),
        ("git -C src grep x", Decision.ALLOW),
        ("git grep x HEAD -- src", Decision.ALLOW),
        ("git cat-file -t HEAD", Decision.ALLOW),
    ],
)
def test_git_that_prints_what_it_knows_answers_to_a_rule_that_denies(repository, command, decision):
    question = Question(allow=("bash(*)",), deny=("read(private/**)",))
    assert check_command(command, question, repository).decision is decision


@pytest.mark.parametrize("question", [ANY_COMMAND, BY_MODE], ids=["rule", "auto"])
def test_git_asks_before_it_prints_from_a_file_with_secrets(repository, question):
    (repository / ".env").write_text("KEY=1")
    assert check_command("git grep KEY", question, repository).decision is Decision.ALLOW
    assert check_command("git grep --no-index KEY", question, repository).decision is Decision.ASK
    assert check_command("git grep --untracked KEY", question, repository).decision is Decision.ASK
    _add(repository)
    assert check_command("git grep KEY", question, repository).decision is Decision.ASK
    assert check_command("git grep KEY -- src", question, repository).decision is Decision.ALLOW


TAKING = (
    "tar cf - .",
    "tar -czf out.tgz *",
    "tar -C . -cf - top",
    "zip -r - .",
    "zip -r out.zip top",
    "7z a out.7z",
    "cp -r top other",
    "cp -a . /tmp/other",
    "cp --recursive top/. other",
    "rsync -a top/ other/",
    "scp -r top host:",
    "ag x",
    "sudo tar cf - top",
    "sh -c 'cp -r top other'",
)


@pytest.mark.parametrize("command", TAKING)
@pytest.mark.parametrize("question", [ANY_COMMAND, BY_MODE], ids=["rule", "auto"])
def test_what_takes_a_whole_folder_answers_to_rules_and_secrets_in_it(tmp_path, question, command):
    (tmp_path / "top/private").mkdir(parents=True)
    (tmp_path / "top/private/a.txt").write_text("text")
    denied = Question(mode=question.mode, is_confined=question.is_confined, allow=question.allow, deny=(DENIED,))
    assert check_command(command, denied, tmp_path).decision is Decision.DENY
    (tmp_path / "top/private/a.txt").rename(tmp_path / "top/.env")
    assert check_command(command, question, tmp_path).decision is Decision.ASK


@pytest.mark.parametrize(
    "command", ["tar cf - -T list", "tar cT list", "zip - -@", "cpio -o", "rsync -a --files-from=list . b"]
)
def test_a_list_of_files_is_known_only_when_it_runs(repository, command):
    limited = Question(allow=("bash(*)",), ask=(DENIED,))
    assert check_command(command, limited, repository / "src").decision is Decision.ASK


@pytest.mark.parametrize("command", ["cp -r src other", "tar xf a.tar", "tar cf - src", "cp src/b.txt top"])
def test_what_takes_other_folders_is_let_through_with_a_word_of_caution(repository, command):
    limited = Question(allow=("bash(*)",), deny=("read(private/**)",))
    found = check_command(command, limited, repository)
    assert found.decision is Decision.ALLOW
    assert "what the program itself opens" in found.because
