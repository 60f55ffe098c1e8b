from pathlib import Path

import pytest

from codeagent.core.custom_commands import read_command


def command(text):
    return read_command("name", Path("name.md"), text)


def test_the_head_gives_description_and_arguments():
    made = command('---\ndescription: "Look: hard"\nargument-hint: FILE\nmodel: x\n---\n\nReview $1.\n')
    assert (made.summary, made.usage, made.body) == ("Look: hard", "/name FILE", "Review $1.")


def test_without_a_head_the_first_line_describes_it_and_is_sent():
    made = command("# Review\n\nLook hard.")
    assert (made.summary, made.text("")) == ("Review", "# Review\n\nLook hard.")


def test_a_head_without_an_end_is_text():
    assert command("---\ndescription: x\nGo.").body == "---\ndescription: x\nGo."


@pytest.mark.parametrize(
    ("body", "typed", "sent"),
    [
        ("Fix $ARGUMENTS now.", "the bug", "Fix the bug now."),
        ("$2 before $1", "a b", "b before a"),
        ("$1 and $2", "'one two' three", "one two and three"),
        ("$1|$2", "only", "only|"),
        ("Say $1", "$ARGUMENTS $2", "Say $ARGUMENTS"),
        ("costs $10x and $HOME", "", "costs $10x and $HOME"),
        ("No place.", "more", "No place.\n\nmore"),
        ("No place.", "", "No place."),
        ("$1", "it's", "it's"),
    ],
)
def test_arguments_fill_their_places_once(body, typed, sent):
    assert command(body).text(typed) == sent


def test_control_characters_of_a_file_are_taken_out():
    assert command("a\x1b]0;pwn\x07b").body == "ab"
