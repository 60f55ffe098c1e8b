"""The prompt history and the draft of a workspace."""

import stat

import pytest

from codeagent.core.messages import Draft, DraftImage
from codeagent.store.prompts import Prompts

LONG = "".join(f"line {number} s3cret\n" for number in range(30))


def typed_in(prompts):
    return tuple(one.text for one in prompts.history())


def test_what_was_typed_comes_back_after_a_restart(tmp_path):
    prompts = Prompts(tmp_path / "p", str)
    prompts.remember(Draft(text="one\ntwo"))
    prompts.remember(Draft(text="one\ntwo"))
    prompts.remember(Draft(text="three é"))
    assert typed_in(Prompts(tmp_path / "p", str)) == ("one\ntwo", "three é")


def test_only_its_owner_can_read_it(tmp_path):
    prompts = Prompts(tmp_path / "p", str)
    prompts.remember(Draft(text="x"))
    prompts.save_draft(Draft(text="y"))
    for name in ("history.jsonl", "draft.json"):
        assert stat.S_IMODE((tmp_path / "p" / name).stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "p").stat().st_mode) == 0o700


def test_a_draft_is_kept_until_it_is_empty(tmp_path):
    Prompts(tmp_path, str).save_draft(Draft(text="half a thou"))
    assert Prompts(tmp_path, str).draft().text == "half a thou"
    Prompts(tmp_path, str).save_draft(Draft(text=""))
    assert Prompts(tmp_path, str).draft().text == ""


def test_a_draft_comes_back_with_what_was_pasted(tmp_path):
    text = f"look {LONG}and {LONG}"
    Prompts(tmp_path, str).save_draft(Draft(text=text, pasted=("sent long ago", LONG, LONG, LONG)))
    assert Prompts(tmp_path, str).draft() == Draft(text=text, pasted=(LONG, LONG))


def test_what_was_sent_comes_back_with_what_was_pasted_in_it(tmp_path):
    text = f"look {LONG}".strip()
    Prompts(tmp_path, str).remember(Draft(text=text, pasted=("sent long ago", LONG)))
    Prompts(tmp_path, str).remember(Draft(text="go on"))
    assert Prompts(tmp_path, str).history() == (Draft(text=text, pasted=(LONG.strip(),)), Draft(text="go on"))


def test_a_paste_in_which_a_secret_stood_is_still_one(tmp_path):
    Prompts(tmp_path, lambda text: text.replace("s3cret", "[redacted]")).save_draft(Draft(text=LONG, pasted=(LONG,)))
    kept = Prompts(tmp_path, str).draft()
    assert kept.pasted == (kept.text,)
    assert "s3cret" not in kept.text


def test_a_draft_comes_back_with_where_its_images_are(tmp_path):
    images = (DraftImage(mark="[image #1 · two.png]", path="/home/me/two.png"),)
    Prompts(tmp_path, str).save_draft(Draft(text="[image #1 · two.png] why", images=images))
    assert Prompts(tmp_path, str).draft().images == images


def test_a_draft_that_an_earlier_version_kept_comes_back(tmp_path):
    (tmp_path / "draft.json").write_text('{"text": "half a thou", "pasted": []}')
    assert Prompts(tmp_path, str).draft() == Draft(text="half a thou")


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"text": 1}', '{"text": "x", "pasted": [[0]]}'])
def test_a_damaged_draft_is_none(tmp_path, damage):
    (tmp_path / "draft.json").write_text(damage)
    assert Prompts(tmp_path, str).draft() == Draft()


def test_a_damaged_history_loses_only_the_damaged_line(tmp_path):
    (tmp_path / "history.jsonl").write_text('"one"\n{broken\n{"pasted": []}\n{"text": 3}\n"two"\n')
    assert typed_in(Prompts(tmp_path, str)) == ("one", "two")


def test_secrets_do_not_reach_the_disk(tmp_path):
    prompts = Prompts(tmp_path, lambda text: text.replace("s3cret", "[redacted]"))
    prompts.remember(Draft(text="use s3cret"))
    prompts.save_draft(Draft(text="use s3cret"))
    assert "s3cret" not in (tmp_path / "history.jsonl").read_text() + (tmp_path / "draft.json").read_text()


def test_a_folder_that_cannot_be_made_does_not_stop_the_program(tmp_path):
    (tmp_path / "file").write_text("")
    prompts = Prompts(tmp_path / "file" / "p", str)
    prompts.remember(Draft(text="one"))
    prompts.save_draft(Draft(text="x"))
    assert typed_in(prompts) == ("one",)


def test_a_session_that_is_not_kept_writes_nothing_of_what_is_typed(tmp_path):
    Prompts(tmp_path / "p", str).remember(Draft(text="before"))
    prompts = Prompts(tmp_path / "p", str, keeps=False)
    prompts.remember(Draft(text="one"))
    prompts.save_draft(Draft(text="x"))
    assert typed_in(prompts) == ("before", "one")
    assert typed_in(Prompts(tmp_path / "p", str)) == ("before",)
    assert Prompts(tmp_path / "p", str).draft().text == ""
