"""What surely is not there is not said to be lost."""

import pytest

from codeagent.policy.command_case import Surroundings
from codeagent.policy.judge import Judge
from codeagent.policy.rules import RuleSet
from codeagent.workspace.paths import PathSandbox

DIST = "dist would be deleted with everything below."


@pytest.fixture
def losses(tmp_path):
    """What would be lost of a folder that holds ``dist`` and ``kept.txt``."""
    (tmp_path / "dist" / "inner").mkdir(parents=True)
    (tmp_path / "kept.txt").write_text("x")

    def losses(command):
        judge = Judge(PathSandbox(tmp_path), RuleSet())
        return judge.command(command, tmp_path, Surroundings()).losses

    return losses


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("rm -rf build", ()),
        ("rm -rf build && echo done > out.txt", ()),
        ("rm -rf build; make", ()),
        ("cd dist && rm -rf build || make", ()),
        ("cd dist && rm -rf inner\nmake", ("inner would be deleted with everything below.",)),
        ("rm -rf build dist && make", (DIST,)),
        ("rm -rf build && rm -rf dist && make", (DIST,)),
        ("shred -u gone.txt && make", ()),
        ("chmod -R 700 build && make", ()),
        ("chmod -R 700 dist && make", ("The permissions of everything below dist would be changed.",)),
        ("dd if=/dev/zero of=gone.img; make", ()),
        ("dd if=/dev/zero of=kept.txt; make", ("kept.txt would be overwritten.",)),
        ("truncate -s 0 gone.txt kept.txt; make", ("The contents of kept.txt would be cut off.",)),
    ],
)
def test_what_is_not_there_is_not_said_to_be_lost(losses, command, said):
    assert losses(command) == said


@pytest.mark.parametrize(
    "command",
    [
        "mv src build && rm -rf build",
        "make; rm -rf build",
        "rm -rf build & mv src build",
        "rm -rf build | mv src build",
        "for i in 1 2; do rm -rf build; mv src build; done",
        "f() { rm -rf build; }; mv src build; f",
        "(rm -rf build); make",
        "rm -rf $(echo build); make",
    ],
)
def test_what_something_else_may_have_put_there_is_said_to_be_lost(losses, command):
    assert len(losses(command)) == 1


@pytest.mark.parametrize("operand", ["build*", '"$X"', "~/nobody-has-this"])
def test_what_cannot_be_known_is_said_to_be_lost(losses, operand):
    assert len(losses(f"rm -rf {operand} && make")) == 1


def test_what_is_destroyed_is_said_before_what_is_replaced(losses):
    assert losses("echo > kept.txt && rm -rf dist && make") == (DIST, "The contents of kept.txt would be replaced.")


def test_the_part_that_would_destroy_something_is_told_from_the_others(tmp_path):
    (tmp_path / "dist").mkdir()
    verdict = Judge(PathSandbox(tmp_path), RuleSet()).command("ls && rm -rf dist", tmp_path, Surroundings())
    assert [part.loses for part in verdict.parts] == [False, True]
