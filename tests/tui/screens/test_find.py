"""Ctrl+F finds in the transcript, whoever has the keyboard."""

from codeagent.core.messages import CommandDetails, TextBlock, ToolResult


def fill(stage):
    transcript = stage.app.main.transcript
    for number in range(30):
        transcript.add_user(f"message {number}")
    transcript.tool_started("1", "bash", '{"command": "make"}')
    details = CommandDetails(command="make", cwd=".", ended="exit code 0", exit_code=0)
    transcript.tool_ended(ToolResult(call_id="1", blocks=(TextBlock(text="the [needle]"),), details=details), 1)


async def test_what_is_typed_is_found_and_counted(stage_of):
    async with stage_of() as stage:
        fill(stage)
        await stage.pilot.press("ctrl+f")
        await stage.type("message 1")
        await stage.until(lambda: "11 of 11" in stage.text)
        await stage.pilot.press("enter", "up")
        await stage.until(lambda: "9 of 11" in stage.text)
        await stage.pilot.press("down")
        await stage.until(lambda: "10 of 11" in stage.text)


async def test_words_folded_away_in_a_panel_are_shown(stage_of):
    async with stage_of() as stage:
        fill(stage)
        await stage.pilot.press("ctrl+f", *"[needle")
        await stage.until(lambda: "1 of 1" in stage.text and "the [needle]" in stage.text)
        await stage.pilot.press("tab")
        await stage.until(lambda: stage.app.main.transcript.has_focus)
        assert "the [needle]" in stage.text
        assert "1 of 1" not in stage.text


async def test_escape_gives_prompt_and_place_back(stage_of):
    async with stage_of() as stage:
        fill(stage)
        await stage.type("a draft")
        await stage.pilot.press("ctrl+f")
        await stage.type("message 2\n")
        await stage.until(lambda: "of 11" in stage.text)
        assert "esc back" in stage.text
        await stage.pilot.press("escape")
        await stage.type(" goes on")
        await stage.until(lambda: "a draft goes on" in stage.text)
        assert stage.app.main.transcript.follows


async def test_nothing_found_is_said(stage_of):
    async with stage_of() as stage:
        fill(stage)
        await stage.pilot.press("ctrl+f")
        await stage.type("absent")
        await stage.until(lambda: "not found" in stage.text)


async def test_what_is_said_of_a_message_of_the_persons_is_found_and_is_not_copied_with_it(stage_of):
    async with stage_of() as stage:
        transcript = stage.app.main.transcript
        transcript.add_user("go on", note="seen before step 7")
        fill(stage)
        await stage.until(lambda: "message 29" in stage.text and "seen before" not in stage.text)
        await stage.pilot.press("ctrl+f")
        await stage.type("before step 7")
        await stage.until(lambda: "1 of 1" in stage.text and "seen before step 7" in stage.text)
        assert stage.app.screen.get_selected_text() == ""


async def test_times_are_found_while_they_are_shown(stage_of):
    async with stage_of() as stage:
        transcript = stage.app.main.transcript
        fill(stage)
        time = transcript.column.time_shown(3)
        assert time == ""
        await stage.pilot.press("ctrl+f")
        await stage.type(":")
        await stage.until(lambda: "not found" in stage.text)
        await stage.pilot.press("escape", "f2", "ctrl+f")
        await stage.type(":")
        await stage.until(lambda: "of 31" in stage.text)
        await stage.pilot.press("enter")
        await stage.until(lambda: "30 of 31" in stage.text)
        assert "message 29" in stage.text
