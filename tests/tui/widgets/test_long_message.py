"""Long messages of the person's in the transcript: folded, opened, found and copied."""

import pytest

from codeagent.core.events import TurnStarted
from codeagent.tui.themes import load_themes
from codeagent.tui.widgets.blocks import LongMessageBlock, PersonBlock, said_block
from codeagent.tui.widgets.inks import inks_of
from codeagent.tui.widgets.past import past_parts

INKS = inks_of(load_themes()["dark"])
LOG = "\n".join(f"line {number}" for number in range(1, 101)) + "\nwhat is wrong here?"


def drawn(block, width=40):
    return [line.text.rstrip() for line in block.lines(width, INKS)]


@pytest.mark.parametrize("text", ["mend it", "\n".join("abcdefghijklmnopqrst"), "word " * 700])
def test_a_message_of_usual_length_is_shown_whole(text):
    assert isinstance(said_block(text), PersonBlock)


def test_of_a_long_message_the_beginning_and_the_end_are_shown_with_what_is_between_counted():
    assert drawn(said_block(LOG, "seen before step 2")) == [
        " › line 1",
        *(f"   line {number}" for number in range(2, 7)),
        "   … 92 more lines",
        "   line 99",
        "   line 100",
        "   what is wrong here?",
        "   seen before step 2",
    ]


def test_of_a_very_long_line_both_ends_are_shown():
    rows = drawn(said_block("a" * 50_000 + "z" * 50_000), 100)
    assert rows[0].startswith(" › aaa")
    assert "   … 98,800 more characters" in rows
    assert rows[-1].endswith("zzz")
    assert len(rows) < 20


def test_opened_it_is_the_message_as_it_was_typed_and_closed_it_is_short_again():
    block = said_block(LOG)
    assert isinstance(block, LongMessageBlock)
    block.toggle()
    assert drawn(block) == drawn(PersonBlock(LOG))
    block.fold_back()
    assert len(drawn(block)) == 10


def test_all_of_it_is_found_and_copied_folded_or_not():
    block = said_block(LOG)
    assert isinstance(block, LongMessageBlock)
    assert block.copied() == block.words() == LOG
    lines = block.lines(40, INKS)
    whole = "\n".join(line.whole if line.whole is not None else line.text[3:].rstrip() for line in lines)
    assert whole == LOG


def test_a_chosen_one_and_one_that_is_kept_open_show_it():
    block = said_block(LOG)
    assert isinstance(block, LongMessageBlock)
    block.is_chosen = block.is_pinned = True
    assert drawn(block)[0] == " ▌ line 1  kept open"


def test_a_session_that_is_opened_again_shows_it_folded_too():
    *_, (_, found) = past_parts([TurnStarted(turn=1, text=LOG)])
    ((_, block),) = found
    assert isinstance(block, LongMessageBlock)


async def test_it_opens_with_the_panels_and_by_a_click(stage_of):
    async with stage_of() as stage:
        stage.app.main.transcript.add_user(LOG)
        await stage.until(lambda: "… 92 more lines" in stage.text)
        await stage.pilot.press("ctrl+o")
        await stage.until(lambda: "line 95" in stage.text)
        await stage.pilot.press("ctrl+o")
        await stage.until(lambda: "… 92 more lines" in stage.text)
        row = next(row for row, line in enumerate(stage.text.split("\n")) if "… 92" in line)
        await stage.pilot.click(offset=(6, row))
        await stage.until(lambda: "line 95" in stage.text)
