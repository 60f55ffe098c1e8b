"""Ctrl+C leaves what is open, and never touches a draft behind it."""

import pytest

from tests.tui.conftest import command_request
from tests.tui.test_edited_proposals import Editing, open_editor
from tests.tui.test_typing_at_questions import Asking, until_it_listens


@pytest.mark.parametrize("key", ["ctrl+r", "ctrl+p", "ctrl+t", "f1"])
async def test_it_closes_a_window_and_leaves_the_draft_behind_it(stage_of, key):
    async with stage_of() as stage:
        await stage.type("a draft")
        await stage.pilot.press(key)
        await stage.until(lambda: stage.app.screen is not stage.app.main)
        await stage.pilot.press("ctrl+c")
        await stage.until(lambda: stage.app.screen is stage.app.main)
        assert stage.app.main.prompt.text == "a draft"
        await stage.pilot.press("ctrl+c")
        assert stage.app.main.prompt.is_empty


async def test_it_clears_what_is_sought_first(stage_of):
    async with stage_of() as stage:
        await stage.type("a draft")
        await stage.pilot.press("ctrl+r")
        await stage.until(lambda: stage.app.screen is not stage.app.main)
        await stage.type("old")
        await stage.pilot.press("ctrl+c")
        assert stage.app.screen is not stage.app.main
        assert stage.app.focused.value == ""
        await stage.pilot.press("ctrl+c")
        await stage.until(lambda: stage.app.screen is stage.app.main)
        assert stage.app.main.prompt.text == "a draft"


async def test_it_clears_the_words_to_find_and_then_ends_the_search(stage_of):
    async with stage_of() as stage:
        await stage.type("a draft")
        await stage.pilot.press("ctrl+f")
        await stage.until(lambda: stage.app.main.find_bar.display)
        await stage.type("old")
        await stage.pilot.press("ctrl+c")
        assert (stage.app.main.find_bar.display, stage.app.main.find_bar.words) == (True, "")
        await stage.pilot.press("ctrl+c")
        assert not stage.app.main.find_bar.display
        assert stage.app.main.prompt.text == "a draft"


async def test_it_leaves_a_sentence_and_an_edit_which_is_kept(stage_of, ask_diff):
    async with stage_of(Editing(ask_diff("c1"))) as stage:
        editor = await open_editor(stage, "mine")
        await stage.pilot.press("ctrl+c")
        await stage.until(lambda: stage.app.main.approval.is_at_question)
        assert stage.app.main.approval.typed()[0].endswith(editor.text)
    async with stage_of(Asking(command_request("ls"))) as stage:
        await stage.type("go\n")
        await until_it_listens(stage)
        await stage.press_slowly("t")
        await stage.type("no")
        await stage.pilot.press("ctrl+c")
        assert not any(stage.app.main.approval.typed())
        await stage.pilot.press("ctrl+c")
        await stage.until(lambda: stage.app.main.approval.is_at_question)


async def test_no_key_pressed_in_a_window_answers_a_question_behind_it(stage_of):
    asking = Asking(command_request("ls"))
    async with stage_of(asking) as stage:
        await stage.type("go\n")
        await until_it_listens(stage)
        await stage.pilot.press("ctrl+p")
        await stage.until(lambda: stage.app.screen is not stage.app.main)
        await stage.press_slowly("y", "n")
        assert stage.app.focused.value == "yn"
        assert asking.answers == {}
