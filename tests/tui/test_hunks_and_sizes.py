"""Whatever the window becomes meanwhile, the hunk that the keys are for is in view."""

import random
from dataclasses import replace

import pytest

from codeagent.core.approvals import DiffPreview
from codeagent.core.diff import make_diff
from tests.tui.test_typing_at_questions import Asking, until_it_listens

BEFORE = "".join(
    f"line {number} {'of a text that is long enough to wrap ' * (number % 3)}\n" for number in range(1, 61)
)
SIZES = ((80, 24), (20, 5), (60, 15), (200, 60), (100, 30), (120, 40), (40, 12))


def three_hunks(ask_diff):
    after = BEFORE
    for number in (3, 30, 55):
        after = after.replace(f"line {number} ", f"line number {number} ")
    return replace(ask_diff("c1"), preview=DiffPreview(diff=make_diff("cart.py", BEFORE, after), proposal=after))


def in_view(stage):
    """Whether the pointer at the hunk or its change is on the screen."""
    number = (3, 30, 55)[stage.app.main.approval.in_view.hunk]
    return "▸" in stage.text or f" {number} − line" in stage.text or f"line number {number}" in stage.text


async def stays(stage):
    """Waits until all is laid out."""
    dialog = stage.app.main.approval
    for _ in range(3):
        await stage.pilot.pause()
    await stage.until(lambda: dialog.is_cramped or in_view(stage), seconds=15)


@pytest.mark.parametrize(
    ("keys", "way"),
    [
        ("jj", [(20, 5), (80, 24)]),
        ("jjk", [(200, 60), (80, 24)]),
        ("j ", [(20, 5), (60, 15)]),
        ("j", [(60, 15)]),
        ("jj", [(40, 12)]),
    ],
)
async def test_the_chosen_hunk_is_in_view_after_the_window_changed(stage_of, ask_diff, keys, way):
    asking = Asking(three_hunks(ask_diff))
    async with stage_of(asking) as stage:
        await stage.type("go\n")
        await until_it_listens(stage)
        await stage.pilot.press(*["space" if key == " " else key for key in keys])
        for size in way:
            await stage.pilot.resize_terminal(*size)
            await stays(stage)
        assert not stage.app.main.approval.is_cramped


@pytest.mark.parametrize("seed", range(6))
async def test_it_is_so_after_any_keys_and_sizes(stage_of, ask_diff, seed):
    chance = random.Random(seed)
    asking = Asking(three_hunks(ask_diff))
    async with stage_of(asking) as stage:
        await stage.type("go\n")
        await until_it_listens(stage)
        for _ in range(2):
            dialog, size = stage.app.main.approval, chance.choice(SIZES)
            await stage.pilot.resize_terminal(*size)
            await stays(stage)
            if not dialog.is_cramped:
                await stage.pilot.press(chance.choice(["j", "k", "space"]))
                await stays(stage)
