from pathlib import Path

import pytest

from codeagent.core.approvals import Mode
from codeagent.core.custom_commands import FoundCommands, read_command
from codeagent.core.events import TurnEnd, TurnEnded


async def test_help_lists_commands_and_keys(stage_of):
    async with stage_of(size=(100, 90)) as stage:
        await stage.pilot.press("f1")
        await stage.until(lambda: "alt+enter" in stage.text)
        await stage.pilot.press("end")
        await stage.until(lambda: "/permissions COMMAND" in stage.text)
        await stage.pilot.press("escape")
        await stage.until(lambda: "/permissions COMMAND" not in stage.text)


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
        await stage.pilot.press("escape")
        await stage.until(lambda: stage.app.theme == "dark")


PREVIEWED = ["light", "light-colour-blind", "light-contrast"]
"""What completes ``/theme li`` first."""


async def test_a_theme_that_the_list_is_gone_to_is_shown_at_once_and_taken_back_with_the_list(stage_of):
    async with stage_of() as stage:
        await stage.type("/theme li")
        await stage.until(lambda: PREVIEWED[-1] in stage.text)
        assert stage.app.theme == "dark"
        for key, name in (("down", PREVIEWED[1]), ("down", PREVIEWED[2]), ("up", PREVIEWED[1]), ("up", PREVIEWED[0])):
            await stage.pilot.press(key)
            await stage.until(lambda name=name: stage.app.theme == name)
        await stage.pilot.press("escape")
        await stage.until(lambda: stage.app.theme == "dark")
        assert stage.app.main.prompt.text == "/theme li"


@pytest.mark.parametrize("key", ["a", "backspace", "ctrl+c"])
async def test_another_text_takes_the_theme_back_that_was_looked_at(stage_of, key):
    async with stage_of() as stage:
        await stage.type("/theme li")
        await stage.until(lambda: PREVIEWED[-1] in stage.text)
        await stage.pilot.press("down")
        await stage.until(lambda: stage.app.theme == PREVIEWED[1])
        await stage.pilot.press(key)
        await stage.until(lambda: stage.app.theme == "dark")


async def test_a_theme_that_was_looked_at_and_taken_stays_in_view_and_is_it_once_sent(stage_of):
    async with stage_of() as stage:
        shown = []
        stage.app.theme_changed_signal.subscribe(stage.app, lambda theme: shown.append(theme.name))
        await stage.type("/theme li")
        await stage.until(lambda: PREVIEWED[-1] in stage.text)
        await stage.pilot.press("down", "tab")
        await stage.until(lambda: stage.app.main.prompt.text == f"/theme {PREVIEWED[1]} ")
        await stage.pilot.pause()
        await stage.pilot.press("enter")
        await stage.until(lambda: stage.app.main.prompt.is_empty)
        await stage.pilot.pause()
        assert shown == [PREVIEWED[1]]
        await stage.type("/theme da")
        await stage.until(lambda: "dark-contrast" in stage.text)
        await stage.pilot.press("down", "escape")
        await stage.until(lambda: stage.app.theme == PREVIEWED[1])


async def test_permissions_lists_rules_and_explains_a_command(stage_of):
    async with stage_of() as stage:
        await stage.type("/permissions\n")
        await stage.until(lambda: "bash(pytest *)" in stage.text)
        await stage.pilot.press("escape")
        await stage.type("/permissions rm [x]\n")
        await stage.until(lambda: "no rule covers it" in stage.text)
        assert "rm [x]" in stage.text
        assert "! x would be deleted." in stage.text


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


async def test_a_turn_that_says_nothing_leaves_the_last_answer_to_copy(stage_of):
    async with stage_of() as stage:
        await stage.type("hello\n")
        await stage.until(lambda: stage.app.bridge.last_answer)
        stage.app.bridge.emit(TurnEnded(turn=2, reason=TurnEnd.DONE, text=""))
        assert stage.app.bridge.last_answer == "All done."


async def test_quit_leaves(stage_of):
    async with stage_of() as stage:
        await stage.type("/quit\n")
        await stage.until(lambda: not stage.app.is_running)


async def test_an_unknown_command_is_told_and_never_sent(stage_of):
    async with stage_of() as stage:
        await stage.type("/nope\n")
        await stage.until(lambda: "There is no command /nope." in stage.text)
        assert stage.conversation.sent == []


async def test_an_unknown_command_stays_in_the_prompt_and_the_one_meant_is_named(stage_of):
    async with stage_of() as stage:
        await stage.type("/themx\n")
        await stage.until(lambda: "Did you mean /theme?" in stage.text)
        assert stage.app.main.prompt.text == "/themx"
        assert stage.conversation.sent == []


async def test_ctrl_c_clears_an_unknown_command_and_copies_nothing(stage_of):
    async with stage_of() as stage:
        await stage.type("/zzz\n")
        await stage.until(lambda: stage.app.main.prompt.text == "/zzz")
        await stage.pilot.press("ctrl+c")
        assert stage.app.main.prompt.is_empty
        assert stage.app.clipboard == ""


async def test_what_is_typed_after_an_unknown_command_takes_its_place_and_up_brings_it_back(stage_of):
    async with stage_of() as stage:
        await stage.type("/themx\n")
        await stage.until(lambda: "Did you mean /theme?" in stage.text)
        await stage.type("hi")
        prompt = stage.app.main.prompt
        assert prompt.text == "hi"
        await stage.pilot.press("up")
        assert prompt.text == "/themx"
        await stage.pilot.press("backspace", "e")
        assert prompt.text == "/theme"


async def test_an_answer_that_nothing_is_there_is_no_warning(stage_of):
    async with stage_of() as stage:
        await stage.type("/unpin\n/rename\n")
        await stage.until(lambda: "A title is missing" in stage.text)
        assert " · Nothing is pinned." in stage.text
        assert not any(line.startswith(" ! ") for line in stage.text.splitlines())


async def test_the_palette_offers_the_same_commands(stage_of):
    async with stage_of() as stage:
        await stage.pilot.press("ctrl+p")
        await stage.until(lambda: "/mode" in stage.text)
        await stage.type("theme")
        await stage.until(lambda: "/mode" not in stage.text)
        await stage.pilot.press("enter")
        await stage.until(lambda: "╭─ Theme" in stage.text)


def found(**texts: str) -> FoundCommands:
    folder = Path("/home/me/commands")
    commands = tuple(read_command(name, folder / f"{name}.md", text) for name, text in texts.items())
    return FoundCommands(folder=folder, commands=commands)


async def test_a_command_of_ones_own_sends_its_text_with_the_arguments(stage_of):
    async with stage_of(custom=found(review="---\ndescription: Look hard\n---\nReview $1, then $ARGUMENTS.")) as stage:
        await stage.type("/review a.py b.py\n")
        await stage.until(lambda: stage.conversation.sent == ["Review a.py, then a.py b.py."])
        await stage.pilot.press("up")
        assert stage.app.main.prompt.text == "/review a.py b.py"


async def test_commands_of_ones_own_are_completed_listed_and_in_the_help(stage_of):
    custom = found(review="---\ndescription: Look hard\nargument-hint: FILE\n---\nGo.")
    async with stage_of(size=(100, 50), custom=custom) as stage:
        await stage.type("/rev")
        await stage.until(lambda: "Look hard" in stage.text)
        await stage.pilot.press("ctrl+c", "ctrl+p")
        await stage.until(lambda: "╭─ Commands" in stage.text)
        await stage.type("review")
        await stage.pilot.press("enter")
        await stage.until(lambda: stage.app.main.prompt.text == "/review ")
        await stage.pilot.press("f1")
        await stage.until(lambda: "╭─ Help" in stage.text)
        await stage.pilot.press("end")
        await stage.until(lambda: "/review FILE" in stage.text)
        assert "/home/me/commands" in stage.text


async def test_one_that_came_after_the_start_counts_as_soon_as_a_slash_is_typed(stage_of):
    async with stage_of() as stage:
        stage.bench.custom = found(late="Better late.")
        await stage.type("/")
        await stage.until(lambda: len(stage.app._custom.known) == 1)
        await stage.type("late\n")
        await stage.until(lambda: stage.conversation.sent == ["Better late."])


async def test_the_text_of_a_command_is_never_run(stage_of):
    async with stage_of(custom=found(trap="!touch owned", slash="/quit")) as stage:
        await stage.type("/trap\n")
        await stage.until(lambda: stage.conversation.sent == ["!touch owned"])
        await stage.type("/slash\n")
        await stage.until(lambda: stage.conversation.sent == ["!touch owned", "/quit"])
        assert stage.bench.ran == []


async def test_a_command_of_ones_own_on_the_command_line_waits_for_the_session(stage_of):
    async with stage_of(prompt="/hello you", custom=found(hello="Say hello to $1.")) as stage:
        await stage.until(lambda: stage.conversation.sent == ["Say hello to you."])


async def test_a_command_of_an_untrusted_project_says_how_it_would_count(stage_of):
    custom = FoundCommands(folder=Path("/c"), withheld=("deploy",))
    async with stage_of(custom=custom) as stage:
        await stage.type("/deploy\n")
        await stage.until(lambda: "/deploy is a command of this project, which is not trusted" in stage.text)
        assert stage.conversation.sent == []


async def test_a_file_that_makes_no_command_is_told_once(stage_of):
    custom = FoundCommands(folder=Path("/c"), notices=("/c/help.md makes no command: there is a /help.",))
    async with stage_of(custom=custom) as stage:
        await stage.until(lambda: "/c/help.md makes no command" in stage.text)
        await stage.type("/")
        await stage.until(lambda: "Colours; without a name a list shows each live" in stage.text)
        assert stage.text.count("makes no command") == 1
