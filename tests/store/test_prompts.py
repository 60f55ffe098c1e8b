"""The prompt history and the draft of a workspace."""

import stat

from codeagent.store.prompts import Prompts


def test_what_was_typed_comes_back_after_a_restart(tmp_path):
    prompts = Prompts(tmp_path / "p", str)
    prompts.remember("one\ntwo")
    prompts.remember("one\ntwo")
    prompts.remember("three é")
    assert Prompts(tmp_path / "p", str).history() == ("one\ntwo", "three é")


def test_only_its_owner_can_read_it(tmp_path):
    prompts = Prompts(tmp_path / "p", str)
    prompts.remember("x")
    prompts.save_draft("y")
    for name in ("history.jsonl", "draft.txt"):
        assert stat.S_IMODE((tmp_path / "p" / name).stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "p").stat().st_mode) == 0o700


def test_a_draft_is_kept_until_it_is_empty(tmp_path):
    Prompts(tmp_path, str).save_draft("half a thou")
    assert Prompts(tmp_path, str).draft() == "half a thou"
    Prompts(tmp_path, str).save_draft("")
    assert Prompts(tmp_path, str).draft() == ""


def test_a_damaged_history_loses_only_the_damaged_line(tmp_path):
    (tmp_path / "history.jsonl").write_text('"one"\n{broken\n"two"\n')
    assert Prompts(tmp_path, str).history() == ("one", "two")


def test_secrets_do_not_reach_the_disk(tmp_path):
    prompts = Prompts(tmp_path, lambda text: text.replace("s3cret", "[redacted]"))
    prompts.remember("use s3cret")
    prompts.save_draft("use s3cret")
    assert "s3cret" not in (tmp_path / "history.jsonl").read_text() + (tmp_path / "draft.txt").read_text()


def test_a_folder_that_cannot_be_made_does_not_stop_the_program(tmp_path):
    (tmp_path / "file").write_text("")
    prompts = Prompts(tmp_path / "file" / "p", str)
    prompts.remember("one")
    prompts.save_draft("x")
    assert prompts.history() == ("one",)


def test_a_session_that_is_not_kept_writes_nothing_of_what_is_typed(tmp_path):
    Prompts(tmp_path / "p", str).remember("before")
    prompts = Prompts(tmp_path / "p", str, keeps=False)
    prompts.remember("one")
    prompts.save_draft("x")
    assert prompts.history() == ("before", "one")
    assert Prompts(tmp_path / "p", str).history() == ("before",)
    assert Prompts(tmp_path / "p", str).draft() == ""
