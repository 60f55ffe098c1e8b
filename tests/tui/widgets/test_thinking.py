"""Thinking as one line: the newest while it is live, the first afterwards, however much there is of it."""

from codeagent.tui.themes import load_themes
from codeagent.tui.widgets.blocks import ThinkingBlock
from codeagent.tui.widgets.inks import inks_of

INKS = inks_of(load_themes()["dark"])


def heading(block: ThinkingBlock) -> str:
    return block.lines(60, INKS)[0].text.strip()


def test_while_it_is_live_its_newest_line_stands_for_it_and_then_its_first():
    block = ThinkingBlock(is_live=True)
    for piece in ("**First** thing.\n", "Then the sec", "ond.\n\n"):
        block.write(piece)
    assert heading(block) == "Thinking  Then the second."
    block.is_live = False
    assert heading(block) == "Thought  First thing."


def test_what_is_copied_of_it_is_what_is_seen_and_all_of_it_once_it_is_over():
    block = ThinkingBlock(is_live=True)
    block.write("One.\nTwo.")
    assert block.lines(60, INKS)[0].copied() == "Two."
    block.is_live = False
    assert block.lines(60, INKS)[0].copied() == "One.\nTwo."


def test_of_megabytes_the_beginning_is_shown_when_it_is_opened_and_the_rest_counted():
    block = ThinkingBlock("word " * 1_000_000)
    block.toggle()
    lines = block.lines(60, INKS)
    assert lines[-1].text.strip() == "… 4,799,999 more characters: copying takes them too"
    assert len(block.copied()) == 4_999_999
