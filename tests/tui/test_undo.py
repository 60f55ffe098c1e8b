"""Taking the agent's changes back on the screen: the preview first, and nothing without a yes."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

import pytest

from codeagent.core.events import Emit, TurnEnd, TurnEnded, TurnStarted
from codeagent.store.change_log import Entry, Kind
from codeagent.store.change_store import ChangeStore
from codeagent.store.file_states import FileChange, state_of
from codeagent.store.timeline import ChangeTimeline
from tests.tui.widgets.test_attached_images import PNG


@dataclass
class Work:
    """A folder in which an agent changed files, turn by turn."""

    root: Path
    store: ChangeStore
    timeline: ChangeTimeline
    listeners: list[Emit]
    count: int = 0

    def turn(self, number: int, text: str, **files: str) -> None:
        """One turn with one call that wrote these files."""
        self.timeline.listen(TurnStarted(turn=number, text=text))
        changes = []
        for stem, content in files.items():
            path = self.root / f"{stem}.py"
            before = state_of(path, self.store.blobs)
            path.write_text(content)
            after = state_of(path, self.store.blobs)
            changes.append(FileChange(name=path.name, before=before, after=after))
        if changes:
            self.count += 1
            names = " ".join(files)
            entry = Entry(
                id=f"c{self.count}", kind=Kind.CALL, what=f"bash make {names}", turn=number, changes=tuple(changes)
            )
            self.store.log.add(entry)

    def text(self, stem: str) -> str:
        return (self.root / f"{stem}.py").read_text()


@pytest.fixture
def work(tmp_path) -> Work:
    root = tmp_path / "shop"
    root.mkdir()
    (root / "cart.py").write_text("def total():\n    return 1\n")
    store = ChangeStore(root, tmp_path / "state", "s1")
    assert store.git
    listeners: list[Emit] = []
    timeline = ChangeTimeline(
        store, asyncio.Lock(), lambda: False, tell=lambda event: [listen(event) for listen in listeners]
    )
    work = Work(root, store, timeline, listeners)
    work.turn(1, "what does it do?")
    work.turn(2, "fix the total", cart="def total():\n    return 2\n", new="new = 1\n")
    work.turn(3, "and tests", test="def test(): ...\n")
    return work


async def command(stage, text):
    await stage.type(f"{text}\n")


async def test_undo_shows_the_diff_and_takes_it_back_on_y(stage_of, work):
    async with stage_of(timeline=work.timeline) as stage:
        await command(stage, "/undo")
        await stage.until(lambda: "Take back bash make test" in stage.text)
        assert "def test" in stage.text
        assert (work.root / "test.py").exists()
        await stage.pilot.press("y")
        await stage.until(lambda: not (work.root / "test.py").exists())


async def test_the_question_stands_where_the_lists_stand_and_covers_no_message(stage_of, work):
    async with stage_of(timeline=work.timeline, size=(80, 30)) as stage:
        await command(stage, "/undo")
        await stage.until(lambda: "Take back bash make test" in stage.text)
        rows = stage.text.splitlines()
        assert rows[-3].lstrip().startswith("╰")


@pytest.mark.parametrize("key", ["escape", "n", "enter"])
async def test_no_other_key_takes_anything_back(stage_of, work, key):
    async with stage_of(timeline=work.timeline) as stage:
        await command(stage, "/undo")
        await stage.until(lambda: "Take back bash make test" in stage.text)
        await stage.press_slowly(key)
        assert (work.root / "test.py").exists()
        assert ("Take back" in stage.text) == (key == "enter")


async def test_what_the_person_changed_is_asked_about_and_kept_on_y(stage_of, work):
    (work.root / "test.py").write_text("mine\n")
    async with stage_of(timeline=work.timeline) as stage:
        await command(stage, "/undo")
        await stage.until(lambda: "you changed the same lines since" in stage.text)
        assert "o lose what you changed" in stage.text
        await stage.pilot.press("y")
        await stage.until(lambda: "Take back" not in stage.text)
        assert work.text("test") == "mine\n"


@pytest.mark.parametrize("columns", [60, 80, 120])
async def test_all_keys_of_the_question_are_named_at_every_width(stage_of, work, columns):
    work.turn(9, "two more", one="1\n", two="2\n")
    (work.root / "one.py").write_text("mine\n")
    async with stage_of(timeline=work.timeline, size=(columns, 24)) as stage:
        await command(stage, "/undo")
        await stage.until(lambda: "esc leave" in stage.text)
        last = next(line for line in reversed(stage.text.splitlines()) if "╰" in line)
        for key in ("y ", "all but yours", "o lose", "esc leave"):
            assert key in last


async def test_o_overwrites_what_the_person_changed(stage_of, work):
    (work.root / "test.py").write_text("mine\n")
    async with stage_of(timeline=work.timeline) as stage:
        await command(stage, "/undo")
        await stage.until(lambda: "you changed the same lines since" in stage.text)
        await stage.pilot.press("o")
        await stage.until(lambda: not (work.root / "test.py").exists())


async def test_redo_brings_it_back(stage_of, work):
    async with stage_of(timeline=work.timeline) as stage:
        await command(stage, "/undo")
        await stage.until(lambda: "Take back" in stage.text)
        await stage.pilot.press("y")
        await stage.until(lambda: not (work.root / "test.py").exists())
        await command(stage, "/redo")
        await stage.until(lambda: "Bring back bash make test" in stage.text)
        await stage.pilot.press("y")
        await stage.until((work.root / "test.py").exists)


async def test_escape_twice_lists_the_turns_with_what_each_changed(stage_of, work):
    async with stage_of(timeline=work.timeline) as stage:
        await stage.pilot.press("escape", "escape")
        await stage.until(lambda: "Go back to before" in stage.text)
        assert "1 file  +1 −0   and tests" in stage.text
        assert "2 files +2 −1   fix the total" in stage.text
        assert "what does it do?" in stage.text


@pytest.mark.parametrize("draft", ["x", ""])
async def test_escape_once_or_on_a_draft_does_not(stage_of, work, draft):
    async with stage_of(timeline=work.timeline) as stage:
        await stage.type(draft)
        await stage.pilot.press(*(["escape", "escape"] if draft else ["escape"]))
        await stage.pilot.pause(0.05)
        assert "Go back to before" not in stage.text


async def rewind(stage, downs, what):
    await command(stage, "/rewind")
    await stage.until(lambda: "Go back to before" in stage.text)
    await stage.pilot.press(*["down"] * downs, "enter")
    if what:
        await stage.until(lambda: "only the conversation" in stage.text)
        await stage.type(f"{what}\n")


@pytest.mark.parametrize("downs", [0, 1])
async def test_a_sentence_typed_at_the_question_where_to_goes_to_the_prompt_when_it_is_left(stage_of, work, downs):
    async with stage_of(timeline=work.timeline) as stage:
        await command(stage, "/rewind")
        await stage.until(lambda: "Go back to before" in stage.text)
        if downs:
            await stage.pilot.press(*["down"] * downs, "enter")
            await stage.until(lambda: "only the conversation" in stage.text)
        await stage.type("xylophones, please\n")
        await stage.until(lambda: "Nothing fits" in stage.text)
        assert stage.app.screen is not stage.app.main
        await stage.pilot.press("escape")
        await stage.until(lambda: stage.app.main.prompt.text == "xylophones, please")
        await stage.until(lambda: "your text is in the prompt" in stage.text)
        assert stage.conversation.rewound == []


async def test_words_that_narrow_the_question_where_to_are_no_text_for_the_prompt(stage_of, work):
    async with stage_of(timeline=work.timeline) as stage:
        await command(stage, "/rewind")
        await stage.until(lambda: "Go back to before" in stage.text)
        await stage.type("fix")
        await stage.pilot.press("escape")
        await stage.until(lambda: stage.app.screen is stage.app.main)
        await stage.pilot.pause()
        assert stage.app.main.prompt.is_empty


async def test_a_rewind_of_both_goes_back_and_gives_the_message_back(stage_of, work):
    async with stage_of(timeline=work.timeline) as stage:
        work.listeners.append(stage.conversation.emit)
        await rewind(stage, 1, "both")
        await stage.until(lambda: "Take back 2 calls since “fix the total”" in stage.text)
        await stage.pilot.press("y")
        await stage.until(lambda: stage.conversation.rewound == [2])
        await stage.until(lambda: stage.app.main.prompt.full_text == "fix the total")
        assert work.text("cart").endswith("return 1\n")
        assert not (work.root / "new.py").exists()
        await stage.until(lambda: "goes on from before message 2" in stage.text)
        await stage.until(lambda: "Took back 2 calls since “fix the total”: 3 files." in stage.text)


async def test_a_message_of_an_earlier_run_comes_back_with_the_names_of_its_images(stage_of, work, tmp_path):
    (tmp_path / "two.png").write_bytes(PNG)
    work.turn(4, "[image #1 · two.png] is wrong")
    async with stage_of(timeline=work.timeline) as stage:
        prompt = stage.app.main.prompt
        prompt.insert_typed(str(tmp_path / "two.png"))
        assert prompt.text == "[image #1 · two.png] "
        prompt.clear_typed()
        await rewind(stage, 0, "")
        await stage.until(lambda: "two.png is not attached any more" in stage.text)
        assert prompt.text == "two.png is wrong"


async def test_a_message_of_this_run_comes_back_with_its_images(stage_of, work, tmp_path):
    (tmp_path / "two.png").write_bytes(PNG)
    work.turn(4, "[image #1 · two.png] is wrong")
    async with stage_of(timeline=work.timeline) as stage:
        prompt = stage.app.main.prompt
        prompt.insert_typed(str(tmp_path / "two.png"))
        await stage.type("is wrong\n")
        await stage.until(lambda: stage.conversation.images)
        await rewind(stage, 0, "")
        await stage.until(lambda: prompt.text == "[image #1 · two.png] is wrong")
        assert prompt.images_in(prompt.text)


async def test_redo_takes_a_whole_rewind_back(stage_of, work):
    async with stage_of(timeline=work.timeline) as stage:
        await rewind(stage, 1, "both")
        await stage.until(lambda: "Take back 2 calls" in stage.text)
        await stage.pilot.press("y")
        await stage.until(lambda: stage.conversation.rewound == [2])
        await stage.pilot.press("ctrl+c")
        await command(stage, "/redo")
        await stage.until(lambda: "Bring back 2 calls" in stage.text)
        await stage.pilot.press("y")
        await stage.until(lambda: stage.conversation.rewound == [])
        assert work.text("cart").endswith("return 2\n")


async def test_what_was_taken_back_is_told_once_whether_the_rewind_stays_or_not(stage_of, work):
    async with stage_of(timeline=work.timeline, size=(100, 40)) as stage:
        work.listeners.append(stage.conversation.emit)
        for turn, text in enumerate(["what does it do?", "fix the total", "and tests"], 1):
            stage.conversation.emit(TurnStarted(turn=turn, text=text))
            stage.conversation.emit(TurnEnded(turn=turn, reason=TurnEnd.DONE, text=""))
        await rewind(stage, 1, "both")
        await stage.until(lambda: "Take back 2 calls" in stage.text)
        await stage.pilot.press("y")
        await stage.until(lambda: "goes on from before message 2" in stage.text and "Took back" in stage.text)
        assert stage.text.count("Took back 2 calls") == 1
        await stage.pilot.press("ctrl+c")
        await command(stage, "/redo")
        await stage.until(lambda: "Bring back 2 calls" in stage.text)
        await stage.pilot.press("y")
        await stage.until(lambda: "The conversation is whole again" in stage.text and "Brought back" in stage.text)
        assert stage.text.count("Took back 2 calls") == 1
        assert stage.text.count("Brought back 2 calls") == 1


async def test_files_alone_leave_the_conversation(stage_of, work):
    async with stage_of(timeline=work.timeline) as stage:
        await rewind(stage, 0, "files")
        await stage.until(lambda: "Take back bash make test" in stage.text)
        await stage.pilot.press("y")
        await stage.until(lambda: not (work.root / "test.py").exists())
        assert stage.conversation.rewound == []


async def test_the_conversation_alone_leaves_the_files(stage_of, work):
    async with stage_of(timeline=work.timeline) as stage:
        await rewind(stage, 0, "conversation")
        await stage.until(lambda: stage.conversation.rewound == [3])
        assert (work.root / "test.py").exists()


async def test_leaving_the_preview_leaves_the_conversation_too(stage_of, work):
    async with stage_of(timeline=work.timeline) as stage:
        await rewind(stage, 1, "both")
        await stage.until(lambda: "Take back 2 calls" in stage.text)
        await stage.pilot.press("escape")
        await stage.pilot.pause(0.05)
        assert stage.conversation.rewound == []
        assert work.text("cart").endswith("return 2\n")


async def test_diff_shows_all_changes_or_those_of_the_last_turn(stage_of, work):
    async with stage_of(timeline=work.timeline, size=(100, 40)) as stage:
        await command(stage, "/diff")
        await stage.until(lambda: "Changes of this session" in stage.text)
        assert all(name in stage.text for name in ("cart.py", "new.py", "test.py"))
        await stage.pilot.press("y", "escape")
        await command(stage, "/diff last")
        await stage.until(lambda: "Changes of the last turn" in stage.text)
        assert "test.py" in stage.text
        assert "cart.py" not in stage.text


async def test_where_there_is_nothing_to_undo_that_is_said(stage_of, tmp_path):
    root = tmp_path / "empty"
    root.mkdir()
    store = ChangeStore(root, tmp_path / "state", "s1")
    async with stage_of(timeline=ChangeTimeline(store, asyncio.Lock(), lambda: False)) as stage:
        await command(stage, "/undo")
        await stage.until(lambda: "changed nothing here that could be taken back" in stage.text)


class LongTimeline(ChangeTimeline):
    """Looks at the files until somebody stops it."""

    async def plan_undo(self, pace=None):
        pace.total, pace.done = 15_000, 6_000
        while True:
            await asyncio.sleep(0.01)
            pace.step()


async def test_what_takes_long_shows_how_far_it_is_and_is_stopped_by_esc(stage_of, work):
    long = LongTimeline(work.store, asyncio.Lock(), lambda: False)
    async with stage_of(timeline=long) as stage:
        await command(stage, "/undo")
        await stage.until(lambda: "Looking at the files" in stage.text)
        await stage.until(lambda: "40 %" in stage.text)
        assert "esc stop, nothing is changed then" in stage.text
        await stage.pilot.press("escape")
        await stage.until(lambda: "Stopped; no file was changed" in stage.text)
        assert "Looking at the files" not in stage.text


async def test_while_the_agent_works_nothing_is_taken_back(stage_of, work):
    may_end = asyncio.Event()

    async def turn(emit, approver):
        await may_end.wait()

    async with stage_of(turn, timeline=work.timeline) as stage:
        await command(stage, "go")
        await stage.until(lambda: stage.conversation.is_running)
        await command(stage, "/undo")
        await stage.until(lambda: "waits for the turn to end" in stage.text)
        assert (work.root / "test.py").exists()
        may_end.set()
        await stage.until(lambda: "y take back" in stage.text)
