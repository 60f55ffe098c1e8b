import pytest

from codeagent.config.key_problems import key_problems, keys_in_force
from codeagent.core.keys import KEYS


def test_the_keys_as_they_come_have_no_problem():
    assert key_problems({}) == ()


@pytest.mark.parametrize(
    "keys", ["ctrl+x", "f5,f6", "alt+down", "alt+ctrl+k", "ctrl+shift+up", "ctrl+question_mark", "shift+f3"]
)
def test_a_free_key_has_no_problem(keys):
    assert key_problems({"mode": keys}) == ()


def test_a_name_that_does_not_exist_is_said():
    assert key_problems({"fly": "ctrl+x"}) == ("[keys] names fly, which is no key that can be changed; f1 lists them.",)


def test_one_key_for_two_actions_is_said_once_with_both():
    (said,) = key_problems({"mode": "ctrl+x", "panels": "ctrl+x"})
    assert said == "[keys] mode: ctrl+x is the key of panels as well; give one of them another."


def test_a_key_that_another_action_has_by_default_is_said():
    (said,) = key_problems({"mode": "f1"})
    assert "mode: f1 is the key of help as well" in said


def test_keys_of_places_that_never_meet_do_not_clash():
    assert key_problems({"open-panel": "ctrl+y", "approve": "ctrl+y"}) == ()


def test_two_actions_that_exchange_their_keys_do_not_clash():
    assert key_problems({"next-hunk": "k", "previous-hunk": "j"}) == ()


@pytest.mark.parametrize("key", ["control-x", "ctrl+", "Ctrl+X", "pgup", ""])
def test_a_key_that_does_not_exist_is_said(key):
    (said,) = key_problems({"mode": key})
    assert "there is no key" in said


@pytest.mark.parametrize("key", ["hyper+q", "super+f1", "meta+x", "ctrl+hyper+q", "super+question_mark"])
def test_a_key_that_only_terminals_with_the_kitty_protocol_send_is_one_to_choose(key):
    assert key_problems({"find": key}) == ()
    assert keys_in_force({"find": key}) == {"find": key}


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("ctrl+alt+k", "ctrl+alt+k is written alt+ctrl+k."),
        ("shift+alt+up", "shift+alt+up is written alt+shift+up."),
        ("super+ctrl+k", "super+ctrl+k is written ctrl+super+k."),
        ("ctrl+ctrl+x", "ctrl+ctrl+x is written ctrl+x."),
        ("shift+y", "shift+y arrives as Y; write it so."),
    ],
)
def test_a_key_that_arrives_by_another_name_is_said(key, said):
    assert key_problems({"approve": key}) == (f"[keys] approve: {said}",)


@pytest.mark.parametrize("keys", sorted({one for key in KEYS for one in key.keys.split(",") if key.action}))
def test_every_key_as_it_comes_has_a_name_that_arrives(keys):
    assert not any("written" in said or "arrives" in said for said in key_problems({"deny": keys}))


@pytest.mark.parametrize("key", ["m", "space", "question_mark", "slash", "underscore"])
def test_a_key_that_is_needed_for_typing_is_said(key):
    assert any("could not be typed any more" in said for said in key_problems({"mode": key}))


@pytest.mark.parametrize("key", ["ctrl+underscore", "ctrl+backslash", "alt+minus", "ctrl+at"])
def test_a_character_with_a_short_name_is_a_key(key):
    assert key_problems({"undo": key}) == ()


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("alt+.", "alt+full_stop"),
        ("ctrl+/", "ctrl+slash"),
        ("alt+hyphen_minus", "alt+minus"),
        ("alt+low_line", "alt+underscore"),
    ],
)
def test_a_sign_is_called_by_the_name_that_it_arrives_with(key, name):
    assert key_problems({"undo": key}) == (f"[keys] undo: {key} is written {name}.",)


def test_a_letter_is_fine_for_answers():
    assert key_problems({"approve": "v"}) == ()


@pytest.mark.parametrize("key", ["ctrl+i", "ctrl+m", "ctrl+h", "ctrl+slash"])
def test_a_key_that_plain_terminals_do_not_send_is_said(key):
    assert any("cannot tell" in said for said in key_problems({"mode": key}))


@pytest.mark.parametrize(
    "key", ["bogus+key", "", "m", "question_mark", "super+ctrl+k", "ctrl+alt+k", "ctrl+i", "alt+.", "f1", "y"]
)
def test_a_key_with_a_problem_leaves_the_usual_one_in_force(key):
    assert key_problems({"mode": key}) != ()
    assert keys_in_force({"mode": key}) == {}


def test_of_several_keys_those_without_a_problem_are_in_force():
    assert keys_in_force({"mode": "f5, bogus, f1, ctrl+x", "fly": "f6"}) == {"mode": "f5,ctrl+x"}


def test_of_two_actions_with_one_key_neither_gets_it():
    assert keys_in_force({"mode": "ctrl+x", "panels": "ctrl+x,f5"}) == {"panels": "f5"}


def test_keys_that_are_exchanged_are_in_force_unless_one_of_them_is_not():
    assert keys_in_force({"find": "f1", "help": "ctrl+f"}) == {"find": "f1", "help": "ctrl+f"}
    assert keys_in_force({"find": "f1", "help": "bogus"}) == {}


def test_a_name_that_does_not_exist_is_listed_by_the_key_that_is_in_force():
    said = key_problems({"fly": "ctrl+x", "help": "bogus+key"})
    assert "f1 lists them" in said[0]


@pytest.mark.parametrize("key", [key for key in KEYS if key.action])
def test_all_keys_as_they_come_are_in_force_when_they_are_chosen(key):
    assert keys_in_force({key.name: key.keys}) == {key.name: key.keys}
