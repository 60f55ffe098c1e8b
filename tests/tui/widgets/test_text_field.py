"""What is typed can be taken back and done again, however much the field shrinks and grows by it."""

import pytest
from textual import events

from tests.tui.test_edited_proposals import Editing, open_editor

SIZES = pytest.mark.parametrize("size", [(80, 24), (120, 40), (20, 5)])


def lines(count):
    return "\n".join(f"line {number} " + "word " * (number % 7) for number in range(count))


async def takes_back_and_does_again(stage, field, keys="ctrl+underscore"):
    """Goes back as long as there is something, then forth again, the whole way."""
    text, seen = field.text, []
    while field.text not in seen:
        seen.append(field.text)
        await stage.pilot.press(keys)
    await stage.pilot.press(*["ctrl+y"] * len(seen))
    assert field.text == text
    return seen[-1]


@SIZES
async def test_a_paste_that_made_the_prompt_scroll_is_taken_back_and_done_again(stage_of, size):
    async with stage_of(size=size) as stage:
        await stage.type("so: ")
        for count in (9, 15):
            stage.app.post_message(events.Paste(lines(count)))
            await stage.pilot.pause()
        assert not await takes_back_and_does_again(stage, stage.app.main.prompt)
        assert stage.app.fault is None


async def test_lines_that_were_typed_are_taken_back(stage_of):
    async with stage_of() as stage:
        for _ in range(12):
            await stage.type("one")
            await stage.pilot.press("ctrl+j")
        assert not await takes_back_and_does_again(stage, stage.app.main.prompt)


async def test_a_chip_that_was_opened_is_closed_by_undo(stage_of):
    async with stage_of() as stage:
        stage.app.post_message(events.Paste(lines(60)))
        await stage.pilot.pause()
        await stage.pilot.press("tab", "ctrl+underscore")
        assert stage.app.main.prompt.text.startswith("[pasted text #1")
        await stage.pilot.press("ctrl+y")
        assert stage.app.main.prompt.text == lines(60)


@SIZES
async def test_an_edit_of_a_proposal_is_taken_back_and_done_again(stage_of, ask_diff, size):
    async with stage_of(Editing(ask_diff("c1")), size=(size[0], max(size[1], 24))) as stage:
        editor = await open_editor(stage, "x")
        proposal = editor.text.removeprefix("x")
        stage.app.post_message(events.Paste(lines(60)))
        await stage.until(lambda: lines(60) in editor.text)
        assert await takes_back_and_does_again(stage, editor) == proposal
