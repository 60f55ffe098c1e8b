"""Git commands that print contents answer for the files that these are from, however the commits are written."""

from __future__ import annotations

import subprocess

import pytest

from codeagent.core.approvals import Decision
from codeagent.policy.check import Question, check_command

DENIED = Question(deny=("read(private/*.txt)",))
HISTORY = """
git init -q -b main; git config user.name me; git config user.email me@x
mkdir private src
seq 30 > .env; echo SECRET=1 >> .env; echo a > a.txt; echo p > private/p.txt; echo s > src/s.txt
git add -f .; git commit -qm 'fix: one'
git tag start; git tag a-file HEAD:.env; git tag -a a-file-with-words -m x HEAD:.env; git tag a-folder HEAD:private
sed -i '$d' .env; git commit -qam two
git mv .env settings.txt; git commit -qm three; git tag -a release -m release
echo b >> settings.txt; echo s >> src/s.txt; git commit -qam four
echo p >> private/p.txt; git commit -qam five
echo s >> src/s.txt; git commit -qam six; git tag -a harmless -m 'nothing private'
"""


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    """A repository of which an older commit holds a file with secrets, under another name now."""
    root = tmp_path_factory.mktemp("history")
    subprocess.run(["/bin/bash", "-ec", HISTORY], cwd=root, check=True)
    return root


@pytest.mark.parametrize(
    "command",
    [
        # Tags, whose own text comes before the names.
        "git show release",
        "git show --stat -p release",
        # What stands for several commits.
        "git show start~0^@ release^!",
        "git show release^!",
        "git show release^-",
        "git show ^start release",
        "git show start..main~3",
        # Contents without a name.
        "git show a-file",
        "git show a-file-with-words",
        "git show --tags",
        "git show --all",
        "git diff a-file a.txt",
        "git diff a-file-with-words HEAD:a.txt",
        "git diff HEAD:a.txt a-file",
        "git diff a-file..HEAD:a.txt",
        "git grep SECRET a-file",
        "git grep SECRET a-folder",
        # Commits that are written with colons.
        "git show 'main^{/fix:}:.env'",
        "git show 'main@{2035-01-01 00:00:00}:.env'",
        "git cat-file -p 'main@{5 minutes:ago}:.env'",
        "git grep SECRET start:",
        # Options that put other text around the names or show fewer of them.
        "git log --log-size -p",
        "git show --log-size release",
        "git diff --line-prefix=x start",
        "git diff --line-prefix x start",
        "git diff --relative start",
        "git diff --diff-filter=R start release",
        "git log --graph -p -4",
        # Moved files.
        "git log -p --follow -- settings.txt",
        "git log -L 1,3:settings.txt",
        "git log -L '/1/,/3/:settings.txt'",
        "git log -L 1,1:a.txt -L 1,1:settings.txt",
    ],
)
def test_contents_of_a_file_with_secrets_are_never_shown_unasked(history, command):
    assert check_command(command, Question(), history).decision is Decision.ASK


@pytest.mark.parametrize(
    ("command", "decision"),
    [
        ("git show HEAD~1", Decision.DENY),
        ("cd src && git show HEAD:private/p.txt", Decision.DENY),
        ("git -C src cat-file -p HEAD:private/p.txt", Decision.DENY),
        ("cd src && git show HEAD:./../private/p.txt", Decision.DENY),
        ("cd private && git show HEAD:./p.txt", Decision.DENY),
        ("cd private && git diff --relative HEAD~2", Decision.DENY),
        ("cd private && git log -p --relative HEAD~2..", Decision.DENY),
        ("git grep p HEAD:private", Decision.DENY),
        ("git grep p HEAD:", Decision.DENY),
        ("cd private && git grep p HEAD:./", Decision.ASK),
        ("git grep p a-folder", Decision.ASK),
        ("git diff HEAD~2:private HEAD:private", Decision.ASK),
        ("git diff-tree -p HEAD~2:private HEAD:private", Decision.ASK),
        ("git diff-tree -p HEAD~2:private a-folder", Decision.ASK),
        ("git log -L 1,1:private/p.txt", Decision.DENY),
        ("git grep s HEAD:src", Decision.ALLOW),
        ("git show HEAD -- src", Decision.ALLOW),
        ("cd src && git diff --relative HEAD~1", Decision.ALLOW),
    ],
)
def test_contents_answer_to_rules_by_their_whole_path(history, command, decision):
    assert check_command(command, DENIED, history).decision is decision


@pytest.mark.parametrize("option", ["-v", "-vv", "--verbose"])
def test_status_with_contents_shows_staged_and_other_changes(history, option):
    assert check_command(f"git status {option}", DENIED, history).decision is Decision.ALLOW
    before = (history / "private/p.txt").read_text()
    try:
        (history / "private/p.txt").write_text("other\n")
        assert check_command(f"git status {option}", DENIED, history).decision is Decision.DENY
    finally:
        (history / "private/p.txt").write_text(before)


@pytest.mark.parametrize(
    "command",
    [
        "git show",
        "git show harmless",
        "git show harmless^!",
        "git show HEAD~1 HEAD",
        "git diff",
        "git diff HEAD~2",
        "git diff HEAD~2..HEAD",
        "git diff HEAD~1 -- src",
        "git diff -M HEAD~2 HEAD",
        "git diff HEAD~1:src/s.txt HEAD:src/s.txt",
        "git log -p -2",
        "git log --graph -p -2",
        "git log -p --follow -- src/s.txt",
        "git log -L 1,1:src/s.txt",
        "git blame -L 1,1 src/s.txt",
        "git blame -L '/s/,+1' src/s.txt",
        "git grep s HEAD",
        "git grep s HEAD -- src",
        "git show HEAD:src/s.txt",
        "git show nothing-of-the-kind",
        "git show a-folder",
        "git show 'start^{tree}'",
        "git cat-file -p 'start^{tree}'",
        "git cat-file -p start:",
    ],
)
def test_other_contents_need_no_question(history, command):
    assert check_command(command, Question(), history).decision is Decision.ALLOW


SHOWN_BY_PATTERN = [
    *("git show ?env", "git show '?env'", "git show '*env'", "git show *env", "git show HEAD ?env"),
    *("git show '\\.env'", "git show '.en[v]'", "git show HEAD~0 '*nv' b.txt", "git show ':?env'"),
    *("git show ':!b.txt'", "git show ':^b.txt'", "git show HEAD ':!b.txt'", "git show -- '?env'"),
    *("git log -p -1 '?env'", "git diff HEAD~1 '?env'", "git diff HEAD~1 -- '\\.env'", "git show {src,?env}"),
    "for f in '?env'; do git show \"$f\"; done",
]


@pytest.fixture(scope="module")
def removed(tmp_path_factory):
    """A repository whose last commit took a file with secrets out."""
    root = tmp_path_factory.mktemp("removed")
    script = """
    git init -q -b main; git config user.name me; git config user.email me@x
    mkdir src; echo SECRET=1 > .env; echo b > b.txt; echo s > src/s.txt; git add -f .; git commit -qm one
    git rm -q .env; echo b >> b.txt; echo s >> src/s.txt; git add .; git commit -qm two
    """
    subprocess.run(["/bin/bash", "-ec", script], cwd=root, check=True)
    return root


@pytest.mark.parametrize("command", SHOWN_BY_PATTERN)
def test_a_pattern_of_paths_shows_what_it_fits_also_where_nothing_is_called_so(removed, command):
    assert check_command(command, Question(), removed).decision is Decision.ASK


@pytest.mark.parametrize("command", ["git show b.txt", "git show src", "git show '*.txt'", "git show HEAD 's*'"])
def test_a_pattern_that_fits_no_secret_asks_nothing(removed, command):
    assert check_command(command, Question(), removed).decision is Decision.ALLOW


@pytest.mark.parametrize(
    ("command", "decision"),
    [
        *((f"git stash show {more}", Decision.ASK) for more in ("", "--", "-p", "-i", "--histogram", "-w --stat -p")),
        *(
            (f"git stash show {more}", Decision.ALLOW)
            for more in ("--stat", "--name-only", "stash@{1}", "stash@{1} -p")
        ),
        *((f"git stash {verb}", Decision.ALLOW) for verb in ("list", "list --stat")),
    ],
)
def test_a_stash_is_shown_as_a_patch_with_any_option(removed, tmp_path, command, decision):
    script = """
    cp -r "$0" here; cd here
    echo b >> b.txt; git stash -q; echo SECRET=2 > .env; git add -f .env; git stash -q
    """
    subprocess.run(["/bin/bash", "-ec", script, removed], cwd=tmp_path, check=True)
    assert check_command(command, Question(), tmp_path / "here").decision is decision


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A repository with secrets in a stash and in a commit that only the reflog knows."""
    root = tmp_path_factory.mktemp("kept")
    script = """
    git init -q -b main; git config user.name me; git config user.email me@x
    mkdir src; echo s > src/s.txt; git add .; git commit -qm one
    echo SECRET=1 > .env; git add -f .env; git commit -qm two; git reset -q --hard HEAD~
    echo SECRET=2 > .env; git add -f .env; git stash -q
    """
    subprocess.run(["/bin/bash", "-ec", script], cwd=root, check=True)
    return root


SHOWN_BY_A_LOG_OF_MOVES = [
    *(
        "stash list -p",
        "stash list --patch",
        "stash list -u",
        "stash list -U1",
        "stash list --binary",
        "stash list -p -1",
    ),
    *("stash list --stat -p", "stash list --oneline -p", "stash list -G SECRET -p", "stash show -p"),
    *("reflog -p", "reflog show -p", "reflog show --patch HEAD", "reflog -p -3", "log -g -p", "log -p stash"),
]


@pytest.mark.parametrize("options", SHOWN_BY_A_LOG_OF_MOVES)
def test_stashes_and_the_reflog_are_looked_through_like_commits(kept, options):
    printed = subprocess.run(["git", *options.split()], cwd=kept, capture_output=True, text=True, check=True).stdout
    assert "SECRET" in printed or options == "log -p stash"
    assert check_command(f"git {options}", Question(), kept).decision is Decision.ASK
    denied = check_command(f"git {options}", Question(deny=("read(.env)",)), kept)
    assert denied.decision is Decision.DENY


@pytest.mark.parametrize("command", ["git stash list", "git stash list --stat", "git reflog", "git reflog show HEAD"])
def test_a_list_of_stashes_or_moves_asks_nothing(kept, command):
    assert check_command(command, Question(), kept).decision is Decision.ALLOW


@pytest.mark.parametrize(
    ("command", "decision"),
    [
        *(
            (f"git show {words}", Decision.ALLOW)
            for words in (
                "--name-only start",
                "--stat start main",
                "-s start",
                "--name-status start~0",
                "--stat harmless",
            )
        ),
        *(
            (f"git show {words}", Decision.ASK)
            for words in (
                *("--name-only a-file", "--stat a-file-with-words", "--stat start:.env", "-s start a-file"),
                *("--stat -p start", "--stat --all", "--name-only :.env", "--stat HEAD~2:settings.txt a-file"),
            )
        ),
    ],
)
def test_a_list_of_what_commits_changed_shows_no_contents(history, command, decision):
    assert check_command(command, Question(), history).decision is decision


@pytest.fixture(scope="module")
def cleaned(tmp_path_factory):
    """A repository in which files with settings held keys and do so no more."""
    root = tmp_path_factory.mktemp("cleaned")
    script = """
    git init -q -b main; git config user.name me; git config user.email me@x
    mkdir src; echo s > src/s.txt; echo '//x/:_authToken=abc' > .npmrc; echo 'export API_KEY=abc' > .envrc
    git add -f .; git commit -qm one
    echo 'save-exact=true' > .npmrc; git rm -q .envrc; git add .; git commit -qm two
    echo s >> src/s.txt; git commit -qam three
    """
    subprocess.run(["/bin/bash", "-ec", script], cwd=root, check=True)
    return root


@pytest.mark.parametrize(
    ("command", "decision"),
    [
        *(
            (command, Decision.ASK)
            for command in (
                *(
                    "git show HEAD~1",
                    "git show HEAD~1:.npmrc",
                    "git show HEAD~2:.envrc",
                    "git log -p",
                    "git diff HEAD~2",
                ),
                *("git cat-file -p HEAD~2:.npmrc", "git blame HEAD~2 -- .npmrc", "git blame HEAD~2 .npmrc"),
                *("git grep abc HEAD~2", "git grep --cached abc", "git log -L1,1:.npmrc"),
            )
        ),
        *(
            (command, Decision.ALLOW)
            for command in (
                *("git show", "git show HEAD", "git log -p -1", "git log -p -- src", "git diff HEAD~1", "git grep abc"),
                *("git blame .npmrc", "git blame HEAD~2 -- src/s.txt", "git grep s '*.txt'", "cat .npmrc"),
            )
        ),
    ],
)
def test_settings_that_hold_no_key_any_more_may_have_held_one(cleaned, command, decision):
    assert check_command(command, Question(), cleaned).decision is decision


@pytest.mark.parametrize("command", ["git archive HEAD", "git format-patch --stdout HEAD~2", "git fast-export HEAD"])
def test_no_rule_lifts_the_question_about_what_such_settings_held(cleaned, command):
    assert check_command(command, Question(allow=("bash(git *)",)), cleaned).decision is Decision.ASK
