from codeagent.tui.themes import load_themes
from codeagent.tui.widgets.blocks import PersonBlock, TextBlock
from codeagent.tui.widgets.column import Column
from codeagent.tui.widgets.finding import blocks_with, stretches
from codeagent.tui.widgets.inks import inks_of

INKS = inks_of(load_themes()["dark"])


def column_of(*texts: str, width: int = 24) -> Column:
    column = Column(INKS, width)
    for text in texts:
        column.append(PersonBlock(text), 1)
    return column


def test_blocks_are_found_from_anywhere_once_round():
    column = column_of("Total a", "b", "c total", "d")
    assert (list(blocks_with(column, "total", 1, 1)), list(blocks_with(column, "total", 1, -1))) == ([2, 0], [0, 2])


def test_words_are_found_across_a_wrap():
    column = column_of("these are words that wrap somewhere")
    ((start, end),) = stretches(column, "that wrap", 0)
    assert column.text(start, end) == "that wrap"
    assert start.line < end.line


def test_margins_are_not_searched():
    assert stretches(column_of("a › b"), "›", 0)[0][0].character == 5


def test_signs_of_a_pattern_mean_themselves():
    column = column_of("f(x)", "fx")
    assert list(blocks_with(column, "f(x)", 0, 1)) == [0, 0]


def test_code_in_a_reply_is_found():
    column = Column(INKS, 40)
    column.append(TextBlock("```python\nx = total(1)\n```"), 0)
    ((start, end),) = stretches(column, "x = total", 0)
    assert column.text(start, end) == "x = total"
