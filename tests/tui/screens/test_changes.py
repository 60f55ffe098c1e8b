"""The window of changes: as high as what it holds, and where that has no room it says that it scrolls."""

import pytest

from codeagent.core.changes import FileReversal, Reversal, Standing
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


async def test_names_that_differ_only_at_their_end_are_told_apart_in_a_small_window(stage_of):
    folder = "services/accounting/totals_of_discounts"
    diffs = [make_diff(f"{folder}_{number}.py", "a\n", "b\n") for number in (1, 2)]
    files = tuple(FileReversal(path=diff.path, diff=diff, standing=Standing.CONFLICT) for diff in diffs)
    async with stage_of(size=(40, 15)) as stage:
        palette = stage.app.main.transcript._palette
        await stage.app.push_screen(ChangesScreen.of(Reversal(entries=(), what="edit", files=files), palette))
        await stage.until(lambda: "…_discounts_1.py  +1" in stage.text and "…_discounts_2.py  +1" in stage.text)
        assert stage.text.count("you changed the same lines since") == 2
