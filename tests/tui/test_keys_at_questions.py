"""Each key at a question does what stands beside it, or says in the status line why it does nothing."""

import pytest

from codeagent.core.approvals import Approve
from tests.tui.test_typing_at_questions import Asking, until_it_listens


async def begin(stage):
    await stage.type("go\n")
    await stage.until(lambda: stage.app.main.approval.waiting)
    await until_it_listens(stage)


async def test_the_key_that_shows_the_reasons_shows_the_question_again(stage_of, ask_command):
    async with stage_of(Asking(ask_command("make test"))) as stage:
        await begin(stage)
        dialog = stage.app.main.approval
        await stage.press_slowly("question_mark")
        await stage.until(lambda: not dialog.is_at_question)
        await stage.press_slowly("question_mark")
        await stage.until(lambda: dialog.is_at_question)
        assert dialog.has_keyboard
        assert stage.app.main.is_current
        assert stage.app.main.prompt.is_empty


@pytest.mark.parametrize(
    ("key", "remark"),
    [
        ("right_square_bracket", "No other question waits"),
        ("left_square_bracket", "No other question waits"),
        ("j", "There are no hunks here"),
        ("space", "There are no hunks to choose from"),
        ("s", "There is nothing here to show side by side"),
    ],
)
async def test_a_key_with_nothing_to_do_at_a_command_says_so(stage_of, ask_command, key, remark):
    async with stage_of(Asking(ask_command("make test"))) as stage:
        await begin(stage)
        await stage.press_slowly(key)
        await stage.until(lambda: remark in stage.text)
        assert stage.app.main.approval.has_keyboard


async def test_a_command_is_edited_from_its_end_and_the_key_says_that_it_is_used(stage_of, ask_command):
    asking = Asking(ask_command("make test"))
    async with stage_of(asking) as stage:
        await begin(stage)
        await stage.press_slowly("e")
        editor = stage.app.main.approval._text._editor
        await stage.until(lambda: stage.app.focused is editor)
        assert "ctrl+s use this" in stage.text
        await stage.type("-fast")
        await stage.pilot.press("ctrl+s")
        await stage.until(lambda: asking.answers)
        assert asking.answers == {"c1": Approve(edited="make test-fast")}


async def test_side_by_side_says_how_many_columns_it_needs(stage_of, ask_diff):
    async with stage_of(Asking(ask_diff())) as stage:
        await begin(stage)
        await stage.press_slowly("s")
        await stage.until(lambda: "Side by side needs a screen of" in stage.text, seconds=8)
