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
        "xargs cat <<< .env",
        "xargs -I{} cat {} <<<.env",
        "xargs cat <<X\n.env\nX",
        "xargs cat <<< 'a.py .env'",
        "cat $(echo .env)",
        "cat ${x:-.env}",
        "x=${y:-.env}; cat $x",
        'x=(a.py .env); cat "${x[@]}"',
        'read f <<< .env; cat "$f"',
        'mapfile -t x <<< .env; cat "${x[@]}"',
        'while read f; do cat "$f"; done <<< .env',
        'sort --files0-from=<(printf ".env\\0")',
        "tar cf - -T <(echo .env)",
        "find $x",
        "xargs find",
    ],
)
def test_a_secret_that_is_handed_on_is_asked_about_each_time(workspace, command):
    for question in (AUTO, Question(allow=("bash(*)",))):
        verdict = check_command(command, question, workspace)
        assert verdict.decision is Decision.ASK
        assert not verdict.remedy
    because = check_command(command, AUTO, workspace).because
    assert "secrets" in because or "asked about each time" in because


@pytest.fixture
def listing(tmp_path):
    """A workspace with a list of files, one of them secret, and prose that mentions it."""
    (tmp_path / ".env").write_text("x")
    (tmp_path / "l.txt").write_text("README.md\n.env\n")
    (tmp_path / "README.md").write_text("# How\nCopy it to .env now\n")
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [
        "xargs cat < l.txt",
        "cat l.txt | xargs cat",
        "xargs -a l.txt cat",
        "tar cf - -T l.txt",
        "tar cf - --files-from=l.txt",
        "sort --files0-from=l.txt",
        "cat $(cat l.txt)",
        "f=$(cat l.txt); cat $f",
        "for f in $(<l.txt); do cat $f; done",
        'while read f; do cat "$f"; done < l.txt',
        'cat l.txt | while read f; do cat "$f"; done',
    ],
)
def test_a_list_of_files_is_looked_into(listing, command):
    assert check_command(command, AUTO, listing).because.startswith(".env is asked about each time")
    (listing / "l.txt").write_text("README.md\n")
    assert check_command(command, AUTO, listing).decision is Decision.ALLOW


@pytest.mark.parametrize("command", ["xargs cat < l.txt", "xargs -a l.txt cat", "tar cf - -T l.txt"])
def test_a_list_that_is_too_long_to_look_into_is_asked_about(listing, command):
    (listing / "l.txt").write_text("README.md\n" * 60_000)
    assert "too long a list" in check_command(command, AUTO, listing).because
    assert check_command("tail l.txt; cat $(echo README.md)", AUTO, listing).decision is Decision.ALLOW


@pytest.mark.parametrize(
    "command",
    [
        "cat README.md | xargs cat",
        'while read l; do echo "$l"; done < l.txt',
        'v=$(cat VERSION); sed -i "s/x/$v/" README.md',
        "cat > new.md <<X\ncopy .env.example to .env\nX",
        "git commit -m \"$(cat <<'X'\nKeep .env out\nX\n)\"",
        "gh pr create --body \"$(cat <<'X'\nKeep the file .env out of the repository since it holds keys\nX\n)\"",
    ],
)
def test_prose_that_mentions_a_secret_is_no_list(listing, command):
    assert check_command(command, AUTO, listing).decision is Decision.ALLOW


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
