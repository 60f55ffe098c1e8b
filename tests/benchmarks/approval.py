"""A question about a change of 10,000 lines: until it is open, and from one hunk to the next."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widgets import Input

from codeagent.core.approvals import ApprovalRequest, Decision, DiffPreview, Verdict
from codeagent.core.diff import make_diff
from codeagent.tui.themes import load_themes, to_textual
from codeagent.tui.widgets.approval import ApprovalDialog
from codeagent.tui.widgets.diff_layout import Side
from tests.benchmarks.row import Row, row
from tests.benchmarks.stall import Stall, stall_rows, watched

SIZES = {"unified": (100, 40), "side by side": (200, 50)}
ROUNDS = 5
HUNKS = 30
BEFORE = "".join(
    f"    total_{number} = compute(price[{number}], 'a word', {number})  # line {number}\n" for number in range(20_000)
)
LINES = BEFORE.splitlines(keepends=True)


def _change() -> ApprovalRequest:
    """Ten thousand changed lines in stretches of fifty, and a few unchanged ones between them."""
    after = [line.replace("compute", "work_out") if number % 100 < 50 else line for number, line in enumerate(LINES)]
    diff = make_diff("shop/cart.py", BEFORE, "".join(after))
    verdict = Verdict(decision=Decision.ASK, because="In ask mode every change is asked about.")
    preview = DiffPreview(diff=diff, proposal="".join(after))
    return ApprovalRequest(call_id="1", tool="edit", preview=preview, touches=(), verdict=verdict)


class Page(App[None]):
    """The dialog alone."""

    def __init__(self) -> None:
        super().__init__()
        palette = load_themes()["dark"]
        self.register_theme(to_textual(palette))
        self.theme = "dark"
        self.home = Input()
        self.dialog = ApprovalDialog(palette, home=self.home, keymap={})

    def compose(self) -> ComposeResult:
        yield self.dialog
        yield self.home


@asynccontextmanager
async def opened(size: tuple[int, int]) -> AsyncIterator[tuple[Page, Pilot[None]]]:
    app = Page()
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        yield app, pilot


def run() -> list[Row]:
    """All rows, with what is there before put out of the collector's way, as the program does at its start."""
    gc.collect()
    gc.freeze()
    request = _change()
    rows: list[Row] = []
    for name, size in SIZES.items():
        side = Side.BELOW if name == "unified" else Side.BESIDE
        taken = [asyncio.run(_asked(request, size, side)) for _ in range(ROUNDS)]
        stalls = [asyncio.run(_stalled(request, size, side)) for _ in range(ROUNDS)]
        steps = [one for _, some in taken for one in some]
        rows += [
            row(f"{name}: open, CPU", [one[0] for one in taken], "ms", bar="≤ 150", at_most=150),
            *stall_rows(name, stalls, 100),
            row(f"{name}: from hunk to hunk, CPU of all threads", steps, "ms", bar="≤ 20", at_most=20),
        ]
    return rows


async def _asked(request: ApprovalRequest, size: tuple[int, int], side: Side) -> tuple[float, list[float]]:
    """CPU ms until the question is drawn, and of each step of one who holds the key down."""
    async with opened(size) as (app, pilot):
        started = time.process_time()
        _ask(app, request, side)
        await pilot.pause()
        taken = time.process_time() - started
        steps: list[float] = []
        for _ in range(HUNKS):
            started = time.process_time()
            app.dialog.action_hunk(1)
            await pilot.pause()
            steps.append((time.process_time() - started) * 1_000)
        return taken * 1_000, steps


async def _stalled(request: ApprovalRequest, size: tuple[int, int], side: Side) -> Stall:
    """The longest stall while the question opens; watching it costs CPU of its own."""
    async with opened(size) as (app, pilot), watched() as stall:
        _ask(app, request, side)
        await pilot.pause()
        return stall


def _ask(app: Page, request: ApprovalRequest, side: Side) -> None:
    app.dialog.use_side(side)
    app.dialog.add(1, request)
    app.dialog.take_keyboard(by_itself=False)
