from __future__ import annotations

import os

import pytest

from codeagent.core.project import Brings, FileChange, ProjectFile, Standing, Trust
from codeagent.policy.trust import (
    distrust,
    is_trusted,
    read_project,
    standing,
    trust,
    trust_state,
    trusted_settings,
)


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "repository"
    (folder / ".codeagent/commands").mkdir(parents=True)
    (folder / ".codeagent/config.toml").write_text("[permissions]\nallow = ['bash(*)']\n")
    (folder / ".codeagent/commands/x.md").write_text("do x")
    (folder / "AGENTS.md").write_text("be nice")
    return folder


@pytest.fixture
def store(tmp_path):
    return tmp_path / "state" / "trust.json"


def one(root, name) -> ProjectFile:
    return next(file for file in read_project(root) if file.name == name)


def standing_of(root, store) -> Standing:
    return standing(read_project(root), root, store)


def test_where_nothing_takes_effect_there_is_nothing_to_trust(tmp_path, store):
    assert trust_state(tmp_path, store) is Trust.NOTHING_TO_TRUST
    assert not is_trusted(tmp_path, store)
    assert not store.parent.exists()


def test_a_repository_is_not_trusted_until_the_person_says_so(root, store):
    assert trust_state(root, store) is Trust.UNTRUSTED
    trust(root, store)
    assert trust_state(root, store) is Trust.TRUSTED
    assert is_trusted(root, store)


def test_looking_writes_nothing(root, store):
    trust_state(root, store)
    assert not store.parent.exists()


def test_what_would_take_effect_is_listed_in_a_fixed_order(root):
    (root / "CLAUDE.md").write_text("x")
    (root / ".codeagent/commands/git").mkdir()
    (root / ".codeagent/commands/git/commit.md").write_text("commit")
    (root / ".codeagent/commands/notes.txt").write_text("not a command")
    assert [(file.name, file.brings) for file in read_project(root)] == [
        (".codeagent/config.toml", Brings.SETTINGS),
        ("AGENTS.md", Brings.INSTRUCTIONS),
        ("CLAUDE.md", Brings.INSTRUCTIONS),
        (".codeagent/commands/x.md", Brings.COMMAND),
        (".codeagent/commands/git/commit.md", Brings.COMMAND),
    ]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (".codeagent/config.toml", "other"),
        ("AGENTS.md", "be nasty"),
        (".codeagent/commands/x.md", ""),
        (".codeagent/commands/new.md", "x"),
        ("CLAUDE.md", "x"),
        (".codeagent/commands/deep/er.md", "x"),
    ],
)
def test_any_change_of_it_is_asked_about_again(root, store, name, content):
    trust(root, store)
    (root / name).parent.mkdir(exist_ok=True, parents=True)
    (root / name).write_text(content)
    assert trust_state(root, store) is Trust.CHANGED
    assert not is_trusted(root, store)


def test_a_removed_file_is_a_change_too(root, store):
    trust(root, store)
    (root / "AGENTS.md").unlink()
    assert trust_state(root, store) is Trust.CHANGED


def test_contents_that_change_places_are_a_change(root, store):
    (root / "CLAUDE.md").write_text("a")
    trust(root, store)
    (root / "CLAUDE.md").write_text((root / "AGENTS.md").read_text())
    (root / "AGENTS.md").write_text("a")
    assert trust_state(root, store) is Trust.CHANGED


def test_what_a_link_inside_the_project_leads_to_counts(root, store):
    (root / "AGENTS.md").rename(root / "rules.md")
    (root / "AGENTS.md").symlink_to("rules.md")
    trust(root, store)
    assert is_trusted(root, store)
    (root / "rules.md").write_text("b")
    assert not is_trusted(root, store)


@pytest.mark.parametrize("name", ["AGENTS.md", "CLAUDE.md", ".codeagent/config.toml", ".codeagent/commands/x.md"])
@pytest.mark.parametrize("target", ["outside.md", "/etc/passwd"])
def test_a_link_out_of_the_project_is_not_followed(root, tmp_path, name, target):
    (tmp_path / "outside.md").write_text("from outside")
    (root / name).unlink(missing_ok=True)
    (root / name).symlink_to(tmp_path / target)
    file = one(root, name)
    assert file.text == ""
    assert "is a link to a place outside the project" in file.problem


def test_a_linked_settings_folder_is_not_followed(root, tmp_path):
    (root / ".codeagent").rename(tmp_path / "elsewhere")
    (root / ".codeagent").symlink_to(tmp_path / "elsewhere")
    assert [file.text for file in read_project(root) if file.name.startswith(".codeagent")] == ["", ""]


def test_a_linked_folder_of_commands_holds_none(root, store, tmp_path):
    (root / ".codeagent/commands").rename(tmp_path / "commands")
    (root / ".codeagent/commands").symlink_to(tmp_path / "commands")
    assert one(root, ".codeagent/commands").problem == "is a link"


def test_instructions_are_no_way_to_read_secrets(root):
    (root / ".env").write_text("KEY=1")
    (root / "AGENTS.md").unlink()
    (root / "AGENTS.md").symlink_to(".env")
    assert one(root, "AGENTS.md").text == ""
    assert "a file that may hold secrets" in one(root, "AGENTS.md").problem


def test_links_in_a_circle_have_no_effect(root):
    (root / "AGENTS.md").unlink()
    (root / "AGENTS.md").symlink_to("AGENTS.md")
    assert one(root, "AGENTS.md").problem == "is a link that leads in a circle"


@pytest.mark.parametrize("name", ["AGENTS.md", ".codeagent/config.toml", ".codeagent/commands/x.md"])
def test_a_pipe_is_not_waited_for(root, name):
    (root / name).unlink()
    os.mkfifo(root / name)
    assert one(root, name).problem == "is a pipe"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\xff\xfe\x00", "is not UTF-8 text"),
        (b"a\0b", "is not text"),
        (b"a" * 70_000, "is too large: 70,000 bytes"),
    ],
)
def test_a_settings_file_that_is_no_text_has_no_effect(root, data, said):
    (root / ".codeagent/config.toml").write_bytes(data)
    assert one(root, ".codeagent/config.toml").problem == said


def test_instructions_with_a_byte_that_is_not_utf_8_are_asked_about_and_show_it(root, store):
    (root / "AGENTS.md").write_bytes(b"Use tabs.\x9d\n")
    found = one(root, "AGENTS.md")
    assert (found.text, found.problem) == ("Use tabs.\ufffd\n", "")
    trust(root, store)
    (root / "AGENTS.md").write_bytes(b"Use tabs.\x9c\n")  # which looks the same
    assert standing_of(root, store).trust is Trust.CHANGED


def test_what_cannot_be_read_is_asked_about_once_it_can(root, store):
    (root / "AGENTS.md").unlink()
    os.mkfifo(root / "AGENTS.md")
    trust(root, store)
    assert is_trusted(root, store)
    (root / "AGENTS.md").unlink()
    (root / "AGENTS.md").write_text("be nasty")
    assert standing_of(root, store) == Standing(trust=Trust.CHANGED, changes={"AGENTS.md": FileChange.CHANGED})


def test_where_nothing_of_it_can_take_effect_nothing_is_asked(tmp_path, store):
    os.mkfifo(tmp_path / "AGENTS.md")
    assert trust_state(tmp_path, store) is Trust.NOTHING_TO_TRUST


def test_too_many_commands_to_look_at_are_none(root):
    for number in range(201):
        (root / f".codeagent/commands/{number}.md").write_text("x")
    assert "holds more than 200 files" in one(root, ".codeagent/commands").problem


def test_what_changed_is_told(root, store):
    trust(root, store)
    (root / "AGENTS.md").write_text("be nasty")
    (root / ".codeagent/commands/x.md").unlink()
    (root / "CLAUDE.md").write_text("new")
    assert standing_of(root, store) == Standing(
        trust=Trust.CHANGED,
        changes={
            "AGENTS.md": FileChange.CHANGED,
            "CLAUDE.md": FileChange.NEW,
            ".codeagent/commands/x.md": FileChange.GONE,
        },
    )


def test_going_back_to_what_was_trusted_asks_nothing(root, store):
    trust(root, store)
    (root / "AGENTS.md").write_text("as on another branch")
    trust(root, store)
    assert is_trusted(root, store)
    (root / "AGENTS.md").write_text("be nice")
    assert is_trusted(root, store)


def test_files_that_were_each_trusted_are_not_trusted_together(root, store):
    trust(root, store)
    (root / "AGENTS.md").write_text("other")
    (root / ".codeagent/commands/x.md").write_text("other")
    trust(root, store)
    (root / "AGENTS.md").write_text("be nice")
    assert not is_trusted(root, store)


def test_instructions_count_from_the_top_of_the_repository(root):
    (root / ".git").mkdir()
    work = root / "packages/shop"
    work.mkdir(parents=True)
    (root / "packages/CLAUDE.md").write_text("middle")
    (work / "AGENTS.md").write_text("near")
    names = [file.name for file in read_project(work)]
    assert names == ["../../AGENTS.md", "../CLAUDE.md", "AGENTS.md"]


def test_a_git_file_is_the_top_too_and_an_inner_repository_stands_for_itself(root):
    (root / ".git").mkdir()
    inner = root / "vendor/inner"
    inner.mkdir(parents=True)
    (inner / ".git").write_text("gitdir: ../../.git/worktrees/inner")
    assert read_project(inner) == ()


def test_outside_of_a_repository_only_the_workspace_counts(root):
    (root / "sub").mkdir()
    assert read_project(root / "sub") == ()


def test_trust_in_a_folder_does_not_reach_one_inside(root, store):
    (root / ".git").mkdir()
    trust(root, store)
    (root / "sub").mkdir()
    assert [file.name for file in read_project(root / "sub")] == ["../AGENTS.md"]
    assert trust_state(root / "sub", store) is Trust.UNTRUSTED


def test_the_settings_of_an_untrusted_project_are_not_given_out(root, store):
    assert trusted_settings(root, store) is None
    trust(root, store)
    assert trusted_settings(root, store) == "[permissions]\nallow = ['bash(*)']\n"


def test_trust_is_for_one_folder_and_can_be_taken_back(root, store, tmp_path):
    trust(root, store)
    other = tmp_path / "other"
    other.mkdir()
    (other / "AGENTS.md").write_text("be nice")
    assert not is_trusted(other, store)
    distrust(root, store)
    assert trust_state(root, store) is Trust.UNTRUSTED


def test_the_same_folder_by_another_name_is_the_same(root, store, tmp_path):
    (tmp_path / "alias").symlink_to(root)
    trust(tmp_path / "alias", store)
    assert is_trusted(root, store)


def test_the_store_is_private_whatever_the_umask(root, store):
    old = os.umask(0)
    try:
        trust(root, store)
    finally:
        os.umask(old)
    assert store.stat().st_mode & 0o777 == 0o600
    assert store.parent.stat().st_mode & 0o777 == 0o700


def test_a_linked_store_is_not_followed(root, store, tmp_path):
    trust(root, store)
    store.rename(tmp_path / "elsewhere.json")
    store.symlink_to(tmp_path / "elsewhere.json")
    assert not is_trusted(root, store)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"\xff\xfe", b'{"x": 1}', b'{"ROOT": "x"}', b'{"ROOT": [{}, 1]}']
)
def test_a_damaged_store_trusts_nothing_and_is_mended(root, store, content):
    store.parent.mkdir()
    store.write_bytes(content.replace(b"ROOT", str(root).encode()))
    assert not is_trusted(root, store)
    trust(root, store)
    assert is_trusted(root, store)
