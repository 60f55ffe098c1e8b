"""What the terminal answers is never taken for typing, whole or in pieces, soon or late."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.tui.answers import Answers

LIGHT = "\x1b]11;rgb:fcfc/fbfb/f9f9\x1b\\\x1b[?62;22c"
DARK = "\x1b]11;rgb:14/16/1a\x07\x1b[?6c"


@pytest.mark.parametrize(("said", "is_dark"), [(LIGHT, False), (DARK, True)])
def test_the_background_is_understood(said, is_dark):
    answers = Answers()
    assert answers.sift(f"a{said}b") == "ab"
    assert answers.is_dark is is_dark


@given(st.lists(st.integers(0, len(LIGHT) + 4), max_size=6))
def test_an_answer_in_pieces_never_reaches_the_keys(cuts):
    whole = f"ab{LIGHT}cd"
    edges = [0, *sorted(cuts), len(whole)]
    answers = Answers()
    typed = "".join(answers.sift(whole[start:end]) for start, end in itertools.pairwise(edges))
    assert typed == "abcd"
    assert answers.is_dark is False


def test_an_answer_after_a_long_silence_is_none_either():
    answers = Answers()
    assert answers.sift("\x1b]11;rgb:ff") == ""
    assert answers.give_up_waiting() == ""
    assert answers.sift("ff/ffff/ffff\x1b\\x") == "x"


@pytest.mark.parametrize("keys", ["\x1b", "\x1b[", "\x1b]"])
def test_a_key_that_could_be_the_beginning_of_an_answer_is_given_back_when_nothing_follows(keys):
    answers = Answers()
    assert answers.sift(keys) == ""
    assert answers.give_up_waiting() == keys


@pytest.mark.parametrize("keys", ["\x1b[A", "\x1bOP", "\x1b]x", "\x1b[200~a\x1b[201~", "\x1b[?2026;1$y", "\x1b\r"])
def test_keys_and_other_reports_pass(keys):
    assert Answers().sift(keys) == keys


def test_after_the_last_answer_nothing_is_kept_back():
    answers = Answers()
    answers.sift(LIGHT)
    assert answers.sift("\x1b") == "\x1b"
