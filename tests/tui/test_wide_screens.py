"""On a screen of 200 columns what belongs together stands together."""

import pytest

from tests.tui import scenes

WIDE = (200, 40)


async def test_what_came_of_a_call_stands_near_it(stage_of):
    async with stage_of(scenes.tools_in_every_state, size=WIDE) as stage:
        await stage.type("go\n")
        await stage.until(lambda: "7 matches in 3 files" in stage.text)
        row = next(row for row in stage.text.splitlines() if "7 matches in 3 files" in row)
        assert 100 < len(row) <= 120


async def test_the_time_stands_beside_it(stage_of):
    async with stage_of(scenes.tools_in_every_state, size=WIDE) as stage:
        await stage.type("go\n")
        await stage.pilot.press("f2")
        await stage.until(lambda: "7 matches in 3 files  " in stage.text)
        row = next(row for row in stage.text.splitlines() if "7 matches in 3 files" in row)
        assert len(row) <= 132


@pytest.mark.parametrize("keys", [["ctrl+p"], ["ctrl+r"], [*"/resume", "enter"]])
async def test_a_list_is_no_wider_than_it_can_be_read(stage_of, keys):
    async with stage_of(size=WIDE) as stage:
        stage.bench.typed.append("an older message")
        await stage.pilot.press(*(key.replace("/", "slash") for key in keys))
        await stage.until(lambda: "esc leave" in stage.text)
        assert max(row.index("╮") for row in stage.text.splitlines() if "╮" in row) < 122


async def test_how_to_take_a_message_back_stands_beside_it(stage_of):
    async with stage_of(scenes.streaming, size=WIDE) as stage:
        await stage.type("go\n")
        await stage.until(lambda: "esc stop" in stage.text)
        await stage.type("also this\n")
        await stage.until(lambda: "take back" in stage.text)
        row = next(row for row in stage.text.splitlines() if "take back" in row)
        assert len(row) <= 124
