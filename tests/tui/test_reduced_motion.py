"""Nothing on the screen slides, fades or blinks: each step is there at once."""

from itertools import pairwise

from textual.widgets import Input, TextArea

from codeagent.core.events import ToolRunning, ToolStarted
from tests.tui import scenes


def is_still(stage) -> bool:
    animator = stage.app.animator
    return not animator._animations and not animator._scheduled


async def test_scrolling_and_choosing_come_at_once(stage_of):
    async with stage_of(scenes.done) as stage:
        await stage.type("the totals are wrong\n")
        await stage.until(lambda: "still let through" in stage.text)
        keys = "pageup pagedown ctrl+home ctrl+end ctrl+o ctrl+o f1 pagedown down end escape"
        keys += " ctrl+p pagedown down end escape ctrl+f d down escape shift+tab f2 f2"
        for key in keys.split():
            await stage.pilot.press(key)
            assert is_still(stage), key


async def test_another_theme_is_there_at_once(stage_of):
    async with stage_of() as stage:
        await stage.type("/theme\n")
        await stage.until(lambda: "colour-blind" in stage.text)
        for _ in range(4):
            await stage.pilot.press("down")
            assert is_still(stage)


async def test_no_field_has_a_cursor_that_blinks(stage_of):
    async with stage_of(scenes.asking(scenes.change())) as stage:
        for opens in ("/permissions\n", "/resume\n", "/model\n"):
            await stage.type(opens)
            await stage.until(lambda: stage.app.screen is not stage.app.main)
            await stage.pilot.press("a")
            fields = [*stage.app.screen.query(Input), *stage.app.screen.query(TextArea)]
            assert fields
            assert not any(field.cursor_blink for field in fields)
            while stage.app.screen is not stage.app.main:
                await stage.pilot.press("escape")
        assert not any(field.cursor_blink for field in [*stage.app.main.query(Input), *stage.app.main.query(TextArea)])


async def test_a_running_call_is_drawn_anew_once_a_second(stage_of, monkeypatch):
    now = [100.0]
    monkeypatch.setattr("codeagent.tui.widgets.transcript.monotonic", lambda: now[0])
    async with stage_of() as stage:
        transcript = stage.app.main.transcript
        stage.app.bridge.emit(ToolStarted(call_id="b1", name="bash", arguments_json='{"command": "make"}'))
        stage.app.bridge.emit(ToolRunning(call_id="b1"))
        seen = []
        for tenth in range(30):
            now[0] = 100.0 + tenth / 10
            transcript.flush()
            seen.append([transcript.render_line(row).text for row in range(transcript.size.height)])
        assert sum(one != two for one, two in pairwise(seen)) == 2
