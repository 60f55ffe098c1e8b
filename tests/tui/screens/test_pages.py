"""Pages are laid out for their width: nothing is cut, and what goes on in another line stands below its own first."""

import pytest

from codeagent.core.approvals import Decision, Verdict, VerdictPart
from codeagent.core.desk import Check, CheckState
from codeagent.tui.screens.pages import doctor_text, verdict_text

LONG = "sandboxed by bubblewrap: writes to the workspace, ~/.cache/pip, ~/.npm and temporary files; network open"


@pytest.mark.parametrize("width", [40, 67, 89])
def test_what_doctor_found_hangs_below_its_own_first_line(width):
    checks = [Check(name="sandbox", state=CheckState.LIMITED, finding=LONG, remedy=LONG)]
    rows = doctor_text(checks, width).plain.split("\n")
    assert max(map(len, rows)) <= width
    assert rows[0].startswith("● sandbox  sandboxed")
    assert all(row.startswith(" " * 11) and row[11] != " " for row in rows[1:])


def test_the_reasons_of_a_verdict_hang_below_the_words():
    part = VerdictPart(words=("rm", *["file"] * 30), decision=Decision.ASK, because=LONG)
    rows = verdict_text("rm …", Verdict(decision=Decision.ASK, because=LONG, parts=(part,)), 60).plain.split("\n")
    assert max(map(len, rows)) <= 60
    assert all(row.startswith((" " * 7, "ask    ")) for row in rows[1:] if row)


@pytest.mark.parametrize("width", [15, 21, 30])
def test_where_a_text_has_no_room_beside_its_name_it_stands_below_it_a_little_in(width):
    check = Check(name="sandbox", state=CheckState.LIMITED, finding=LONG, remedy=LONG)
    rows = doctor_text([check], width).plain.split("\n")
    assert max(map(len, rows)) <= width or width < max(map(len, LONG.split()))
    assert rows[0] == "● sandbox"
    assert all(row.startswith("    ") and row[4] != " " for row in rows[1:])


@pytest.mark.parametrize(("size", "below"), [((20, 5), "│     "), ((30, 8), "│     "), ((40, 10), "│      ")])
async def test_help_fills_a_small_screen_with_text(stage_of, size, below):
    async with stage_of(size=size) as stage:
        await stage.pilot.press("f1")
        await stage.until(lambda: "Help" in stage.text)
        rows = [row.strip(" ─│▄▂▇█") for row in stage.text.split("\n")]
        top = next(number for number, row in enumerate(rows) if "Help" in row)
        assert rows[top + 1 : top + 3] == ["Anywhere", "esc"]
        assert rows[top + 3].startswith("close")
        assert f"{below}close" in stage.text


@pytest.mark.parametrize(("size", "keys"), [((20, 5), "↑ ↓ · esc"), ((30, 8), "↑ ↓ scroll · esc leave")])
async def test_the_border_of_help_is_whole_on_a_small_screen(stage_of, size, keys):
    async with stage_of(size=size) as stage:
        await stage.pilot.press("f1")
        await stage.until(lambda: keys in stage.text)
        top, *rows, bottom = stage.text.split("\n")
        assert top == f"╭─ Help {'─' * (size[0] - 9)}╮"
        assert [(row[0], row[-1]) for row in rows] == [("│", "│")] * (size[1] - 2)
        assert bottom == f"╰{'─' * (size[0] - len(keys) - 5)} {keys} ─╯"


async def test_a_page_is_laid_out_anew_when_the_screen_changes(stage_of):
    async with stage_of(size=(60, 40)) as stage:
        await stage.pilot.press("f1")
        await stage.until(lambda: "copy the selection" in stage.text)
        assert "copy the selection, clear the prompt, or quit" not in stage.text
        await stage.pilot.resize_terminal(100, 40)
        await stage.until(lambda: "copy the selection, clear the prompt, or quit" in stage.text)
        assert "close what is open, else stop the turn; twice on an empty" in stage.text
