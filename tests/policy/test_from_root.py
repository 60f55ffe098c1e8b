"""A rule for a program by a relative path is about the one in the workspace's root."""

import pytest

from codeagent.core.approvals import Decision
from codeagent.policy.check import Question, check_command


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("./x *", "cd src && ./x a"),
        ("./x", "cd src; ./x"),
        ("./x", "(cd src; ./x)"),
        ("src/x", "cd src && src/x"),
        ("../x", "cd src && ../x"),
        ("./x", "cd src/.. && cd src && ./x"),
        ("bash ./x", "cd src && bash ./x"),
        ("python a.py", "cd src && python a.py"),
        ("timeout 5 ./x", "cd src && timeout 5 ./x"),
        ("env *", "cd src; env ./x"),
        ("./x", "cd $Y && ./x"),
    ],
)
def test_it_does_not_cover_another_one_after_cd(project, rule, command):
    assert check_command(command, Question(allow=(f"bash({rule})",)), project).decision is Decision.ASK


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("./x *", "./x a"),
        ("./x", "cd src && cd .. && ./x"),
        ("src/x", "cd src && ./x"),
        ("./src/x *", "cd src && ./x a"),
        ("python src/a.py", "cd src && python a.py"),
        ("*", "cd src && ./x"),
        ("/bin/x", "cd src && /bin/x"),
        ("make test", "cd src && make test"),
        ("npm run *", "cd src && npm run build"),
        ("python -m pytest *", "cd src && python -m pytest -q"),
        ("timeout 5 ./x", "timeout 5 ./x"),
    ],
)
def test_it_covers_the_same_one_however_it_is_reached(project, rule, command):
    assert check_command(command, Question(allow=(f"bash({rule})",)), project).decision is Decision.ALLOW


def test_the_rule_that_is_named_names_the_right_one(project):
    verdict = check_command("cd src && ./x a", Question(), project)
    assert verdict.remedy == "--allow 'bash(src/x a)'"
