"""Rules on reading hold for commands that read whole folders, or the history."""

from __future__ import annotations

import subprocess

import pytest

from codeagent.core.approvals import Mode
from codeagent.policy.check import Question, check_command


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "workspace"
    for name in ("src/a.py", "src/keys.py", "docs/x.md", "one/a.txt", "run.log"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x\n")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    return folder


def git(folder, *words):
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", "-C", folder, *identity, *words], check=True, capture_output=True)


def outcome(command, root, **rules):
    return check_command(command, Question(**{kind: tuple(found) for kind, found in rules.items()}), root)


@pytest.mark.parametrize(
    "command",
    ["grep -rn x .", "grep -r x src", "rg x", "rg x src", "rg --hidden x", "diff -r src one", "cat src/*", "cat *.log"],
)
def test_a_folder_with_a_denied_file_is_not_read_as_a_whole(root, command):
    verdict = outcome(command, root, deny=["read(src/keys.py)", "read(*.log)"], allow=["bash(*)"])
    assert verdict.decision.value == "deny"
    assert "read(" in verdict.because


@pytest.mark.parametrize("command", ["grep -rn x .", "rg x src", "diff -r src one", "cat src/*"])
def test_a_folder_with_a_file_that_a_rule_asks_about_asks(root, command):
    assert outcome(command, root, ask=["read(src/keys.py)"], allow=["bash(*)"]).decision.value == "ask"


def test_other_folders_are_read(root):
    for command in ("grep -rn x docs", "rg x one", "cat docs/*", "ls -R", "find . -name x", "git log"):
        assert outcome(command, root, deny=["read(src/keys.py)"]).decision.value == "allow", command


def test_a_denied_file_among_a_secret_one_denies(root):
    (root / ".env").write_text("x")
    assert outcome("grep -r x .", root, deny=["read(run.log)"]).decision.value == "deny"


def test_ripgrep_leaves_out_what_is_ignored(root):
    (root / "server.key").write_text("x")
    assert outcome("rg x", root).decision.value == "ask"
    (root / ".gitignore").write_text("*.key\n")
    assert outcome("rg x", root).decision.value == "allow"
    assert outcome("rg --no-ignore x", root).decision.value == "ask"
    assert outcome("rg -u x", root).decision.value == "ask"
    assert outcome("grep -r x .", root).decision.value == "ask"


def test_what_an_ignore_file_takes_back_or_the_command_names_is_read(root):
    (root / "kept").mkdir()
    (root / "kept/server.key").write_text("x")
    (root / ".gitignore").write_text("kept/\n")
    assert outcome("rg x", root).decision.value == "allow"
    assert outcome("rg x kept", root).decision.value == "ask"
    (root / ".gitignore").write_text("*.key\n!kept/server.key\n")
    assert outcome("rg x", root).decision.value == "ask"


HISTORY = (
    "git log -p",
    "git show HEAD~1",
    "git show HEAD~2",
    "git diff HEAD~2",
    "git diff HEAD~2 HEAD~1",
    "git log -p -3",
    "git show -S KEY HEAD~2",
    "git show --diff-filter A HEAD~2",
    "git grep KEY HEAD~2",
    "git grep -e KEY HEAD~2 -- .",
    "git diff-tree -p HEAD~2",
)


@pytest.mark.parametrize("name", [".env", "certs/server.pem", "id_rsa"])
def test_a_secret_that_is_only_in_the_history_asks(root, name):
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).write_text("KEY=1\n")
    git(root, "add", name)
    git(root, "commit", "-q", "-m", "second")
    git(root, "rm", "-q", name)
    git(root, "commit", "-q", "-m", "third")
    (root / "src/a.py").write_text("y\n")
    git(root, "commit", "-qam", "fourth")
    shown = {command: outcome(command, root).decision.value for command in HISTORY}
    assert shown == {**dict.fromkeys(HISTORY, "ask"), "git diff HEAD~2 HEAD~1": "ask", "git diff HEAD~2": "ask"}
    for command in (
        "git show",
        "git show HEAD",
        "git log -p -1",
        "git diff HEAD~1",
        "git log -p -- src",
        "git log --stat",
    ):
        assert outcome(command, root).decision.value == "allow", command
    blob = subprocess.run(
        ["git", "-C", root, "rev-parse", f"HEAD~2:{name}"], check=True, capture_output=True, text=True
    )
    assert outcome(f"git show {blob.stdout.strip()}", root).decision.value == "ask"
    assert outcome(f"git show -s {blob.stdout.strip()[:10]}", root).decision.value == "ask"
    assert outcome(f"git cat-file -p {blob.stdout.strip()}", root).decision.value == "ask"
    for command in ("git grep x HEAD", "git grep x HEAD~3", "git cat-file -p HEAD~2", "git diff -U5 src/a.py"):
        assert outcome(command, root).decision.value == "allow", command


def test_rules_on_reading_hold_for_what_git_shows(root):
    (root / "src/keys.py").write_text("y\n")
    for command in ("git diff", "git diff HEAD", "git show", "git log -p", "git show --cc"):
        assert outcome(command, root, deny=["read(src/keys.py)"], allow=["bash(*)"]).decision.value == "deny", command
        assert outcome(command, root, ask=["read(src/keys.py)"], allow=["bash(*)"]).decision.value == "ask", command
    assert outcome("git diff -- docs", root, deny=["read(src/keys.py)"]).decision.value == "allow"
    assert outcome("git diff --cached", root, deny=["read(src/keys.py)"]).decision.value == "allow"


def test_what_git_refuses_shows_nothing(root):
    for command in ("git show nothing", "git diff nowhere..HEAD", "git show -s 1234567"):
        assert outcome(command, root).decision.value == "allow", command


def test_a_new_repository_has_no_history(tmp_path):
    git(tmp_path, "init", "-q")
    for command in ("git log -p", "git show", "git diff HEAD", "git diff HEAD~1"):
        assert outcome(command, tmp_path).decision.value == "allow", command


AUTO = {"mode": Mode.AUTO, "is_confined": True}


@pytest.mark.parametrize(
    "command",
    [
        "find . -exec cat {} +",
        "find -exec cat {} +",
        "find . -type f -exec head -5 {} ;",
        "find . -name '.e*' -exec base64 {} \\;",
        "find . -type f -exec sh -c 'cat \"$1\"' _ {} \\;",
        "find . -name '*.py' -o -exec cat {} +",
        "find . -name '*.py' -exec wc -l {} + -o -exec cat {} +",
        "find . -not -name x -exec cat {} +",
        "find . -path ./docs -prune -o -type f -exec grep x {} +",
        "find . \\( -name '*.py' -o -name '.e*' \\) -exec cat {} +",
        "find src .. -exec cat {} +",
        "fd -H -x cat",
        "fd -uX cat",
        "time find . -exec cat {} +",
    ],
)
def test_in_auto_mode_finding_files_for_a_command_that_shows_them_asks_where_one_is_secret(root, command):
    (root / ".env").write_text("x")
    verdict = check_command(command.replace(" ;", " \\;"), Question(**AUTO), root)
    assert verdict.decision.value == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "find . -name '*.py' -exec cat {} +",
        "find src -exec cat {} +",
        "find . -type d -exec ls {} \\;",
        "find . -type f -exec ls -l {} +",
        "find . -type f -exec chmod 644 {} +",
        "find . \\( -name '*.py' -o -name '*.md' \\) -exec wc -l {} +",
        "find . -path ./docs -prune -o -name '*.py' -exec grep -l x {} +",
        "fd -e py -x wc -l",
        "fd -x wc -l",
    ],
)
def test_in_auto_mode_finding_other_files_asks_nothing(root, command):
    (root / ".env").write_text("x")
    assert check_command(command, Question(**AUTO), root).decision.value == "allow"


def test_a_rule_that_denies_reading_a_file_holds_for_a_command_that_find_gives_it_to(root):
    rules = {"deny": ["read(src/keys.py)"], "allow": ["bash(*)"]}
    assert outcome("find . -exec cat {} +", root, **rules).decision.value == "deny"
    assert outcome("find . -name '*.py' -exec wc -l {} +", root, **rules).decision.value == "deny"
