"""The window of changes: as high as what it holds, and where that has no room it says that it scrolls."""

import pytest

from codeagent.core.diff import make_diff
from codeagent.tui.screens.changes import ChangesScreen


@pytest.mark.parametrize("count", range(14, 22))
async def test_all_of_a_change_is_seen_or_the_window_says_that_it_scrolls(stage_of, count):
    diff = make_diff("a.py", "", "".join(f"line {number}\n" for number in range(1, count + 1)))
    async with stage_of(size=(80, 24)) as stage:
        await stage.app.push_screen(ChangesScreen("Changes", stage.app.main.transcript._palette, (diff,)))
        await stage.until(lambda: "line 1" in stage.text and "esc leave" in stage.text)
        await stage.pilot.pause()
        assert (f"line {count}" in stage.text) is ("scroll" not in stage.text)
