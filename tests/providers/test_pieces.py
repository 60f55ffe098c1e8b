"""What the screen is told of a growing reply."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from codeagent.core.protocols import CallPiece, TextPiece, ThinkingPiece
from codeagent.core.text import storable
from codeagent.providers.pieces import LARGEST, SIGN_OF_LIFE, Display


def test_neighbours_of_one_kind_are_joined():
    display = Display()
    for word in ("a", "b"):
        display.thinking(word)
    for word in ("c", "d"):
        display.text(word)
    display.thinking("e")

    assert display.drain() == [ThinkingPiece(text="ab"), TextPiece(text="cd"), ThinkingPiece(text="e")]


def test_only_the_newest_size_of_a_call_is_told():
    display = Display()
    for size in (0, 4, 9):
        display.call("read", size)

    assert display.drain() == [CallPiece(name="read", size=9)]


def test_what_is_long_is_shown_in_pieces():
    display = Display()
    display.text("a" * LARGEST + "b")
    assert display.drain() == [TextPiece(text="a" * LARGEST), TextPiece(text="b")]


def test_nothing_new_is_a_sign_of_life():
    assert Display().drain() == [SIGN_OF_LIFE]


@given(st.lists(st.tuples(st.text(st.characters(), max_size=3), st.booleans())))
def test_whatever_is_shown_is_valid_text_and_complete(pieces):
    display, shown = Display(), ""
    for text, drains in pieces:
        display.text(text)
        if drains:
            shown += "".join(event.text for event in display.drain())
    shown += "".join(event.text for event in display.drain())

    whole = storable("".join(text for text, _ in pieces))
    assert shown == whole or shown + "\ufffd" == whole
