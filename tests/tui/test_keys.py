from textual._xterm_parser import XTermParser
from textual.events import Key

from codeagent.core.keys import KEYS, Place, key_rows
from codeagent.tui.keys import bindings, teach_alt_enter


def read(*chunks):
    """The keys that Textual reads from what a terminal sends."""
    teach_alt_enter()
    parser = XTermParser()
    keys = [message.key for chunk in chunks for message in parser.feed(chunk) if isinstance(message, Key)]
    return keys + [message.key for message in parser.feed("") if isinstance(message, Key)]


def test_escape_and_return_in_one_is_alt_enter():
    assert read("\x1b\r") == ["alt+enter"]


def test_a_return_alone_is_still_enter():
    assert read("a\r") == ["a", "enter"]


def test_escape_alone_is_still_escape():
    assert read("\x1b") == ["escape"]


def test_two_escapes_are_still_two():
    assert read("\x1b\x1b") == ["escape", "escape"]


def test_terminals_with_the_kitty_protocol_say_alt_and_shift_enter_themselves():
    assert read("\x1b[13;3u", "\x1b[13;2u") == ["alt+enter", "shift+enter"]


def test_alt_up_is_read():
    assert read("\x1b[1;3A") == ["alt+up"]


def test_every_name_is_there_once():
    names = [key.name for key in KEYS]
    assert len(set(names)) == len(names)


def test_no_key_means_two_things_in_one_place():
    for place in Place:
        keys = [one for key in KEYS if key.place is place for one in key.keys.split(",")]
        assert len(set(keys)) == len(keys), place


def test_bindings_carry_the_names_that_the_config_uses():
    assert {binding.id for binding in bindings(Place.PROMPT)} <= {key.name for key in KEYS}


def test_the_list_of_keys_shows_the_persons_own():
    rows = {what: keys for _, keys, what in key_rows({"mode": "f3"})}
    assert rows["next permission mode"] == "f3"
    assert rows["why this is asked"] == "?"
