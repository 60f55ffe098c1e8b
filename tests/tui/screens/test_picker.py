"""Picking one thing from a list, also one that grows while it is open."""

from __future__ import annotations

import asyncio

import pytest

from codeagent.core.approvals import Mode
from codeagent.tui.screens.picker import Item, Picker

ASKING = "asking the services"


async def test_what_is_known_can_be_picked_before_the_services_have_answered(stage_of):
    async with stage_of() as stage:
        stage.bench.services = asyncio.Event()
        await stage.type("/model\n")
        await stage.until(lambda: ASKING in stage.text and "qwen[3]" in stage.text)
        await stage.pilot.press("down", "enter")
        await stage.until(lambda: ASKING not in stage.text and "qwen[3]" in stage.text)


async def test_what_the_bar_stands_on_stays_under_it_when_more_is_known(stage_of):
    async with stage_of() as stage:
        stage.bench.services = asyncio.Event()
        await stage.type("/model\n")
        await stage.until(lambda: ASKING in stage.text)
        await stage.pilot.press("down")
        stage.bench.services.set()
        await stage.until(lambda: "a-new-one" in stage.text and ASKING not in stage.text)
        picker = stage.app.screen
        assert picker._shown[picker._list.highlighted].value == "openai-chat/qwen[3]"


async def test_what_was_typed_still_narrows_the_list_when_more_is_known(stage_of):
    async with stage_of() as stage:
        stage.bench.services = asyncio.Event()
        await stage.type("/model\n")
        await stage.until(lambda: ASKING in stage.text)
        await stage.type("new")
        await stage.until(lambda: "Enter takes it as it is typed" in stage.text)
        stage.bench.services.set()
        await stage.until(lambda: "a-new-one" in stage.text)
        assert "claude-test   " not in stage.text


async def test_escape_leaves_it_at_once_while_the_services_are_asked(stage_of):
    async with stage_of() as stage:
        stage.bench.services = asyncio.Event()
        await stage.type("/model\n")
        await stage.until(lambda: ASKING in stage.text)
        await stage.pilot.press("escape")
        await stage.until(lambda: stage.app.main.is_current)
        stage.bench.services.set()
        await stage.type("still here")
        await stage.until(lambda: "still here" in stage.text)


async def test_what_is_in_use_is_marked_and_the_bar_begins_there(stage_of):
    async with stage_of() as stage:
        await stage.bench.set_model("openai-chat/qwen[3]")
        await stage.type("/model\n")
        await stage.until(lambda: "● openai-chat/qwen[3]" in stage.text)
        assert stage.text.count("●") == 1
        picker = stage.app.screen
        assert picker._shown[picker._list.highlighted].value == "openai-chat/qwen[3]"


async def test_a_model_in_use_that_no_list_knows_is_in_it(stage_of):
    async with stage_of() as stage:
        await stage.bench.set_model("openai/my-own")
        await stage.type("/model\n")
        await stage.until(lambda: "● openai/my-own" in stage.text)
        assert "  anthropic/claude-test" in stage.text


async def test_a_mode_that_is_in_force_is_marked(stage_of):
    async with stage_of() as stage:
        await stage.type("/mode\n")
        await stage.until(lambda: "● ask" in stage.text)


async def test_a_short_list_asks_for_no_letters_and_is_narrowed_by_them_all_the_same(stage_of):
    async with stage_of() as stage:
        await stage.type("/mode\n")
        await stage.until(lambda: "reads and plans" in stage.text)
        assert "narrow down" not in stage.text
        await stage.type("pl")
        await stage.until(lambda: "asks before it changes" not in stage.text)
        await stage.pilot.press("enter")
        await stage.until(lambda: stage.bench.current is Mode.PLAN)


async def test_themes_are_chosen_beside_what_they_colour(stage_of):
    async with stage_of(size=(80, 24)) as stage:
        await stage.type("/theme\n")
        await stage.until(lambda: "dark-contrast" in stage.text)
        window = stage.app.screen.query_one("Vertical").region
        assert window.x >= 40
        assert window.bottom <= stage.app.main.prompt.region.y


@pytest.mark.parametrize("size", [(20, 5), (60, 15)])
async def test_the_bar_is_in_view_on_a_small_screen(stage_of, size):
    async with stage_of(size=size) as stage:
        await stage.type("/theme\n")
        await stage.until(lambda: "Theme" in stage.text)
        await stage.pilot.press("pagedown")
        await stage.until(lambda: "terminal" in stage.text)


async def test_where_there_is_no_room_beside_a_value_its_detail_stands_below_it_a_little_in(stage_of):
    async with stage_of(size=(30, 12)) as stage:
        await stage.pilot.press("ctrl+p")
        await stage.until(lambda: "/help" in stage.text)
        rows = [row.strip("─")[3:].rstrip(" │▄▂▇█") for row in stage.text.split("\n")]
        at = rows.index("/help")
        assert rows[at + 1 : at + 4] == ["  All keys and", "  commands", "/mode"]


async def test_a_long_name_stands_whole_with_what_is_said_of_it_below(stage_of):
    name = "openai-chat/hf.co/unsloth/Qwen3-Coder-30B-A3B-Instruct-GGUF:Q4_K_M"
    items = [Item(value=name, detail="in use"), Item(value="short", detail="another")]
    async with stage_of() as stage:
        stage.app.push_screen(Picker("Model", items))
        await stage.until(lambda: "another" in stage.text)
        lines = [line.strip(" │") for line in stage.text.splitlines()]
        assert lines[lines.index(name) + 1] == "in use"
        assert "short   another" in lines


async def test_a_model_that_plays_a_script_is_told_by_the_scripts_name(stage_of):
    async with stage_of() as stage:
        stage.bench.model_name = "scripted//tmp/far/away/demo.jsonl"
        await stage.type("/model\n")
        await stage.until(lambda: "scripted/demo" in stage.text)
        assert "far/away" not in stage.text
