"""Changes of what makes git run programs are seen, and can be put back to the byte."""

import shutil
import stat
import subprocess

import pytest

from codeagent.workspace.git_guard import GitWatch, git_changes, git_state, undo_git_change


def git(root, *words):
    subprocess.run(["git", "-C", root, *words], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    git(root, "init", "-q")
    git(root, "config", "user.email", "a@b")
    git(root, "config", "user.name", "a")
    git(root, "commit", "-q", "--allow-empty", "-m", "first")
    return root


def changes_by(root, act):
    before = git_state(root)
    act()
    return git_changes(before)


def hook(root, text="#!/bin/sh\necho pwned\n"):
    path = root / ".git/hooks/pre-commit"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def names(root, changes):
    return [str(change.path.relative_to(root)) for change in changes]


def test_a_new_hook_is_seen_and_taken_away(repository):
    changes = changes_by(repository, lambda: hook(repository))
    assert names(repository, changes) == [".git/hooks/pre-commit"]
    assert undo_git_change(changes[0])
    assert not (repository / ".git/hooks/pre-commit").exists()


def test_a_changed_hook_gets_its_bytes_and_mode_back(repository):
    hook(repository, "#!/bin/sh\nexit 0\n")
    path = repository / ".git/hooks/pre-commit"

    def act():
        path.write_bytes(b"\xff\0")
        path.chmod(0o644)

    (change,) = changes_by(repository, act)
    assert undo_git_change(change)
    assert path.read_text() == "#!/bin/sh\nexit 0\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o755


def test_a_mode_alone_is_a_change(repository):
    hook(repository)
    path = repository / ".git/hooks/pre-commit"
    (change,) = changes_by(repository, lambda: path.chmod(0o644))
    assert undo_git_change(change)
    assert stat.S_IMODE(path.stat().st_mode) == 0o755


def test_a_deleted_file_and_one_replaced_by_a_link_come_back(repository):
    (repository / ".git/info").mkdir(exist_ok=True)
    exclude, config = repository / ".git/info/exclude", repository / ".git/config"
    exclude.write_text("*.log\n")
    before = config.read_bytes()

    def act():
        exclude.unlink()
        config.unlink()
        config.symlink_to("/tmp/elsewhere")

    changes = changes_by(repository, act)
    assert names(repository, changes) == [".git/config", ".git/info/exclude"]
    assert [undo_git_change(change) for change in changes] == [True, True]
    assert exclude.read_text() == "*.log\n"
    assert not config.is_symlink()
    assert config.read_bytes() == before


def test_a_folder_of_hooks_replaced_by_a_link_is_seen(repository, tmp_path):
    hooks = repository / ".git/hooks"
    hooks.mkdir(exist_ok=True)

    def act():
        hooks.rename(repository / "hooks-before")
        hooks.symlink_to(tmp_path)

    assert ".git/hooks" in names(repository, changes_by(repository, act))


@pytest.mark.parametrize(
    "words",
    [
        ("core.fsmonitor", "./pwn.sh"),
        ("core.hooksPath", "hooks"),
        ("alias.st", "!./pwn.sh"),
        ("filter.x.clean", "./pwn.sh"),
        ("include.path", "../evil"),
        ("remote.origin.url", "ext::sh -c ./pwn.sh"),
        ("branch.main.fsmonitor", "x"),
    ],
)
def test_settings_that_can_run_programs_are_seen_and_undone(repository, words):
    config = repository / ".git/config"
    before = config.read_bytes()
    (change,) = changes_by(repository, lambda: git(repository, "config", *words))
    assert undo_git_change(change)
    assert config.read_bytes() == before


def test_what_a_push_or_a_new_remote_writes_is_no_matter(repository):
    def act():
        git(repository, "remote", "add", "origin", "https://example.com/x.git")
        git(repository, "config", "branch.main.remote", "origin")
        git(repository, "config", "branch.main.merge", "refs/heads/main")

    assert changes_by(repository, act) == ()


def test_another_address_for_a_known_remote_is_seen(repository):
    git(repository, "remote", "add", "origin", "https://example.com/x.git")
    changes = changes_by(repository, lambda: git(repository, "remote", "set-url", "origin", "https://evil.example/x"))
    assert names(repository, changes) == [".git/config"]


def test_a_line_that_only_looks_like_a_section_is_not_trusted(repository):
    config = repository / ".git/config"
    config.write_text(config.read_text() + "[core]\n\tpager = a \\\n")
    text = config.read_text() + '[branch "x"]\n\tremote = y\n'
    assert len(changes_by(repository, lambda: config.write_text(text))) == 1


def test_commits_and_branches_are_no_change(repository):
    def act():
        git(repository, "commit", "-q", "--allow-empty", "-m", "second")
        git(repository, "checkout", "-q", "-b", "other")

    assert changes_by(repository, act) == ()


def test_submodules_and_linked_work_trees_are_looked_at(repository, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    git(other, "-c", "user.email=a@b", "-c", "user.name=a", "commit", "-q", "--allow-empty", "-m", "x")
    git(repository, "-c", "protocol.file.allow=always", "submodule", "add", "-q", other, "libs/other")
    git(repository, "worktree", "add", "-q", "tree")

    def act():
        git(repository / "libs/other", "config", "core.pager", "./pwn.sh")
        (repository / ".git/worktrees/tree/config.worktree").write_text("[core]\n\tpager = x\n")

    changes = changes_by(repository, act)
    assert names(repository, changes) == [".git/modules/libs/other/config", ".git/worktrees/tree/config.worktree"]


def test_a_repository_that_is_new_is_not_asked_about(tmp_path):
    assert changes_by(tmp_path, lambda: git(tmp_path, "init", "-q")) == ()


def test_what_was_changed_again_stays_as_it_is(repository):
    (change,) = changes_by(repository, lambda: hook(repository))
    hook(repository, "#!/bin/sh\n# the person's own\n")
    assert not undo_git_change(change)
    assert "person's own" in (repository / ".git/hooks/pre-commit").read_text()


def test_what_a_job_changes_is_seen_at_the_end_of_the_next_command(repository):
    watch = GitWatch(lambda: (repository,))
    watch.go_on(watch.begin())
    hook(repository)
    changes = watch.end(watch.begin(), goes_on=True)
    assert names(repository, changes) == [".git/hooks/pre-commit"]
    assert watch.end(watch.begin(), goes_on=False) == ()


def test_what_the_person_changes_between_commands_is_nobodys_business(repository):
    watch = GitWatch(lambda: (repository,))
    assert watch.end(watch.begin(), goes_on=False) == ()
    hook(repository)
    assert watch.end(watch.begin(), goes_on=False) == ()


EVIL = "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = ./pwn.sh\n"


def exchanged(repository, *, gone=False):
    moved = repository / "g2"
    (repository / ".git").rename(moved)
    shutil.copytree(moved, repository / ".git")
    (repository / ".git/config").write_text(EVIL)
    hook(repository)
    if gone:
        shutil.rmtree(moved)


def test_a_whole_git_folder_that_was_exchanged_is_seen_and_comes_back(repository):
    before = (repository / ".git/config").read_text()
    changes = changes_by(repository, lambda: exchanged(repository))
    assert names(repository, changes) == [".git"]
    assert all(undo_git_change(change) for change in changes)
    assert (repository / ".git/config").read_text() == before
    assert not (repository / ".git/hooks/pre-commit").exists()
    assert not (repository / "g2").exists()


def test_what_was_changed_before_it_was_moved_is_put_back_too(repository):
    before = (repository / ".git/config").read_text()

    def act():
        git(repository, "config", "core.pager", "./pwn.sh")
        (repository / ".git").rename(repository / "g2")
        (repository / ".git").write_text("gitdir: g3\n")

    changes = changes_by(repository, act)
    assert names(repository, changes) == [".git", ".git/config"]
    assert [undo_git_change(change) for change in changes] == [True, True]
    assert (repository / ".git/config").read_text() == before


def test_an_exchanged_git_folder_whose_first_is_gone_gets_its_settings_back(repository):
    before = (repository / ".git/config").read_text()
    changes = changes_by(repository, lambda: exchanged(repository, gone=True))
    assert names(repository, changes) == [".git", ".git/config", ".git/hooks/pre-commit"]
    assert [change.can_be_undone for change in changes] == [False, True, True]
    assert [undo_git_change(change) for change in changes] == [False, True, True]
    assert (repository / ".git/config").read_text() == before
    assert not (repository / ".git/hooks/pre-commit").exists()


def test_a_deleted_git_folder_is_one_change(repository):
    changes = changes_by(repository, lambda: shutil.rmtree(repository / ".git"))
    assert names(repository, changes) == [".git"]


def test_another_common_folder_is_seen_and_taken_away(repository):
    (change,) = changes_by(repository, lambda: (repository / ".git/commondir").write_text("../evil"))
    assert undo_git_change(change)
    assert not (repository / ".git/commondir").exists()


def test_a_git_file_that_names_another_folder_is_seen(repository, tmp_path):
    git(repository, "worktree", "add", "-q", tmp_path / "tree")
    link = tmp_path / "tree/.git"
    before = link.read_text()
    (change,) = changes_by(tmp_path / "tree", lambda: link.write_text("gitdir: evil\n"))
    assert undo_git_change(change)
    assert link.read_text() == before


def test_a_repository_inside_is_watched_and_a_new_one_when_it_runs_something(repository):
    inner = repository / "a/inner"
    inner.mkdir(parents=True)
    git(inner, "init", "-q")
    changes = changes_by(repository, lambda: hook(inner))
    assert names(repository, changes) == ["a/inner/.git/hooks/pre-commit"]

    def act():
        git(repository, "init", "-q", "a/clean")
        git(repository, "init", "-q", "a/armed")
        (repository / "a/armed/.git/config").write_text(EVIL)
        hook(repository / "a/armed")

    changes = changes_by(repository, act)
    assert names(repository, changes) == ["a/armed/.git/config", "a/armed/.git/hooks/pre-commit"]


def make_inside(folder, settings):
    """A repository's inside under a plain name, put together file by file."""
    (folder / "objects").mkdir(parents=True)
    (folder / "refs").mkdir()
    (folder / "HEAD").write_text("ref: refs/heads/m\n")
    (folder / "config").write_text(settings)


ARMED = "[core]\n\tbare = false\n\tworktree = .\n\tfsmonitor = touch x;false\n"


def test_a_new_repository_without_a_git_folder_counts_when_it_runs_something(repository):
    def act():
        make_inside(repository / "a/sub", ARMED)
        git(repository, "init", "-q", "--bare", "armed")
        git(repository / "armed", "config", "core.fsmonitor", "touch x")
        git(repository, "init", "-q", "--bare", "clean")

    changes = changes_by(repository, act)
    assert names(repository, changes) == ["a/sub/config", "armed/config"]
    assert all(map(undo_git_change, changes))
    assert not (repository / "a/sub/config").exists()


def test_a_bare_repository_is_watched(repository):
    git(repository, "init", "-q", "--bare", "bare")
    before = (repository / "bare/config").read_text()
    (change,) = changes_by(repository, lambda: git(repository / "bare", "config", "core.fsmonitor", "touch x"))
    assert undo_git_change(change)
    assert (repository / "bare/config").read_text() == before


def test_a_bare_repository_that_is_pushed_to_moved_or_made_anew_is_no_matter(repository):
    for name in ("one", "two", "three"):
        git(repository, "init", "-q", "--bare", name)

    def act():
        git(repository, "push", "-q", "one", "HEAD:refs/heads/x")
        (repository / "two").rename(repository / "moved")
        shutil.rmtree(repository / "three")
        git(repository, "init", "-q", "--bare", "three")

    assert changes_by(repository, act) == ()


def test_a_workspace_that_is_a_bare_repository_is_watched(tmp_path):
    make_inside(tmp_path / "bare", "")
    changes = changes_by(tmp_path / "bare", lambda: (tmp_path / "bare/config").write_text(ARMED))
    assert names(tmp_path, changes) == ["bare/config"]


def test_a_repository_that_is_removed_or_moved_with_its_folder_is_no_matter(repository):
    for name in ("one", "two"):
        git(repository, "init", "-q", name)

    def act():
        shutil.rmtree(repository / "one")
        (repository / "two").rename(repository / "three")

    assert changes_by(repository, act) == ()


def test_a_work_tree_that_is_added_or_removed_is_no_matter(repository):
    git(repository, "worktree", "add", "-q", "old")

    def act():
        git(repository, "worktree", "add", "-q", "new")
        git(repository, "worktree", "remove", "old")

    assert changes_by(repository, act) == ()


def test_repositories_in_folders_that_were_added_are_watched(repository, tmp_path):
    other = tmp_path / "other"
    (other / "clone").mkdir(parents=True)
    git(other / "clone", "init", "-q")
    watch = GitWatch(lambda: (repository, other, other / "clone"))
    began = watch.begin()
    hook(other / "clone")
    (repository / ".git/info").mkdir(exist_ok=True)
    (repository / ".git/info/attributes").write_text("* filter=x\n")
    changes = watch.end(began, goes_on=False)
    assert [change.path for change in changes] == [
        repository / ".git/info/attributes",
        other / "clone/.git/hooks/pre-commit",
    ]
    assert all(undo_git_change(change) for change in changes)


@pytest.mark.parametrize("part", ["hooks/post-checkout", "config", "info/attributes"])
def test_a_clone_that_lies_in_the_workspace_is_watched(repository, part):
    clone = repository / "vendor/clone"
    clone.mkdir(parents=True)
    git(clone, "init", "-q")

    def act():
        path = clone / ".git" / part
        path.parent.mkdir(exist_ok=True)
        path.write_text("[core]\n\tfsmonitor = ./x\n")
        path.chmod(0o755)

    changes = changes_by(repository, act)
    assert names(repository, changes) == [f"vendor/clone/.git/{part}"]
    assert undo_git_change(changes[0])


def test_what_goes_on_running_is_seen_when_somebody_looks(repository):
    watch = GitWatch(lambda: (repository,))
    assert watch.look() == ()
    watch.go_on(watch.begin())
    hook(repository)
    assert names(repository, watch.look()) == [".git/hooks/pre-commit"]
    assert watch.look() == ()


def test_new_start_up_files_of_a_home_folder_in_the_workspace_are_seen_and_taken_away(tmp_path, monkeypatch):
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".bashrc").write_text("")
    monkeypatch.setenv("HOME", str(home))

    def act():
        (home / ".zshenv").write_text("evil")
        (home / ".config/autostart/deep").mkdir(parents=True)
        (home / ".config/autostart/deep/x.desktop").write_text("evil")
        (home / "notes.txt").write_text("fine")

    changes = changes_by(home, act)
    assert names(home, changes) == [".config/autostart/deep/x.desktop", ".zshenv"]
    assert all(map(undo_git_change, changes))
    assert not (home / ".zshenv").exists()
    assert changes_by(home, lambda: (home / "more.txt").write_text("fine")) == ()


def test_a_workspace_beside_the_home_folder_knows_nothing_of_it(tmp_path, monkeypatch):
    (tmp_path / "project").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    assert changes_by(tmp_path / "project", lambda: (tmp_path / ".zshenv").write_text("mine")) == ()


def test_links_to_start_up_files_and_settings_that_are_exchanged_come_back(tmp_path, monkeypatch):
    home = tmp_path / "home"
    (home / "dotfiles/config/codeagent").mkdir(parents=True)
    (home / "dotfiles/bashrc").write_text("mine")
    (home / ".bashrc").symlink_to("dotfiles/bashrc")
    (home / ".config").symlink_to("dotfiles/config")
    monkeypatch.setenv("HOME", str(home))

    def act():
        for name in (".bashrc", ".config"):
            (home / name).unlink()
        (home / ".bashrc").write_text("evil")
        (home / ".config/codeagent").mkdir(parents=True)
        (home / ".config/codeagent/config.toml").write_text("evil")

    changes = changes_by(home, act)
    assert sorted(names(home, changes)) == [".bashrc", ".config"]
    assert all(map(undo_git_change, changes))
    assert (home / ".bashrc").read_text() == "mine"
    assert (home / ".config").readlink().name == "config"
    assert changes_by(home, lambda: (home / ".config/other").write_text("fine")) == ()
