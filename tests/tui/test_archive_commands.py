"""Sessions in the app: searched, opened at the place, named, removed, copied, exported."""

from __future__ import annotations

from pathlib import Path

from codeagent.core.archive import Hit, Speaker
from codeagent.core.changes import BranchDiff, TurnChanges
from codeagent.core.diff import make_diff
from codeagent.core.events import HistoryAppended, TurnStarted
from codeagent.core.messages import AssistantMessage, StopReason, TextBlock

HIT = Hit(
    session_id="old-1",
    title="mend [old-1]",
    updated_at="2026-01-02T03:04:05",
    record=40,
    speaker=Speaker.AGENT,
    text="…the [discount] was above one",
    start=5,
    length=8,
)


def reply(text: str) -> HistoryAppended:
    return HistoryAppended(message=AssistantMessage(blocks=(TextBlock(text=text),), stop=StopReason.END_TURN))


async def test_a_session_shows_when_how_long_and_what_it_cost(stage_of):
    async with stage_of(size=(100, 30)) as stage:
        await stage.type("/resume\n")
        await stage.until(lambda: "2026-01-02 03:04 · 2 turns · $0.50" in stage.text)
        assert "mend [s-1]" not in stage.text


async def test_what_was_said_is_found_and_opens_the_session_at_the_place(stage_of):
    past = (
        TurnStarted(turn=1, text="first"),
        *(reply(f"line {number}") for number in range(39)),
        reply("the discount"),
    )
    past += tuple(reply(f"after {number}") for number in range(60))
    async with stage_of(size=(100, 30), past=past) as stage:
        stage.bench.archive.said = (HIT,)
        await stage.type("/resume\n")
        await stage.until(lambda: "mend [old-1]" in stage.text)
        await stage.type("discount")
        await stage.until(lambda: "agent …the [discount] was above one" in stage.text)
        await stage.type("\n")
        await stage.until(lambda: len(stage.desks) == 2)
        assert stage.desks[1][0].opening.resume == "old-1"
        await stage.until(lambda: "the discount" in stage.text and "line 38" in stage.text)
        assert stage.app.main.transcript.marked is not None


async def test_words_that_nobody_said_are_told(stage_of):
    async with stage_of(size=(100, 30)) as stage:
        await stage.type("/resume\n")
        await stage.until(lambda: "mend [old-1]" in stage.text)
        await stage.type("nonsense")
        await stage.until(lambda: "That was said in no session." in stage.text)


async def test_a_session_gets_a_new_title_in_the_list(stage_of):
    async with stage_of(size=(100, 30)) as stage:
        await stage.type("/resume\n")
        await stage.until(lambda: "mend [old-1]" in stage.text)
        await stage.pilot.press("ctrl+r")
        await stage.until(lambda: "New title" in stage.text)
        await stage.pilot.press("ctrl+u")
        await stage.type("the totals\n")
        await stage.until(lambda: stage.bench.archive.titles["old-1"] == "the totals")
        await stage.until(lambda: "the totals" in stage.text and "ctrl+d delete" in stage.text)


async def test_what_cannot_be_named_is_said_and_the_list_stays(stage_of):
    async with stage_of(size=(100, 30)) as stage:
        await stage.type("/resume\n")
        await stage.until(lambda: "mend [locked]" in stage.text)
        await stage.pilot.press("down", "ctrl+r")
        await stage.type("x\n")
        await stage.until(lambda: "open in another codeagent" in stage.text)
        assert "mend [locked]" in stage.text


async def test_a_session_is_removed_only_after_a_question(stage_of):
    async with stage_of(size=(100, 30)) as stage:
        await stage.type("/resume\n")
        await stage.until(lambda: "mend [old-1]" in stage.text)
        await stage.pilot.press("ctrl+d")
        await stage.until(lambda: "Delete “mend [old-1]”?" in stage.text)
        await stage.type("\n")
        await stage.until(lambda: "Delete “" not in stage.text)
        assert "old-1" in stage.bench.archive.titles
        await stage.pilot.press("ctrl+d")
        await stage.until(lambda: "Delete “mend [old-1]”?" in stage.text)
        await stage.type("delete\n")
        await stage.until(lambda: "old-1" not in stage.bench.archive.titles)
        await stage.until(lambda: "mend [old-1]" not in stage.text)


async def test_a_title_is_given_to_the_session_that_is_open(stage_of):
    async with stage_of(size=(100, 30)) as stage:
        await stage.type("/rename\n")
        await stage.until(lambda: "A title is missing" in stage.text)
        await stage.type("/rename the totals\n")
        await stage.until(lambda: "renamed" in stage.text)


async def test_a_session_is_exported_and_an_existing_file_is_asked_about(stage_of, tmp_path):
    target = tmp_path / "out.html"
    async with stage_of(size=(120, 30)) as stage:
        await stage.type(f"/export {target}\n")
        await stage.until(lambda: "Written to" in stage.text)
        assert stage.bench.archive.written == [("s-1", Path(target), False)]
        target.write_text("mine")
        await stage.type(f"/export {target}\n")
        await stage.until(lambda: "out.html is there already" in stage.text)
        await stage.type("replace\n")
        await stage.until(lambda: stage.bench.archive.written[1:] == [("s-1", Path(target), True)])


async def test_all_that_the_branch_changed_is_shown(stage_of):
    async with stage_of(size=(100, 30)) as stage:
        await stage.type("/diff branch\n")
        await stage.until(lambda: "no commit here to compare" in stage.text)
        diff = make_diff("cart.py", "a\n", "b\n")
        stage.bench.branch = BranchDiff(origin="origin/main", diffs=(diff,), left_out=3)
        await stage.type("/diff branch\n")
        await stage.until(lambda: "Changes since origin/main, and 3 more files" in stage.text)
        assert "cart.py" in stage.text


class Turns:
    """A timeline of two turns."""

    async def turns(self):
        return tuple(TurnChanges(turn=number, text=text, diffs=()) for number, text in ((1, "first"), (2, "second")))


async def test_a_copy_from_before_a_message_opens_with_that_message_in_the_prompt(stage_of):
    async with stage_of(size=(100, 30), timeline=Turns()) as stage:
        await stage.type("/fork\n")
        await stage.until(lambda: "Fork here, or before a message" in stage.text)
        await stage.type("second\n")
        await stage.until(lambda: len(stage.desks) == 2)
        assert stage.bench.archive.forks == [("s-1", 2)]
        assert stage.desks[1][0].opening.resume == "copy-1"
        await stage.until(lambda: stage.app.main.prompt.text == "second")


async def test_a_whole_copy_opens_with_an_empty_prompt(stage_of):
    async with stage_of(size=(100, 30), timeline=Turns()) as stage:
        await stage.type("/fork\n")
        await stage.until(lambda: "with all that was said" in stage.text)
        await stage.type("\n")
        await stage.until(lambda: len(stage.desks) == 2)
        assert stage.bench.archive.forks == [("s-1", None)]
        assert stage.app.main.prompt.is_empty
