"""A setting that was given what it does not take says in one sentence of our own what it does take."""

from __future__ import annotations

import pytest

from codeagent.config.settings import Settings, what_it_takes
from codeagent.config.sources import Source, check
from codeagent.core.errors import ConfigError

NAMES = [(table, key) for table, values in Settings().model_dump().items() for key in values or ("stop",)]
THEIRS = ("Input should", "valid", "pydantic", "constrained", "parse", "literal")


def told(table: str, key: str, given: object, **source: object) -> str:
    with pytest.raises(ConfigError) as raised:
        check(Source(name="config.toml", tables={table: {key: given}}, **source))
    return str(raised.value)


@pytest.mark.parametrize(("table", "key"), NAMES)
@pytest.mark.parametrize(("given", "shown"), [({"a": 1}, "{'a': 1}"), (-7, "-7"), (float("inf"), "inf")])
def test_each_setting_says_what_it_takes(table, key, given, shown):
    said = told(table, key, given)
    assert said == f"config.toml: {table}.{key} takes {what_it_takes(table, key)}, not {shown}."
    assert not any(word in said for word in THEIRS)


@pytest.mark.parametrize(
    ("table", "key", "takes"),
    [
        ("model", "max_tokens", "a whole number above 0"),
        ("model", "retries", "a whole number from 0 to 20"),
        ("model", "idle_seconds", "a number above 0"),
        ("model", "effort", "low, medium or high"),
        ("model", "name", "a text in quotes"),
        ("permissions", "mode", "ask, edits, auto or plan"),
        ("permissions", "deny", 'a list of texts in quotes, such as ["…"]'),
        ("sandbox", "network", "true or false"),
        ("context", "compact_at", 'a number from 0.2 to 0.95 or "off"'),
        ("budget", "max_cost", "a number of US dollars above 0"),
        ("keys", "stop", "a text in quotes"),
    ],
)
def test_what_a_setting_takes_is_said_in_plain_words(table, key, takes):
    assert what_it_takes(table, key) == takes


@pytest.mark.parametrize("key", ["max_steps", "max_cost"])
def test_true_is_no_number_of_anything(key):
    assert told("budget", key, given=True).endswith(", not true.")


def test_a_value_without_an_end_is_cut_short():
    assert len(told("budget", "max_cost", "9" * 4_000 + "x")) < 200


def test_a_setting_is_named_as_it_was_given():
    names = {("budget", "max_cost"): "--max-cost"}
    assert told("budget", "max_cost", "1,5", names=names) == (
        "--max-cost takes a number of US dollars above 0, not '1,5'."
    )
