"""Whatever is pasted, and wherever it is cut on its way, it stays a paste: none of it is a key."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.core.text import clean
from codeagent.tui.escapes import Pasted, Typed

BEGIN, END = "\x1b[200~", "\x1b[201~"


def arrive(*chunks):
    """What becomes of what arrives, chunk by chunk and then in a moment of silence: typed text, and pastes."""
    typed = Typed()
    parts = [part for chunk in chunks for part in typed.take(chunk)]
    return [*parts, *typed.give_up_waiting()]


def cut(text, cuts):
    edges = [0, *sorted({min(at, len(text)) for at in cuts}), len(text)]
    return [text[start:end] for start, end in itertools.pairwise(edges) if start < end]


def typed_of(parts):
    return "".join(part for part in parts if isinstance(part, str))


@given(st.text("ab\x1b[O~2013;x\ry", max_size=40), st.lists(st.integers(0, 60), max_size=5))
def test_nothing_of_a_paste_is_a_key_wherever_it_is_cut(text, cuts):
    text = text.replace(END, "")
    parts = arrive(*cut(f"a{BEGIN}{text}{END}b", cuts))
    assert typed_of(parts) == "ab"
    (pasted,) = (part for part in parts if isinstance(part, Pasted))
    assert pasted.text == clean(text.replace("\r\n", "\n").replace("\r", "\n"))


@pytest.mark.parametrize(
    ("text", "pasted"),
    [
        ("plain", "plain"),
        ("\x1b", ""),
        ("\x1by", ""),
        ("\x1b[C\r", "\n"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("one\r\ntwo\rthree\n", "one\ntwo\nthree\n"),
        ("a\x00b\x07c", "abc"),
        ("", ""),
    ],
)
def test_escape_sequences_of_a_paste_are_left_out(text, pasted):
    assert arrive(f"{BEGIN}{text}{END}") == [Pasted(pasted)]


def test_what_an_answer_of_the_terminal_stands_between_does_not_end_a_paste():
    """Answers are looked for in what was typed alone: taken out of a paste they would put its pieces together."""
    text = "safe\x1b[20\x1b]11;rgb:0/0/0\x071~y"
    assert typed_of(arrive(BEGIN + text + END)) == ""


def test_pastes_and_keys_keep_their_order():
    assert arrive(f"x{BEGIN}1{END}y{BEGIN}2", f"{END}z\x1b", "[A") == [
        "x",
        Pasted("1"),
        "y",
        Pasted("2"),
        "z",
        "\x1b[A",
    ]


def test_a_paste_that_never_ends_types_nothing():
    assert arrive("a" + BEGIN, "y", "\r", "\x1b", "y") == ["a"]
