"""What fills the window and what the session cost: columns are shortened where there is little room, and never wrap."""

from dataclasses import replace

import pytest

from codeagent.core.context import ContextPart, ContextReport
from codeagent.core.messages import Unpriced, Usage
from codeagent.tui.costs import CostBook, TurnCost
from codeagent.tui.screens.reports import context_text, cost_text

USAGE = Usage(input_tokens=12_345, cache_read_tokens=45_678, cache_write_tokens=1_234, output_tokens=6_789)
PARTS = (
    ContextPart(name="tool results", tokens=123_456),
    ContextPart(name="a/very/long/path/to/some/module/of/it.py", tokens=1_234, note="it was changed since"),
)
REPORT = ContextReport(parts=PARTS, used=124_690, window=200_000, is_estimate=False, compact_at=0.8)


@pytest.mark.parametrize("width", [24, 31, 40, 51, 59])
def test_the_rows_of_what_fills_the_window_are_shortened(width):
    rows = context_text(REPORT, "m", width).plain.split("\n")[1:]
    assert max(len(row) for row in rows if row.startswith("  ")) <= width
    found = [row for row in rows if "123,456" in row]
    assert [row.split()[0] for row in found] == ["tool"]
    assert "tool results" in found[0]
    assert any(row.strip().startswith("…") and "module/of/it.py"[-8:] in row and "1,234" in row for row in rows)
    assert ("━" in found[0]) is (width >= 51)


@pytest.mark.parametrize("width", [24, 31, 40, 51, 59])
def test_the_rows_of_what_the_session_cost_are_shortened(width):
    turn = TurnCost(turn=1, text="the totals are wrong when a discount is 100 %", usage=USAGE, cost=0.12)
    rows = cost_text(CostBook(usage=USAGE, cost=0.5, turns=[turn]), width).plain.split("\n")
    assert max(map(len, rows)) <= width
    assert [row.split()[0] for row in rows[1:5]] == ["sent", "cached", "stored", "received"]
    assert all(number in row for number, row in zip(("59,257", "45,678", "1,234", "6,789"), rows[1:5], strict=True))
    assert rows[-2].startswith("   1  the totals")
    assert rows[-1].startswith("      $0.12")


def test_money_without_a_price_goes_on_below_rather_than_being_left_out():
    turn = TurnCost(turn=1, text="go", usage=USAGE, cost=0.12, unpriced=(Unpriced(model="q", tokens=1_234),))
    rows = cost_text(CostBook(usage=USAGE, cost=0.5, turns=[turn]), 31).plain.split("\n")
    assert " ".join(" ".join(rows[-2:]).split()) == "$0.1200 + 1,234 tokens without a price"
    assert max(map(len, rows)) <= 31


@pytest.mark.parametrize("width", [59, 71, 113])
def test_all_bars_begin_in_one_column_whatever_is_named(width):
    report = replace(REPORT, by_file=PARTS[1:], by_tool=(ContextPart(name="read", tokens=9_000),))
    rows = context_text(report, "m", width).plain.split("\n")
    assert len({min(row.index(bar) for bar in "━─" if bar in row) for row in rows if "─" in row}) == 1


def test_in_a_wide_window_names_stand_whole_and_bars_take_the_rest():
    rows = context_text(REPORT, "m", 113).plain.split("\n")
    assert [len(row) for row in rows if "━" in row] == [113]
    assert any(PARTS[1].name in row and len(row) == 113 for row in rows)
