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


async def leave_one_hunk_out(stage):
    await begin(stage)
    await stage.press_slowly("j", "space", "y")
    await stage.until(lambda: not stage.app.main.approval.is_at_question)


@pytest.mark.parametrize("typed", ["", "y", "yy", "Y"])
async def test_an_answer_pressed_once_more_is_no_reason(stage_of, ask_diff, typed):
    asking = Asking(ask_diff())
    async with stage_of(asking) as stage:
        await leave_one_hunk_out(stage)
        assert "enter approve 1 hunk" in stage.text
        field = stage.app.main.approval._text._sentence
        field.opened_at = 0.0
        await stage.type(typed)
        await stage.until(lambda: field.value == typed)
        await stage.pilot.press("enter")
        await stage.until(lambda: asking.answers)
        assert asking.answers == {"c1": Approve(hunks=frozenset({0}))}


async def test_the_key_that_opened_the_field_for_a_reason_is_no_letter_of_it_at_once(stage_of, ask_diff):
    asking = Asking(ask_diff())
    async with stage_of(asking) as stage:
        await leave_one_hunk_out(stage)
        field = stage.app.main.approval._text._sentence
        field.opened_at = float("inf")
        await stage.type("yno")
        await stage.until(lambda: field.value == "no")
        field.opened_at = 0.0
        await stage.type("y")
        await stage.until(lambda: field.value == "noy")


async def test_the_letter_for_no_is_no_reason_for_a_yes(stage_of, ask_diff):
    asking = Asking(ask_diff())
    async with stage_of(asking) as stage:
        await leave_one_hunk_out(stage)
        await stage.type("n")
        await stage.pilot.press("enter")
        await stage.until(lambda: "n answers at the question, and is no reason" in stage.text)
        assert asking.answers == {}


async def test_what_was_not_looked_at_is_counted_without_the_one_that_is_shown_now(stage_of, ask_command):
    asking = Asking(*(ask_command(f"make {call}", call_id=call) for call in ("c1", "c2", "c3")))
    async with stage_of(asking) as stage:
        await begin(stage)
        await stage.until(lambda: stage.app.main.approval.waiting == 3)
        await stage.press_slowly("Y")
        await stage.until(lambda: "2 not looked at yet: this one, then ] shows the next" in stage.text)
        await until_it_listens(stage)
        await stage.press_slowly("right_square_bracket")
        await stage.until(lambda: "not looked at yet" not in stage.text)
        assert list(asking.answers) == ["c1"]


async def test_the_only_one_left_that_was_not_looked_at_is_the_one_that_is_shown(stage_of, ask_command):
    asking = Asking(*(ask_command(f"make {call}", call_id=call) for call in ("c1", "c2")))
    async with stage_of(asking) as stage:
        await begin(stage)
        await stage.until(lambda: stage.app.main.approval.waiting == 2)
        await stage.press_slowly("Y")
        await stage.until(lambda: "1 not looked at yet: this one" in stage.text)
        assert "shows the next" not in stage.text
        await until_it_listens(stage)
        await stage.press_slowly("y")
        await stage.until(lambda: len(asking.answers) == 2)
        await stage.until(lambda: "not looked at yet" not in stage.text)


async def test_the_key_for_the_next_question_leaves_the_reasons_of_this_one(stage_of, ask_command):
    asking = Asking(*(ask_command(f"make {call}", call_id=call) for call in ("c1", "c2")))
    async with stage_of(asking) as stage:
        await begin(stage)
        dialog = stage.app.main.approval
        await stage.until(lambda: dialog.waiting == 2)
        await stage.press_slowly("question_mark")
        await stage.until(lambda: not dialog.is_at_question)
        await stage.press_slowly("right_square_bracket")
        await stage.until(lambda: "make c2" in stage.text)
        assert dialog.is_at_question
        assert stage.app.main.prompt.is_empty


@pytest.mark.parametrize("key", ["j", "space", "s", "o"])
async def test_a_key_that_changes_what_is_seen_leaves_the_reasons(stage_of, ask_diff, key):
    async with stage_of(Asking(ask_diff())) as stage:
        await begin(stage)
        dialog = stage.app.main.approval
        await stage.press_slowly("question_mark")
        await stage.until(lambda: not dialog.is_at_question)
        await stage.press_slowly(key)
        await stage.until(lambda: dialog.is_at_question)
        assert dialog.has_keyboard
        assert stage.app.main.prompt.is_empty
