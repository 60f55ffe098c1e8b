"""A command that is made to take long is not looked through for long."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from codeagent.core.approvals import Decision, Mode
from codeagent.policy.check import Question, check_command
from codeagent.policy.commands import analyze
from codeagent.policy.judge import Judge, Surroundings
from codeagent.policy.rules import RuleSet
from codeagent.workspace.paths import PathSandbox
from tests.effort import assert_takes_less

HOSTILE = (
    "ls|" * 60_000,
    "a|" * 3_999,
    "cat <<A " * 20_000,
    "[[" * 60_000,
    "a=(1 " * 30_000,
    "env " * 45_000,
    "eval " * 40_000,
    "sh -c 'sh -c \"sh -c ls\"';" * 7_000,
    "cd src; cd ..; " * 5_000,
    "ls " + "> a " * 45_000,
    "ls " + "*a* " * 40_000,
    '"' * 199_000,
)


@pytest.mark.parametrize("command", HOSTILE, ids=lambda text: text[:12])
def test_the_quick_look_at_a_hostile_command_is_quick(workspace, command):
    judge = Judge(PathSandbox(workspace), RuleSet())

    def look(length: int) -> None:
        analyze.cache_clear()
        assert not judge.is_read_only(command[:length] + "\nrm x", workspace) or "rm" not in command

    for length in (len(command), 8_000):
        assert_takes_less(0.5, partial(look, length))


@pytest.mark.parametrize("command", HOSTILE, ids=lambda text: text[:12])
def test_a_hostile_command_is_asked_about(workspace, command):
    assert check_command(command + "\nrm x", Question(), workspace).decision is Decision.ASK


@pytest.mark.parametrize("command", ["a|{} (", "( a|{}", "a '|{}", 'echo "$(|{}"', "a) (|{}"])
@pytest.mark.parametrize("count", [1_400, 4_900])
def test_many_pipes_in_a_text_with_a_fault_do_not_take_long(command, count):
    text = command.replace("|{}", "a|" * count)

    def look() -> None:
        analyze.cache_clear()
        assert analyze(text).is_hidden

    assert_takes_less(0.4, look)


@pytest.mark.parametrize(
    "command",
    [
        "x='" + "a=docker ps " * 15_000 + "'; $x",
        "x='" + "=" * 190_000 + "docker'; $x",
        "echo 'docker ps'; " * 3_000 + "$x",
    ],
    ids=lambda text: text[:12],
)
def test_texts_that_may_be_commands_are_not_looked_through_for_long(workspace, command):
    around = Question(mode=Mode.AUTO, is_confined=True)

    def look() -> None:
        analyze.cache_clear()
        check_command(command, around, workspace)

    assert_takes_less(0.5, look)


def test_more_files_than_are_looked_at_are_asked_about(workspace):
    judge = Judge(PathSandbox(workspace), RuleSet())
    some = " ".join(f"a{number}" for number in range(9_000))
    many = " ".join(f"a{number}" for number in range(11_000))
    assert judge.command(f"cat {some}", workspace, Surroundings()).decision is Decision.ALLOW
    assert judge.command(f"cat {many}", workspace, Surroundings()).decision is Decision.ASK


@pytest.mark.parametrize("count", [8_000, 25_000], ids=["looked at", "too many"])
def test_a_secret_behind_many_names_in_code_is_seen(workspace, count):
    (workspace / ".env").write_text("KEY=1")
    names = " ".join(map(str, range(count)))
    for command in (f"echo '{names} .env' | sh", f"bash <<'A'\n{names} .env\nA"):
        assert check_command(command, Question(mode=Mode.AUTO, is_confined=True), workspace).decision is Decision.ASK


def test_what_shells_are_fed_is_looked_through_once(workspace):
    def look(count: int) -> None:
        analyze.cache_clear()
        check_command("echo 'cat a b'; sh;" * count, Question(), workspace)

    assert_takes_less(0.5, partial(look, 600))


def test_a_repository_is_looked_at_once_for_all_parts(workspace):
    def look() -> None:
        analyze.cache_clear()
        judge = Judge(PathSandbox(workspace), RuleSet())
        assert judge.command("git status; " * 5_000, workspace, Surroundings()).decision is Decision.ALLOW

    assert_takes_less(1.0, look)


@pytest.mark.parametrize("command", ["git status\0; touch X", "\0", "ls\0", "cat a\0b", "ls > a\0"])
def test_a_character_that_ends_texts_is_never_let_through(command, workspace: Path):
    verdict = check_command(command, Question(allow=("bash(*)",)), workspace)
    assert verdict.decision is Decision.ASK
    assert verdict.is_opaque
    assert "NUL" in verdict.because


@pytest.mark.parametrize("name", ["x" * 300, "x/" * 3_000, "loop", "loop/x"], ids=["long", "deep", "circle", "below"])
@pytest.mark.parametrize(
    "command",
    [
        "echo x > {}",
        "touch {}",
        "tee {}",
        "cp a {}",
        "mv {} b",
        "rm -rf {}",
        "rm {}/",
        "sed -i s/a/b/ {}",
        "git checkout {}",
        "git restore {}",
        "chmod -R 700 {}",
        "x={}; cat $x",
        "find {} | xargs cat",
        "ls {} | xargs cat",
        "cd {} && ./x",
        "nc -U /{}",
    ],
)
def test_what_cannot_be_a_path_is_judged_all_the_same(tmp_path, command, name):
    (tmp_path / "loop").symlink_to("loop")
    for question in (Question(), Question(mode=Mode.AUTO, is_confined=True)):
        assert check_command(command.format(name), question, tmp_path).because
