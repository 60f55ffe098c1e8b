import pytest

from codeagent.core.approvals import Mode
from codeagent.core.commands import (
    COMMANDS,
    CommandName,
    NoSuchCommand,
    is_command,
    parse_command,
)


def test_every_command_has_a_row_in_the_table():
    assert [command.name for command in COMMANDS] == list(CommandName)


def test_a_command_may_be_shortened_when_no_other_begins_so():
    assert parse_command("/th light").name is CommandName.THEME
    assert parse_command("/th light").argument == "light"


def test_a_name_that_could_be_none_is_refused_with_the_way_out():
    with pytest.raises(NoSuchCommand, match="/help lists them all"):
        parse_command("/frobnicate")


@pytest.mark.parametrize("text", ["/etc/hosts is odd", "/help\nand more", " /help", "help", "/usr/bin/env"])
def test_paths_and_longer_texts_are_no_commands(text):
    assert not is_command(text)


async def test_help_lists_commands_and_keys(stage_of):
    async with stage_of(size=(100, 50)) as stage:
        await stage.pilot.press("f1")
        assert "/permissions COMMAND" in stage.text
        assert "alt+enter" in stage.text
        await stage.pilot.press("escape")
        assert "/permissions COMMAND" not in stage.text


async def test_a_question_mark_on_an_empty_prompt_shows_help_and_in_a_text_is_itself(stage_of):
    async with stage_of() as stage:
        await stage.type("why")
        await stage.pilot.press("question_mark")
        assert stage.app.main.prompt.text == "why?"
        await stage.pilot.press("ctrl+c", "question_mark")
        assert "╭─ Help" in stage.text


async def test_mode_can_be_named_or_picked(stage_of):
    async with stage_of() as stage:
        await stage.type("/mode plan\n")
        await stage.until(lambda: stage.bench.current is Mode.PLAN)
        await stage.type("/mode\n")
        await stage.until(lambda: "changes files by itself" in stage.text)
        await stage.pilot.press("up", "up", "enter")
        await stage.until(lambda: stage.bench.current is Mode.EDITS)


async def test_a_mode_that_does_not_exist_is_told(stage_of):
    async with stage_of() as stage:
        await stage.type("/mode fast\n")
        await stage.until(lambda: "There is no mode fast; there are ask, edits, auto, plan." in stage.text)


async def test_themes_are_previewed_live_and_escape_brings_the_old_one_back(stage_of):
    async with stage_of() as stage:
        await stage.type("/theme\n")
        await stage.until(lambda: "╭─ Theme" in stage.text)
        await stage.type("light")
        await stage.until(lambda: stage.app.theme == "light")
        assert not stage.app.palette.is_dark
        await stage.pilot.press("escape")
        await stage.until(lambda: stage.app.theme == "dark")


async def test_permissions_lists_rules_and_explains_a_command(stage_of):
    async with stage_of() as stage:
        await stage.type("/permissions\n")
        await stage.until(lambda: "bash(pytest *)" in stage.text)
        await stage.pilot.press("escape")
        await stage.type("/permissions rm [x]\n")
        await stage.until(lambda: "no rule covers it" in stage.text)
        assert "rm [x]" in stage.text


async def test_doctor_says_what_is_missing_and_how_to_mend_it(stage_of):
    async with stage_of() as stage:
        await stage.type("/doctor\n")
        await stage.until(lambda: "apt install ripgrep" in stage.text)


async def test_copy_puts_the_last_answer_on_the_clipboard(stage_of):
    async with stage_of() as stage:
        await stage.type("/copy\n")
        await stage.until(lambda: "There is no answer to copy yet" in stage.text)
        await stage.type("hello\n")
        await stage.until(lambda: stage.app.bridge.last_answer)
        await stage.type("/copy\n")
        await stage.until(lambda: stage.app.clipboard == "All done.")


async def test_quit_leaves(stage_of):
    async with stage_of() as stage:
        await stage.type("/quit\n")
        await stage.until(lambda: not stage.app.is_running)


async def test_an_unknown_command_is_told_and_never_sent(stage_of):
    async with stage_of() as stage:
        await stage.type("/nope\n")
        await stage.until(lambda: "There is no command /nope." in stage.text)
        assert stage.conversation.sent == []


async def test_the_palette_offers_the_same_commands(stage_of):
    async with stage_of() as stage:
        await stage.pilot.press("ctrl+p")
        await stage.until(lambda: "/mode" in stage.text)
        await stage.type("theme")
        await stage.until(lambda: "/mode" not in stage.text)
        await stage.pilot.press("enter")
        await stage.until(lambda: "╭─ Theme" in stage.text)
