"""What the terminal's driver passes on, and in which order."""

import pytest
from textual.app import App
from textual.events import Key, Paste

from codeagent.tui.driver import TerminalDriver, TypedAhead


class Picture:
    """A first picture at which something was typed."""

    before = ()

    def __init__(self, typed: bytes) -> None:
        self._typed = typed

    def take_keys(self) -> bytes:
        typed, self._typed = self._typed, b""
        return typed

    def hand_over(self) -> None:
        """Nothing to do."""


class Driver(TerminalDriver):
    """Notes what it would pass on; the thread that reads the terminal is not started."""

    def __init__(self, typed: bytes) -> None:
        super().__init__(App())
        self._first = Picture(typed)
        self._held = []
        self.passed_on = []

    def process_message(self, message) -> None:
        self.passed_on.append(message)


async def test_what_was_typed_at_the_first_picture_is_on_its_way_before_anything_else_can_happen():
    driver = Driver("yé\x1b[200~a\nb\x1b[201~".encode())
    driver.be_ready()
    *typed, last = driver.passed_on
    assert [one.character if isinstance(one, Key) else one.text for one in typed] == ["y", "é", "a\nb"]
    assert isinstance(typed[-1], Paste)
    assert isinstance(last, TypedAhead)


async def test_where_nothing_was_typed_nothing_is_passed_on_and_the_app_is_shown_at_once():
    driver = Driver(b"")
    driver.be_ready()
    assert driver.passed_on == []
    assert driver._held is None


def passed_on(typed: str) -> list[str]:
    driver = Driver(typed.encode())
    driver.be_ready()
    return [one.key if isinstance(one, Key) else one.text for one in driver.passed_on[:-1]]


async def test_characters_typed_ahead_are_one_text_and_keys_between_stay_keys():
    assert passed_on("x" * 3_000) == ["x", "x" * 2_999]
    assert passed_on("?ab\x1b[Dcd\x7f\r\x1b[Anext 日本") == [
        *("question_mark", "ab", "left", "c", "d", "backspace", "enter", "up"),
        *("n", "ext 日本"),
    ]


@pytest.mark.parametrize(
    "emoji", ["👩\u200d👩\u200d👧", "❤\ufe0f\u200d🔥", "👩🏽\u200d🚀", "🏴\U000e0067\U000e0062\U000e007f"]
)
async def test_an_emoji_of_several_comes_whole(emoji):
    assert passed_on(f"{emoji}a") == [emoji, "a"]
    assert passed_on(f"\x1ba{emoji}b") == ["escape", "a", emoji, "b"]


async def test_behind_an_escape_every_character_is_a_key():
    assert passed_on("abc\x1bdw") == ["a", "bc", "escape", "d", "w"]


@pytest.mark.parametrize(
    "told", ["\x1b[?1u", "\x1b[99;5X", "\x1b[>1;3300;0c", "\x1b[?997;1n", "\x1b]10;rgb:0/0/0\a", "\x1b\\"]
)
async def test_what_the_terminal_tells_amid_what_is_typed_ahead_leaves_the_letters_in_their_order(told):
    keys = "".join(passed_on(f"ab{told}cdefgh"))
    assert keys.removeprefix("ab").removeprefix("escapebackslash") == "cdefgh"


async def test_half_a_sequence_that_was_typed_ahead_is_finished_by_what_comes_later():
    driver = Driver(b"ab\x1b[?99")
    driver.be_ready()
    driver._pass_on(driver._parser, driver._typed.take("7;1ncd"))
    assert [
        one.key if isinstance(one, Key) else one.text for one in driver.passed_on if not isinstance(one, TypedAhead)
    ] == list("abcd")
