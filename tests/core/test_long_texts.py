"""What is asked of texts of megabytes is answered as the plain way answers it, and soon."""

import json
from dataclasses import dataclass
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.core.long_texts import LONG, SLICE, find, is_long, is_plain, is_sound, json_of
from tests.effort import assert_takes_less

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=60)
MEGABYTES = ("ünd so weiter “ja” " * 300_000)[:5_000_000]


@dataclass(frozen=True)
class Held:
    words: str
    others: tuple[object, ...] = ()


@pytest.mark.parametrize("at", [0, SLICE - 5, SLICE - 4, SLICE - 1, SLICE, 2 * SLICE - 3, 3 * SLICE - 5])
@pytest.mark.parametrize("start", [0, 1, SLICE - 4, SLICE, 3 * SLICE])
def test_words_are_found_wherever_they_stand(at, start):
    text = "a" * at + "words" + "a" * (3 * SLICE - 5 - at)
    assert find(text, "words", start) == text.find("words", start)


@given(ANY_TEXT, st.text("ab", min_size=1, max_size=3), st.integers(0, 70))
def test_a_search_is_the_usual_one(text, words, start):
    assert find(text, words, start) == (text.find(words, start) if start < len(text) else -1)


@given(ANY_TEXT)
def test_plain_is_what_can_be_printed_and_sound_what_can_be_encoded(text):
    assert is_plain(text) is all(character in "\t\n" or " " <= character <= "~" for character in text)
    assert is_sound(text) is not any("\ud800" <= character <= "\udfff" for character in text)


@given(ANY_TEXT)
def test_a_text_is_written_as_json_has_it(text):
    assert json_of(text) == json.dumps(text, ensure_ascii=False)


def test_a_text_of_several_slices_is_written_as_json_has_it():
    text = '"\\\n\U0001f600ü' * SLICE
    assert json_of(text) == json.dumps(text, ensure_ascii=False)


@pytest.mark.parametrize("wrap", [str, lambda text: [1, text], lambda text: {"a": (text,)}, Held])
def test_a_long_text_is_noticed_wherever_it_stands(wrap):
    assert is_long(wrap("a" * (LONG + 1)))
    assert not is_long(wrap("a" * LONG))
    assert not is_long(Held("a", (wrap("b"), None, 3)))


@pytest.mark.parametrize("look", [is_plain, is_sound, is_long, partial(find, words="sk-ant-")])
def test_megabytes_are_looked_through_soon(look):
    assert_takes_less(0.05, partial(look, MEGABYTES))
