"""What names secrets and what reads them may be two commands of a line."""

import pytest

from codeagent.core.approvals import Decision, Mode
from codeagent.policy.check import Question, check_command

AUTO = Question(mode=Mode.AUTO, is_confined=True)


@pytest.mark.parametrize(
    "command",
    [
        "find . -name .env | xargs cat",
        "find . -name '.e*' | xargs cat",
        "find . -print0 | xargs -0 grep KEY",
        "find . -type f -not -path './src/*' | xargs head",
        "find . -name '*.py' -o -name .env | xargs cat",
        "find certs | xargs cat",
        "find . -name '*.pem' | xargs -I{} sh -c 'cat {}'",
        'find . -type f | while read -r f; do cat "$f"; done',
        "cat $(find . -name .env)",
        'for f in $(find . -name .env); do cat "$f"; done',
        "fd -H . | xargs cat",
        "ls -a | xargs cat",
        'ls -a | while read f; do head "$f"; done',
        "echo .env | xargs cat",
        "printf '%s\\n' .env | xargs -n1 base64",
        "git ls-files -o | xargs cat",
        "x=.env; cat $x",
        "x=.env cat $(echo $x)",
        "find $x",
        "xargs find",
    ],
)
def test_a_secret_that_is_handed_on_is_asked_about_each_time(workspace, command):
    for question in (AUTO, Question(allow=("bash(*)",))):
        verdict = check_command(command, question, workspace)
        assert verdict.decision is Decision.ASK
        assert not verdict.remedy
    assert "secrets" in check_command(command, AUTO, workspace).because


@pytest.mark.parametrize(
    "command",
    [
        "find . -name '*.py' | xargs grep foo",
        "find . -name '*.py' -not -path './.venv/*' | xargs grep -ln foo",
        "find . \\( -name '*.py' -o -name '*.md' \\) ! -path './x/*' | xargs wc -l",
        "find src -type f | xargs cat",
        "find . -type f | xargs wc -l",
        "find . -type f | xargs -n1 basename",
        "find . -type f | wc -l; cat $HOME/x",
        "ls src | xargs cat",
        'ls -la; for f in *.py; do cat "$f"; done',
        "fd -e py | xargs cat",
        "echo .env >> .gitignore",
        "x=README.md; cat $x",
        "git ls-files src | xargs cat",
    ],
)
def test_other_files_are_handed_on_without_a_question(workspace, command):
    assert check_command(command, AUTO, workspace).decision is Decision.ALLOW


def test_a_rule_on_reading_holds_for_what_is_handed_on(workspace):
    question = Question(mode=Mode.AUTO, is_confined=True, deny=("read(docs/**)",))
    verdict = check_command("find . -name '*.md' | xargs cat", question, workspace)
    assert verdict.decision is Decision.ASK
    assert verdict.because == "It reads all of ., and the rule read(docs/**) denies docs/x.md in it."
