"""What bytes that were typed before the app is there make of the prompt, and that none of them is lost."""

import os
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.cli.typed_ahead import Keyboard, read_typed


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ("hello", "hello"),
        ("hello\x7fp", "hellp"),
        ("größe 漢字", "größe 漢字"),
        ("one\x1b[D\x1b[1;5C\x1bOA two", "one two"),
        ("a\x1b[200~x\r\ny\x1b[201~b", "ax\nyb"),
        ("a\x1b[200~not over", "anot over"),
        ("one two\x17three", "one three"),
        ("one\x15two", "two"),
        ("one\\\rtwo", "one\ntwo"),
        ("one\ntwo", "one\ntwo"),
        ("a\x1b]11;rgb:ffff/ffff/ffff\x1b\\b\x1b[?62;4cc", "abc"),
        ("a\x1b]11;rgb:ffff/ffff/ffff\x07b", "ab"),
        ("a\x1bP>|xterm(370)\x1b\\b\x1b_Gi=1;OK\x1b\\c\x1b[?1ud", "abcd"),
        ("a\x1b[<0;1;-1Mb\x1b[[Ac\x1b[7$d\x1bOA\x1bOc\x1b[>1;3300", "abcd"),
        ("a\x03b", "b"),
        ("\x1bPlease 3\x1b3", "Please 33"),
        ("one\x1bb\x1bdx", "onedx"),
    ],
)
def test_keys_make_the_text_of_the_prompt(keys, text):
    typed = read_typed(keys.encode())
    assert (typed.text, typed.sent, typed.quits_with) == (text, [], "")


def test_enter_sends_once_and_the_prompt_is_empty_again():
    typed = read_typed(b"first\r\r second")
    assert (typed.sent, typed.text) == (["first"], " second")


def test_what_was_sent_can_be_called_back():
    typed = read_typed(b"first\rsecond\r\x1b, and more\r")
    assert (typed.sent, typed.text) == (["first\n\nsecond, and more"], "")


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ("go\r\x1bnext", "go\nnext"),
        ("go\r\x1b\x1b[200~next\x1b[201~", "go\nnext"),
        ("go\r\x1b and next", "go and next"),
        ("go\r\x1b\x7fet", "get"),
        ("go\rto\x1bday", "go\ntoday"),
    ],
)
def test_what_is_typed_behind_a_text_that_came_back_is_a_line_of_its_own(keys, text):
    assert read_typed(keys.encode()).text == text


def test_ctrl_c_clears_what_is_typed_then_asks_while_a_message_waits_and_quits_when_it_is_pressed_again():
    first, second, third = (read_typed(b"go\rto" + b"\x03" * times) for times in (1, 2, 3))
    assert (first.text, first.sent, first.asks_to_quit) == ("", ["go"], False)
    assert (second.sent, second.asks_to_quit, second.quits_with) == (["go"], True, "")
    assert third.quits_with == "\x03"
    gone_on = read_typed(b"go\r\x03a\x7f\x03")
    assert (gone_on.asks_to_quit, gone_on.quits_with) == (True, "")


def test_ctrl_d_quits_only_where_nothing_waits():
    assert read_typed(b"go\r\x04").quits_with == ""
    assert read_typed(b"go\r\x1b\x03\x04").quits_with == "\x04"


def test_newlines_in_a_paste_do_not_send():
    assert read_typed(b"\x1b[200~a\rb\r\x1b[201~").sent == []


@pytest.mark.parametrize(("keys", "key"), [(b"\x03", "\x03"), (b"\x04", "\x04"), (b"a\x7f\x04", "\x04")])
def test_interrupt_and_end_quit_at_an_empty_prompt(keys, key):
    assert read_typed(keys).quits_with == key


def test_end_means_nothing_while_there_is_text():
    assert read_typed(b"a\x04").quits_with == ""


@given(st.binary(max_size=60))
def test_any_bytes_can_be_read_and_show_nothing_that_moves_the_cursor(keys):
    assert all(one.isprintable() or one in "\n\t" for one in read_typed(keys).text)


@pytest.mark.parametrize(
    ("early", "kept"),
    [(b"go\n", b"go\r"), (b"one\\\n", b"one\\\r"), (b"go\nmore", b"go\nmore"), (b"one\ntwo\n", b"one\ntwo\n")],
)
def test_enter_that_came_before_the_program_minded_the_terminal_sends_too_but_no_line_of_several(early, kept):
    read, write = os.pipe()
    keyboard = Keyboard(read)
    os.write(write, early)
    assert keyboard.read_waiting() == kept


def test_all_bytes_are_kept_in_their_order():
    read, write = os.pipe()
    keyboard, seen, reached = Keyboard(read), [], threading.Event()
    os.write(write, b"be")
    assert keyboard.read_waiting() == b"be"

    def on_typed(typed):
        seen.append(typed)
        if len(typed) == 6:
            reached.set()

    keyboard.start(on_typed, lambda: False)
    for one in (b"fo", b"re"):
        os.write(write, one)
    assert reached.wait(20)
    assert keyboard.take() == b"before"
    assert keyboard.take() == b""
    os.write(write, b"later")
    assert os.read(read, 10) == b"later"
    assert seen[-1] == b"before"


def typed_in_pieces(*pieces, suspend=lambda: False):
    """What is kept of what came piece by piece, each when the one before had been taken in."""
    read, write = os.pipe()
    keyboard, taken = Keyboard(read), threading.Semaphore(0)
    keyboard.start(lambda _: taken.release(), suspend)
    for piece in pieces:
        os.write(write, piece)
        assert taken.acquire(timeout=20)
    return keyboard.take()


def test_lines_that_come_all_at_once_are_marked_as_a_paste():
    assert typed_in_pieces(b"ab", b"one\rtwo\r") == b"ab\x1b[200~one\rtwo\r\x1b[201~"
    assert typed_in_pieces(b"one\rtw", "ö\rthree\r".encode(), b"\x03") == (
        "\x1b[200~one\rtwö\rthree\r\x1b[201~\x03".encode()
    )
    assert read_typed(typed_in_pieces(b"one\rtwo\r")).sent == []


def test_what_is_marked_already_and_what_is_typed_stay_as_they_are():
    for pieces in ([b"\x1b[200~a\rb", b"c\rd\r\x1b[201~"], [b"one\r", b"two\r"], [b"one\x15two\rthree"]):
        assert typed_in_pieces(*pieces) == b"".join(pieces)


def test_suspending_is_done_at_once_and_that_key_is_not_kept():
    pressed = []
    assert typed_in_pieces(b"ab\x1a", suspend=lambda: not pressed.append(True)) == b"ab"
    assert pressed == [True]


def test_a_key_that_does_not_suspend_is_kept():
    assert typed_in_pieces(b"ab\x1a", b"c") == b"ab\x1ac"
    assert typed_in_pieces(b"\x1b[200~ab\x1a", suspend=lambda: True) == b"\x1b[200~ab\x1a"
