from pathlib import Path

import pytest

from codeagent.core.commands import (
    COMMANDS,
    CommandCall,
    CommandName,
    CustomCall,
    NoSuchCommand,
    is_command,
    parse_command,
)
from codeagent.core.custom_commands import read_command


def made(*names):
    return [read_command(name, Path(f"{name}.md"), "Do $ARGUMENTS.") for name in names]


def test_every_command_has_a_row_in_the_table():
    assert [command.name for command in COMMANDS] == list(CommandName)


def test_a_command_may_be_shortened_when_no_other_begins_so():
    assert parse_command("/th light").name is CommandName.THEME
    assert parse_command("/th light").argument == "light"


def test_a_name_that_could_be_none_is_refused_with_the_way_out():
    with pytest.raises(NoSuchCommand, match="Typing / lists them all"):
        parse_command("/frobnicate")


@pytest.mark.parametrize("text", ["/etc/hosts is odd", "/help\nand more", " /help", "help", "/usr/bin/env"])
def test_paths_and_longer_texts_are_no_commands(text):
    assert not is_command(text)


def test_a_command_of_ones_own_is_found_by_its_name_or_the_beginning_of_it():
    custom = made("review", "git:commit")
    for text in ("/review it", "/rev it"):
        call = parse_command(text, custom)
        assert isinstance(call, CustomCall)
        assert call.text == "Do it."
    assert parse_command("/git:commit", custom) == CustomCall(command=custom[1])


@pytest.mark.parametrize("typed", ["/quit", "/q", "/resum"])
def test_none_of_ones_own_takes_a_name_or_its_beginning_from_the_table(typed):
    call = parse_command(typed, made("quit", "q2", "resumption"))
    assert isinstance(call, CommandCall)


def test_a_name_that_two_begin_with_is_refused_with_both():
    with pytest.raises(NoSuchCommand, match="/fix-a or /fix-b"):
        parse_command("/fix", made("fix-a", "fix-b"))
