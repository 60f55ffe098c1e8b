"""A sentence typed at the speed of a person leaves a question as it was; an answer is one that is pressed alone."""

import asyncio

import pytest

from codeagent.core.approvals import Approve
from tests.tui.test_hunks_and_sizes import three_hunks
from tests.tui.test_typing_at_questions import Asking, post, until_it_listens

CHOSEN = "$background on $accent"


def question_of(stage):
    """What is seen of it, without the frame, which is another one where the prompt has the keyboard, and the bar."""
    return [row.rstrip(" │▁▂▃▄▅▆▇█") for row in stage.text.splitlines() if row.startswith(" │")]


async def by_hand(stage, text, seconds):
    for character in text:
        post(stage, character)
        if seconds:
            await asyncio.sleep(seconds)


@pytest.mark.usefixtures("answers_in_earnest")
@pytest.mark.parametrize("sentence", ["you ", "no u", "also", "j is", "edit"])
async def test_a_sentence_at_the_speed_of_a_person_goes_to_the_prompt_whole_and_the_question_stays(
    stage_of, ask_diff, sentence
):
    asking = Asking(three_hunks(ask_diff), ask_diff("c2"))
    async with stage_of(asking, size=(140, 40)) as stage:
        await stage.type("go\n")
        await until_it_listens(stage)
        before = question_of(stage)
        await by_hand(stage, sentence, 0.2)
        await stage.until(lambda: stage.app.main.prompt.text == sentence)
        await stage.until(lambda: question_of(stage) == before)
        assert asking.answers == {}


@pytest.mark.usefixtures("answers_in_earnest")
async def test_the_same_answer_goes_to_one_question_after_the_other(stage_of, ask_command):
    asking = Asking(*(ask_command(f"make {number}", f"c{number}") for number in range(3)))
    async with stage_of(asking) as stage:
        await stage.type("go\n")
        for number in range(3):
            await until_it_listens(stage)
            post(stage, "y")
            await stage.until(lambda: len(asking.answers) > number)  # noqa: B023
        assert set(asking.answers.values()) == {Approve()}


@pytest.mark.parametrize(("follows", "text"), [("", ""), ("es", "yes")])
async def test_an_answer_is_marked_as_soon_as_its_key_is_pressed_until_it_is_given_or_a_sentence(
    stage_of, ask_command, follows, text
):
    asking = Asking(ask_command("make", "c1"), ask_command("make b", "c2"))
    async with stage_of(asking) as stage:
        await stage.type("go\n")
        await until_it_listens(stage)
        keys, words = stage.app.main.approval._keys, stage.app.main.approval._keys.render().plain
        post(stage, "y")
        await stage.until(lambda: CHOSEN in {span.style for span in keys.render().spans})
        marked = keys.render()
        assert [marked.plain[span.start : span.end] for span in marked.spans if span.style == CHOSEN] == ["y approve"]
        assert marked.plain == words
        post(stage, follows)
        await stage.until(lambda: CHOSEN not in {span.style for span in keys.render().spans})
        await stage.until(lambda: stage.app.main.prompt.text == text and bool(asking.answers) is not bool(text))


@pytest.mark.usefixtures("answers_in_earnest")  # a busy machine draws both sides in more than the hurried time
@pytest.mark.parametrize("sentence", ["oh no", "so use bar", "[x] done"])
@pytest.mark.parametrize("seconds", [0, 0.05])
async def test_what_keys_changed_that_were_text_is_put_back(stage_of, ask_diff, sentence, seconds):
    asking = Asking(three_hunks(ask_diff), ask_diff("c2"))
    async with stage_of(asking, size=(140, 40)) as stage:
        await stage.type("go\n")
        await until_it_listens(stage)
        dialog = stage.app.main.approval
        await stage.pilot.press("j", "o", "down", "down")
        await stage.pilot.pause(0.5)  # those were for the question
        before, look = question_of(stage), dialog.look
        await by_hand(stage, sentence, seconds)
        await stage.until(lambda: stage.app.main.prompt.text == sentence)
        await stage.until(lambda: question_of(stage) == before)
        assert dialog.look == look
        assert asking.answers == {}


async def test_a_key_that_was_pressed_for_itself_before_a_sentence_keeps_what_it_did(stage_of, ask_diff):
    asking = Asking(three_hunks(ask_diff))
    async with stage_of(asking, size=(140, 40)) as stage:
        await stage.type("go\n")
        await until_it_listens(stage)
        dialog = stage.app.main.approval
        await stage.press_slowly("s", "j", "space")
        look = dialog.look
        await by_hand(stage, "yes please", 0.03)
        await stage.until(lambda: stage.app.main.prompt.text == "yes please")
        assert dialog.look == look
        assert (look.side, look.hunk, look.left_out) == (dialog.side.BESIDE, 1, {1})
        assert stage.app.focused is stage.app.main.prompt
