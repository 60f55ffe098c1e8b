from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.cli.headless import Printer
from codeagent.cli.options import OutputFormat
from codeagent.cli.stream import KeyFilter
from codeagent.core.events import TextStreamed, ThinkingStreamed, ToolEnded, ToolProgressed, TurnEnd, TurnEnded
from codeagent.core.messages import TextBlock, ToolResult

KEY = "sk-test-0123456789abcdef"
ODD = 'a"b\\c-ü-0123456789'


def printed(events, form=OutputFormat.STREAM_JSON, keys=(KEY, ODD)):
    out, notes = io.StringIO(), io.StringIO()
    printer = Printer(form, out, notes)
    printer.keys = KeyFilter(keys)
    for event in events:
        printer.emit(event)
    return out.getvalue(), notes.getvalue()


def told(out, kind):
    return "".join(event["text"] for event in map(json.loads, out.splitlines()) if event["type"] == kind)


def ended(call_id, text):
    return ToolEnded(result=ToolResult(call_id=call_id, blocks=(TextBlock(text=text),)), seconds=0.0)


def turn_ended(text):
    return TurnEnded(turn=1, reason=TurnEnd.DONE, text=text)


@given(
    st.lists(st.sampled_from(["s", "sk-", KEY, ODD, KEY[:9], KEY[1:], "a", " x ", "sk-test", ODD[:4], ""]), max_size=9),
    st.integers(1, 9),
    st.sampled_from([TextStreamed, ThinkingStreamed, ToolProgressed]),
)
def test_a_key_in_pieces_is_taken_out_and_nothing_else_is_changed(texts, size, kind):
    whole = "".join(texts)
    fields = {"call_id": "c"} if kind is ToolProgressed else {}
    pieces = [kind(text=whole[at : at + size], **fields) for at in range(0, len(whole), size)]
    out, _ = printed([*pieces, ended("c", ""), turn_ended("")])
    assert told(out, kind.__dataclass_fields__["kind"].default) == KeyFilter((KEY, ODD)).text(whole)
    assert KEY not in out
    assert json.dumps(ODD)[1:-1] not in out


def test_pieces_of_several_calls_and_of_the_reply_do_not_mix():
    half, rest = KEY[:10], KEY[10:]
    out, _ = printed(
        [
            *(ToolProgressed(call_id="a", text=half), ToolProgressed(call_id="b", text="x" + half)),
            *(ToolProgressed(call_id="a", text=rest), ended("a", f"<{KEY}>"), ended("b", half)),
            *(TextStreamed(text=half), ThinkingStreamed(text="s"), TextStreamed(text="!"), turn_ended(f"{half}!")),
        ]
    )
    assert told(out, "tool_progressed") == "x[redacted]" + half
    assert told(out, "text_delta") == half + "!"
    assert told(out, "tool_ended") == "<[redacted]>" + half


def test_a_piece_that_cannot_be_the_beginning_of_a_key_comes_at_once():
    filtered = KeyFilter((KEY,))
    assert [one.text for one in filtered.events(TextStreamed(text="Yes, that is"))] == ["Yes, that i"]
    assert [one.text for one in filtered.events(TextStreamed(text=" all."))] == ["s all."]


@pytest.mark.parametrize("form", list(OutputFormat))
def test_no_form_of_output_shows_a_key_and_texts_that_look_like_one_stay(form):
    out, notes = printed([TextStreamed(text=KEY), turn_ended(f"{KEY} ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4 {ODD}")], form)
    assert KEY not in out + notes
    assert json.dumps(ODD)[1:-1] not in out
    assert "[redacted] ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4 [redacted]" in out


def test_without_a_key_everything_comes_as_it_is():
    out, _ = printed([TextStreamed(text="sk"), TextStreamed(text="-"), turn_ended("sk-")], keys=())
    assert [json.loads(line)["text"] for line in out.splitlines()] == ["sk", "-", "sk-"]
