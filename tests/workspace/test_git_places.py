"""Git's own folders are found by what they hold, hook folders by the repository's settings."""

import subprocess

import pytest

from codeagent.workspace.git_places import is_hook, is_in_git_folder


def git(folder, *words):
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


@pytest.mark.parametrize("inside", ["config", "hooks/pre-commit", "HEAD", "objects/aa/bb", "info/attributes"])
def test_a_bare_repository_of_any_name_is_git_s(tmp_path, inside):
    git(tmp_path, "init", "-q", "--bare", "mirror")
    assert is_in_git_folder(tmp_path / "mirror" / inside, tmp_path)


def test_a_separate_git_folder_is_git_s_and_its_work_tree_is_not(tmp_path):
    git(tmp_path, "init", "-q", "--separate-git-dir", "meta", "work")
    assert is_in_git_folder(tmp_path / "meta" / "config", tmp_path)
    assert not is_in_git_folder(tmp_path / "work" / "config", tmp_path)


@pytest.mark.parametrize("last", ["HEAD", "head", "objects/x", "refs/x"])
def test_the_last_piece_of_a_made_up_repository_is_noticed(tmp_path, last):
    (tmp_path / "x").mkdir()
    for piece in {"HEAD", "objects", "refs"} - {last.split("/")[0].replace("head", "HEAD")}:
        (tmp_path / "x" / piece).mkdir()
    assert is_in_git_folder(tmp_path / "x" / last, tmp_path)


def test_a_head_that_is_a_dangling_link_makes_a_repository_too(tmp_path):
    git(tmp_path, "init", "-q", "--bare", "mirror")
    (tmp_path / "mirror" / "HEAD").unlink()
    (tmp_path / "mirror" / "HEAD").symlink_to("refs/heads/none")
    assert is_in_git_folder(tmp_path / "mirror" / "config", tmp_path)


def test_a_folder_with_a_part_of_it_is_an_ordinary_one(tmp_path):
    (tmp_path / "objects").mkdir()
    assert not is_in_git_folder(tmp_path / "objects" / "cube.py", tmp_path)
    assert not is_in_git_folder(tmp_path / "HEAD", tmp_path)


@pytest.mark.parametrize(
    "line",
    [
        "[core]\n\thooksPath = tools/hooks\n",
        '[CORE] HOOKSPATH="tools/hooks"\n',
        "[core]\nhookspath=./tools//hooks ; mine\n",
    ],
)
def test_scripts_in_a_configured_hook_folder_are_hooks(tmp_path, line):
    git(tmp_path, "init", "-q", ".")
    with (tmp_path / ".git" / "config").open("a") as config:
        config.write(line)
    root = tmp_path.resolve()
    assert is_hook(root / "tools" / "hooks" / "pre-commit", root)
    assert not is_hook(root / "tools" / "other", root)


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("[include]\n\tpath = ../tools/gitconfig\n", "tools/gitconfig"),
        ('[includeIf "gitdir:x"] path = "../tools/gitconfig"\n', "tools/gitconfig"),
        ("[core]\n\tfsmonitor = tools/watch.sh\n", "tools/watch.sh"),
        ("[core]\n\tattributesFile = tools/attributes\n", "tools/attributes"),
        ('[filter "x"]\n\tclean = python3 ./tools/clean.py %f\n', "tools/clean.py"),
        ('[diff "x"]\n\ttextconv = tools/show\n', "tools/show"),
    ],
)
def test_what_git_is_set_to_run_or_to_read_settings_from_is_like_a_hook(tmp_path, line, place):
    git(tmp_path, "init", "-q", ".")
    with (tmp_path / ".git" / "config").open("a") as config:
        config.write(line)
    root = tmp_path.resolve()
    assert is_hook(root / place, root)
    assert not is_hook(root / "tools" / "other", root)


def test_a_linked_work_tree_follows_the_settings_of_its_repository(tmp_path):
    main = tmp_path / "main"
    git(tmp_path, "init", "-q", "main")
    git(main, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x", "--allow-empty")
    git(main, "worktree", "add", "-q", str(tmp_path / "side"))
    git(main, "config", "core.hooksPath", "scripts")
    side = (tmp_path / "side").resolve()
    assert is_hook(side / "scripts" / "pre-commit", side)


def test_a_broken_git_file_means_no_hooks(tmp_path):
    (tmp_path / ".git").write_bytes(b"gitdir: \xff\n")
    assert not is_hook(tmp_path / "a", tmp_path)
