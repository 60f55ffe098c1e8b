"""What the terminal answers is never taken for typing, whole or in pieces, soon or late."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.tui.escapes import Typed

LIGHT = "\x1b]11;rgb:fcfc/fbfb/f9f9\x1b\\\x1b[?62;22c"
DARK = "\x1b]11;rgb:14/16/1a\x07\x1b[?6c"

TOLD = {
    "kitty flags": "\x1b[?1u",
    "device, second": "\x1b[>1;3300;0c",
    "device, third": "\x1bP!|00000000\x1b\\",
    "version": "\x1bP>|xterm(370)\x1b\\",
    "version with a bell": "\x1bP>|xterm(370)\x07",
    "colour scheme": "\x1b[?997;1n",
    "cell size": "\x1b[6;16;8t",
    "place": "\x1b[12;40R",
    "unknown": "\x1b[99;5X",
    "unknown key": "\x1b[99~",
    "private character": "\x1b[60000u",
    "no character": "\x1b[1114112u",
    "half a character": "\x1b[55296u",
    "text of none": "\x1b[97;;1114112u",
    "Windows key": "\x1b[65;30;97;1;0;1_",
    "end of a paste": "\x1b[201~",
    "mouse of X10": "\x1b[M !!",
    "colour": "\x1b]4;1;rgb:0000/0000/0000\x1b\\",
    "foreground": "\x1b]10;rgb:ff/ff/ff\x07",
    "clipboard": "\x1b]52;c;YWJj\x07",
    "long clipboard": f"\x1b]52;c;{'YWJj' * 9_000}\x07",
    "title": "\x1b]lTitle: what is done\x1b\\",
    "setting": "\x1bP1$r0m\x1b\\",
    "capability": "\x1bP1+r436f=323536\x1b\\",
    "graphics": "\x1b_Gi=1;OK\x1b\\",
    "private message": "\x1b^anything\x1b\\",
    "any string": "\x1bXanything\x9c",
}


def came_through(*chunks: str) -> list[object]:
    typed = Typed()
    pieces = [piece for chunk in chunks for piece in typed.take(chunk)]
    return [*pieces, *(piece for _ in range(20) for piece in typed.give_up_waiting())]


@pytest.mark.parametrize(("said", "answer"), [(LIGHT, False), (DARK, True)])
def test_the_background_is_understood(said, answer):
    typed = Typed()
    assert "".join(typed.take(f"a{said}b")) == "ab"
    assert typed.is_dark is answer


@pytest.mark.parametrize("said", ["\x1b]11;rgb:fcfc\x07", "\x1b]12;rgb:0/0/0\x07", "\x1b]11;rgb:fffff/0/0\x07"])
def test_what_is_no_colour_of_a_background_says_nothing(said):
    typed = Typed()
    assert list(typed.take(said)) == []
    assert typed.is_dark is None


@given(st.lists(st.integers(0, len(LIGHT) + 4), max_size=6))
def test_an_answer_in_pieces_never_reaches_the_keys(cuts):
    whole = f"ab{LIGHT}cd"
    edges = [0, *sorted(cuts), len(whole)]
    typed = Typed()
    pieces = [piece for start, end in itertools.pairwise(edges) for piece in typed.take(whole[start:end])]
    assert "".join(pieces) == "abcd"
    assert typed.is_dark is False


@pytest.mark.parametrize("told", TOLD.values(), ids=TOLD)
def test_what_a_terminal_tells_is_not_typed(told):
    assert came_through(f"ab{told}cd") == ["ab", "cd"]


@pytest.mark.parametrize("told", TOLD.values(), ids=TOLD)
@pytest.mark.parametrize("sizes", [(3, 4), (1, 2, 4_096), (2, 3)])
def test_what_a_terminal_tells_is_not_typed_when_it_comes_in_pieces(told, sizes):
    edges = list(itertools.accumulate((0, *sizes)))
    chunks = [told[start:end] for start, end in itertools.pairwise([*edges, len(told)])]
    assert came_through(*filter(None, chunks), "cd") == ["cd"]


def test_an_answer_after_a_silence_is_none_either():
    typed = Typed()
    assert list(typed.take("\x1b]11;rgb:ff")) == []
    assert list(typed.give_up_waiting()) == []
    assert list(typed.take("ff/ffff/ffff\x1b\\x")) == ["x"]


@pytest.mark.parametrize("begun", ["\x1b]11;rgb:ff", "\x1b[?62;", "\x1bP>|xter", "\x1b_Gi=1"])
def test_half_an_answer_holds_nothing_up_for_long_and_is_never_typed(begun):
    assert came_through(begun) == []
    typed = Typed()
    assert list(typed.take(begun)) == []
    assert not [piece for _ in range(10) for piece in typed.give_up_waiting()]
    assert list(typed.take("go on")) == ["go on"]


@pytest.mark.parametrize("begun", ["\x1b]11;rgb:ff", "\x1b[?62;", "\x1bP>|xter"])
@pytest.mark.parametrize("key", ["\r", "\x03", "\x7f"])
def test_a_key_ends_half_an_answer(begun, key):
    assert came_through(begun, key) == [key]


@pytest.mark.parametrize("letter", "]P_^X[O")
def test_escape_and_a_letter_that_could_begin_an_answer_are_keys_after_a_short_wait(letter):
    typed = Typed()
    assert list(typed.take(f"\x1b{letter}")) == []
    assert typed.is_holding
    assert list(typed.give_up_waiting()) == ["\x1b", letter]


@pytest.mark.parametrize(
    "words",
    ["Please fix it\r", "Only this\r", "Ada wrote it\r", "Xavier is right\r", "] is missing\r", "_x is unused\r"],
)
def test_a_sentence_right_behind_escape_is_typed_whole(words):
    expected = ["\x1b", words]
    assert came_through(f"\x1b{words}") == expected
    assert "".join(came_through("\x1b", *words)) == "".join(expected)
    assert "".join(came_through(f"\x1b{words[:-1]}")) == f"\x1b{words[:-1]}"


@pytest.mark.parametrize(
    "keys", ["\x1b[A", "\x1bOP", "\x1bOc", "\x1b[7$", "\x1b[7^", "\x1b[[A", "\x1b[Z", "\x1b[?2026;1$y", "\x1b[I"]
)
@pytest.mark.parametrize("behind", ["", "\r"])
def test_keys_and_reports_that_the_app_waits_for_pass(keys, behind):
    assert came_through(keys + behind) == [keys, *filter(None, [behind])]


@pytest.mark.parametrize(
    "report", ["\x1b[<0;10;-2M", "\x1b[<64;1;1m", "\x1b[48;24;80;480;640t", "\x1b[O", "\x1b[?2048;2$y"]
)
def test_reports_of_the_mouse_the_size_the_focus_and_modes_pass_with_text_around(report):
    assert came_through(f"a{report}b") == ["a", report, "b"]
