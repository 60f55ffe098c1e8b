"""What one does in the transcript with keys alone: point, open, keep open, copy, find, see the times."""

import pytest
from textual import events

from codeagent.core.messages import CommandDetails, TextBlock, ToolResult


def ran(stage, number: str, said: str) -> None:
    transcript = stage.app.main.transcript
    transcript.tool_started(number, "bash", f'{{"command": "make {number}"}}')
    details = CommandDetails(command=f"make {number}", cwd=".", ended="exit code 0", exit_code=0)
    transcript.tool_ended(ToolResult(call_id=number, blocks=(TextBlock(text=said),), details=details), 1)


async def test_a_panel_is_opened_and_copied_with_keys(stage_of):
    async with stage_of() as stage:
        ran(stage, "1", "first [words]")
        ran(stage, "2", "second [words]")
        await stage.pilot.press("tab", "up", "enter")
        await stage.until(lambda: "first [words]" in stage.text)
        await stage.pilot.press("c")
        await stage.until(lambda: stage.app.clipboard == "first [words]")
        await stage.pilot.press("enter")
        await stage.until(lambda: "first [words]" not in stage.text)


async def test_a_panel_that_is_kept_open_stays_open_when_all_are_closed(stage_of):
    async with stage_of() as stage:
        ran(stage, "1", "first [words]")
        ran(stage, "2", "second [words]")
        await stage.pilot.press("tab", "up", "p")
        await stage.until(lambda: "kept open" in stage.text and "first [words]" in stage.text)
        await stage.pilot.press("ctrl+o")
        await stage.until(lambda: "second [words]" in stage.text)
        await stage.pilot.press("ctrl+o")
        await stage.until(lambda: "second [words]" not in stage.text)
        assert "first [words]" in stage.text
        await stage.pilot.press("p", "ctrl+o", "ctrl+o")
        await stage.until(lambda: "first [words]" not in stage.text)
        assert "kept open" not in stage.text


async def test_closing_a_panel_that_is_kept_open_lets_it_go(stage_of):
    async with stage_of() as stage:
        ran(stage, "1", "first [words]")
        await stage.pilot.press("tab", "p", "enter")
        await stage.until(lambda: "first [words]" not in stage.text)
        assert "kept open" not in stage.text


async def test_a_search_leaves_open_what_is_kept_open(stage_of):
    async with stage_of() as stage:
        ran(stage, "1", "first [words]")
        await stage.pilot.press("ctrl+f", *"first")
        await stage.until(lambda: "1 of 1" in stage.text)
        await stage.pilot.press("tab", "p")
        await stage.until(lambda: "kept open" in stage.text)
        await stage.pilot.press("ctrl+f", "escape")
        await stage.pilot.pause()
        assert "first [words]" in stage.text


async def test_times_are_shown_and_hidden_by_a_key(stage_of):
    async with stage_of() as stage:
        await stage.type("hello\n")
        await stage.until(lambda: "hello" in stage.text)
        before = stage.text
        await stage.pilot.press("f2")
        await stage.until(lambda: stage.text != before)
        await stage.pilot.press("f2")
        await stage.until(lambda: stage.text == before)


@pytest.mark.parametrize("is_paste", [False, True])
async def test_text_at_the_transcript_goes_to_the_prompt_whole(stage_of, is_paste):
    async with stage_of() as stage:
        await stage.type("go\n")
        await stage.pilot.press("tab")
        await stage.until(lambda: stage.app.focused is stage.app.main.transcript)
        if is_paste:
            stage.app.post_message(events.Paste("hello\nyou"))
        else:
            await stage.type("hello you")
        await stage.until(lambda: stage.app.main.prompt.text.split() == ["hello", "you"])
        assert stage.app.focused is stage.app.main.prompt
