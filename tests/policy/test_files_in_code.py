"""A secret that code names is asked about like one that a command names."""

import pytest

from codeagent.core.approvals import Decision, Mode
from codeagent.policy.check import Question, check_command

AUTO = Question(mode=Mode.AUTO, is_confined=True)


@pytest.mark.parametrize(
    "command",
    [
        "python3 -c \"print(open('.env').read())\"",
        "python3 -c \"print(open('src/../.env').read())\"",
        "python3 - <<X\nprint(open('.env').read())\nX",
        "node -e \"console.log(require('fs').readFileSync('.env', 'utf8'))\"",
        "ruby -e 'puts File.read(\".env\")'",
        "awk 'BEGIN { while ((getline line < \".env\") > 0) print line }'",
        'sqlite3 x ".read .env"',
        "bash <<X\ncat .env\nX",
        'bash <<< "cat .env"',
        'trap "cat .env" EXIT',
        'echo "cat .env" | sh',
        "cd src && python3 -c \"print(open('../.env').read())\"",
    ],
)
def test_code_that_names_a_secret_file_is_asked_about(workspace, command):
    verdict = check_command(command, AUTO, workspace)
    assert verdict.decision is Decision.ASK
    assert verdict.because.endswith("it may hold secrets.")
    assert not verdict.remedy


@pytest.mark.parametrize(
    "command",
    [
        "python3 -c \"print(open('.env.example').read())\"",
        "python3 - <<X\n# copy .env.example to .env\nprint(open('README.md').read())\nX",
        "python3 -c \"print('.env.production')\"",
        "bash -c 'cat README.md'",
        "echo 'cat .env' > run.sh",
        "cat > run.sh <<X\ncat .env\nX",
        "node -e \"require('dotenv').config()\"",
    ],
)
def test_other_code_is_not(workspace, command):
    assert check_command(command, AUTO, workspace).decision is Decision.ALLOW
