"""The command line: what each flag becomes, and what makes no sense."""

import os
import subprocess
import sys

import pytest

from codeagent.cli.command_line import flags, parse_options
from codeagent.cli.options import OutputFormat
from codeagent.core.approvals import Mode
from codeagent.core.errors import ConfigError


def test_a_bare_prompt_opens_the_app():
    options = parse_options(["fix it"])
    assert (options.prompt, options.prints) == ("fix it", False)


@pytest.mark.parametrize(
    "words", [["-p", "fix it"], ["fix it", "-p"], ["--print", "fix it"], ["--print=fix it"], ["-p", "--", "fix it"]]
)
def test_p_takes_its_prompt_wherever_it_stands(words):
    options = parse_options(words)
    assert (options.prompt, options.prints) == ("fix it", True)


def test_flags_become_the_tables_of_a_settings_file():
    words = "--model scripted/x --mode edits --allow bash(ls) --allow bash(pwd) --deny edit(a) --max-steps 3"
    tables = parse_options([*words.split(), "--add-dir", "/x", "--max-cost", "0.5", "--sandbox", "off"]).tables
    assert tables == {
        "model": {"name": "scripted/x"},
        "permissions": {
            "mode": Mode.EDITS,
            "allow": ["bash(ls)", "bash(pwd)"],
            "deny": ["edit(a)"],
            "add_dirs": ["/x"],
        },
        "sandbox": {"level": "off"},
        "budget": {"max_steps": "3", "max_cost": "0.5"},
    }


def test_c_goes_on_with_the_latest_session_and_r_with_the_named_one():
    assert parse_options(["-c"]).resume == "latest"
    assert parse_options(["-r", "2026"]).resume == "2026"


def test_the_output_format_is_one_of_three():
    assert parse_options(["-p", "x", "--output-format", "stream-json"]).output_format is OutputFormat.STREAM_JSON


@pytest.mark.parametrize(
    "words",
    [
        ["--mode", "yolo"],
        ["--output-format", "xml", "-p", "x"],
        ["--output-format", "json", "x"],
        ["-p", "one", "two"],
        ["-c", "-r", "x"],
        ["-c", "--no-session"],
        ["-p", "x", "-r"],
        ["--no-such-flag"],
    ],
)
def test_what_makes_no_sense_is_a_usage_error(words):
    with pytest.raises(ConfigError) as raised:
        parse_options(words)
    assert str(raised.value).endswith(". codeagent --help shows what there is.")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        *((f"{flag}=yolo", f"{flag} takes one of ") for flag in ("--mode", "--sandbox", "--output-format")),
        *((flag.names[0], f"{'/'.join(flag.names)} needs a value") for flag in flags() if flag.needs_value),
        ("--trust=yes", "--trust takes no value, and got 'yes'"),
        ("-c -r x", "-r/--resume does not go with -c/--continue"),
        ("--no-such-flag", "'--no-such-flag' is no flag"),
    ],
)
def test_each_flag_says_in_plain_words_what_it_takes(words, said):
    with pytest.raises(ConfigError) as raised:
        parse_options(words.split())
    assert str(raised.value).startswith(said)


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["--mode", "nope"], ["plan", "ask", "edits", "auto"]),
        (["--sandbox", "nope"], ["read-only", "workspace-write", "off"]),
        (["-p", "x", "--output-format", "nope"], ["text", "json", "stream-json"]),
    ],
)
def test_a_wrong_choice_is_told_the_right_ones(words, names):
    with pytest.raises(ConfigError) as raised:
        parse_options(words)
    said, quoted, _ = str(raised.value).partition(", not 'nope'")
    assert quoted
    assert all(name in said for name in names)


@pytest.mark.parametrize(
    ("words", "prompt", "prints"),
    [
        (["--", "-x"], "-x", False),
        (["-p", "--", "-x"], "-x", True),
        (["--mode", "plan", "--", "--mode", "is", "--", "what?"], "--mode is -- what?", False),
        (["-p", "--"], "", True),
    ],
)
def test_words_after_two_dashes_are_the_prompt(words, prompt, prints):
    options = parse_options(words)
    assert (options.prompt, options.prints) == (prompt, prints)


@pytest.mark.parametrize("words", [["one", "--", "two"], ["-p", "one", "--", "two"]])
def test_a_second_prompt_after_two_dashes_is_refused(words):
    with pytest.raises(ConfigError, match="two prompts"):
        parse_options(words)


@pytest.mark.parametrize(
    ("flag", "value", "takes"),
    [
        ("--max-cost", "1,5", "a number of US dollars above 0"),
        ("--max-cost", "nan", "a number of US dollars above 0"),
        ("--max-steps", "0", "a whole number above 0"),
    ],
)
def test_a_limit_that_is_none_is_told_in_one_sentence_by_its_flag(tmp_path, flag, value, takes):
    words = [sys.executable, "-m", "codeagent", "-p", "hi", flag, value]
    environ = {**os.environ, "CODEAGENT_HOME": str(tmp_path)}
    done = subprocess.run(words, check=False, env=environ, input="", capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (2, f"codeagent: {flag} takes {takes}, not '{value}'.\n")
