"""Repositories as people really have them: all that a session does and takes back leaves git's own files untouched."""

import os
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from codeagent.workspace.git import status
from codeagent.workspace.git_branch import branch_changes
from tests.store.whole_session import every_file_of_git, whole_session


def program(place: Path) -> Path:
    """A program that tells when it was started, in place of what it should do."""
    path = place / "program.sh"
    path.write_text(f'#!/bin/sh\necho "$0 $*" >> {place / "started"}\ncat\n')
    path.chmod(0o755)
    return path


def merging(root, git, place):
    git(root, "checkout", "-qb", "side")
    (root / "a.txt").write_text("side\n")
    git(root, "commit", "-qam", "side")
    git(root, "checkout", "-q", "main")
    (root / "a.txt").write_text("main\n")
    git(root, "commit", "-qam", "main")
    subprocess.run(["git", "merge", "-q", "side"], cwd=root, capture_output=True, check=False)
    assert (root / ".git" / "MERGE_HEAD").exists()


def rebasing(root, git, place):
    git(root, "checkout", "-qb", "side")
    (root / "a.txt").write_text("side\n")
    git(root, "commit", "-qam", "side")
    git(root, "checkout", "-q", "main")
    (root / "a.txt").write_text("main\n")
    git(root, "commit", "-qam", "main")
    git(root, "checkout", "-q", "side")
    subprocess.run(["git", "rebase", "-q", "main"], cwd=root, capture_output=True, check=False)
    assert (root / ".git" / "rebase-merge").exists()


def bisecting(root, git, place):
    for number in range(4):
        (root / "a.txt").write_text(f"{number}\n")
        git(root, "commit", "-qam", "more")
    git(root, "bisect", "start", "HEAD", "HEAD~3")


def detached(root, git, place):
    git(root, "checkout", "-q", "--detach")


def unborn(root, git, place):
    git(root, "checkout", "-q", "--orphan", "new")


def without_commits(root, git, place):
    shutil.rmtree(root / ".git")
    git(root, "init", "-q")
    git(root, "add", "a.txt")


def attributes(root, git, place):
    (root / ".gitattributes").write_text("*.txt text eol=crlf ident\n*.u16 working-tree-encoding=UTF-16LE\n")
    (root / "w.u16").write_bytes("wide\r\n".encode("utf-16-le"))
    (root / "a.txt").write_bytes(b"one\r\ntwo $Id: 123 $\r\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "attributes")
    for path in (root / "a.txt", root / "sub" / "b.txt"):
        path.unlink()
    git(root, "checkout", "--", ".")
    settled(root, git)
    assert b"\r\n" in (root / "sub" / "b.txt").read_bytes()


def filters(root, git, place):
    turned = place / "turned.sh"
    turned.write_text("#!/bin/sh\ntr a-z b-za\n")
    turned.chmod(0o755)
    (root / ".gitattributes").write_text("*.bin filter=turn -text\n")
    (root / "some.bin").write_bytes(b"as large as before\r\n")
    for name in ("clean", "smudge"):
        git(root, "config", f"filter.turn.{name}", str(turned))
    git(root, "config", "filter.turn.required", "true")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "filters")
    settled(root, git)
    for name in ("clean", "smudge", "process"):
        git(root, "config", f"filter.turn.{name}", str(program(place)))


def line_ends_by_setting(root, git, place):
    git(root, "config", "core.autocrlf", "true")
    git(root, "config", "core.safecrlf", "true")
    (root / "sub" / "b.txt").unlink()
    git(root, "checkout", "--", ".")
    settled(root, git)
    assert (root / "sub" / "b.txt").read_bytes() == b"b\r\n"


def settled(root, git):
    """Git is sure of what it knows of the files: it would look at them anew if they were as young as its index."""
    for path in root.rglob("*"):
        if path.is_file() and ".git" not in path.parts:
            os.utime(path, (1_700_000_000, 1_700_000_000))
    git(root, "update-index", "-q", "--really-refresh")


def programs_everywhere(root, git, place):
    started = str(program(place))
    hooks = root / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-index-change", "post-checkout", "pre-commit", "reference-transaction", "pre-auto-gc"):
        shutil.copy(started, hooks / name)
    for name in ("core.fsmonitor", "core.pager", "diff.external", "core.sshCommand", "core.editor", "core.askPass"):
        git(root, "config", name, started)
    git(root, "config", "diff.x.textconv", started)
    git(root, "config", "merge.x.driver", started)
    git(root, "config", "alias.status", f"!{started}")
    (root / ".gitattributes").write_text("* diff=x merge=x\n")
    (place / "started").unlink(missing_ok=True)


def names_apart_by_case(root, git, place):
    for name in ("Readme.md", "README.md", "readme.MD"):
        (root / name).write_text(f"{name}\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "names")
    git(root, "config", "core.ignoreCase", "true")


def odd_names(root, git, place):
    for name in (
        b"a\nb",
        b"q\"uo'te",
        b"\xff\xfe",
        b"-n",
        b"--",
        b":(top)x",
        b"*",
        b"\\back",
        b" lead",
        b"tab\t",
        b"#h",
    ):
        (root / os.fsdecode(name)).write_bytes(name)
        folder = root / os.fsdecode(b"in " + name)
        folder.mkdir()
        (folder / os.fsdecode(name)).write_bytes(b"in\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "names")
    for name in (b"new\na", b"new-\xff"):
        (root / os.fsdecode(name)).write_bytes(name)


def special_files(root, git, place):
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(root / "socket"))
    (root / "link").symlink_to("a.txt")
    (root / "gone").symlink_to("nowhere")
    (root / "away").symlink_to("/etc")
    (root / "loop").symlink_to("loop")
    with (root / "sparse.img").open("wb") as file:
        file.truncate(30_000_000)
    git(root, "add", "link", "gone", "away")


def sparse_checkout(root, git, place):
    (root / "other").mkdir()
    (root / "other" / "far.txt").write_text("far\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "far")
    git(root, "sparse-checkout", "set", "--cone", "--sparse-index", "sub")
    assert not (root / "other").exists()
    (root / "sub" / "b.txt").write_text("staged\n")
    (root / "a.txt").write_text("staged too\n")
    git(root, "add", "sub/b.txt", "a.txt")


def split_index(root, git, place):
    git(root, "config", "core.splitIndex", "true")
    git(root, "update-index", "--split-index")
    (root / "sub" / "b.txt").write_text("staged\n")
    git(root, "add", "sub/b.txt")


def watched_index(root, git, place):
    git(root, "update-index", "--index-version", "4")
    git(root, "update-index", "--force-untracked-cache")
    git(root, "status")


def hidden_by_flags(root, git, place):
    git(root, "update-index", "--assume-unchanged", "a.txt")
    git(root, "update-index", "--skip-worktree", "sub/b.txt")


def intended_to_add(root, git, place):
    (root / "soon.txt").write_text("soon\n")
    git(root, "add", "-N", "soon.txt")


def alternates(root, git, place):
    shutil.move(root, place / "origin")
    git(place, "clone", "-q", "--shared", str(place / "origin"), str(root))


def partial_clone(root, git, place):
    git(root, "config", "uploadpack.allowFilter", "true")
    git(root, "config", "uploadpack.allowAnySHA1InWant", "true")
    (root / "a.txt").write_text("newer\n")
    git(root, "commit", "-qam", "newer")
    shutil.move(root, place / "origin")
    git(place, "clone", "-q", "--filter=blob:none", f"file://{place / 'origin'}", str(root))
    shutil.move(place / "origin", place / "unreachable")


def other_hash(root, git, place):
    shutil.rmtree(root / ".git")
    git(root, "init", "-q", "--object-format=sha256")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first")


def separate_git_directory(root, git, place):
    git(root, "init", "-q", "--separate-git-dir", str(place / "store.git"))
    assert (root / ".git").is_file()


def locked(root, git, place):
    shutil.copy(root / ".git" / "index", root / ".git" / "index.lock")
    (root / ".git" / "HEAD.lock").touch()


def read_only_git(root, git, place):
    for path in [root / ".git", *(root / ".git").rglob("*")]:
        path.chmod(path.stat().st_mode & ~0o222)


def nested(root, git, place):
    for folder in ("nested", "nested/deep", "vendor/x"):
        (root / folder).mkdir(parents=True)
        git(root / folder, "init", "-q")
        (root / folder / "n.txt").write_text("n\n")
        (root / folder / ".gitignore").write_text("*.tmp\n")
        (root / folder / "kept.tmp").write_text("ignored\n")
    git(root / "nested", "add", "n.txt")
    git(root / "nested", "commit", "-qm", "nested")


def with_submodules(root, git, place):
    other = place / "other"
    shutil.copytree(root, other)
    git(root, "submodule", "--quiet", "add", str(other), "module")
    git(root, "submodule", "--quiet", "add", str(other), "not-here")
    git(root, "commit", "-qm", "modules")
    git(root, "submodule", "--quiet", "deinit", "-f", "not-here")


def linked_work_tree(root, git, place):
    shutil.move(root, place / "main")
    git(place / "main", "worktree", "add", "-q", str(root), "-b", "side")
    git(root, "config", "extensions.worktreeConfig", "true")


def stashed_and_staged(root, git, place):
    (root / "a.txt").write_text("stashed\n")
    git(root, "stash")
    (root / "a.txt").write_text("staged\n")
    git(root, "add", "a.txt")
    (root / "a.txt").write_text("neither\n")


def unknown_extension(root, git, place):
    git(root, "config", "core.repositoryFormatVersion", "1")
    git(root, "config", "extensions.refStorage", "of-the-future")


def of_somebody_else(root, git, place):
    if os.getuid() != 0:
        pytest.skip("only the superuser gives files away")
    for path in [root, root / ".git", *(root / ".git").rglob("*")]:
        os.lchown(path, 12_345, 12_345)


KINDS = [
    merging,
    rebasing,
    bisecting,
    detached,
    unborn,
    without_commits,
    attributes,
    filters,
    line_ends_by_setting,
    programs_everywhere,
    names_apart_by_case,
    odd_names,
    special_files,
    sparse_checkout,
    split_index,
    watched_index,
    hidden_by_flags,
    intended_to_add,
    alternates,
    partial_clone,
    other_hash,
    separate_git_directory,
    locked,
    read_only_git,
    nested,
    with_submodules,
    linked_work_tree,
    stashed_and_staged,
    unknown_extension,
    of_somebody_else,
]


@pytest.mark.parametrize("prepare", KINDS, ids=lambda prepare: prepare.__name__)
async def test_a_session_in_any_repository_takes_all_back_and_leaves_git_byte_for_byte(
    repository, grounds, run_git, tree_of, tmp_path, prepare
):
    (repository / "ignored.log").write_text("left alone\n")
    prepare(repository, run_git, tmp_path)
    git_before = every_file_of_git(tmp_path)

    def look():
        status(repository)
        branch_changes(repository)

    await whole_session(grounds(repository, tmp_path / "state"), tree_of, between=look)
    assert every_file_of_git(tmp_path) == git_before
    assert not (tmp_path / "started").exists(), (tmp_path / "started").read_text()
