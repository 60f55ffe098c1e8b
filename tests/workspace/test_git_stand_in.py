"""codeagent's own git starts nothing that a repository names, whatever the repository holds and whatever it is asked.

One repository has every kind of program at once, in itself, in the repositories inside it, in what they include; each
program leaves a mark.
"""

import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from codeagent.config.places import find_places
from codeagent.policy.check import Question, check_command
from codeagent.workspace import git
from codeagent.workspace.git_branch import branch_changes
from codeagent.workspace.git_repository import repository_around
from codeagent.workspace.git_stand_in import stand_in
from codeagent.workspace.private_git import look_around

PROGRAMS = (
    "alias.diff",
    "alias.status",
    "browser.x.cmd",
    "core.alternateRefsCommand",
    "core.askPass",
    "core.editor",
    "core.fsmonitor",
    "core.gitProxy",
    "core.hooksPath",
    "core.pager",
    "core.sshCommand",
    "credential.helper",
    "diff.external",
    "diff.x.command",
    "diff.x.textconv",
    "difftool.x.cmd",
    "filter.x.clean",
    "filter.x.process",
    "filter.x.smudge",
    "gpg.program",
    "gpg.ssh.program",
    "gpg.x509.program",
    "hook.x.command",
    "interactive.diffFilter",
    "man.x.cmd",
    "merge.x.driver",
    "mergetool.x.cmd",
    "pager.diff",
    "pager.log",
    "pager.status",
    "remote.origin.receivepack",
    "remote.origin.uploadpack",
    "sequence.editor",
    "submodule.sub.update",
    "tar.x.command",
    "trailer.x.cmd",
    "trailer.x.command",
    "uploadpack.packObjectsHook",
)
SWITCHES = {
    "diff.submodule": "diff",
    "extensions.partialClone": "origin",
    "hook.x.event": "post-index-change",
    "log.diffMerges": "remerge",
    "log.showSignature": "true",
    "protocol.allow": "always",
    "remote.origin.promisor": "true",
    "remote.origin.url": "ext::{program} url",
    "remote.origin.vcs": "x",
    "status.submoduleSummary": "true",
    "submodule.recurse": "true",
}
HOOKS = ("post-index-change", "reference-transaction", "post-checkout", "fsmonitor-watchman")
WORDS = (
    "status",
    "status -v",
    "diff",
    "diff HEAD",
    "diff --submodule=log",
    "diff --submodule=diff -p",
    "diff --ignore-submodules=none",
    "diff --ext-diff --textconv",
    "diff-files -p",
    "diff-index -p HEAD",
    "show",
    "show --remerge-diff",
    "show --show-signature",
    "log -p -m",
    "log -p --remerge-diff",
    "log -p --diff-merges=r",
    "log --format=%G?",
    "log -p --show-signature",
    "log -p -- sub",
    "ls-files --recurse-submodules",
    "ls-files -m",
    "grep --recurse-submodules x",
    "grep --textconv x",
    "cat-file --filters HEAD:a.txt",
    "stash show -p",
    "submodule status",
    "fetch",
    "rev-parse HEAD~9:nothing",
)


def run(folder: Path, *words: str, may_fail: bool = False) -> str:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.com")
    command = ["git", *identity, *words]
    done = subprocess.run(
        command, cwd=folder, check=False, capture_output=True, text=True, env=environment, stdin=subprocess.DEVNULL
    )
    assert may_fail or done.returncode == 0, done.stderr
    return done.stdout


def commit(folder: Path) -> None:
    run(folder, "add", "-f", ".")
    run(folder, "commit", "-qm", "x")


def arm(folder: Path, marks: Path) -> None:
    """Names a program everywhere in a repository, and makes all that git compares look changed."""
    program = marks.parent / "pwn.sh"
    config = Path(run(folder, "rev-parse", "--path-format=absolute", "--git-path", "config").strip())
    lines = []
    for name, value in {name: f"{program} {name}" for name in PROGRAMS}.items() | SWITCHES.items():
        section, _, rest = name.partition(".")
        subsection, _, key = rest.rpartition(".")
        head = f'{section} "{subsection}"' if subsection else section
        lines.append(f"[{head}]\n\t{key} = {value.format(program=program)}\n")
    included, under = marks.parent / "included", marks.parent / "under-condition"
    included.write_text(f'[filter "y"]\n\tclean = {program} include\n')
    under.write_text(f'[filter "z"]\n\tclean = {program} includeIf\n')
    lines.append(f'[include]\n\tpath = {included}\n[includeIf "onbranch:main"]\n\tpath = {under}\n')
    config.write_text(config.read_text() + "".join(lines).replace(f"{program} submodule", f"!{program} submodule"))
    for hook in HOOKS:
        place = config.parent / "hooks" / hook
        place.parent.mkdir(exist_ok=True)
        place.write_text(f"#!/bin/sh\n{program} hook-{hook}\n")
        place.chmod(0o755)
    for name in ("a.txt", "y.txt", "z.txt"):
        os.utime(folder / name, (1, 1))


def made(folder: Path) -> None:
    folder.mkdir()
    run(folder, "init", "-q", "-b", "main")
    attributes = "a.txt filter=x diff=x merge=x\ny.txt filter=y\nz.txt filter=z\n"
    (folder / ".gitattributes").write_text(attributes)
    for name in ("a.txt", "y.txt", "z.txt"):
        (folder / name).write_text("one\n")
    commit(folder)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory) -> tuple[Path, Path]:
    """A repository with all of them, and the folder in which their marks would be."""
    top = tmp_path_factory.mktemp("hostile")
    root, marks, source = top / "root", top / "marks", top / "source"
    marks.mkdir()
    program = top / "pwn.sh"
    program.write_text(f'#!/bin/sh\ntouch "{marks}/$(basename "$1")"\nexit 1\n')
    program.chmod(0o755)
    made(root)
    made(source)
    made(root / "nested")
    run(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "-b", "main", str(source), "sub")
    run(root, "-c", "advice.addEmbeddedRepo=false", "add", "nested")
    commit(root)
    run(root, "checkout", "-qb", "other")
    (root / "a.txt").write_text("other\n")
    commit(root)
    run(root, "checkout", "-q", "main")
    (root / "a.txt").write_text("main\n")
    commit(root)
    run(root, "merge", "-q", "other", may_fail=True)
    commit(root)
    run(root, "worktree", "add", "-q", "-b", "side", str(root / "linked"))
    lost = run(root, "rev-parse", "HEAD~1:a.txt").strip()
    for folder in (root / "nested", root / "sub", root):
        arm(folder, marks)
    os.utime(root / "linked/a.txt", (1, 1))
    (root / f".git/objects/{lost[:2]}/{lost[2:]}").unlink()
    (root / ".git/MERGE_HEAD").write_text(run(root, "rev-parse", "other"))
    for mark in marks.iterdir():
        mark.unlink()
    return root, marks


def found(marks: Path) -> list[str]:
    left = sorted(mark.name for mark in marks.iterdir())
    for mark in marks.iterdir():
        mark.unlink()
    return left


def test_the_repository_is_hostile_indeed(hostile):
    root, marks = hostile
    for words in ("status", "diff", "show --remerge-diff", "status --ignore-submodules=all", "fetch"):
        subprocess.run(["git", *words.split()], cwd=root, capture_output=True, check=False, stdin=subprocess.DEVNULL)
    assert {"core.fsmonitor", "filter.x.process"} <= set(found(marks))
    subprocess.run(
        ["git", "-c", "core.fsmonitor=", "-c", "diff.external=", "diff"],
        cwd=root,
        capture_output=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert {"filter.x.process"} <= set(found(marks))


@pytest.mark.parametrize("half", [0, 1])
@pytest.mark.parametrize("place", ["", "nested", "sub", "linked"])
def test_nothing_is_started_whatever_is_asked(hostile, place, half):
    root, marks = hostile
    for words in WORDS[half::2]:
        git.run_git(root / place, *words.split())
    assert found(marks) == []


@pytest.mark.parametrize("place", ["", "nested", "sub", "linked"])
def test_nothing_is_started_by_what_is_asked_all_the_time(hostile, place):
    root, marks = hostile
    folder = root / place
    assert git.status(folder).branch == {"linked": "side"}.get(place, "main")
    assert git.uncommitted(folder) is not None
    assert git.not_looked_at(folder) is not None
    assert git.is_joining(folder) is (place == "")
    assert branch_changes(folder) is not None
    assert look_around(folder).top == folder.resolve()
    assert found(marks) == []


@pytest.mark.parametrize("third", [0, 1, 2])
@pytest.mark.parametrize("mode", ["ask", "plan", "auto"])
def test_nothing_is_started_by_judging_a_command(hostile, mode, third):
    root, marks = hostile
    for words in (*WORDS, "reset --hard", "checkout -- .", "clean -fd", "stash", "restore .")[third::3]:
        verdict = check_command(f"git {words}", Question(mode=mode, is_confined=mode == "auto"), root)
        assert mode == "auto" or verdict.decision.value != "allow", words
    assert found(marks) == []


def test_what_is_set_after_the_settings_were_read_starts_nothing_either(tmp_path):
    root, marks = tmp_path / "root", tmp_path / "marks"
    marks.mkdir()
    (tmp_path / "pwn.sh").write_text(f'#!/bin/sh\ntouch "{marks}/$1"\nexit 1\n')
    (tmp_path / "pwn.sh").chmod(0o755)
    made(root)
    repository = repository_around(root)
    assert repository is not None
    with stand_in(repository, b"") as places:
        arm(root, marks)
        environment = {**os.environ, **places, "GIT_CONFIG_GLOBAL": os.devnull}
        for words in ("status", "diff", "ls-files -m", "log -p -m"):
            subprocess.run(
                ["git", *words.split()],
                cwd=root,
                env=environment,
                capture_output=True,
                check=True,
                stdin=subprocess.DEVNULL,
            )
        assert found(marks) == []
    subprocess.run(["git", "diff"], cwd=root, capture_output=True, check=False, stdin=subprocess.DEVNULL)
    assert found(marks) != []


def test_the_stand_in_lies_in_the_program_s_own_folder_and_is_gone_afterwards(tmp_path, monkeypatch):
    made(tmp_path / "root")
    repository = repository_around(tmp_path / "root")
    assert repository is not None
    monkeypatch.setenv("CODEAGENT_HOME", str(tmp_path / "home"))
    with stand_in(repository, b"") as places:
        folder = Path(places["GIT_COMMON_DIR"])
        assert folder.is_relative_to(find_places(os.environ).state.resolve())
    assert not folder.parent.exists()
    monkeypatch.delenv("CODEAGENT_HOME")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "customs"))
    with stand_in(repository, b"") as places:
        assert Path(places["GIT_COMMON_DIR"]).is_relative_to(find_places({}).state.resolve())
        assert not places["GIT_COMMON_DIR"].startswith(str(Path(tempfile.gettempdir(), "codeagent")))


def test_settings_that_choose_what_is_read_still_do(tmp_path):
    root = tmp_path / "root"
    made(root)
    (tmp_path / "ignored").write_text("*.log\n")
    (root / "x.log").write_text("x")
    for name, value in {
        "core.excludesFile": str(tmp_path / "ignored"),
        "core.fileMode": "false",
        "branch.main.remote": ".",
        "branch.main.merge": 'refs/heads/odd"\\name',
    }.items():
        run(root, "config", name, value)
    run(root, "update-ref", 'refs/heads/odd"name', "HEAD")
    run(root, "config", "branch.main.merge", 'refs/heads/odd"name')
    (root / "a.txt").chmod(0o755)
    assert git.uncommitted(root) == git.Uncommitted()
    assert git.run_git(root, "rev-parse", "--abbrev-ref", "@{upstream}") == 'odd"name\n'


@pytest.mark.parametrize("name", ["HEAD", "index", "config"])
def test_a_pipe_in_place_of_a_file_is_not_waited_for(tmp_path, name):
    root = tmp_path / "root"
    made(root)
    (root / ".git" / name).unlink()
    os.mkfifo(root / ".git" / name)
    assert git.run_git(root, "status", "--porcelain", seconds=0.5) in {None, ""} or name == "index"


def test_a_repository_whose_head_is_a_link_is_read(tmp_path):
    root = tmp_path / "root"
    made(root)
    (root / ".git/HEAD").unlink()
    (root / ".git/HEAD").symlink_to("refs/heads/main")
    assert git.status(root).branch == "main"
