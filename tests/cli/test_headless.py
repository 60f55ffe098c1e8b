"""Prompts from pipes, and exit codes that tell how a run went."""

import io
import os
from pathlib import Path

import pytest

from codeagent.cli.headless import Printer, exit_code, read_piped, whole_prompt
from codeagent.cli.options import OutputFormat
from codeagent.core.errors import ConfigError
from codeagent.core.events import Level, NoticeGiven, RetryScheduled, TurnEnd


@pytest.fixture
def pipe():
    read, write = os.pipe()
    source = os.fdopen(read)
    with source, os.fdopen(write, "w") as sink:
        yield source, sink


def test_piped_text_is_added_below_the_prompt(pipe):
    source, sink = pipe
    sink.write("line one\nline two\n")
    sink.close()
    assert whole_prompt("explain", source) == "explain\n\nline one\nline two"


def test_piped_text_alone_is_the_prompt(pipe):
    source, sink = pipe
    sink.write("explain this\n")
    sink.close()
    assert whole_prompt("", source) == "explain this"


def test_without_any_text_the_error_says_how_to_give_one(pipe):
    source, sink = pipe
    sink.close()
    with pytest.raises(ConfigError, match="pipe one in"):
        whole_prompt("", source)


def test_a_device_gives_nothing_and_is_not_waited_for():
    with Path(os.devnull).open() as source:
        assert read_piped(source, must_wait=False) == ""


def test_an_open_but_silent_pipe_is_given_up(pipe, capsys):
    source, _ = pipe
    assert read_piped(source, must_wait=False) == ""
    assert "silent" in capsys.readouterr().err


def test_a_notice_is_told_once_and_then_what_is_new_in_it():
    notes = io.StringIO()
    printer = Printer(OutputFormat.TEXT, io.StringIO(), notes)
    for text in ("No summary.", "No summary.", "No summary. It is given up.", "Another."):
        printer.emit(NoticeGiven(text=text, level=Level.WARNING))
    assert notes.getvalue().splitlines() == [
        "codeagent: No summary.",
        "codeagent: It is given up.",
        "codeagent: Another.",
    ]


def test_trouble_is_told_once_however_often_it_is_tried_again():
    out, notes = io.StringIO(), io.StringIO()
    printer = Printer(OutputFormat.TEXT, out, notes)
    for attempt, reason in ((1, "Nobody is there."), (2, "Nobody is there."), (3, "It is busy."), (1, "It is busy.")):
        printer.emit(RetryScheduled(attempt=attempt, attempts=3, seconds=2, reason=reason))
    assert notes.getvalue().splitlines() == [
        "codeagent: Nobody is there. Trying again in 2 s (1 of 3).",
        "codeagent: Trying again in 2 s (2 of 3).",
        "codeagent: It is busy. Trying again in 2 s (3 of 3).",
        "codeagent: It is busy. Trying again in 2 s (1 of 3).",
    ]


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        (TurnEnd.DONE, 0),
        (TurnEnd.ERROR, 1),
        (TurnEnd.REFUSED, 1),
        (TurnEnd.STEP_LIMIT, 3),
        (TurnEnd.BUDGET, 3),
        (TurnEnd.CANCELLED, 130),
    ],
)
def test_each_end_has_its_exit_code(reason, code):
    assert exit_code(reason) == code
