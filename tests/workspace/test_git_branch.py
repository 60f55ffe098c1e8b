"""What a branch changed since it left the one it came from."""

import os
import subprocess
from pathlib import Path

import pytest

from codeagent.workspace.git_branch import MOST_FILES, branch_changes


def git(root: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=root, check=True, capture_output=True)


@pytest.fixture
def root(tmp_path, monkeypatch) -> Path:
    config = tmp_path / "gitconfig"
    config.write_text("[user]\nname = A\nemail = a@example.com\n[init]\ndefaultBranch = main\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    root = tmp_path / "work"
    (root / "sub").mkdir(parents=True)
    git(root, "init", "-q")
    (root / "a.txt").write_text("one\n")
    (root / "sub" / "gone.txt").write_text("old\n")
    (root / ".gitignore").write_text("ignored\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    return root


def seen(root: Path) -> dict[str, tuple[bytes | None, bytes | None]]:
    found = branch_changes(root)
    return {file.name: (file.before, file.after) for file in found.files}


def test_committed_uncommitted_and_new_files_count_and_ignored_ones_do_not(root):
    git(root, "checkout", "-qb", "topic")
    (root / "a.txt").write_text("two\n")
    git(root, "commit", "-qam", "second")
    (root / "sub" / "gone.txt").unlink()
    (root / "sub" / "new ü.txt").write_bytes(b"\xff\x00new")
    (root / "ignored").write_text("x")
    assert branch_changes(root).origin == "main"
    assert seen(root) == {
        "a.txt": (b"one\n", b"two\n"),
        "sub/gone.txt": (b"old\n", None),
        "sub/new ü.txt": (None, b"\xff\x00new"),
    }


def test_what_happened_on_the_other_branch_since_is_not_shown(root):
    git(root, "checkout", "-qb", "topic")
    git(root, "checkout", "-q", "main")
    (root / "a.txt").write_text("main went on\n")
    git(root, "commit", "-qam", "on main")
    git(root, "checkout", "-q", "topic")
    (root / "mine.txt").write_text("mine\n")
    assert seen(root) == {"mine.txt": (None, b"mine\n")}


def test_on_the_default_branch_without_a_remote_it_is_what_was_not_committed(root):
    (root / "a.txt").write_text("two\n")
    assert branch_changes(root).origin == "the last commit"
    assert seen(root) == {"a.txt": (b"one\n", b"two\n")}


def test_on_the_default_branch_with_a_remote_it_is_what_was_not_pushed(root, tmp_path):
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(root), str(clone))
    (clone / "a.txt").write_text("two\n")
    git(clone, "commit", "-qam", "second")
    assert branch_changes(clone).origin == "origin/main"
    assert seen(clone) == {"a.txt": (b"one\n", b"two\n")}


def test_only_what_lies_below_the_workspace_counts(root):
    git(root, "checkout", "-qb", "topic")
    (root / "a.txt").write_text("two\n")
    (root / "sub" / "gone.txt").write_text("new\n")
    assert seen(root / "sub") == {"gone.txt": (b"old\n", b"new\n")}


def test_a_link_is_shown_as_where_it_leads_and_not_followed(root):
    (root / "link").symlink_to("/etc/passwd")
    assert seen(root)["link"] == (None, b"/etc/passwd")


def test_many_files_are_cut_short_and_counted(root):
    for number in range(MOST_FILES + 7):
        (root / f"n{number}").write_text("x")
    found = branch_changes(root)
    assert (len(found.files), found.left_out) == (MOST_FILES, 7)


def test_without_a_repository_or_a_commit_there_is_nothing_to_compare(root, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    assert branch_changes(empty) is None
    git(empty, "init", "-q")
    assert branch_changes(empty) is None
