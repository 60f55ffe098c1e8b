"""Workspaces that are odd in themselves, or stand in an odd environment: sessions in them are taken back whole too."""

import os
import shutil
import subprocess

import pytest

from codeagent.core.messages import CommandDetails
from tests.store.whole_session import every_file_of_git, whole_session


def has_reftable() -> bool:
    return "ref-format" in subprocess.run(["git", "init", "-h"], capture_output=True, text=True, check=False).stdout


def other_refs(root, git, place, monkeypatch):
    if not has_reftable():
        pytest.skip("this git keeps references in one way only")
    shutil.rmtree(root / ".git")
    git(root, "init", "-q", "--ref-format=reftable")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first")
    return root


def shallow_clone(root, git, place, monkeypatch):
    (root / "a.txt").write_text("newer\n")
    git(root, "commit", "-qam", "newer")
    shutil.move(root, place / "origin")
    git(place, "clone", "-q", "--depth=1", f"file://{place / 'origin'}", str(root))
    shutil.move(place / "origin", place / "unreachable")
    assert (root / ".git" / "shallow").exists()
    return root


def large_files_elsewhere(root, git, place, monkeypatch):
    """As git-lfs does it, on a machine without git-lfs: pointers lie here and in git."""
    (root / ".gitattributes").write_text("*.big filter=lfs diff=lfs merge=lfs -text\n")
    (root / "pointer.big").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "large")
    (root / "smudged.big").write_bytes(b"\0the content itself\r\n")
    return root


def environment_of_another_repository(root, git, place, monkeypatch):
    other = place / "elsewhere"
    other.mkdir()
    git(other, "init", "-q")
    (other / "theirs.txt").write_text("theirs\n")
    git(other, "add", "-A")
    git(other, "commit", "-qm", "theirs")
    for name, value in {
        "GIT_DIR": other / ".git",
        "GIT_WORK_TREE": other,
        "GIT_INDEX_FILE": other / ".git" / "index",
        "GIT_OBJECT_DIRECTORY": other / ".git" / "objects",
        "GIT_CEILING_DIRECTORIES": root,
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_PREFIX": "sub/",
    }.items():
        monkeypatch.setenv(name, str(value))
    return root


def environment_of_this_repository(root, git, place, monkeypatch):
    shutil.move(root / ".git", place / "store.git")
    git(place, f"--git-dir={place / 'store.git'}", "config", "core.worktree", str(root))
    monkeypatch.setenv("GIT_DIR", str(place / "store.git"))
    return root


def as_git_runs_its_hooks(root, git, place, monkeypatch):
    monkeypatch.setenv("GIT_DIR", ".git")
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/index")
    return root


def no_repository(root, git, place, monkeypatch):
    shutil.rmtree(root / ".git")
    return root


def a_broken_repository(root, git, place, monkeypatch):
    (root / ".git" / "HEAD").write_text("ref: refs/heads/\0nothing\n")
    (root / ".git" / "index").write_bytes(b"DIRC nothing of the kind")
    return root


def a_git_file_that_leads_nowhere(root, git, place, monkeypatch):
    shutil.rmtree(root / ".git")
    (root / ".git").write_text("gitdir: ../gone/.git/worktrees/gone\n")
    return root


def a_folder_inside(root, git, place, monkeypatch):
    inner = root / "packages" / "one"
    (inner / "sub").mkdir(parents=True)
    for name in ("a.txt", "sub/b.txt", "../two.txt"):
        (inner / name).write_text(f"{name}\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "packages")
    return inner


def an_ignored_folder_inside(root, git, place, monkeypatch):
    inner = a_folder_inside(root, git, place, monkeypatch)
    (root / ".gitignore").write_text("packages/\n")
    git(root, "rm", "-rq", "--cached", "packages")
    git(root, "commit", "-qam", "no packages")
    return inner


def an_odd_name_of_its_own(root, git, place, monkeypatch):
    odd = place / os.fsdecode(b"a\nb: \"c\" 'd' \\ \xff *?[e] #")
    shutil.move(root, odd)
    return odd


def settings_for_other_disks(root, git, place, monkeypatch):
    for name, value in {
        "core.fileMode": "false",
        "core.symlinks": "false",
        "core.ignoreCase": "true",
        "core.precomposeUnicode": "true",
        "core.trustctime": "false",
        "core.checkStat": "minimal",
        "core.ignoreStat": "true",
        "core.bigFileThreshold": "1",
        "core.compression": "0",
        "status.showUntrackedFiles": "no",
        "feature.manyFiles": "true",
        "index.version": "4",
        "index.skipHash": "true",
        "diff.ignoreSubmodules": "all",
        "core.quotePath": "true",
        "core.fsyncMethod": "batch",
    }.items():
        git(root, "config", name, value)
    git(root, "update-index", "-q", "--refresh")
    return root


def ignore_files_of_odd_kinds(root, git, place, monkeypatch):
    (root / "sub" / ".gitignore").symlink_to("../.gitignore")
    (root / "odd").mkdir()
    (root / "odd" / ".gitignore").mkdir()
    (root / "odd" / ".gitignore" / "in").write_text("in a folder of that name\n")
    (root / ".gitignore").write_bytes(b"\xef\xbb\xbfignored*\r\n/*.tmp\n!kept.tmp\n\xff\xfe\n[\n\\\n")
    (root / ".git" / "info" / "exclude").unlink(missing_ok=True)
    (root / ".git" / "info" / "exclude").mkdir()
    git(root, "config", "core.excludesFile", "~/nowhere")
    return root


def modes_of_all_kinds(root, git, place, monkeypatch):
    for number, mode in enumerate((0o400, 0o444, 0o500, 0o600, 0o640, 0o664, 0o711, 0o755, 0o777, 0o2755, 0o4755)):
        path = root / f"mode{number}.txt"
        path.write_text(f"{mode:o}\n")
        path.chmod(mode)
        folder = root / f"folder{number}"
        folder.mkdir()
        (folder / "in.txt").write_text("in\n")
        folder.chmod(mode | 0o500)
    git(root, "add", "-A")
    return root


KINDS = [
    other_refs,
    shallow_clone,
    large_files_elsewhere,
    environment_of_another_repository,
    environment_of_this_repository,
    as_git_runs_its_hooks,
    no_repository,
    a_broken_repository,
    a_git_file_that_leads_nowhere,
    a_folder_inside,
    an_ignored_folder_inside,
    an_odd_name_of_its_own,
    settings_for_other_disks,
    ignore_files_of_odd_kinds,
    modes_of_all_kinds,
]


@pytest.mark.parametrize("prepare", KINDS, ids=lambda prepare: prepare.__name__)
async def test_a_session_in_an_odd_workspace_takes_all_back_and_leaves_git_byte_for_byte(
    repository, grounds, run_git, tree_of, tmp_path, monkeypatch, prepare
):
    (repository / "ignored.log").write_text("left alone\n")
    root = prepare(repository, run_git, tmp_path, monkeypatch)
    git_before = every_file_of_git(tmp_path)
    await whole_session(grounds(root, tmp_path / "state"), tree_of)
    assert every_file_of_git(tmp_path) == git_before


LARGE = 100_000_000


def make_large(path, content):
    with path.open("wb") as file:
        file.write(content)
        file.truncate(LARGE)


@pytest.mark.parametrize("is_known", [True, False])
async def test_a_file_of_a_hundred_megabytes_is_told_and_left_alone_and_all_else_taken_back(ground, run_git, is_known):
    large = ground.root / "large.bin"
    make_large(large, b"committed")
    if is_known:
        run_git(ground.root, "add", "large.bin")
        run_git(ground.root, "commit", "-qm", "large")
    make_large(large, b"the person's, in no commit")
    result = await ground.bash("printf agents | dd of=large.bin conv=notrunc status=none; echo x > small.txt")
    assert isinstance(result.details, CommandDetails)
    assert result.details.uncovered == ("large.bin",)
    assert "[too large to be undone: large.bin]" in result.text
    assert (await ground.bash("echo y > other.txt")).details.uncovered == ()
    for _ in range(2):
        assert "1 file." in await ground.undo()
    assert not (ground.root / "small.txt").exists()
    assert large.read_bytes()[:20] == b"agentsrson's, in no "


@pytest.mark.parametrize("command", ["rm large.bin", "echo short > large.bin", "mv large.bin moved.bin"])
@pytest.mark.parametrize("is_known", [True, False])
async def test_what_was_too_large_to_be_kept_is_never_taken_back_to_something_else(ground, run_git, command, is_known):
    large = ground.root / "large.bin"
    if is_known:
        large.write_bytes(b"committed when it was small")
        run_git(ground.root, "add", "large.bin")
        run_git(ground.root, "commit", "-qm", "large")
    make_large(large, b"the person's, in no commit")
    await ground.bash("echo first > first.txt")
    ground.reopen()
    result = await ground.bash(f"{command}; echo second > second.txt")
    assert "large.bin" in result.details.uncovered
    after = {path.name: path.stat().st_size for path in ground.root.glob("*.bin")}
    for _ in range(2):
        await ground.undo()
    assert {path.name: path.stat().st_size for path in ground.root.glob("*.bin")} == after
    assert not (ground.root / "second.txt").exists()


async def test_a_large_file_that_is_committed_comes_back(ground, run_git):
    large = ground.root / "large.bin"
    make_large(large, b"committed")
    run_git(ground.root, "add", "large.bin")
    run_git(ground.root, "commit", "-qm", "large")
    await ground.bash("rm large.bin")
    await ground.undo()
    assert (large.read_bytes()[:9], large.stat().st_size) == (b"committed", LARGE)


async def test_what_the_agents_own_git_commands_did_to_git_stays_and_the_files_come_back(ground, run_git, tree_of):
    (ground.root / "mine.txt").write_text("in no commit\n")
    trees = [tree_of(ground.root)]
    for command in (
        "git checkout -qb side && echo side > a.txt && git commit -qam side",
        "git checkout -q main && git merge -q --no-ff side && git tag v1",
        "echo more >> a.txt; git stash -uq",
        "git rm -q sub/b.txt && git mv a.txt moved.txt && git add -A",
        "git reset -q --hard && git clean -qfd && git gc -q --prune=now",
        "git worktree add -q ../beside side; git stash pop -q",
    ):
        assert not (await ground.bash(command)).is_error
        trees.append(tree_of(ground.root))
    git_after = every_file_of_git(ground.root)
    for _ in ground.store.log.balance().done:
        await ground.undo()
    assert tree_of(ground.root) == trees[0]
    for _ in ground.store.log.balance().undone:
        await ground.redo()
    assert tree_of(ground.root) == trees[-1]
    assert every_file_of_git(ground.root) == git_after
    assert run_git(ground.root, "tag") == "v1\n"
