from __future__ import annotations

import os

import pytest

from codeagent.policy.trust import Trust, distrust, is_trusted, trust, trust_state, what_takes_effect


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


def test_what_would_take_effect_is_listed(root):
    found = {str(effect.path.relative_to(root)): effect.what for effect in what_takes_effect(root)}
    assert set(found) == {".codeagent/config.toml", ".codeagent/commands/x.md", "AGENTS.md"}
    assert found["AGENTS.md"] == "instructions for the model"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (".codeagent/config.toml", "other"),
        ("AGENTS.md", "be nasty"),
        (".codeagent/commands/x.md", ""),
        (".codeagent/commands/new.md", "x"),
        (".mcp.json", "{}"),
        ("CLAUDE.md", "x"),
        (".codeagent/hooks/h.sh", "x"),
    ],
)
def test_any_change_of_it_is_asked_about_again(root, store, name, content):
    trust(root, store)
    (root / name).parent.mkdir(exist_ok=True)
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


def test_what_a_link_leads_to_counts(root, store, tmp_path):
    (tmp_path / "outside.md").write_text("a")
    (root / "AGENTS.md").unlink()
    (root / "AGENTS.md").symlink_to(tmp_path / "outside.md")
    trust(root, store)
    assert is_trusted(root, store)
    (tmp_path / "outside.md").write_text("b")
    assert not is_trusted(root, store)


def test_what_cannot_be_read_is_never_trusted(root, store):
    (root / "AGENTS.md").unlink()
    os.mkfifo(root / "AGENTS.md")
    trust(root, store)
    assert trust_state(root, store) is Trust.CHANGED


def test_a_link_to_a_folder_is_never_trusted(root, store, tmp_path):
    (root / ".codeagent/skills").symlink_to(tmp_path)
    trust(root, store)
    assert not is_trusted(root, store)


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


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b'{"x": 1}'])
def test_a_damaged_store_trusts_nothing_and_is_mended(root, store, content):
    store.parent.mkdir()
    store.write_bytes(content)
    assert not is_trusted(root, store)
    trust(root, store)
    assert is_trusted(root, store)
