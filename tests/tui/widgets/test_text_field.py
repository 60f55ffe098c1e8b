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


FAMILY, CONJUNCT, ACCENT = "👩\u200d👩\u200d👧", "\u0915\u094d\u0937\u093f", "e\u0301"


@pytest.mark.parametrize(
    ("text", "keys", "left"),
    [
        (FAMILY, "left backspace", FAMILY),
        (FAMILY, "backspace", ""),
        (CONJUNCT, "backspace", ""),
        (f"a{CONJUNCT}", "left delete", "a"),
        (f"{CONJUNCT}b", "home shift+right delete", "b"),
        (f"{ACCENT}b", "home ctrl+right z", f"{ACCENT}zb"),
        (f"{CONJUNCT}b", "home alt+d", "b"),
        (f"b {CONJUNCT}", "ctrl+w", "b "),
    ],
)
async def test_keys_leave_no_part_of_a_character(stage_of, text, keys, left):
    async with stage_of() as stage:
        prompt = stage.app.main.prompt
        prompt.put(text)
        await stage.pilot.press(*keys.split())
        assert prompt.whole_text == left


@pytest.mark.parametrize(
    ("text", "keys", "left"),
    [
        (FAMILY, "a z", f"{FAMILY}z"),
        (f"{FAMILY}b", "0 x", "b"),
        (f"{FAMILY}b", "0 r z", "zb"),
        (f"{FAMILY}b", "0 l x", FAMILY),
        (f"{ACCENT}b c", "0 e a z", f"{ACCENT}bz c"),
        (f"a {ACCENT}b", "b x", "a b"),
        (f"{CONJUNCT}b", "h x", "b"),
    ],
)
async def test_vis_keys_leave_no_part_of_a_character(stage_of, text, keys, left):
    async with stage_of(vi=True) as stage:
        prompt = stage.app.main.prompt
        prompt.put(text)
        await stage.pilot.press("escape", *keys.split())
        assert prompt.whole_text == left


@pytest.mark.parametrize(
    ("text", "keys", "left"),
    [
        (f"a{FAMILY}", "backspace", "a"),
        (f"{FAMILY}b", "left left delete", "b"),
        (f"a{CONJUNCT}b", "home right shift+right delete", "ab"),
        (f"{ACCENT}b", "ctrl+left z", f"{ACCENT}zb"),
    ],
)
async def test_keys_leave_no_part_of_a_character_in_a_line_either(stage_of, text, keys, left):
    async with stage_of() as stage:
        await stage.pilot.press("ctrl+f")
        field = stage.app.focused
        field.value = text
        field.cursor_position = len(text)
        await stage.pilot.press(*keys.split())
        assert field.value == left
