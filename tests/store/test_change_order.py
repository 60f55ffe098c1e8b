"""Calls that ran side by side are taken back from the bottom of the screen up, whichever of them ended first."""

import asyncio

import pytest

from codeagent.core.approvals import Mode
from codeagent.core.events import NoticeGiven, ToolStarted
from codeagent.core.messages import ToolCall
from codeagent.core.protocols import ToolContext
from codeagent.store.change_log import Entry, Kind
from codeagent.store.change_order import as_on_screen
from codeagent.store.file_states import FileChange, FileState
from codeagent.tools.write import WriteArguments, WriteTool


class Reply:
    """A reply with several writes; each begins and ends when the test says so."""

    def __init__(self, ground, **files):
        self.ground = ground
        self.calls = {}
        for number, (path, content) in enumerate(files.items(), ground.count + 1):
            call = ToolCall(id=f"call{number}", name="write", arguments_json="{}")
            ground.undoing.listen(ToolStarted(call_id=call.id, name="write", arguments_json="{}"))
            self.calls[path] = (call, content)
        ground.count += len(files)
        self.plans = {}

    async def begin(self, path):
        call, content = self.calls[path]
        tool = WriteTool(self.ground.paths, self.ground.seen)
        plan = await tool.plan(WriteArguments(path=path, content=content), ToolContext(call_id=call.id))
        assert await self.ground.undoing.hook.before(call, plan) == ""
        self.plans[path] = plan

    async def end(self, path):
        result = await self.plans[path].run(lambda text: None)
        await self.ground.undoing.hook.after(self.calls[path][0], result)

    async def all(self, *, ends):
        for path in self.calls:
            await self.begin(path)
        for path in ends:
            await self.end(path)


async def what_each_undo_takes(ground):
    taken = []
    while ground.store.log.balance().done:
        plan = await ground.timeline.plan_undo()
        taken.append(plan.what)
        await ground.timeline.carry_out(plan)
    return taken


async def test_the_lowest_call_of_a_reply_is_taken_back_first(ground, tree_of):
    before = tree_of(ground.root)
    ground.turn(1)
    reply = Reply(ground, **{"new/one.txt": "1\n", "two.txt": "2\n", "new/three.txt": "3\n"})
    await reply.all(ends=["new/three.txt", "new/one.txt", "two.txt"])
    after = tree_of(ground.root)
    assert await what_each_undo_takes(ground) == ["write new/three.txt", "write two.txt", "write new/one.txt"]
    assert tree_of(ground.root) == before
    for _ in range(3):
        await ground.redo()
    assert tree_of(ground.root) == after


async def test_a_folder_that_the_lower_call_made_goes_with_the_last_file_in_it(ground, tree_of):
    before = tree_of(ground.root)
    reply = Reply(ground, **{"made/by/one.txt": "1\n", "made/two.txt": "2\n"})
    await reply.begin("made/two.txt")
    await reply.end("made/two.txt")
    await reply.begin("made/by/one.txt")
    await reply.end("made/by/one.txt")
    assert await what_each_undo_takes(ground) == ["write made/two.txt", "write made/by/one.txt"]
    assert tree_of(ground.root) == before


async def test_the_order_is_the_same_after_a_restart_and_for_what_a_crash_left_open(ground, tree_of):
    before = tree_of(ground.root)
    reply = Reply(ground, **{"one.txt": "1\n", "two.txt": "2\n", "three.txt": "3\n"})
    await reply.all(ends=["three.txt"])
    await reply.plans["one.txt"].run(lambda text: None)  # and here the program is killed
    ground.reopen()
    ground.turn(2)
    later = Reply(ground, **{"four.txt": "4\n", "five.txt": "5\n"})
    await later.all(ends=["five.txt", "four.txt"])
    taken = await what_each_undo_takes(ground)
    assert taken == ["write five.txt", "write four.txt", "write three.txt", "write one.txt"]
    assert tree_of(ground.root) == before


def entry(name, *, place, files):
    change = [FileChange(name=file, before=None, after=FileState(blob="1", mode=0o644)) for file in files]
    return Entry(id=name, kind=Kind.CALL, what=name, changes=tuple(change), place=place)


@pytest.mark.parametrize(
    ("made", "shown"),
    [
        ([("b", 2, ["b"]), ("a", 1, ["a"])], "ab"),
        ([("b", 2, ["x"]), ("a", 1, ["x"])], "ba"),  # the same file: its bytes are those of the last write
        ([("b", 2, ["x/y"]), ("a", 1, ["x"])], "ba"),
        ([("b", 2, ["x/"]), ("a", 1, ["x/y"])], "ba"),
        ([("b", 2, ["xy"]), ("a", 1, ["x"])], "ab"),
        ([("c", 3, ["c"]), ("b", 2, ["x"]), ("a", 1, ["x"])], "bac"),
        ([("b", 0, ["b"]), ("a", 0, ["a"])], "ba"),  # as an earlier version wrote it down
        ([("c", 3, ["c"]), ("job", 0, ["j"]), ("a", 1, ["a"])], ["c", "job", "a"]),
    ],
)
def test_only_what_has_nothing_to_do_with_each_other_changes_places(made, shown):
    entries = [entry(name, place=place, files=files) for name, place, files in made]
    assert [one.id for one in as_on_screen(entries)] == [*shown]


async def test_what_is_not_committed_is_counted_before_any_of_them_changes_something(ground):
    ground.mode = Mode.AUTO
    reply = Reply(ground, **{"one.txt": "1\n", "two.txt": "2\n"})

    async def whole(path):
        await reply.begin(path)
        await reply.end(path)

    async with asyncio.TaskGroup() as group:
        for path in reply.calls:
            group.create_task(whole(path))
    assert [event.text for event in ground.events if isinstance(event, NoticeGiven)] == []
