from __future__ import annotations

import contextlib
import json
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from codeagent.agent.arguments import is_whole, mend, parse, read_arguments, with_meant_tools
from codeagent.core.errors import BadArguments
from codeagent.core.messages import AssistantMessage, StopReason, TextBlock, ToolCall
from codeagent.core.protocols import ToolSpec


class Pair(BaseModel):
    model_config = ConfigDict(extra="forbid")
    old: str
    times: int = 1


class Everything(BaseModel):
    model_config = ConfigDict(extra="forbid")
    path: str
    count: int = 0
    ratio: float = 0.0
    flag: bool = False
    limit: int | None = None
    note: str | None = None
    either: int | str = 0
    kind: Literal["a", "b"] = "a"
    numbers: tuple[int, ...] = ()
    pairs: list[Pair] = Field(default_factory=list)
    pair: Pair | None = None
    table: dict[str, int] = Field(default_factory=dict)


class Tool:
    name = "all"
    description = "Takes everything."
    Arguments = Everything


def read(raw: str) -> Everything:
    arguments, _ = read_arguments(Tool(), raw)
    assert isinstance(arguments, Everything)
    return arguments


def read_one(**values: object) -> Everything:
    return read(json.dumps({"path": "p", **values}))


def refusal(raw: str) -> str:
    with pytest.raises(BadArguments) as caught:
        read(raw)
    return str(caught.value)


def refusal_of(**values: object) -> str:
    return refusal(json.dumps({"path": "p", **values}))


@pytest.mark.parametrize(
    ("name", "written", "meant"),
    [
        ("count", "5", 5),
        ("count", "-12", -12),
        ("ratio", "2.5", 2.5),
        ("ratio", "2", 2.0),
        ("flag", "true", True),
        ("flag", "false", False),
        ("limit", "7", 7),
        ("numbers", "[1, 2]", (1, 2)),
        ("numbers", ["1", 2], (1, 2)),
        ("numbers", '["1", "2"]', (1, 2)),
        ("pairs", '[{"old": "x", "times": "3"}]', [Pair(old="x", times=3)]),
        ("pairs", [{"old": "x", "times": "3"}], [Pair(old="x", times=3)]),
        ("pairs", ['{"old": "x"}'], [Pair(old="x")]),
        ("pair", '{"old": "x"}', Pair(old="x")),
        ("table", '{"a": "1"}', {"a": 1}),
        ("table", {"a": "1"}, {"a": 1}),
    ],
)
def test_a_string_that_can_only_mean_one_thing_is_taken_as_that(name, written, meant):
    assert getattr(read_one(**{name: written}), name) == meant


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("count", "NaN"),
        ("count", "inf"),
        ("count", "1,2"),
        ("count", "1.0"),
        ("count", "0x10"),
        ("count", "five"),
        ("count", ""),
        ("count", True),
        ("count", 1.5),
        ("count", 2.0),
        ("ratio", "NaN"),
        ("ratio", "-Infinity"),
        ("ratio", "1e999"),
        ("flag", "yes"),
        ("flag", "True"),
        ("flag", "1"),
        ("flag", 1),
        ("numbers", "1,2"),
        ("numbers", "1"),
        ("numbers", 1),
        ("numbers", '["x"]'),
        ("pairs", '{"old": "x"}'),
        ("pair", '"{}"'),
        ("path", 5),
        ("path", ["p"]),
        ("note", 5),
        ("kind", "c"),
    ],
)
def test_what_is_not_certain_is_refused(name, written):
    assert name in refusal_of(**{name: written})


@pytest.mark.parametrize("text", ["5", "true", "null", "[1]", '{"a": 1}', "NaN"])
def test_a_string_stays_a_string_where_one_is_wanted(text):
    arguments = read_one(path=text, note=text, either=text)
    assert (arguments.path, arguments.note, arguments.either) == (text, text, text)


def test_an_optional_null_is_absent_and_a_required_one_is_refused():
    assert read_one(count=None, limit=None, note=None, numbers=None) == read_one()
    assert read_one(count="null", limit="null", numbers="null") == read_one()
    assert "path" in refusal('{"path": null}')


def test_null_in_words_for_a_required_number_is_refused():
    class Required(Tool):
        class Arguments(BaseModel):
            count: int

    with pytest.raises(BadArguments):
        read_arguments(Required(), '{"count": "null"}')


def test_all_problems_come_in_one_message_with_their_places():
    text = refusal('{"count": "x", "pairs": [{"times": "y"}], "what": 1}')
    for place in ("path", "count", "pairs[0].old", "pairs[0].times", "what"):
        assert f"- {place}: " in text
    assert "path, count (optional)" in text


def test_text_that_is_no_json_is_reported_with_the_parsers_words_and_the_raw_text():
    text = refusal('{"path": "a.py", "content": "lin')
    assert "Unterminated string" in text
    assert '{"path": "a.py", "content": "lin' in text


def test_a_long_raw_text_is_quoted_with_its_middle_left_out():
    text = refusal('{"path": "' + "x" * 100_000)
    assert len(text) < 3_000
    assert "characters left out" in text


def test_arguments_wrapped_in_one_string_are_unwrapped_once():
    once = json.dumps('{"path": "a"}')
    assert read(once).path == "a"
    assert "JSON object" in refusal(json.dumps(once))


@pytest.mark.parametrize("raw", ["[]", "5", "null", '"x"', "true", '"[]"'])
def test_anything_but_an_object_is_refused(raw):
    assert refusal(raw)


def test_blank_arguments_are_no_arguments():
    assert parse(" \n") == {}


@pytest.mark.parametrize("raw", ["[" * 100_000, '{"path": ' * 50_000, '{"path": ' + "9" * 5_000 + "}"])
def test_hostile_nesting_and_numbers_are_refused_not_crashed_on(raw):
    assert refusal(raw)


def test_half_a_surrogate_pair_is_a_refusal():
    assert refusal('{"path": "\\ud800"}')


@pytest.mark.parametrize("raw", ["", " ", "{", '{"command":"rm -rf build/tm', '{"a": 1', "[]", '"{'])
def test_cut_off_text_is_not_whole(raw):
    assert not is_whole(raw)


def test_a_closed_object_is_whole():
    assert is_whole('{"a": 1}')


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=8,
)
SCHEMA = json.loads(json.dumps(Everything.model_json_schema()))


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(list(Everything.model_fields)), json_values))
def test_mending_never_changes_what_is_not_a_string_and_mending_twice_changes_nothing(values):
    mended = mend(values, SCHEMA)
    assert mend(mended, SCHEMA) == mended
    for name, value in values.items():
        if isinstance(value, (bool, int, float)):
            assert mended[name] is value


valid = st.builds(
    Everything,
    path=st.text(),
    count=st.integers(-(2**60), 2**60),
    ratio=st.floats(allow_nan=False, allow_infinity=False),
    flag=st.booleans(),
    limit=st.none() | st.integers(-(2**60), 2**60),
    note=st.none() | st.text(),
    either=st.integers(-(2**60), 2**60) | st.text(),
    kind=st.sampled_from(["a", "b"]),
    numbers=st.lists(st.integers(-(2**60), 2**60)).map(tuple),
    pairs=st.lists(st.builds(Pair, old=st.text(), times=st.integers(0, 9)), max_size=3),
    pair=st.none() | st.builds(Pair, old=st.text()),
    table=st.dictionaries(st.text(), st.integers(0, 9), max_size=3),
)


@settings(deadline=None)
@given(valid)
def test_valid_arguments_arrive_as_they_are(arguments):
    assert read(arguments.model_dump_json()) == arguments


@settings(deadline=None)
@given(valid, st.data())
def test_valid_arguments_with_values_written_as_strings_arrive_too(arguments, data):
    stringable = ["count", "ratio", "flag", "limit", "numbers", "pairs", "pair", "table"]
    chosen = data.draw(st.sets(st.sampled_from(stringable)))
    values = json.loads(arguments.model_dump_json())
    written = {name: json.dumps(value) if name in chosen else value for name, value in values.items()}
    assert read(json.dumps(written)) == arguments


@settings(deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(raw):
    with contextlib.suppress(BadArguments):
        assert read(raw).path is not None


@pytest.mark.parametrize("raw", ['{"path": "a", "path": "b"}', '{"path": "a", "table": {"x": 1, "x": 2}}'])
def test_a_name_given_twice_is_refused(raw):
    with pytest.raises(BadArguments, match="is given twice"):
        read(raw)


@pytest.mark.parametrize(
    "written",
    [
        '{"a": {"b": 1}}}',
        '```json\n{"a": {"b": 1}}\n```',
        '```\n{"a": {"b": 1}}\n```\n',
        '```json\n{"a": {"b": 1}}}\n```',
    ],
)
def test_a_fence_and_one_closing_brace_too_many_are_left_out(written):
    assert parse(written) == {"a": {"b": 1}}


@pytest.mark.parametrize("written", ['{"a": 1}}}', '{"a": 1} {"b": 2}', '{"a": 1', '```json\n{"a": 1'])
def test_more_than_that_is_refused_as_before(written):
    with pytest.raises(BadArguments):
        parse(written)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("bash", "bash"),
        ("Bash", "bash"),
        ("functions.bash", "bash"),
        ("tools.Read", "read"),
        ("ba sh", "ba sh"),
        ("note", "note"),
        ("functions.note", "functions.note"),
        ("execute", "execute"),
        (" bash ", "bash"),
        ("bash\n", "bash"),
        ("bash()", "bash"),
        ('"bash"', "bash"),
        ("`Bash`", "bash"),
        ("functions.bash:0", "bash"),
        ("Read:12", "read"),
        ("to=functions.bash", "bash"),
        ("bash<|channel|>commentary", "bash"),
        ("<|constrain|>bash <|message|>{", "bash"),
        ("bash(ls)", "bash(ls)"),
        ("bash:ls", "bash:ls"),
        ("bash.read", "bash.read"),
        ("bash read", "bash read"),
        ("", ""),
        ("<|call|>", "<|call|>"),
        ("Note()", "Note()"),
    ],
)
def test_a_name_with_another_case_a_namespace_or_dirt_at_its_edges_means_the_one_tool_that_it_fits(written, meant):
    tools = [ToolSpec(name=name, description="", schema_json="{}") for name in ("bash", "read", "NOTE", "Note", "note")]
    tools = [*tools[:4], *(tools[4:] if written == "note" else ())]
    one = ToolCall(id="c", name=written, arguments_json="{}")
    reply = AssistantMessage(blocks=(TextBlock(text="So."), one), stop=StopReason.TOOL_USE)
    assert with_meant_tools(reply, tools).calls[0].name == meant
