import os

import pytest

from codeagent.config.custom_commands import find_custom_commands


@pytest.fixture
def folders(tmp_path):
    own, project = tmp_path / "config" / "commands", tmp_path / "project" / ".codeagent" / "commands"
    own.mkdir(parents=True)
    project.mkdir(parents=True)
    return own, project


def find(folders, *, trusted=True):
    return find_custom_commands(*folders, lambda: trusted)


def names(found):
    return [command.name for command in found.commands]


def test_subfolders_are_the_first_part_of_a_name(folders):
    own, project = folders
    (own / "git").mkdir()
    (own / "git" / "commit.md").write_text("Commit.")
    (project / "review.md").write_text("Review.")
    (project / "notes.txt").write_text("no command")
    assert names(find(folders)) == ["git:commit", "review"]


def test_a_project_that_is_not_trusted_brings_only_names(folders):
    own, project = folders
    (own / "mine.md").write_text("Mine.")
    (project / "theirs.md").write_text("Theirs.")
    found = find(folders, trusted=False)
    assert names(found) == ["mine"]
    assert found.withheld == ("theirs",)
    assert found.notices == ()


def test_trust_is_asked_for_after_the_files_were_read(folders):
    _, project = folders
    (project / "a.md").write_text("before")

    def is_trusted():
        (project / "a.md").write_text("after")
        return True

    found = find_custom_commands(*folders, is_trusted)
    assert found.commands[0].body == "before"


def test_the_persons_own_counts_and_the_other_is_told(folders):
    own, project = folders
    (own / "review.md").write_text("Mine.")
    (project / "review.md").write_text("Theirs.")
    found = find(folders)
    assert [command.body for command in found.commands] == ["Mine."]
    assert "there is a /review of your own, which counts" in found.notices[0]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("help.md", b"x", "/help is one of codeagent's own"),
        ("two words.md", b"x", "a name has letters"),
        ("empty.md", b"---\ndescription: x\n---\n", "nothing in it to send"),
        ("large.md", b"x" * 70_000, "larger than 64 KiB"),
        ("latin.md", b"\xff\xfe", "not UTF-8"),
    ],
)
def test_a_file_that_makes_no_command_is_told(folders, name, content, reason):
    (folders[0] / name).write_bytes(content)
    found = find(folders)
    assert names(found) == []
    assert reason in found.notices[0]


def test_a_pipe_is_told_and_never_waited_for(folders):
    os.mkfifo(folders[0] / "pipe.md")
    assert "no plain file" in find(folders).notices[0]


def test_a_project_may_not_link_to_files_elsewhere_and_a_person_may(folders, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("key")
    for folder in folders:
        (folder / f"{folder.parent.name.strip('.')}-link.md").symlink_to(secret)
    found = find(folders)
    assert names(found) == ["config-link"]
    assert "it is a link" in found.notices[0]


def test_no_folder_is_no_command(tmp_path):
    assert find_custom_commands(tmp_path / "a", tmp_path / "b", lambda: True).commands == ()
