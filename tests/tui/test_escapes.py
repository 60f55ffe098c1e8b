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
    return [*pieces, *filter(None, escapes.give_up_waiting())]


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
        ("\x1b[1089::99;5u\x1b[1074::100;3u", ["ctrl+c", "alt+d"]),  # on a Russian layout
        ("\x1b[1089::99;69u\x1b[1100::109;5u", ["ctrl+c", "enter"]),  # with Caps Lock; Ctrl+M
        ("\x1b[1089:1057:99;6u\x1b[99:67;6u", ["ctrl+shift+c", "ctrl+shift+c"]),
        ("\x1b[1089::99;;1089u\x1b[1089:1057:99;2;1057u", ["с", "С"]),
        ("\x1b[229::97;3;229u\x1b[246::59;;246u", ["å", "ö"]),
        ("\x1b[1089;5u", ["ctrl+с"]),
        ("\x1b[25~\x1b[34;2~\x1b[1;5R\x1b[1;2R", ["f13", "shift+f20", "ctrl+f3", "shift+f3"]),
        ("\x1b[5C\x1bOc\x1b[1;5C", ["ctrl+right"] * 3),
        ("\x1b[107;9u\x1b[1;17P\x1b[107;33u\x1b[113;21u", ["super+k", "hyper+f1", "meta+k", "ctrl+hyper+q"]),
        ("\x1b[1093::107;9u\x1b[63;9u", ["super+k", "super+question_mark"]),
    ],
)
def test_keys_of_the_kitty_protocol_are_those_that_were_pressed(sent, keys):
    assert keys_of(sent) == keys


@pytest.mark.parametrize(
    ("sent", "keys"),
    [
        ("\x1b[27;2;13~\x1b[27;3;13~\x1b[27;5;13~", ["shift+enter", "alt+enter", "ctrl+enter"]),
        ("\x1b[27;5;117~\x1b[27;5;106~\x1b[27;5;109~", ["ctrl+u", "ctrl+j", "enter"]),
        ("\x1b[27;5;91~\x1b[27;5;47~\x1b[27;6;95~", ["escape", "ctrl+underscore", "ctrl+underscore"]),
        ("\x1b[27;2;65~\x1b[27;2;32~\x1b[27;2;228~", ["A", "space", "ä"]),
        ("\x1b[27;6;67~\x1b[99;6u\x1b[67;6u", ["ctrl+shift+c"] * 3),
        ("\x1b[27;3;100~\x1b[27;2;9~", ["alt+d", "shift+tab"]),
        ("\x1b[27;5;1114112~x", ["x"]),
    ],
)
def test_keys_that_xterm_tells_with_those_held_down_are_those_of_the_kitty_protocol(sent, keys):
    assert keys_of(sent) == keys


@pytest.mark.parametrize(
    ("sent", "pieces"),
    [
        ("one\rtwo\rthree\r", [Pasted("one\ntwo\nthree\n")]),
        ("one\r\ntwo", [Pasted("one\ntwo")]),
        ("one\ttab\n\n\u202etwo", [Pasted("one\ttab\n\n\u202etwo")]),
        ("one\r", ["one\r"]),
        ("\rtwo", ["\rtwo"]),
        ("\r\r\r", ["\r\r\r"]),
        ("y\x7f\rno", ["y\x7f\rno"]),
        ("one\\\r", ["one\\\r"]),
    ],
)
def test_lines_that_come_all_at_once_are_a_paste_and_one_line_is_typed(sent, pieces):
    assert list(Typed().take(sent)) == pieces


def test_a_paste_that_is_not_marked_goes_on_until_there_is_a_silence():
    typed = Typed()
    pieces = [piece for sent in ("one\rtw", "o\rthree\r", "\r", "four\r") for piece in typed.take(sent)]
    assert pieces == [Pasted("one\ntw"), Pasted("o\nthree\n"), "\r", "four\r"]
    assert list(typed.take("one\rtwo\r")) == [Pasted("one\ntwo\n")]
    assert list(typed.give_up_waiting()) == []
    assert list(typed.take("go\r")) == ["go\r"]


def test_what_was_typed_over_a_while_is_no_paste():
    assert list(Typed().take("one\rtwo\rthree", is_one_read=False)) == ["one\rtwo\rthree"]


@pytest.mark.parametrize(
    ("chunks", "pieces"),
    [
        (["\x1b[A"], ["\x1b[A"]),
        (["\x1b", "[A"], ["\x1b[A"]),
        (["\x1b", "OP"], ["\x1bOP"]),
        (["\x1b\r"], ["\x1b\r"]),
        (["\x1bb\x1bf"], ["\x1bb", "\x1bf"]),
        (["\x1bd"], ["\x1b[100;3u"]),
        (["\x1b\x1b[A"], ["\x1b[1;3A"]),
        (["\x1b\x7f"], ["\x1b\x7f"]),
        (["a\x1b[<0;1;1Mb"], ["a", "\x1b[<0;1;1M", "b"]),
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
    assert list(typed.take("a\x1b[A")) == ["a", "\x1b[A"]
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
