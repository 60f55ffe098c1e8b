"""One who walks through the hunks and goes on at once: each key counts once, as a step or as a letter."""

from functools import partial

import pytest
from textual import events

from tests.tui.test_hunks_and_sizes import three_hunks
from tests.tui.test_typing_at_questions import Asking, post, until_it_listens


def press(stage, times):
    """Keys after so many seconds, as the terminal told of them."""
    start = events.Focus().time
    for key, seconds in times:
        event = events.Key(key, key)
        event.time = start + seconds
        stage.app.post_message(event)


@pytest.mark.parametrize(("key", "field"), [("e", "_editor"), ("t", "_sentence")])
@pytest.mark.parametrize("apart", [0.12, 0.3])
async def test_a_key_that_opens_a_field_after_steps_opens_it_for_what_follows(stage_of, ask_diff, key, field, apart):
    asking = Asking(three_hunks(ask_diff))
    async with stage_of(asking) as stage:
        await stage.type("go\n")
        await until_it_listens(stage)
        dialog, prompt = stage.app.main.approval, stage.app.main.prompt
        press(stage, [("j", 0), ("j", apart), (key, 2 * apart)])
        await stage.until(lambda: stage.app.focused is getattr(dialog._text, field))
        assert dialog.in_view.hunk == 2
        post(stage, "# top")
        await stage.until(lambda: "# top" in (dialog._text.edited or dialog._text.sentence))
        assert prompt.is_empty
        assert asking.answers == {}


async def test_a_key_after_steps_with_others_in_the_same_read_is_text(stage_of, ask_diff):
    asking = Asking(three_hunks(ask_diff))
    async with stage_of(asking) as stage:
        await stage.type("go\n")
        await until_it_listens(stage)
        question = stage.app.main.approval.in_view
        press(stage, [("j", 0), ("j", 0.12), ("e", 0.24), ("h", 0.241)])
        await stage.until(lambda: stage.app.main.prompt.text == "jjeh")
        assert question.hunk == 0


@pytest.mark.parametrize("text", ["jje# top", "jjt# top", "jkj e# top", "kk fine"])
async def test_what_comes_at_once_is_text_and_its_steps_are_not_taken(stage_of, ask_diff, text):
    asking = Asking(three_hunks(ask_diff))
    async with stage_of(asking) as stage:
        await stage.type("go\n")
        await until_it_listens(stage)
        dialog = stage.app.main.approval
        await stage.press_slowly("j")
        question = dialog.in_view
        post(stage, text)
        await stage.until(lambda: stage.app.main.prompt.text == text)
        assert (question.hunk, question.left_out) == (1, set())
        await stage.until(lambda: "▸" in stage.text)
        assert asking.answers == {}


async def test_a_sentence_does_not_change_how_changes_are_laid_out(stage_of, ask_diff):
    async with stage_of(Asking(three_hunks(ask_diff)), size=(140, 40)) as stage:
        await stage.type("go\n")
        await until_it_listens(stage)
        dialog = stage.app.main.approval
        side, is_kept = dialog.side, partial(stage.bench.habits)
        before = is_kept()
        post(stage, "so what")
        await stage.until(lambda: stage.app.main.prompt.text == "so what")
        await stage.pilot.pause()
        assert dialog.side is side
        await stage.until(lambda: is_kept() == before)
