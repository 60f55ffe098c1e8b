import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.core.output_colours import COLOUR, colours_of, with_colours
from codeagent.core.text import clean

PASSED = "1 \x1b[32mpassed\x1b[0m in 0.1s\n"


def test_colours_come_back_where_they_were():
    plain = "[by you]\n1 passed in 0.1s\n[exit code 0]"
    told = with_colours(plain, colours_of(PASSED, begins_at=len("[by you]\n")))
    assert told == "[by you]\n1 \x1b[32mpassed\x1b[0m in 0.1s\x1b[0m\n[exit code 0]"


def test_no_word_of_the_output_is_kept():
    assert set(colours_of("\x1b[1;31msecret\x1b[m")) <= set("0123456789abcdef =;:")


@pytest.mark.parametrize("text", ["", "1 passed", "1 failed in 0.1s", "0 passed in 0.1s", "x1 passed in 0.1s"])
def test_another_text_gets_no_colours(text):
    assert with_colours(text, colours_of(PASSED)) == text


@pytest.mark.parametrize(
    "colours", ["", "x", "0 3", "0 3 352441c2", "0 3 352441c2 9=1", "0 3 352441c2 x=1", "-1 3 0 1=1"]
)
def test_what_is_damaged_does_no_harm(colours):
    assert COLOUR.sub("", with_colours("abc", colours)) == "abc"


def test_plain_output_costs_nothing():
    assert colours_of("plain") == colours_of("\x1b[2J") == colours_of("\x1b[31m") == ""


def test_very_many_changes_keep_the_first():
    kept = colours_of("\x1b[31mx\x1b[32my" * 50_000)
    assert 15_000 < len(kept) < 17_000
    assert with_colours("xy" * 50_000, kept).startswith("\x1b[31mx\x1b[32my")


@given(st.text(alphabet="ab\n\r\b\t\x1b[0;1m32é"))
def test_whatever_a_command_puts_out_its_words_stay(output):
    plain = clean(output).rstrip("\n")
    assert COLOUR.sub("", with_colours(plain, colours_of(output))) == plain
