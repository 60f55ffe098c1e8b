"""What git says of the workspace, and that a hostile repository gets nothing run by asking."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from codeagent.workspace import git


def run(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture(autouse=True)
def own_git_config(tmp_path, monkeypatch):
    config = tmp_path / "gitconfig"
    config.write_text(
        "[user]\nname = A\nemail = a@example.com\n[init]\ndefaultBranch = main\n[protocol]\nallow = always\n"
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)


@pytest.fixture
def repository(tmp_path) -> Path:
    root = tmp_path / "repository"
    root.mkdir()
    run(root, "init", "-q")
    (root / "a.txt").write_text("one\n")
    run(root, "add", "a.txt")
    run(root, "commit", "-qm", "first")
    return root


def test_a_clean_repository_has_a_branch_and_no_dirt(repository):
    status = git.status(repository)
    assert (status.root, status.branch, status.is_dirty) == (repository, "main", False)


def test_a_changed_file_is_dirt_and_an_untracked_one_is_not(repository):
    (repository / "new.txt").write_text("x\n")
    assert not git.status(repository).is_dirty
    (repository / "a.txt").write_text("two\n")
    assert git.status(repository).is_dirty


def test_a_staged_file_is_dirt(repository):
    (repository / "new.txt").write_text("x\n")
    run(repository, "add", "new.txt")
    assert git.status(repository).is_dirty


def test_a_branch_name_comes_whole(repository):
    run(repository, "checkout", "-qb", "feature/ü-1")
    assert git.status(repository).branch == "feature/ü-1"


def test_without_a_branch_the_commit_is_named(repository):
    run(repository, "checkout", "-q", "--detach")
    assert git.status(repository).branch == run(repository, "rev-parse", "HEAD")[:7]


def test_a_repository_without_commits_has_its_branch(tmp_path):
    run(tmp_path, "init", "-q", "-b", "fresh")
    assert git.status(tmp_path).branch == "fresh"


def test_a_folder_below_and_a_worktree_belong_to_the_repository(repository, tmp_path):
    (repository / "sub").mkdir()
    assert git.status(repository / "sub").branch == "main"
    run(repository, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    assert git.status(tmp_path / "side").branch == "side"


def test_a_folder_without_a_repository_has_no_branch(tmp_path):
    status = git.status(tmp_path)
    assert (status.branch, status.is_dirty) == ("", False)


def test_a_broken_repository_is_no_error(tmp_path):
    (tmp_path / ".git").write_text("gitdir: nowhere\n")
    assert git.status(tmp_path).branch == ""


@pytest.mark.parametrize("stands_in", [False, True], ids=["no git", "another program of that name"])
def test_without_git_there_is_no_branch_and_no_error(repository, tmp_path, stands_in):
    (tmp_path / "temporary").mkdir()
    if stands_in:
        (tmp_path / "git").write_text("#!/bin/sh\n")
        (tmp_path / "git").chmod(0o755)
    code = (
        "import sys, pathlib; from codeagent.workspace import git; print(git.status(pathlib.Path(sys.argv[1])).branch)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(repository)],
        env={"PATH": str(tmp_path), "TMPDIR": str(tmp_path / "temporary")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("\n", "")


@pytest.fixture
def trap(repository, tmp_path) -> tuple[Path, Path]:
    """A program and the file that it makes when it is run."""
    owned = tmp_path / "owned"
    program = repository / "pwn.sh"
    program.write_text(f"#!/bin/sh\necho run >> {owned}\nexit 1\n")
    program.chmod(0o755)
    return program, owned


def make_stat_dirty(root: Path) -> None:
    os.utime(root / "a.txt", (1, 1))


PROGRAMS = (
    "core.fsmonitor",
    "filter.x.clean",
    "filter.x.process",
    "diff.external",
    "diff.x.textconv",
    "core.pager",
    "core.sshCommand",
    "core.editor",
    "alias.status",
    "credential.helper",
)


@pytest.mark.parametrize("setting", PROGRAMS)
def test_no_program_that_the_repository_names_is_run(repository, trap, setting):
    program, owned = trap
    (repository / ".git" / "info" / "attributes").write_text("* filter=x diff=x\n")
    run(repository, "config", setting, str(program))
    run(repository, "config", "filter.x.required", "true")
    make_stat_dirty(repository)
    git.status(repository)
    git.run_git(repository, "diff", "--no-ext-diff", "--no-textconv")
    assert not owned.exists()


@pytest.mark.parametrize("setting", ["core.fsmonitor", "filter.x.clean", "filter.x.process"])
def test_the_trap_does_spring_without_our_care(repository, trap, setting):
    program, owned = trap
    (repository / ".git" / "info" / "attributes").write_text("* filter=x\n")
    run(repository, "config", setting, str(program))
    make_stat_dirty(repository)
    subprocess.run(["git", "status"], cwd=repository, capture_output=True, check=False)
    assert owned.exists()


def test_a_filter_whose_name_holds_an_equals_sign_is_not_run(repository, trap):
    program, owned = trap
    with (repository / ".git" / "config").open("a") as config:
        config.write(f'[filter "a=b"]\n\tclean = {program}\n')
    (repository / ".gitattributes").write_text("* filter=a=b\n")
    make_stat_dirty(repository)
    subprocess.run(["git", "status"], cwd=repository, capture_output=True, check=False)
    assert owned.exists()
    owned.unlink()
    make_stat_dirty(repository)
    git.status(repository)
    assert not owned.exists()


def test_no_hook_is_run_and_the_index_is_not_written(repository, trap):
    program, owned = trap
    for hook in ("post-index-change", "fsmonitor-watchman"):
        (repository / ".git" / "hooks" / hook).write_text(program.read_text())
        (repository / ".git" / "hooks" / hook).chmod(0o755)
    make_stat_dirty(repository)
    before = (repository / ".git" / "index").read_bytes()
    git.status(repository)
    assert not owned.exists()
    assert (repository / ".git" / "index").read_bytes() == before
    subprocess.run(["git", "status"], cwd=repository, capture_output=True, check=False)
    assert owned.exists()


def test_a_missing_object_is_not_fetched_from_where_the_repository_says(repository, trap):
    program, owned = trap
    (repository / "b.txt").write_text("two\n")
    run(repository, "add", "b.txt")
    run(repository, "commit", "-qm", "second")
    for name, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.url": f"file://{repository.parent}/nowhere.git",
        "remote.origin.promisor": "true",
        "remote.origin.uploadpack": str(program),
        "protocol.file.allow": "always",
    }.items():
        run(repository, "config", name, value)
    tree = run(repository, "rev-parse", "HEAD^{tree}").strip()
    (repository / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    git.status(repository)
    assert not owned.exists()
    subprocess.run(["git", "status"], cwd=repository, capture_output=True, check=False)
    assert owned.exists()


def test_a_submodule_s_own_configuration_is_not_followed(repository, trap, tmp_path):
    program, owned = trap
    inner = tmp_path / "inner"
    inner.mkdir()
    run(inner, "init", "-q")
    (inner / "a.txt").write_text("x\n")
    run(inner, "add", "a.txt")
    run(inner, "commit", "-qm", "x")
    run(repository, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "module")
    run(repository / "module", "config", "core.fsmonitor", str(program))
    run(repository / "module", "config", "filter.y.clean", str(program))
    (repository / ".git/modules/module/info/attributes").write_text("* filter=y\n")
    make_stat_dirty(repository / "module")
    git.status(repository)
    assert not owned.exists()
    subprocess.run(["git", "status"], cwd=repository, capture_output=True, check=False)
    assert owned.exists()


def test_a_folder_made_up_as_a_bare_repository_runs_nothing(tmp_path, repository, trap):
    program, owned = trap
    fake = repository / "vendor"
    fake.mkdir()
    run(fake, "init", "-q", "--bare", ".")
    with (fake / "config").open("a") as config:
        config.write(f"[core]\n\tbare = false\n\tworktree = {repository}\n\tfsmonitor = {program}\n")
    git.status(fake)
    assert not owned.exists()
