"""A command that is made to take long is not looked through for long."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from codeagent.core.approvals import Decision, Mode
from codeagent.policy.check import Question, check_command
from codeagent.policy.command_case import Surroundings
from codeagent.policy.commands import analyze
from codeagent.policy.judge import Judge
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


PADDED = (
    "cat .env #" + "x" * 200_000,
    "rm -rf src #" + "x" * 200_000,
    "docker run x #" + "x" * 200_000,
    "true; " * 10_000 + "cat .env",
    "true " + "x " * 90_000 + "; true " * 10_000 + "; rm -rf src",
    "( " * 60 + "cat .env" + " )" * 60,
    "eval " * 9 + "true",
    "cat <<A\n" + "`true`\n" * 9_000 + "`cat .env`\nA",
    "$x " + "a " * 600 + "docker run x",
    "python3 -c 'subprocess.run(\"" + "x" * 30_000 + '"); subprocess.run("docker run x")\'',
    "make -f - <<'A'\nx:\n" + "\ttrue\n" * 5_000 + "\tdocker run x\nA",
    "x='" + "true; " * 9_000 + "docker run x'; $x",
    "cat .e[" + "n" * 100_000 + "]v",
)


@pytest.mark.parametrize("command", PADDED, ids=range(len(PADDED)))
def test_nothing_passes_behind_more_than_is_looked_at(tmp_path, command):
    (tmp_path / ".env").write_text("KEY=1")
    (tmp_path / "src").mkdir()
    confined = Question(mode=Mode.AUTO, is_confined=True)
    assert check_command(command, confined, tmp_path).decision is Decision.ASK
    assert check_command(command, Question(), tmp_path).decision is Decision.ASK


def _many(form: str, count: int, joint: str = "; ") -> str:
    return joint.join(form.replace("@", str(number)) for number in range(count))


LONG = {
    "patterns": _many("cat src/*@", 4_000),
    "patterns of folders": _many("cat */*/*/x@", 4_000),
    "patterns to delete": _many("rm src/*@", 4_000),
    "long patterns": _many("cat " + "[" * 900 + "@", 200),
    "one long pattern": "cat " + "[" * 190_000,
    "values of a loop": f"for a in {_many('x@', 250, ' ')}; do cat {'$a ' * 60_000}; done",
    "loops in loops": _many("for a in 1 2 3; do for b in 1 2 3; do cat $a$b@ $a $b; done; done", 2_000),
    "braces": _many("x" * 900 + "{a,b}" * 8 + "@", 200),
    "a long range in braces": _many("{1..255}@", 16_000),
    "commits": _many("git show HEAD~@", 4_000),
    "files to put back": _many("git restore src/@", 4_000),
    "processes": "sleep 1 & " + _many("a@=$!; kill $a@", 4_000),
    "folders": _many("(cd src/@ && git status)", 4_000),
    "lists": _many("cat list.txt | xargs cat", 700),
    "trees": _many("grep -r x@ .", 4_000),
    "scripts": "sh -c '" + _many("cat src/@", 12_000) + "'",
    "scripts in scripts": "sh -c 'sh -c \"sh -c ls\"';" * 7_000,
    "commands for what is found": "find . " + _many("-exec cat {} \\;", 12_000, " "),
    "marks for what is put in": f"ls | xargs {_many('-I x@', 12_000, ' ')} cat {_many('y@', 10_000, ' ')}",
    "words": "foo " + "a b " * 49_000,
    "code": 'python3 -c "' + "'a' " * 45_000 + '"',
}


@pytest.mark.parametrize("command", LONG.values(), ids=LONG)
def test_a_long_command_is_judged_soon(tmp_path, command):
    """However it is made: each step draws on one allowance. So much takes a second or two on a slow machine."""
    rules = [f"bash(tool{number} *)" for number in range(10)] + [f"read(folder{number}/**)" for number in range(10)]
    (tmp_path / "src/deep").mkdir(parents=True)
    for number in range(200):
        (tmp_path / f"src/{number}").write_text("")
    (tmp_path / "list.txt").write_text("src/1\n" * 50_000)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    around = Question(mode=Mode.AUTO, is_confined=True, deny=tuple(rules))

    def look() -> None:
        analyze.cache_clear()
        check_command(command[:200_000], around, tmp_path)

    assert_takes_less(2.0, look)


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


TOO_MUCH = {
    "too long": "rm x\n" + " " * 200_000 + "ls",
    "too many commands": "rm x\n" + "ls;" * 60_000,
    "too many inside": "sh -c 'rm x'\n" + "sh -c 'sh -c ls';" * 9_000,
    "too many files": "cat " + "a*b*c* " * 20_000 + "\nrm x",
}


@pytest.mark.parametrize("what", TOO_MUCH)
@pytest.mark.parametrize("mode", [Mode.ASK, Mode.AUTO])
def test_a_deny_rule_holds_for_what_was_seen_of_too_much(workspace, what, mode):
    question = Question(mode=mode, is_confined=True)
    assert check_command(TOO_MUCH[what], question, workspace).decision is Decision.ASK
    verdict = check_command(TOO_MUCH[what], replace(question, deny=("bash(rm *)",)), workspace)
    assert verdict.decision is Decision.DENY
    assert verdict.because == "The rule bash(rm *) denies rm."


@pytest.mark.parametrize("what", TOO_MUCH)
def test_deny_rules_for_too_much_are_looked_up_in_no_long_time(workspace, what):
    question = Question(mode=Mode.AUTO, is_confined=True, deny=tuple(f"bash(none{number} *)" for number in range(40)))

    def look() -> None:
        analyze.cache_clear()
        assert check_command(TOO_MUCH[what], question, workspace).decision is Decision.ASK

    assert_takes_less(3, look)
