"""Git is not harmless where a repository, or one inside it, names programs, however that is written."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from codeagent.policy.check import Question, check_command


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "workspace"
    (folder / "src/deep").mkdir(parents=True)
    (folder / "src/a.py").write_text("x")
    made(folder)
    return folder


def git(folder, *words):
    identity = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always")
    subprocess.run(["git", "-C", folder, *identity, *words], check=True, capture_output=True)


def made(folder):
    subprocess.run(["git", "init", "-q", folder], check=True)
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")


def outcome(command, root, **question):
    return check_command(command, Question(**question), root).decision.value


@pytest.mark.parametrize(
    "setting",
    [
        ("filter.x.clean", "./pwn"),
        ("diff.x.textconv", "./pwn"),
        ("core.fsmonitor", "./pwn"),
        ("diff.external", "./pwn"),
        ("gpg.program", "./pwn"),
        ("log.showSignature", "true"),
        ("include.path", "../x"),
        ("diff.x.command", "./pwn"),
        ("diff.submodule", "diff"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.uploadpack", "./pwn"),
        ("remote.origin.url", "ext::sh -c ./pwn"),
        ("core.sshCommand", "./pwn"),
        ("protocol.ext.allow", "always"),
        ("alias.whatchanged", "!./pwn"),
        ("merge.x.driver", "./pwn"),
        ("log.diffMerges", "remerge"),
        ("log.diffMerges", "r"),
    ],
)
def test_git_is_not_harmless_where_the_repository_names_programs(root, setting):
    assert outcome("git status", root) == "allow"
    git(root, "config", *setting)
    verdict = check_command("git status", Question(), root)
    assert verdict.decision.value == "ask"
    assert "programs" in verdict.because
    assert outcome("cd src && git diff", root) == "ask"


@pytest.mark.parametrize(
    ("setting", "value", "decision"),
    [
        ("core.worktree", "/etc", "ask"),
        ("core.worktree", "../..", "ask"),
        ("core.worktree", "../src", "ask"),
        ("core.worktree", "~", "ask"),
        ("core.worktree", "..", "allow"),
        ("core.worktree", "WORKSPACE", "allow"),
        ("blame.ignoreRevsFile", "/etc/passwd", "ask"),
        ("blame.ignoreRevsFile", "~/.netrc", "ask"),
        ("blame.ignoreRevsFile", "../x", "ask"),
        ("blame.ignoreRevsFile", ".git-blame-ignore-revs", "allow"),
    ],
)
def test_git_is_not_let_through_where_the_repository_makes_it_read_elsewhere(root, setting, value, decision):
    git(root, "config", setting, value.replace("WORKSPACE", str(root)))
    verdict = check_command("git diff", Question(), root)
    assert verdict.decision.value == decision
    assert ("elsewhere" in verdict.because) == (decision == "ask")


def test_a_submodule_with_its_files_in_place_is_harmless(root, tmp_path):
    made(tmp_path / "other")
    git(root, "submodule", "add", "-q", str(tmp_path / "other"), "src/other")
    assert "worktree" in (root / ".git/modules/src/other/config").read_text()
    assert outcome("git diff", root) == "allow"
    assert outcome("git -C src/other log", root) == "allow"
    assert check_command("git log", Question(), root / "src/other").decision.value == "allow"


def test_git_with_its_own_file_watcher_is_harmless(root):
    git(root, "config", "core.fsmonitor", "true")
    assert outcome("git status", root) == "allow"


def test_a_folder_made_up_as_a_repository_is_noticed(root):
    bare = root / "src/deep"
    subprocess.run(["git", "init", "-q", "--bare", bare], check=True)
    assert outcome("cd src/deep && git status", root) == "ask"
    assert outcome("git -C src/deep log", root) == "ask"
    assert outcome("git log", root) == "allow"


@pytest.mark.parametrize(
    "text",
    [
        b'\xef\xbb\xbf[filter "f"]\n\tclean = ./pwn\n',
        b'\r[filter "f"]\n\tclean = ./pwn\n',
        b'[core] [filter "f"]\n\tclean = ./pwn\n',
        b"[core] fsmonitor = ./pwn\n",
        b'# a comment \\\n[filter "f"]\n\tclean = ./pwn\n',
        b"#" + b"x" * 300_000 + b'\n[filter "f"]\n\tclean = ./pwn\n',
        b"[filter.f]\n\tclean = ./pwn\n",
        b"[core]\n\teditor = a\\\n\n",
        b"[core]\x0b\n",
        b'[remote "x"]\n\turl = ext:":"sh -c ./pwn\n',
        b'[diff "x"]\n\ttextconv\n',
    ],
    ids=range(11),
)
def test_no_way_of_writing_hides_a_program(root, text):
    config = root / ".git/config"
    config.write_bytes(text + config.read_bytes())
    assert outcome("git status", root) == "ask"


def test_settings_that_cannot_be_read_are_asked_about(root):
    config = root / ".git/config"
    config.unlink()
    config.mkdir()
    assert outcome("git status", root) == "ask"


def test_everyday_settings_need_no_question(root):
    git(root, "remote", "add", "origin", "git@example.org:a/b.git")
    for name, value in {
        "branch.main.remote": "origin",
        "user.name": 'A "B" C # d',
        "core.hooksPath": ".husky/_",
        "diff.python.xfuncname": "^def",
        "alias.st": "status -sb",
        "core.autocrlf": "input",
        "merge.ours.driver": "true",
        "log.diffMerges": "first-parent",
    }.items():
        git(root, "config", name, value)
    config = root / ".git/config"
    config.write_text(config.read_text() + "; a note\n[core] # another\n\tignorecase\n")
    for command in ("git status", "git log --oneline -5", "git diff HEAD", "git show HEAD --stat"):
        assert outcome(command, root) == "allow", command


@pytest.mark.parametrize("version", ["2", "3", "4"])
@pytest.mark.parametrize("kind", ["sha1", "sha256"])
def test_programs_of_a_repository_inside_count(tmp_path, version, kind):
    root = tmp_path / "workspace"
    for folder in (root, root / "a folder/inner"):
        subprocess.run(["git", "init", "-q", f"--object-format={kind}", folder], check=True)
        git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    (root / "a folder/before.txt").write_text("x")
    (root / "later.txt").write_text("x")
    git(root, "add", ".")
    if version == "3":
        git(root, "rm", "-q", "--cached", "later.txt")
        git(root, "add", "--intent-to-add", "later.txt")
    git(root, "update-index", "--index-version", version)
    assert outcome("git status", root) == "allow"
    git(root / "a folder/inner", "config", "filter.x.clean", "./pwn")
    for command in ("git status", "git diff", "cd 'a folder' && git status"):
        assert outcome(command, root) == "ask", command


def test_hooks_of_a_repository_inside_count_where_readers_run_them(root):
    made(root / "inner")
    git(root, "add", "inner")
    hook = root / "inner/.git/hooks/post-index-change"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\n")
    assert outcome("git status", root) == "allow"
    hook.chmod(0o755)
    assert outcome("git status", root) == "ask"


def test_a_submodule_counts_at_any_depth(root, tmp_path):
    library, deeper = tmp_path / "library", tmp_path / "deeper"
    made(deeper)
    made(library)
    git(library, "submodule", "add", "-q", str(deeper), "deeper")
    git(library, "commit", "-q", "-m", "second")
    git(root, "submodule", "add", "-q", str(library), "library")
    git(root, "submodule", "update", "-q", "--init", "--recursive")
    assert outcome("git status", root) == "allow"
    git(root / "library/deeper", "config", "filter.x.clean", "./pwn")
    assert outcome("git status", root) == "ask"


def test_a_split_index_is_asked_about(root):
    git(root, "add", ".")
    git(root, "update-index", "--split-index")
    assert outcome("git status", root) == "ask"


def test_a_folder_that_is_no_repository_does_not_hide_the_one_above(root):
    git(root, "config", "filter.x.clean", "./pwn")
    (root / "src/.git").mkdir()
    assert outcome("cd src && git status", root) == "ask"


def test_a_linked_work_tree_has_the_settings_of_its_repository(root, tmp_path):
    tree = tmp_path / "tree"
    git(root, "worktree", "add", "-q", str(tree))
    assert outcome("git status", tree) == "allow"
    git(root, "config", "diff.x.textconv", "./pwn")
    assert outcome("git status", tree) == "ask"


def test_looking_into_repositories_inside_is_asked_about(root):
    assert outcome("git diff --submodule=diff", root) == "ask"
    assert outcome("git diff --submodule=log", root) == "allow"


@pytest.fixture
def other(tmp_path):
    """A repository of somebody else, with something in it that the workspace should not show."""
    folder = tmp_path / "other"
    folder.mkdir()
    made(folder)
    return folder


def test_a_repository_elsewhere_that_does_not_name_the_workspace_is_asked_about(root, other):
    shutil.rmtree(root / ".git")
    (root / ".git").write_text(f"gitdir: {other / '.git'}\n")
    for command in ("git log -p", "git status", "git show HEAD", "git -C src log", "cd src && git diff"):
        verdict = check_command(command, Question(), root)
        assert verdict.decision.value == "ask", command
        assert str(other) in verdict.because
    assert check_command("git log", Question(), root, [other]).decision.value == "allow"


def test_a_link_to_a_repository_elsewhere_is_asked_about(root, other):
    shutil.rmtree(root / ".git")
    (root / ".git").symlink_to(other / ".git")
    assert outcome("git log -p", root) == "ask"


def test_a_repository_that_takes_its_contents_from_elsewhere_is_asked_about(root, other):
    (root / ".git/commondir").write_text(f"{other / '.git'}\n")
    assert outcome("git log -p", root) == "ask"
    (root / ".git/commondir").unlink()
    assert outcome("git log -p", root) == "allow"
    shutil.rmtree(root / ".git/objects")
    (root / ".git/objects").symlink_to(other / ".git/objects")
    assert outcome("git log -p", root) == "ask"


def test_a_linked_work_tree_is_not_asked_about(root, tmp_path):
    git(root, "worktree", "add", "-q", tmp_path / "linked")
    for command in ("git log -p", "git status", "git diff HEAD"):
        assert outcome(command, tmp_path / "linked") == "allow"
    (tmp_path / "copied").mkdir()
    shutil.copy(tmp_path / "linked/.git", tmp_path / "copied/.git")
    assert outcome("git log -p", tmp_path / "copied") == "ask"


def test_a_submodule_is_not_asked_about_but_what_only_looks_like_one_is(root, other, tmp_path):
    git(root, "submodule", "add", "-q", other, "module")
    assert outcome("git log -p", root / "module") == "allow"
    assert outcome("git log -p", root) == "allow"
    (tmp_path / "copied").mkdir()
    inside = root / ".git/modules/module"
    (tmp_path / "copied/.git").write_text(f"gitdir: {inside}\n")
    assert outcome("git log -p", tmp_path / "copied") == "ask"


def test_a_repository_kept_apart_is_asked_about(tmp_path):
    subprocess.run(["git", "init", "-q", "--separate-git-dir", tmp_path / "apart", tmp_path / "work"], check=True)
    git(tmp_path / "work", "commit", "-q", "--allow-empty", "-m", "first")
    assert outcome("git log -p", tmp_path / "work") == "ask"
    assert outcome("git log -p", tmp_path / "work", allow=("bash(git log *)",)) == "allow"
