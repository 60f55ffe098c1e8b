"""Lines of a stream, and JSON of any shape."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.core.text import storable
from codeagent.providers.sse import EventLines, as_count, as_list, as_object, as_text, parse_object, to_json


@given(st.lists(st.text()), st.integers(1, 7), st.sampled_from(["\n", "\r\n", "\r"]))
def test_payloads_come_out_whole_wherever_the_stream_is_cut(texts, size, ending):
    stream = "".join(f"event: x{ending}data: {json.dumps(text)}{ending}{ending}" for text in texts).encode()
    lines = EventLines()

    found = [payload for at in range(0, len(stream), size) for payload in lines.feed(stream[at : at + size])]

    assert [json.loads(payload) for payload in found + lines.finish()] == texts


def test_a_last_line_without_ending_counts():
    lines = EventLines()

    assert lines.feed(b"data:{}") == []
    assert lines.finish() == [b"{}"]


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("size", [1, 2, 3, 1_000])
def test_a_payload_on_several_lines_after_a_byte_order_mark_is_one(ending, size):
    stream = "\ufeff" + ending.join(["event: x", 'data: {"a":', "data:  {}", "data: }", "", "data: [DONE]", "", ""])
    stream = stream.encode()
    lines = EventLines()

    found = [payload for at in range(0, len(stream), size) for payload in lines.feed(stream[at : at + size])]

    assert [b"".join(payload.split()) for payload in found + lines.finish()] == [b'{"a":{}}', b"[DONE]"]


def test_a_line_of_many_reads_is_put_together_once():
    lines = EventLines()
    for _ in range(50_000):
        assert lines.feed(b"data: {" if not lines._rest else b"x" * 64) == []

    assert len(lines.feed(b"}\n")[0]) == 49_999 * 64 + 2


def test_comments_and_other_fields_are_no_payload():
    assert EventLines().feed(b": ping\nid: 7\nretry: 5\nevent: data\n\n") == []


@pytest.mark.parametrize("payload", [b"", b"{", b"[]", b"5", b"null", b"\xff\xfe", b"[" * 200_000])
def test_only_objects_are_parsed(payload):
    assert parse_object(payload) is None


def test_invalid_utf8_inside_is_replaced():
    assert parse_object(b'{"a": "\xff"}') == {"a": "\ufffd"}


@given(st.text(st.characters()))
def test_json_is_always_valid_utf8(text):
    assert json.loads(to_json([text]).decode("utf-8")) == [storable(text)]


def test_numbers_that_json_has_no_word_for_become_null():
    assert to_json({"a": [float("inf"), {"b": float("nan")}, 1.5]}) == b'{"a":[null,{"b":null},1.5]}'


@pytest.mark.parametrize("depth", [101, 200, 960])
def test_what_is_nested_too_deeply_to_be_sent_back_is_no_object(depth):
    assert parse_object('{"a":' * depth + "1" + "}" * depth) is None
    assert parse_object('{"a":' * 100 + '"[[[[{{"' + "}" * 100) is not None


def test_half_characters_are_replaced_and_whole_ones_joined():
    assert to_json("a\ud83d") == '"a\ufffd"'.encode()
    assert to_json("\ud83d\ude00") == '"\U0001f600"'.encode()


@pytest.mark.parametrize("value", [None, True, 1, 1.5, "x", [], {}])
def test_readers_take_anything(value):
    assert isinstance(as_object(value), dict)
    assert isinstance(as_list(value), list)
    assert isinstance(as_text(value), str)
    assert as_count(value) >= 0


def test_what_is_no_stream_is_kept_as_text_without_the_fields_of_events():
    lines = EventLines()

    assert lines.feed(b": wait\nevent: x\n<html>") == []
    assert lines.feed(b"\n</html>") == []
    assert lines.finish() == []
    assert (lines.is_stream, lines.text) == (False, b"<html>\n</html>")


def test_an_error_on_a_line_of_its_own_is_a_payload():
    assert EventLines().feed(b'error: {"code": 500}\n') == [b'{"error":{"code": 500}}']
