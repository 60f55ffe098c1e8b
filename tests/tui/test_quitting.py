"""Ctrl+C asks whether to quit, and what is done after that takes the question back."""

import pytest

from tests.tui.conftest import command_request
from tests.tui.test_typing_at_questions import Asking, until_it_listens


@pytest.mark.parametrize("typed", ["hello\n", "!true\n", "/help\n"])
async def test_sending_something_after_ctrl_c_lets_the_next_one_ask_again(stage_of, typed):
    async with stage_of() as stage:
        await stage.pilot.press("ctrl+c")
        assert "again quits" in stage.text
        await stage.type(typed)
        stage.app.main.status.forget_remark()
        while stage.app.screen is not stage.app.main:
            await stage.pilot.press("escape")
        await stage.pilot.press("ctrl+c")
        assert "again quits" in stage.text
        assert stage.app.is_running


async def test_typing_after_ctrl_c_takes_its_question_from_the_screen(stage_of):
    async with stage_of() as stage:
        await stage.pilot.press("ctrl+c")
        assert "again quits" in stage.text
        await stage.type("a")
        assert "again quits" not in stage.text
        await stage.pilot.press("backspace", "ctrl+c")
        assert "again quits" in stage.text
        assert stage.app.is_running


async def test_an_answer_after_ctrl_c_lets_the_next_one_ask_again(stage_of):
    async with stage_of(Asking(command_request("ls"))) as stage:
        await stage.type("go\n")
        await until_it_listens(stage)
        await stage.pilot.press("ctrl+c")
        await stage.press_slowly("y")
        await stage.until(lambda: not stage.app.main.approval.waiting)
        await stage.pilot.press("ctrl+c")
        assert stage.app.is_running
