import json
from dataclasses import replace
from pathlib import Path

import pytest

from codeagent.core.approvals import CommandPreview, DiffPreview
from codeagent.core.diff import ChangeKind, FileDiff, make_diff
from codeagent.core.messages import (
    ChangeDetails,
    CommandDetails,
    Details,
    Outcome,
    ReadDetails,
    SearchDetails,
    TextBlock,
    ToolResult,
)
from codeagent.tui.themes import load_themes
from codeagent.tui.widgets.inks import inks_of
from codeagent.tui.widgets.tool_panel import ToolPanel
from tests.effort import assert_takes_less

INKS = inks_of(load_themes()["dark"])
DIFF = make_diff("a.py", "x = 1\n", "x = 2\ny = 3\n")


def panel(name: str = "bash", arguments: str = '{"command": "pytest -q"}') -> ToolPanel:
    return ToolPanel("1", name, arguments)


def ended(outcome: Outcome = Outcome.OK, details: Details | None = None, text: str = "") -> ToolResult:
    return ToolResult(call_id="1", blocks=(TextBlock(text=text),), outcome=outcome, details=details)


def command(code: int, says: str) -> CommandDetails:
    return CommandDetails(command="pytest -q", cwd=".", ended=says, exit_code=code)


def shown(block: ToolPanel, width: int = 60) -> list[str]:
    return [line.text.rstrip() for line in block.lines(width, INKS)]


@pytest.mark.parametrize(
    ("name", "details", "says"),
    [
        ("read", ReadDetails(path="a", first_line=1, last_line=88, total_lines=88), "lines 1–88"),
        ("read", ReadDetails(path="a", first_line=5, last_line=9, total_lines=2_000), "lines 5–9 of 2,000"),
        ("read", ReadDetails(path="a", first_line=1, last_line=0, total_lines=0), "empty"),
        ("grep", SearchDetails(matches=7, files=3), "7 matches in 3 files"),
        ("grep", SearchDetails(matches=0, files=0), "no matches"),
        ("ls", SearchDetails(matches=6, files=6), "6 entries"),
        ("ls", SearchDetails(matches=1, files=1), "1 entry"),
        ("glob", SearchDetails(matches=6, files=6, truncated=True), "6+ files"),
        ("glob", SearchDetails(matches=0, files=0), "no files"),
        ("edit", ChangeDetails(diffs=(DIFF,), level="exact"), "+2 −1"),
        ("edit", ChangeDetails(diffs=(DIFF,), level="quotes forgiven"), "quotes forgiven · +2 −1"),
        ("edit", ChangeDetails(diffs=(DIFF,), level="exact", is_edited=True), "+2 −1 · edited by you"),
        ("write", ChangeDetails(diffs=(DIFF,), level="quotes forgiven", is_edited=True), "+2 −1 · edited by you"),
        ("edit", ChangeDetails(diffs=(DIFF,), level="exact", hunks=2, hunks_of=3), "+2 −1 · 2 of 3 hunks"),
        ("bash", command(0, "exit code 0"), "4.2 s"),
    ],
)
def test_a_call_that_went_well_is_one_quiet_line(name, details, says):
    block = panel(name)
    block.end(ended(details=details), 4.2)
    (line,) = shown(block)
    assert line.startswith("   ✓ ")
    assert line.endswith(f"  {says}")


@pytest.mark.parametrize(
    ("result", "says"),
    [
        (ended(Outcome.FAILED, text="no such file"), "failed"),
        (ended(Outcome.DENIED, text="use the other one"), "denied"),
        (ended(Outcome.OK, command(1, "exit code 1"), text="F"), "exit code 1 · 4.2 s"),
        (ended(Outcome.TIMED_OUT, command(-1, "timed out after 5 s"), text="…"), "timed out after 5 s · 4.2 s"),
    ],
)
def test_trouble_opens_the_panel_and_is_said_in_words(result, says):
    block = panel()
    block.end(result, 4.2)
    heading, first, *_ = shown(block)
    assert heading.startswith("   ✗ ")
    assert heading.endswith(f" {says}")
    assert first.strip() == result.text


@pytest.mark.parametrize("outcome", [Outcome.SKIPPED, Outcome.CANCELLED])
def test_what_was_never_run_stays_closed(outcome):
    block = panel()
    block.end(ended(outcome), 0)
    (line,) = shown(block)
    assert line.startswith("   – bash")


def test_a_running_command_shows_the_last_lines_of_its_output():
    block = panel()
    block.run(0, frame="⠋")
    block.write("".join(f"line {number}\n" for number in range(20)))
    assert [line.strip() for line in shown(block)[1:]] == [f"line {number}" for number in range(14, 20)]


def test_a_running_call_is_never_shown_as_finished_nor_an_ended_one_as_running():
    block = panel()
    while_running = shown(block)[0]
    block.end(ended(details=command(0, "exit code 0")), 1)
    assert ("✓" in while_running, "✓" in shown(block)[0]) == (False, True)


def test_waiting_for_a_person_is_said_and_is_not_running_time():
    block = panel()
    block.ask()
    assert shown(block)[0].endswith("waiting for you")
    block.wait(60)
    block.run(61, frame="⠋")
    block.tick(63, frame="⠋")
    assert shown(block)[0].endswith("2.0 s")


def test_waiting_for_its_turn_shows_no_spinner_and_no_clock():
    block = panel()
    at_first = shown(block)[0]
    block.tick(30, frame="⠙")
    later = shown(block)[0]
    assert ("○" in at_first, "⠋" in at_first) == (True, False)
    assert ("○" in later, later.endswith("waits its turn"), block.has_clock) == (True, True, False)


def test_a_long_output_opens_with_its_end_and_then_whole():
    block = panel()
    block.end(ended(details=command(1, "exit code 1"), text="\n".join(f"line {n}" for n in range(100))), 1)
    brief = shown(block)
    block.toggle()
    whole = shown(block)
    block.toggle()
    assert "88 rows above" in brief[1]
    assert (len(brief), len(whole), len(shown(block))) == (15, 102, 1)


def test_a_few_long_lines_open_with_their_end_and_then_whole():
    block = panel()
    block.end(ended(details=command(1, "exit code 1"), text="first " + "words of one line " * 60 + "last"), 1)
    brief = shown(block)
    block.toggle()
    assert "enter shows all" in brief[1]
    assert shown(block)[1].strip().startswith("first")


def test_the_rows_left_out_are_told_with_the_persons_own_key():
    block = panel()
    block.end(ended(details=command(1, "exit code 1"), text="\n".join("abcdefghijklmnop")), 1)
    lines = block.lines(60, inks_of(load_themes()["dark"], "f5"))
    assert lines[1].text.strip() == "… 4 rows above; f5 shows all"


def test_a_failed_command_shows_what_it_changed_when_it_is_opened_whole():
    details = replace(command(1, "exit code 1"), changes=(DIFF,), changed_files=1)
    block = panel()
    block.end(ended(details=details, text="F"), 1)
    brief = shown(block)
    block.toggle()
    assert not any("y = 3" in line for line in brief)
    assert any("y = 3" in line for line in shown(block))


def test_an_open_edit_holds_its_diff():
    block = panel("edit", '{"path": "a.py"}')
    block.end(ended(details=ChangeDetails(diffs=(DIFF,))), 0)
    block.toggle()
    assert [line.split() for line in shown(block)[1:4]] == [
        ["1", "−", "x", "=", "1"],
        ["1", "+", "x", "=", "2"],
        ["2", "+", "y", "=", "3"],
    ]


def test_a_denied_edit_can_show_what_was_refused():
    block = panel("edit")
    block.show_preview(DiffPreview(diff=DIFF, proposal="x"), "a.py")
    block.end(ended(Outcome.DENIED, text="no"), 0)
    block.toggle()
    assert any("y = 3" in line for line in shown(block))


def test_an_open_read_shows_the_lines_with_their_numbers_in_colour():
    block = panel("read", '{"path": "a.py"}')
    details = ReadDetails(path="a.py", first_line=9, last_line=10, total_lines=99)
    block.end(ended(details=details, text="    9→def f():\n   10→    pass\n(89 lines more)"), 0)
    block.toggle()
    lines = block.lines(60, INKS)
    colours = {piece.text: piece.style.color.name for piece in lines[1].pieces if piece.style.color is not None}
    assert [line.text.rstrip() for line in lines[1:4]] == [
        "      9  def f():",
        "     10      pass",
        "         (89 lines more)",
    ]
    assert colours["def"] == INKS.palette.code.keyword


def test_a_command_of_several_lines_is_named_by_its_first_and_shown_whole_when_open():
    block = panel()
    text = "for f in *; do\n  wc $f\ndone"
    block.show_preview(CommandPreview(command=text, cwd=Path(), timeout=1), "")
    block.end(ended(details=CommandDetails(command=text, cwd=".", ended="exit code 0", exit_code=0)), 0)
    heading = shown(block)[0]
    block.toggle()
    assert "for f in *; do  … +2 lines" in heading
    assert [line.strip() for line in shown(block)[1:4]] == ["$ for f in *; do", "wc $f", "done"]


@pytest.mark.parametrize(
    ("text", "drawn"), [("[/] [bold]x", "[/] [bold]x"), ("a\x1b[31mb", "ab"), ("x\u202ey", "x<U+202E>y")]
)
def test_output_is_shown_as_it_is_without_escapes(text, drawn):
    block = panel()
    block.end(ended(Outcome.FAILED, text=text), 0)
    assert shown(block)[1].strip() == drawn


@pytest.mark.parametrize(
    ("text", "drawn"), [("[/] x", "[/] x"), ("a\x1b[31mb", "a<U+001B>[31mb"), ("x\u202ey", "x<U+202E>y")]
)
def test_nothing_in_a_label_is_hidden(text, drawn):
    assert drawn in shown(panel("bash", text))[0]


@pytest.mark.parametrize("width", [20, 40, 60, 120])
def test_the_heading_always_fits(width):
    block = panel("bash", '{"command": "' + "日本語 " * 40 + '"}')
    block.end(ended(details=command(1, "exit code 1")), 100)
    assert block.lines(width, INKS)[0].width <= width


def test_what_is_copied_is_the_output_or_a_patch():
    block = panel("edit")
    block.end(ended(details=ChangeDetails(diffs=(DIFF,))), 0)
    assert block.copied() == "--- a.py\n+++ a.py\n@@ -1,1 +1,2 @@\n-x = 1\n+x = 2\n+y = 3\n"


def test_a_running_edit_can_be_opened_to_see_what_it_would_do():
    block = panel("edit")
    block.show_preview(DiffPreview(diff=DIFF, proposal="x"), "a.py")
    block.toggle()
    assert any("y = 3" in line for line in shown(block))


def test_how_a_command_ended_is_said_once():
    block = panel()
    block.end(ended(details=command(1, "exit code 1"), text="F\n[exit code 1]"), 0)
    assert [line.strip() for line in shown(block)[1:] if line] == ["F"]


def test_a_command_that_the_person_changed_is_shown_once_and_named_theirs():
    changed = command(1, "exit code 1")
    block = panel(arguments='{"command": "pytest"}')
    block.end(ended(details=changed, text=f"{changed.edited_remark}\nF\n[exit code 1]"), 2.0)
    heading, *body = [line.strip() for line in shown(block) if line.strip()]
    assert heading.split()[:4] == ["✗", "bash", "pytest", "-q"]
    assert heading.endswith("exit code 1 · edited by you · 2.0 s")
    assert body == ["F"]


def test_a_command_that_made_an_empty_file_counts_no_lines():
    made = FileDiff(path="empty", change=ChangeKind.CREATED, hunks=())
    details = CommandDetails(
        command="touch empty", cwd=".", ended="exit code 0", exit_code=0, changed_files=1, changes=(made,)
    )
    block = panel()
    block.end(ended(details=details), 0)
    assert "1 file" in shown(block)[0]
    assert "+0" not in shown(block)[0]


def test_a_changed_command_of_several_lines_is_shown_once():
    text = "cd src\npytest -q"
    changed = CommandDetails(command=text, cwd=".", ended="exit code 0", exit_code=0)
    block = panel()
    block.end(ended(details=changed, text=changed.edited_remark), 0)
    block.set_open(is_open=True)
    assert sum("pytest -q" in line for line in shown(block)) == 1


def test_a_denied_call_shows_the_persons_words_and_not_what_the_model_is_told():
    block = panel()
    block.deny("use the other one")
    block.end(ended(Outcome.DENIED, text="Not run: The person said no.\nThe person says: use the other one"), 0.0)
    assert shown(block)[1].strip() == "You said: use the other one"
    assert "Not run" not in block.copied()


def test_what_is_said_of_a_command_that_did_not_run_breaks_between_words():
    said = "Not run: The person changed the proposal, but it cannot be done so: The command cannot be read."
    block = panel()
    block.end(ended(Outcome.DENIED, text=said), 0.0)
    block.set_open(is_open=True)
    words = {word for line in shown(block, width=40)[1:] for word in line.split()}
    assert words <= set(said.split())


def test_a_call_that_was_denied_without_a_word_says_so_once():
    block = panel()
    block.deny("")
    block.end(ended(Outcome.DENIED, text="Not run: The person said no."), 0.0)
    assert [line.strip() for line in shown(block)[1:] if line.strip()] == []
    assert shown(block)[0].rstrip().endswith("denied")


def test_a_panel_holds_the_diff_of_a_change_and_not_the_file():
    file = "x = 1\n" * 10_000
    block = panel("edit", '{"path": "a.py"}')
    block.show_preview(DiffPreview(diff=DIFF, proposal=file), "a.py")
    block.set_open(is_open=True)
    assert any("y = 3" in line for line in shown(block))
    held = [one for one in (getattr(block, name, None) for name in vars(block)) if isinstance(one, DiffPreview)]
    assert [preview.proposal for preview in held] == [""]


@pytest.mark.parametrize(("words", "is_repeated"), [("x" * 30, False), ("x " * 30, True), ("one\ntwo", True)])
def test_an_open_panel_repeats_a_command_only_where_the_heading_cannot_hold_it(words, is_repeated):
    block = panel()
    block.end(ended(details=CommandDetails(command=words, cwd=".", ended="exit code 0", exit_code=0), text="out"), 4.2)
    block.set_open(is_open=True)
    assert any(line.startswith("     $ ") for line in shown(block)) == is_repeated


@pytest.mark.parametrize(("count", "says"), [(1, "1 file +2 −1"), (6_000, "6,000 files")])
def test_lines_are_counted_only_where_those_of_all_changed_files_are_known(count, says):
    block = panel()
    block.end(ended(details=replace(command(0, "exit code 0"), changes=(DIFF,), changed_files=count)), 0)
    assert shown(block)[0].endswith(f" {says}")


@pytest.mark.parametrize("text", ["c\u0430t " * 200_000, "ls\n" * 300_000], ids=["one line", "many"])
def test_the_heading_of_a_huge_call_is_drawn_often_enough(text):
    block = panel(arguments=json.dumps({"command": text}))
    block.run(0.0, frame="x")

    def draw() -> None:
        for now in range(20):
            block.tick(now, frame="x")
            block.lines(100, INKS)

    assert_takes_less(0.3, draw)
