"""A question that changes under the person's eyes: an answer to the old one is none to the new one."""

import pytest
from textual import events

from codeagent.core.approvals import Approve, Deny
from codeagent.tui.widgets.question_pane import CHANGED_SECONDS, REACTION_SECONDS
from tests.tui.test_typing_at_questions import Asking, post, until_it_listens


async def changed(stage, asking, request):
    """The question of that call is asked anew, as when its file was saved by someone else."""
    before = stage.app.main.approval.in_view
    asking.withdraw(request.call_id)
    await stage.until(lambda: stage.app.main.approval.in_view is not before)
    asking.ask(request)
    await stage.until(lambda: stage.app.main.approval.in_view is not None)


async def test_a_changed_question_waits_longer_for_its_answer_than_a_new_one(stage_of, ask_diff):
    asking = Asking(ask_diff(hunks=1))
    async with stage_of(asking) as stage:
        dialog = stage.app.main.approval
        await stage.type("go\n")
        await until_it_listens(stage)
        await changed(stage, asking, ask_diff(hunks=1))
        await stage.until(lambda: dialog.is_listening)
        assert REACTION_SECONDS < CHANGED_SECONDS
        assert not dialog.answers_to(dialog.shown_at + CHANGED_SECONDS)
        await until_it_listens(stage)
        await stage.press_slowly("y")
        await stage.until(lambda: asking.answers)
        assert asking.answers == {"c1": Approve()}


@pytest.mark.parametrize("key", ["y", "n", "Y", "a", "t"])
async def test_a_key_meant_for_the_question_before_it_changed_answers_nothing_and_says_why(stage_of, ask_diff, key):
    asking = Asking(ask_diff(hunks=1))
    async with stage_of(asking) as stage:
        dialog = stage.app.main.approval
        await stage.type("go\n")
        await until_it_listens(stage)
        await changed(stage, asking, ask_diff(hunks=1))
        await stage.until(lambda: dialog.is_listening)
        post(stage, key)
        await stage.until(lambda: f"It changed just now: press {key} again" in stage.text)
        assert asking.answers == {}
        assert dialog.is_at_question


async def test_a_click_meant_for_the_question_before_it_changed_gives_no_answer(stage_of, ask_diff):
    asking = Asking(ask_diff(hunks=1))
    async with stage_of(asking) as stage:
        await stage.type("go\n")
        await until_it_listens(stage)
        await changed(stage, asking, ask_diff(hunks=1))
        await stage.until(lambda: stage.app.main.approval.has_keyboard)
        await stage.pilot.click("AnswerKeys", offset=(1, 0))
        await stage.pilot.pause()
        assert asking.answers == {}


@pytest.mark.parametrize("begun", ["because it", "not this; y"])
async def test_a_reason_that_was_being_typed_goes_on_in_the_prompt(stage_of, ask_diff, begun):
    asking = Asking(ask_diff(hunks=1))
    async with stage_of(asking) as stage:
        dialog, prompt = stage.app.main.approval, stage.app.main.prompt
        await stage.type("go\n")
        await until_it_listens(stage)
        await stage.press_slowly("t")
        post(stage, begun)
        await stage.until(lambda: dialog._text.sentence == begun)
        await changed(stage, asking, ask_diff(hunks=1))
        post(stage, " is wrong")
        await stage.until(lambda: prompt.text == f"{begun} is wrong")
        assert asking.answers == {}


async def test_a_reason_that_was_sent_is_not_put_into_the_prompt_as_well(stage_of, ask_diff):
    asking = Asking(ask_diff(hunks=1))
    async with stage_of(asking) as stage:
        await stage.type("go\n")
        await until_it_listens(stage)
        await stage.press_slowly("t")
        await stage.type("no")
        await stage.pilot.press("enter")
        await stage.until(lambda: asking.answers == {"c1": Deny(feedback="no")})
        await stage.pilot.pause()
        assert not stage.app.main.prompt.text


async def test_a_reason_may_be_pasted_in_several_lines(stage_of, ask_diff):
    asking = Asking(ask_diff(hunks=1))
    async with stage_of(asking) as stage:
        await stage.type("go\n")
        await until_it_listens(stage)
        await stage.press_slowly("t")
        await stage.until(lambda: stage.app.focused is stage.app.main.approval._text._sentence)
        stage.app.post_message(events.Paste("the first line\n  y\nand the last\n"))
        await stage.until(lambda: "and the last" in stage.text)
        assert asking.answers == {}
        await stage.pilot.press("enter")
        await stage.until(lambda: asking.answers)
        assert asking.answers == {"c1": Deny(feedback="the first line y and the last")}
