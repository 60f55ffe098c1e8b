"""Commands that read whole folders or the history ask where that would show secrets or what lies outside."""

from __future__ import annotations

import os
import subprocess

import pytest

from codeagent.core.approvals import Decision, Mode
from codeagent.policy.check import Question, check_command


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "workspace"
    for name in ("src/a.py", "one/a.txt", "two/a.txt", "README.md"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x\n")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret.txt").write_text("x")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    return folder


def git(folder, *words):
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", "-C", folder, *identity, *words], check=True, capture_output=True)


def outcome(command, root):
    return check_command(command, Question(), root).decision.value


@pytest.mark.parametrize(
    "command", ["grep -d recurse x .", "grep -drecurse x src", "grep --directories=recurse x .", "egrep -d rec x src"]
)
def test_grep_told_to_go_into_folders_reads_all_of_them(root, command):
    assert outcome(command, root) == "allow"
    (root / "src/.env").write_text("x")
    assert outcome(command, root) == "ask"
    assert outcome("grep -d skip x README.md", root) == "allow"


@pytest.mark.parametrize("mode", [Mode.ASK, Mode.PLAN, Mode.AUTO])
@pytest.mark.parametrize("command", ["grep -r x s", "rg x", "rg x s", "find s -type f -exec cat {} +", "tar cf - s"])
def test_a_hard_link_to_a_secret_is_one(root, mode, command):
    (root / "s").mkdir()
    (root / "s/linked").write_text("x")
    os.link(root / "s/linked", root / "s/other")
    question = Question(mode=mode, is_confined=True)
    before = check_command(command, question, root).decision
    os.link(root / "s/other", root / ".env")
    assert before is Decision.ALLOW or mode is not Mode.AUTO
    assert check_command(command, question, root).decision in {Decision.ASK, before} - {Decision.ALLOW}


@pytest.mark.parametrize("command", ["grep -r x s*", "grep -r x */", 'for d in s*; do grep -r x "$d"; done'])
def test_folders_that_a_pattern_stands_for_are_read_as_a_whole(root, command):
    assert outcome(command, root) == "allow"
    (root / "src/.env").write_text("x")
    assert outcome(command, root) == "ask"


def test_ripgrep_reads_what_is_not_hidden(root):
    (root / ".env").write_text("x")
    assert outcome("rg x", root) == "allow"
    (root / "src/server.pem").write_text("x")
    assert outcome("rg x", root) == "ask"
    assert outcome("rg x src", root) == "ask"
    assert outcome("rg x one", root) == "allow"


@pytest.mark.parametrize("name", [".ignore", ".gitignore", ".rgignore", "src/.ignore"])
def test_an_ignore_file_can_bring_hidden_files_back(root, name):
    (root / "src/.env").write_text("x")
    (root / name).write_text("!.env\n")
    assert outcome("rg x src", root) == "ask"
    (root / name).write_text("!.gitkeep\n")
    assert outcome("rg x src", root) == "allow"


@pytest.mark.parametrize(
    "text",
    [
        b"x\x0cserver.pem\n",
        b"x\rserver.pem\n",
        "x\u2028server.pem\n".encode(),
        b"\xff\nserver.pem\n",
        b"server.pem\n" + b"#" * 300_000 + b"\n!server.pem\n",
        b"server.pem\n!{.env,server.pem}\n",
        b"server.pem\n!.[^x]nv\n",
        b"\xef\xbb\xbf!.env\n",
        b"!{.env,x}\n",
        b"!.[^x]nv\n",
        b"!\\.en\\v\n",
    ],
    ids=lambda text: repr(text[:20]),
)
def test_an_ignore_file_that_is_written_in_an_odd_way_hides_no_secret(root, text):
    (root / "src/.env").write_text("x")
    assert outcome("rg x src", root) == "allow"
    (root / ".gitignore").write_bytes(b"server.pem\n")
    if b"server" in text:
        (root / "src/server.pem").write_text("x")
    assert outcome("rg x src", root) == "allow"
    (root / ".gitignore").write_bytes(text)
    assert outcome("rg x src", root) == "ask"


@pytest.mark.parametrize("line", ["src/server.pem", "/src/server.pem", "src/*", "**/server.pem"])
def test_a_path_in_an_ignore_file_above_the_folder_that_is_searched_does_not_count(root, line):
    (root / "src/server.pem").write_text("x")
    (root / ".ignore").write_text(f"{line}\n")
    assert outcome("rg x", root) == "allow"
    assert outcome("rg x src", root) == "ask"
    assert outcome("cd src && rg x", root) == "ask"
    (root / ".ignore").write_text("*.pem\n")
    assert outcome("rg x src", root) == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "grep -r x . --exclude=prod.env --exclude-dir=.ssh",
        "grep -r --exclude='*.pem' x .",
        "rg x -g '!*.env' -g '!id_*'",
        "rg x src -g '!prod.env'",
    ],
)
def test_what_a_search_leaves_out_needs_no_question(root, command):
    assert outcome(command, root) == "allow"


@pytest.mark.parametrize(
    "command", ["grep x README.md -e prod.env", "grep -r x . --include prod.env", "rg x -g prod.env"]
)
def test_a_value_that_some_programs_take_for_a_file_is_one(root, command):
    assert outcome(command, root) == "ask"


@pytest.mark.parametrize("command", [r"grep -r x . --include='\.env'", r"rg x -g '\.env'"])
def test_a_pattern_that_is_written_like_a_secret_asks(root, command):
    assert outcome(command, root) == "ask"


def test_an_ignore_file_that_never_ends_is_not_waited_for(root):
    (root / "src/.env").write_text("x")
    os.mkfifo(root / ".ignore")
    assert outcome("rg x src", root) == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "grep -r x . --include='[^y]env'",
        "grep -r x . --include='[[:punct:]]env'",
        r"grep -r x --include='.en\v' src",
        "rg x -g '{.env,y}'",
        "rg x -g '*.{env,py}'",
        "rg x -g 'src/**'",
        "rg x -g 'src/*'",
        "rg x -g '{src,one}/**'",
        "rg x src -g '[!y]env'",
        "rg x --iglob '{.ENV,y}'",
        "rg x -L -g 'one/**'",
        "rg x one src -g 'one/**'",
    ],
)
def test_a_pattern_of_names_may_fit_whatever_the_program_takes_it_for(root, command):
    assert outcome(command, root) == "allow"
    (root / "src/.env").write_text("x")
    assert outcome(command, root) == "ask"


@pytest.mark.parametrize(
    "pattern",
    ["*.py", "*.{ts,tsx}", "*.[jt]s", "one/**", "one/*.txt", "**/one/*", "{one,two}/**", "{a,b{c,d}}.txt", "!src/**"],
)
def test_a_pattern_that_leaves_the_secret_out_needs_no_question(root, pattern):
    (root / "src/.env").write_text("x")
    assert outcome(f"rg x -g '{pattern}'", root) == "allow"


CONTENTS = (
    "git diff",
    "git diff HEAD",
    "git show",
    "git show --stat a1b2c3d",
    "git show main",
    "git log -p",
    "git log -U5 -3",
    "git diff --stat -p",
    "git stash list -p",
    "git status -v",
    "cd src && git diff",
)
SUMMARIES = (
    "git status",
    "git log --oneline",
    "git diff --stat",
    "git show --stat HEAD~1",
    "git diff -- src",
    "git log",
)


@pytest.mark.parametrize("command", CONTENTS + SUMMARIES)
def test_git_shows_what_it_knows_without_a_question_where_that_holds_no_secret(root, command):
    (root / ".env").write_text("not tracked")
    assert outcome(command, root) == "allow"


def test_git_asks_where_contents_of_a_tracked_secret_may_be_shown(root):
    (root / ".env").write_text("x")
    git(root, "add", ".env")
    assert {command: outcome(command, root) for command in CONTENTS} == dict.fromkeys(CONTENTS, "ask")
    assert {command: outcome(command, root) for command in SUMMARIES} == dict.fromkeys(SUMMARIES, "allow")


def test_comparing_folders_reads_what_is_in_them(root, tmp_path):
    assert outcome("diff one two", root) == "allow"
    assert outcome("diff README.md one/a.txt", root) == "allow"
    (root / "two/link").symlink_to(tmp_path / "outside/secret.txt")
    assert outcome("diff one two", root) == "ask"
    (root / "two/link").unlink()
    (root / "one/id_rsa").write_text("x")
    assert outcome("diff one two", root) == "ask"


@pytest.mark.parametrize(
    "command", ["ls -RL", "ls -LR src", "find -L .", "find . -follow", "find -L src -name x", "du -L", "du -sL src"]
)
def test_listing_does_not_follow_links_out_of_the_workspace(root, tmp_path, command):
    (root / ".env").write_text("x")
    assert outcome(command, root) == "allow"
    (root / "src/link").symlink_to(tmp_path / "outside")
    assert outcome(command, root) == "ask"
    assert outcome("ls -R", root) == "allow"
    assert outcome("find . -name x", root) == "allow"


@pytest.mark.parametrize("pattern", ["*a" * 25 + "b", "a*" * 4 + "b", "*" + "?*" * 30])
def test_an_ignore_file_with_many_stars_holds_nothing_up_and_leaves_nothing_out(root, pattern):
    (root / f"{'a' * 200}.pem").write_text("x")
    (root / ".ignore").write_text(f"{pattern}\n")
    assert outcome("rg x", root) == "ask"


@pytest.mark.parametrize("options", ["-t py", "-tpy", "--type py", "--type=rust -t go", "-t ts -i"])
def test_a_type_that_leaves_the_secret_out_needs_no_question(root, options):
    (root / "id_rsa").write_text("x")
    assert outcome(f"rg {options} x", root) == "allow"
    assert outcome(f"rg {options} x src", root) == "allow"


@pytest.mark.parametrize(
    "options", ["-t all", "-t json -t py", "-T py", "-t py -g '*'", "-t py -u -g 'id_*'", '-t "$T"']
)
def test_any_other_type_may_let_the_secret_in(root, options):
    (root / "id_rsa").write_text("x")
    assert outcome(f"rg {options} x", root) == "ask"


def test_a_type_does_not_hold_for_a_file_that_is_named(root):
    (root / "id_rsa").write_text("x")
    assert outcome("rg -t py x id_rsa", root) == "ask"
