"""Characters that cannot be seen are written out in a field, and are themselves in what is sent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.events import Paste

from codeagent.core.events import TextStreamed
from codeagent.tui.widgets.text_field import drawn, mark_at, read_back, write_out
from tests.tui.conftest import command_request
from tests.tui.test_edited_proposals import Editing, open_editor

UNSEEN = {
    "\u202e": "<U+202E>",
    "\u2066": "<U+2066>",
    "\u200b": "<U+200B>",
    "\U000e0041": "<U+E0041>",
    "\xad": "<U+00AD>",
    "\u115f": "<U+115F>",
}


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\U0010fff0\U0010fff1")))
def test_what_is_written_out_is_read_back_as_it_was(text):
    assert read_back(write_out(text)) == text


@pytest.mark.parametrize(("unseen", "seen"), UNSEEN.items())
def test_each_kind_is_a_mark_of_one_step(unseen, seen):
    held = write_out(f"a{unseen}b")
    assert drawn(held) == f"a{seen}b"
    assert mark_at(held, 5) == mark_at(held, len(held) - 1) == (1, len(held) - 1)
    assert mark_at(held, 1) is None


def test_what_is_typed_and_looks_the_same_stays_what_it_is_and_so_does_a_joined_emoji():
    assert read_back(write_out("<U+202E>")) == "<U+202E>"
    assert write_out("👩‍💻 ❤️") == "👩‍💻 ❤️"


async def test_a_paste_is_drawn_safely_and_sent_as_it_was_pasted(stage_of):
    pasted = "rm \u202egnp.txt\u200b \U000e0041!"
    async with stage_of() as stage:
        prompt = stage.app.main.prompt
        prompt.post_message(Paste(pasted))
        await stage.until(lambda: "rm <U+202E>gnp.txt<U+200B> <U+E0041>!" in stage.text)
        await stage.pilot.press("enter")
        await stage.until(lambda: prompt.typed_before)
        assert prompt.typed_before[-1] == pasted
        await stage.until(lambda: prompt.is_empty)
        await stage.pilot.press("up")
        await stage.until(lambda: "rm <U+202E>gnp.txt" in stage.text)
        assert prompt.full_text == pasted


async def test_what_was_said_and_what_is_sought_hide_nothing_either(stage_of):
    said = "pass\u200bword"

    async def turn(emit, approver):
        emit(TextStreamed(text="so\xadft and \ufeffmarked\n\n"))

    async with stage_of(turn) as stage:
        stage.app.main.prompt.post_message(Paste(said))
        await stage.pilot.press("enter")
        await stage.until(lambda: "so<U+00AD>ft and <U+FEFF>marked" in stage.text)
        assert "› pass<U+200B>word" in stage.text
        await stage.pilot.press("ctrl+f")
        stage.app.focused.post_message(Paste("o\xadf"))
        await stage.until(lambda: "o<U+00AD>f" in stage.text and "1 of 1" in stage.text)
        await stage.pilot.press("left", "backspace", "escape", "ctrl+r")
        await stage.until(lambda: "Typed before" in stage.text)
        stage.app.focused.post_message(Paste("s\u200bw"))
        await stage.until(lambda: [item.value for item in stage.app.screen._shown] == [said])
        assert stage.text.count("s<U+200B>w") == 3


async def test_a_step_and_a_deletion_are_over_the_whole_mark_and_a_copy_has_the_character(stage_of):
    async with stage_of() as stage:
        prompt = stage.app.main.prompt
        prompt.insert_typed("a\u202eb")
        await stage.pilot.press("left", "left")
        assert prompt.cursor_location == (0, 1)
        await stage.pilot.press("shift+right")
        assert prompt.selected_text == "\u202e"
        await stage.pilot.press("right", "backspace")
        assert prompt.full_text == "ab"


async def test_a_proposal_that_is_edited_shows_them_and_keeps_them(stage_of):
    asking = Editing(command_request("echo \u202egnp"))
    async with stage_of(asking) as stage:
        editor = await open_editor(stage, "x")
        await stage.until(lambda: "xecho <U+202E>gnp" in stage.text)
        assert editor.whole_text == "xecho \u202egnp"
        assert stage.app.main.approval.typed()[0].endswith("xecho \u202egnp")
