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


async def begin(stage, key, words):
    """Opens the line for a sentence and types there."""
    dialog = stage.app.main.approval
    await until_it_listens(stage)
    await stage.press_slowly(key)
    await stage.until(lambda: not dialog.is_at_question)
    post(stage, words)
    await stage.until(lambda: dialog._text.sentence == words)


async def file_changed(stage, asking, request):
    """The question of that call is asked anew while something is typed about it."""
    before = stage.app.main.approval.in_view
    asking.withdraw(request.call_id)
    await stage.until(lambda: before.is_called_off)
    asking.ask(request)
    await stage.until(lambda: stage.app.main.approval.in_view is not before)


@pytest.mark.parametrize("begun", ["because it", "not this; y"])
async def test_a_reason_that_is_being_typed_stays_with_the_changed_question(stage_of, ask_diff, begun):
    asking = Asking(ask_diff(hunks=1))
    async with stage_of(asking) as stage:
        dialog = stage.app.main.approval
        await stage.type("go\n")
        await begin(stage, "t", begun)
        await file_changed(stage, asking, ask_diff(hunks=1))
        post(stage, " is wrong")
        await stage.until(lambda: dialog._text.sentence == f"{begun} is wrong")
        await stage.until(lambda: not dialog.is_just_changed)
        await stage.pilot.press("enter")
        await stage.until(lambda: asking.answers)
        assert asking.answers == {"c1": Deny(feedback=f"{begun} is wrong")}
        assert stage.app.main.prompt.is_empty


async def test_a_yes_to_some_hunks_is_none_to_the_changed_question(stage_of, ask_diff):
    asking = Asking(ask_diff())
    async with stage_of(asking, size=(100, 50)) as stage:
        dialog = stage.app.main.approval
        await stage.type("go\n")
        await until_it_listens(stage)
        await stage.press_slowly("space")
        await begin(stage, "y", "too long")
        await file_changed(stage, asking, ask_diff())
        await stage.until(lambda: not dialog.is_just_changed)
        await stage.pilot.press("enter")
        await stage.until(lambda: "choose the hunks again" in stage.text)
        assert asking.answers == {}
        assert dialog.is_at_question
        assert dialog.typed() == ["too long"]


async def test_a_reason_whose_question_is_gone_goes_on_in_the_prompt_and_is_not_sent_unseen(stage_of, ask_command):
    asking = Asking(ask_command("make"))
    async with stage_of(asking) as stage:
        prompt = stage.app.main.prompt
        await stage.type("go\n")
        await begin(stage, "t", "because it")
        asking.withdraw("c1")
        await stage.until(lambda: prompt.text == "because it")
        await stage.until(lambda: "It was not used: your text is in the prompt" in stage.text)
        post(stage, " is wrong")
        stage.app.post_message(events.Key("enter", "\r"))
        await stage.until(lambda: "press again to send it" in stage.text)
        assert prompt.text == "because it is wrong"
        await stage.pilot.press("enter")
        await stage.until(lambda: prompt.is_empty)


@pytest.mark.parametrize("key", ["t", "y"])
async def test_a_sentence_that_was_left_is_there_again(stage_of, ask_diff, key):
    asking = Asking(ask_diff())
    async with stage_of(asking, size=(100, 50)) as stage:
        dialog = stage.app.main.approval
        await stage.type("go\n")
        await until_it_listens(stage)
        await stage.press_slowly("space")
        await begin(stage, key, "not like this")
        await stage.pilot.press("escape")
        await stage.until(lambda: dialog.is_at_question)
        await until_it_listens(stage)
        await stage.press_slowly(key)
        await stage.until(lambda: not dialog.is_at_question)
        await stage.type("!")
        await stage.until(lambda: dialog._text.sentence == "not like this!")
        await stage.pilot.press("enter")
        await stage.until(lambda: asking.answers)
        assert asking.answers["c1"].feedback == "not like this!"


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
