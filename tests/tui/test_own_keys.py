"""A key that the person chose means that everywhere, whatever else it means to a field."""

import asyncio

import pytest

from codeagent.core.keys import KEYS, Place
from codeagent.tui.screens.jobs import JobsScreen
from codeagent.tui.screens.pages import Page
from codeagent.tui.screens.picker import Picker
from codeagent.tui.widgets.prompt import Prompt
from tests.tui.conftest import command_request
from tests.tui.test_edited_proposals import Editing, open_editor
from tests.tui.test_typing_at_questions import Asking, until_it_listens

EDITING = ("ctrl+x", "ctrl+e", "ctrl+k", "ctrl+a", "ctrl+u", "ctrl+w", "ctrl+y", "ctrl+q", "ctrl+left", "alt+f")


async def forever(emit, approver):
    await asyncio.Event().wait()


@pytest.mark.parametrize("vi", [False, True])
@pytest.mark.parametrize("key", EDITING)
async def test_a_key_for_stop_stops_and_leaves_the_draft_alone(stage_of, key, vi):
    async with stage_of(forever, keymap={"stop": key}, vi=vi) as stage:
        await stage.type("go\n")
        await stage.until(lambda: stage.conversation.is_running)
        await stage.type("a draft")
        await stage.pilot.press(key)
        await stage.until(lambda: not stage.conversation.is_running)
        assert stage.app.main.prompt.text == "a draft"


@pytest.mark.parametrize("action", [key for key in KEYS if key.place in {Place.ANYWHERE, Place.PROMPT} and key.action])
async def test_every_action_is_reached_by_a_key_that_edits_otherwise(stage_of, action):
    async with stage_of(keymap={action.name: "ctrl+k"}) as stage:
        await stage.type("draft")
        found = stage.app.main.active_bindings.get("ctrl+k")
        is_for_lists = action.name == "complete"  # means something while there is something to complete
        assert is_for_lists or (found is not None and found.binding.id == action.name)


@pytest.mark.parametrize(("name", "window"), [("jobs", JobsScreen), ("help", Page), ("palette", Picker)])
async def test_the_key_that_opened_a_window_and_the_one_for_stop_close_it(stage_of, name, window):
    async with stage_of(keymap={name: "ctrl+k", "stop": "ctrl+x"}) as stage:
        await stage.type("draft")
        for closing in {"ctrl+k", "ctrl+x"} if name != "palette" else {"ctrl+x"}:
            await stage.pilot.press("ctrl+k")
            await stage.until(lambda: isinstance(stage.app.screen, window))
            await stage.pilot.press(closing)
            await stage.until(lambda: stage.app.screen is stage.app.main)
        assert stage.app.main.prompt.text == "draft"


async def test_a_key_for_stop_closes_suggestions_and_the_search_first(stage_of):
    async with stage_of(forever, keymap={"stop": "ctrl+x", "find": "ctrl+e"}) as stage:
        await stage.type("go\n")
        await stage.type("/he")
        await stage.until(lambda: stage.app.main.completions.is_open)
        await stage.pilot.press("ctrl+x")
        assert not stage.app.main.completions.is_open
        await stage.pilot.press("ctrl+e")
        await stage.until(lambda: stage.app.main.find_bar.display)
        await stage.type("word")
        await stage.pilot.press("ctrl+x")
        assert not stage.app.main.find_bar.display
        assert stage.app.main.prompt.text == "/he"
        assert stage.conversation.is_running
        await stage.pilot.press("ctrl+x")
        await stage.until(lambda: not stage.conversation.is_running)


async def test_a_key_for_stop_leaves_an_edit_first_and_then_denies(stage_of, ask_diff):
    asking = Editing(ask_diff("c1"))
    async with stage_of(asking, keymap={"stop": "ctrl+x"}) as stage:
        editor = await open_editor(stage, "mine")
        await stage.pilot.press("ctrl+x")
        await stage.until(lambda: stage.app.focused is not editor)
        assert stage.app.main.approval.is_at_question
        assert editor.text.startswith("mine")
        await until_it_listens(stage)
        await stage.pilot.press("ctrl+x")
        await stage.until(lambda: not stage.conversation.is_running)


async def test_a_key_for_stop_wins_in_a_sentence_for_the_model(stage_of):
    asking = Asking(command_request("ls"))
    async with stage_of(asking, keymap={"stop": "ctrl+k"}) as stage:
        await stage.type("go\n")
        await until_it_listens(stage)
        await stage.press_slowly("t")
        await stage.until(lambda: not stage.app.main.approval.is_at_question)
        await stage.type("no")
        await stage.pilot.press("home", "ctrl+k")
        await stage.until(lambda: stage.app.main.approval.is_at_question)


async def test_an_edited_text_is_approved_by_the_key_that_the_person_chose(stage_of, ask_diff):
    asking = Editing(ask_diff("c1"))
    async with stage_of(asking, keymap={"approve-edited": "f9", "stop": "ctrl+s"}) as stage:
        await open_editor(stage, "mine")
        assert "f9" in stage.text
        await stage.pilot.press("f9")
        await stage.until(lambda: "c1" in asking.answers)


async def test_what_was_on_another_key_is_free_and_other_editing_keys_are_as_they_were(stage_of):
    async with stage_of(keymap={"find": "ctrl+e", "jobs": "f8"}) as stage:
        await stage.type("one two")
        await stage.pilot.press("ctrl+a")
        assert stage.app.main.prompt.cursor_location == (0, 0)
        await stage.pilot.press("ctrl+f")
        assert not stage.app.main.find_bar.display
        await stage.pilot.press("ctrl+k")
        assert stage.app.main.prompt.is_empty
        assert isinstance(stage.app.focused, Prompt)
