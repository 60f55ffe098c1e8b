"""Where programs are taken from, and where they are passed over."""

from pathlib import Path

import pytest

from codeagent.core.programs import find_bash, find_program, pass_over


@pytest.fixture
def workspace(tmp_path, monkeypatch) -> Path:
    root = tmp_path / "home/work/sub"
    root.mkdir(parents=True)
    monkeypatch.chdir(root)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return root


def put(folder: Path, name: str = "tool") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)
    return file


def test_the_first_that_counts_is_taken(workspace, tmp_path):
    inside, good = put(workspace / "bin"), put(tmp_path / "usr")
    (tmp_path / "data").mkdir()
    (tmp_path / "data/tool").write_text("not to be run")
    path = f":.:bin:{inside.parent}:{tmp_path}/data:{good.parent}"
    assert find_program("tool", path) == str(good)
    assert find_program("tool", f"{inside.parent}:bin::.") is None


def test_links_into_the_workspace_and_out_of_it_do_not_count(workspace, tmp_path):
    inside, good = put(workspace / "bin"), put(tmp_path / "usr")
    for name, target in (("a", inside), ("b", workspace / "link")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "tool").symlink_to(target)
    (workspace / "link").symlink_to(good)
    (tmp_path / "folder").symlink_to(inside.parent)
    path = f"{tmp_path}/a:{tmp_path}/b:{tmp_path}/folder"
    assert find_program("tool", path) is None
    assert find_program("tool", f"{path}:{good.parent}") == str(good)


def test_nor_does_the_repository_around_unless_it_is_the_home_folder(workspace, tmp_path):
    around = put(tmp_path / "home/work/bin")
    assert find_program("tool", str(around.parent)) == str(around)
    (tmp_path / "home/.git").mkdir()
    assert find_program("tool", str(around.parent)) == str(around)
    (tmp_path / "home/work/.git").mkdir()
    assert find_program("tool", str(around.parent)) is None


def test_nor_do_folders_that_commands_may_write_to(workspace, tmp_path):
    other = put(tmp_path / "other/bin")
    pass_over([tmp_path / "other"])
    assert find_program("tool", str(other.parent)) is None
    pass_over([Path("/")])
    assert find_program("sh", "/bin") == "/bin/sh"


def test_without_a_bash_that_counts_there_is_the_systems_own(workspace, monkeypatch):
    monkeypatch.setenv("PATH", str(put(workspace, "bash").parent))
    assert find_bash() == "/bin/bash"


def test_in_a_folder_that_is_gone_programs_are_found_all_the_same(workspace):
    workspace.rmdir()
    assert find_program("sh", "/bin") == "/bin/sh"
