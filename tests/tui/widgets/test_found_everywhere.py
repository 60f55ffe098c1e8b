"""Whatever a block shows can be found: each drawn word stands in what the search looks through."""

import re
from itertools import product

import pytest

from codeagent.core.approvals import CommandPreview, DiffPreview
from codeagent.core.context import CompactionReason, HistoryCompacted
from codeagent.core.diff import make_diff
from codeagent.core.messages import (
    MADE_WAY,
    ChangeDetails,
    CommandDetails,
    Outcome,
    ReadDetails,
    SearchDetails,
    ToolResult,
)
from codeagent.core.messages import TextBlock as Said
from codeagent.tui.themes import load_themes
from codeagent.tui.widgets.blocks import NoteBlock, PersonBlock, TextBlock, ThinkingBlock
from codeagent.tui.widgets.compaction_block import CompactionBlock
from codeagent.tui.widgets.inks import inks_of
from codeagent.tui.widgets.tool_panel import ToolPanel

INKS = inks_of(load_themes()["dark"])
DIFF = make_diff("a.py", "x = 1\n", "x = 10  # zebra\n")
COMMAND = CommandPreview(command="make one\nmake zebra", cwd="/w", timeout=10)
RAN = CommandDetails(command="make one\nmake zebra", cwd="/w", ended="exit code 2", exit_code=2, changes=(DIFF,))
DETAILS = [
    None,
    ChangeDetails(diffs=(DIFF,)),
    ChangeDetails(diffs=(DIFF,), is_edited=True),
    RAN,
    ReadDetails(path="a.py", first_line=1, last_line=1, total_lines=1),
    SearchDetails(matches=1, files=1),
]
PREVIEWS = [None, DiffPreview(diff=DIFF, proposal="x = 10  # zebra\n"), COMMAND]


def panel(preview):
    block = ToolPanel("1", "bash", '{"note": "zebra of a heading"}')
    if preview is not None:
        block.show_preview(preview, "zebra")
    block.set_open(is_open=True)
    return block


def missing(block):
    """The drawn words that the search would not find."""
    drawn = block.lines(400, INKS)
    shown = [" | ".join(piece.text for piece in line.pieces if piece.copied is None) for line in drawn]
    found = block.words()
    return [word for text in shown for word in re.findall(r"\w+", text) if word not in found]


@pytest.mark.parametrize("preview", PREVIEWS, ids=["nothing", "diff", "command"])
def test_a_call_however_it_ended(preview):
    for outcome, details, code in product(Outcome, DETAILS, ("", MADE_WAY)):
        block = panel(preview)
        said = (Said(text="the tool says zebra"),)
        block.end(ToolResult(call_id="1", blocks=said, outcome=outcome, details=details, code=code), 0)
        assert not missing(block), (outcome, details)


@pytest.mark.parametrize("preview", PREVIEWS, ids=["nothing", "diff", "command"])
def test_a_call_that_has_not_ended(preview):
    block = panel(preview)
    assert not missing(block)
    block.run(0.0, frame="•")
    block.write("zebra of the output\n")
    assert len(block.lines(200, INKS)) > 1
    assert not missing(block)


def test_what_the_person_said_to_a_denied_call():
    block = panel(DiffPreview(diff=DIFF, proposal="x = 10  # zebra\n"))
    block.deny("no zebra here")
    block.end(ToolResult(call_id="1", blocks=(Said(text="told the model"),), outcome=Outcome.DENIED), 0)
    assert not missing(block)
    assert "zebra" in block.words()


@pytest.mark.parametrize(
    "block",
    [
        PersonBlock("a zebra", "seen before step 7"),
        TextBlock("a **zebra**, `striped`"),
        ThinkingBlock("first a zebra\nthen a horse"),
        NoteBlock("a zebra ran by"),
        CompactionBlock(
            HistoryCompacted(
                reason=CompactionReason.FULL, kept=2, summary="## Zebra\n\nit ran", before=9_000, after=900
            )
        ),
    ],
    ids=lambda block: type(block).__name__,
)
def test_what_is_said(block):
    if isinstance(block, ThinkingBlock):
        block.set_open(is_open=True)
    assert not missing(block)
