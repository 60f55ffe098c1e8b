"""Every subcommand where standard output is full or closed: one sentence, no success, and no fault."""

import os
import subprocess

import pytest

from tests.journeys.conftest import PROGRAM

pytestmark = pytest.mark.journey

PRINTING = (
    "permissions check ls",
    "permissions check --json ls",
    "permissions list",
    "permissions --help",
    "doctor",
    "config",
    "config path",
    "config completion bash",
    "config --help",
    "trust",
    "sessions --help",
    "--help",
    "--version",
)


def run(place, command, **more):
    return subprocess.run(
        ["bash", "-c", command],
        cwd=place.root,
        env={**os.environ, **place.environ, **more},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("words", "unbuffered"), [*((words, "") for words in PRINTING), ("permissions check ls", "1"), ("--help", "1")]
)
def test_a_full_output_is_told_in_one_sentence(place, words, unbuffered):
    finished = run(place, f"{' '.join(PROGRAM)} {words} > /dev/full", PYTHONUNBUFFERED=unbuffered)
    assert finished.stderr == "codeagent: Not all of the output could be written: No space left on device.\n"
    assert finished.returncode == 1
    assert not list(place.home.rglob("fault-*"))


@pytest.mark.parametrize("words", PRINTING)
def test_a_closed_output_is_told_in_one_sentence(place, words):
    finished = run(place, f"{' '.join(PROGRAM)} {words} >&-")
    assert finished.stderr == "codeagent: Not all of the output could be written: standard output is closed.\n"
    assert finished.returncode == 1
    assert not list(place.home.rglob("fault-*"))


def test_questions_by_the_line_end_with_the_output(place):
    asks = """printf '{"command": "ls"}\\n%.0s' 1 2 3"""
    finished = run(place, f"{asks} | {' '.join(PROGRAM)} permissions check --json - > /dev/full")
    assert finished.stderr == "codeagent: Not all of the output could be written: No space left on device.\n"
    assert finished.returncode == 1


@pytest.mark.parametrize("words", ["permissions check ls", "--help"])
def test_a_reader_that_has_seen_enough_is_told_nothing(place, words):
    finished = run(place, f"{' '.join(PROGRAM)} {words} | true")
    assert (finished.stderr, finished.returncode) == ("", 0)


@pytest.mark.parametrize("closing", ["2>&-", "2> /dev/full"])
def test_errors_that_cannot_be_told_leave_the_exit_code(place, closing):
    finished = run(place, f"{' '.join(PROGRAM)} config set nosuch.key 1 {closing}")
    assert (finished.stdout, finished.returncode) == ("", 2)
