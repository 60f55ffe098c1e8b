"""Lines from several places are one sequence, counted from either end."""

import pytest

from codeagent.tui.themes import load_themes
from codeagent.tui.widgets.inks import inks_of
from codeagent.tui.widgets.lines import Line, Piece, wrap
from codeagent.tui.widgets.stacks import Indented, LongLines, Shifted, Stack
from tests.effort import assert_takes_less

INKS = inks_of(load_themes()["dark"])
ROWS = [Line(pieces=(Piece(text, INKS.text, ""),), whole="") for text in "abcde"]
STACK = Stack([ROWS[:2], [], Stack([ROWS[2:3], ROWS[3:]])])


@pytest.mark.parametrize("index", range(-5, 5))
def test_a_stack_has_the_rows_of_its_parts(index):
    assert STACK[index] is ROWS[index]


@pytest.mark.parametrize("index", [slice(None), slice(1, 4), slice(-2, None), slice(None, None, -1), slice(7, 9)])
def test_a_part_of_a_stack_is_a_list(index):
    assert STACK[index] == ROWS[index]


@pytest.mark.parametrize("index", [-6, 5])
def test_beyond_its_ends_there_is_nothing(index):
    with pytest.raises(IndexError):
        STACK[index]


def test_a_row_is_moved_when_it_is_looked_at():
    assert [line.text for line in Shifted(STACK, 2, INKS)[-2:]] == ["  d", "  e"]


def test_an_empty_row_has_no_margin():
    margin = (Piece("  ", INKS.text, ""),)
    assert [line.text for line in Indented([ROWS[0], Line()], margin)] == ["  a", ""]


@pytest.mark.parametrize("width", [3, 8, 40])
@pytest.mark.parametrize(
    "text",
    [
        "",
        "one two three four",
        "one\n\n two  \n",
        "a" * 50,
        "word   " * 20,
        "一二三、四五六 seven\n八九",
        "e\u0301" * 30,
        "und – “ja” 好的，\u0301 👩‍👩‍👧 ❤\ufe0f x " * 4 + "end",
    ],
)
def test_a_long_text_has_the_rows_that_any_text_has(text, width):
    for end in range(len(text)):  # as it is written
        rows, lines = LongLines(text[:end], INKS.text, width), wrap([Piece(text[:end], INKS.text)], width)
        assert [row.text.rstrip() for row in rows] == [line.text.rstrip() for line in lines]
    assert list(LongLines(text, INKS.text, width)) == wrap([Piece(text, INKS.text)], width)


def test_of_a_text_that_grows_only_the_end_is_cut_anew():
    text = "und so weiter – “ja” … 好的，" * 3_500
    ends = iter(range(len(text) - 999, len(text)))
    LongLines(text[:-1_000], INKS.text, 90)
    assert_takes_less(0.02, lambda: LongLines(text[: next(ends)], INKS.text, 90))
