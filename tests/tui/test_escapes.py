"""Escape and a letter typed right behind it are two keys, in one piece or apart; Alt keeps its meanings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual._xterm_parser import XTermParser
from textual.events import Key

from codeagent.tui.escapes import Escapes, Pasted, Typed
from codeagent.tui.keys import characters_with_alt

ANSWER = "\x1b]11;rgb:1414/1616/1a1a\x1b\\\x1b[?62;22c"


def parted(*chunks, with_alt="d"):
    """What becomes of what arrives, chunk by chunk, and of what is held back in the end."""
    escapes = Escapes(with_alt)
    pieces = []
    for chunk in chunks:
        is_escape, text = escapes.join(chunk)
        pieces += ["\x1b"] * is_escape + [piece for piece in escapes.part(text) if piece]
    return [*pieces, *(piece for piece in escapes.part(escapes.give_up_waiting()) if piece)]


@pytest.mark.parametrize(
    ("chunks", "pieces"),
    [
        (["\x1b"], ["\x1b"]),
        (["\x1b", "x"], ["\x1b", "x"]),
        (["\x1b", "d"], ["\x1b", "d"]),
        (["\x1b", "\r"], ["\x1b", "\r"]),
        (["\x1b", "3"], ["\x1b", "3"]),
        (["\x1b", "\x1b"], ["\x1b", "\x1b"]),
        (["\x1bx"], ["\x1b", "x"]),
        (["\x1b3 files"], ["\x1b", "3 files"]),
        (["\x1bfix it, and be quick about it please"], ["\x1b", "fix it, and be quick about it please"]),
        (["\x1bOK"], ["\x1b", "OK"]),
        (["\x1b\x1b"], ["\x1b", "\x1b"]),
    ],
)
def test_escape_is_a_key_and_what_follows_is_typed(chunks, pieces):
    assert parted(*chunks) == pieces


def keys_of(sent):
    """The keys that are read from what a terminal with the kitty protocol sends."""
    parser = XTermParser()
    messages = [message for piece in Typed().take(sent) for message in parser.feed(piece)]
    return [message.key for message in messages if isinstance(message, Key)]


@pytest.mark.parametrize(
    ("sent", "keys"),
    [
        ("\x1b[104;;104u", ["h"]),
        ("\x1b[57441;2u\x1b[121;2;89u", ["Y"]),  # Shift is pressed, then the letter
        ("\x1b[57442;5u\x1b[99;5u", ["ctrl+c"]),
        ("\x1b[57360;129u\x1b[13;129u", ["enter"]),  # Num Lock
        ("\x1b[97;65;65u", ["A"]),  # Caps Lock
        ("\x1b[13;2u\x1b[13;5u\x1b[13;3u", ["shift+enter", "ctrl+enter", "alt+enter"]),
        ("\x1b[105;5u\x1b[109;5u\x1b[104;5u\x1b[91;5u", ["tab", "enter", "backspace", "escape"]),
        ("\x1b[47;5u\x1b[47;69u", ["ctrl+underscore", "ctrl+underscore"]),
        ("\x1b[105;7u\x1b[109;1u", ["alt+ctrl+i", "m"]),
        ("\x1b[27u\x1b[104;;104u", ["escape", "h"]),
        ("\x1b[45;6u", ["ctrl+underscore"]),
        ("\x1b[45;134u", ["ctrl+underscore"]),
        ("\x1b[45:95;6u", ["ctrl+underscore"]),
        ("\x1b[99;6u", ["ctrl+shift+c"]),
        ("\x1b[97:65;2;65u", ["A"]),
        ("\x1b[97;1:1;97u\x1b[97;1:3u", ["a"]),  # pressed and let go
        ("\x1b[1;3:1A\x1b[1;3:3A", ["alt+up"]),
        ("\x1b[100;3u\x1b[98;3u", ["alt+d", "alt+b"]),
        ("\x1b[32;;32u\x1b[9;2u\x1b[5~\x1b[P", ["space", "shift+tab", "pageup", "f1"]),
    ],
)
def test_keys_of_the_kitty_protocol_are_those_that_were_pressed(sent, keys):
    assert keys_of(sent) == keys


@pytest.mark.parametrize(
    ("chunks", "pieces"),
    [
        (["\x1b[A"], ["\x1b[A"]),
        (["\x1b", "[A"], ["\x1b[A"]),
        (["\x1b", "OP"], ["\x1bOP"]),
        (["\x1b\r"], ["\x1b\r"]),
        (["\x1bb\x1bf"], ["\x1bb\x1bf"]),
        (["\x1bd"], ["\x1b[100;3u"]),
        (["\x1b\x1b[A"], ["\x1b[1;3A"]),
        (["\x1b\x7f"], ["\x1b\x7f"]),
        (["a\x1b[<0;1;1Mb"], ["a\x1b[<0;1;1Mb"]),
    ],
)
def test_alt_and_control_sequences_stay_whole(chunks, pieces):
    assert parted(*chunks) == pieces


@given(st.text(st.characters(min_codepoint=32, max_codepoint=0x2FFF, exclude_categories=["Cc", "Cs"])))
def test_no_letter_behind_an_escape_is_lost(typed):
    pieces = parted("\x1b" + typed, with_alt="")
    if not typed.startswith(("[", "O", "b", "f")):
        assert pieces == ["\x1b", *([typed] if typed else [])]
    assert "".join(pieces) == "\x1b" + typed


def test_letters_with_alt_are_those_of_the_person_and_of_the_prompt():
    assert characters_with_alt({}) == {"d"}
    assert characters_with_alt({"editor": "alt+e, alt+full_stop"}) == {"d", "e", "."}


@pytest.mark.parametrize("before", ["", ANSWER])
@pytest.mark.parametrize("keys", ["\x1b", "\x1b[", "\x1b]"])
def test_what_may_be_a_key_is_told_after_one_wait_whether_or_not_the_terminal_answered(before, keys):
    typed = Typed()
    assert list(typed.take(before)) == []
    told = "".join(typed.take(keys))
    assert typed.is_holding is (told == "")
    assert told + "".join(typed.give_up_waiting()) == keys
    assert not typed.is_holding


def test_nothing_is_held_while_nothing_is_unclear():
    typed = Typed()
    assert list(typed.take("a\x1b[A")) == ["a\x1b[A"]
    assert not typed.is_holding


def test_half_an_answer_makes_nobody_hurry():
    typed = Typed()
    assert list(typed.take("\x1b]11;rgb:14")) == []
    assert not typed.is_holding


def test_a_paste_in_pieces_is_one_and_none_of_it_is_a_key():
    typed = Typed()
    pieces = [piece for arrived in ("\x1b[200~a\x1b", "[Ax", "\x1b[201~b") for piece in typed.take(arrived)]
    assert pieces == [Pasted("ax"), "b"]


@given(st.lists(st.sampled_from(["\x1b", "a", "\x1b[A", "[", "]", "O", "\r"]), max_size=8))
def test_no_key_is_lost_however_long_the_pauses_are(keys):
    typed = Typed()
    pieces = [piece for key in keys for piece in (*typed.take(key), *typed.give_up_waiting())]
    assert "".join(pieces) == "".join(keys)
