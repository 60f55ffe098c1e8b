"""Taking thousands of files back: the disk is waited for a few times, and it can be stopped with nothing changed."""

import asyncio
import os
import threading

import pytest

from codeagent.core.changes import Pace
from codeagent.core.errors import UndoStopped

COUNT = 300
CHANGED = """
rm -r d0 && echo x > d0
for i in d1/* d2/*; do echo more >> $i; done
rm -r d3; mv d4 d5; ln -sfn d5 d4
chmod 600 d1/*; mkdir -p new/deep; for i in $(seq 60); do echo n > new/deep/$i; done
"""


class PaceStopping(Pace):
    """Is stopped by the person at a certain step."""

    def __init__(self, at):
        super().__init__()
        self.at = at

    def step(self):
        if self.done == self.at:
            self.stop()
        super().step()


@pytest.fixture
async def many(ground, tree_of):
    for number in range(COUNT):
        path = ground.root / f"d{number % 5}" / f"f{number}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"file {number}\n")
    before = tree_of(ground.root)
    result = await ground.bash(CHANGED)
    assert not result.is_error, result.text
    return before, tree_of(ground.root)


async def test_all_of_it_comes_back_and_goes_again(ground, tree_of, many):
    before, after = many
    for _ in range(2):
        await ground.undo()
        assert tree_of(ground.root) == before
        await ground.redo()
        assert tree_of(ground.root) == after


async def test_the_disk_is_waited_for_as_often_as_for_a_few_files(ground, many, monkeypatch):
    waits = []
    really = os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: waits.append(file) or really(file))
    pace = Pace()
    await ground.timeline.carry_out(await ground.timeline.plan_undo(), pace=pace)
    assert len(waits) < 10
    assert pace.is_final
    assert 0 < pace.done <= pace.total


@pytest.mark.parametrize("at", [0, 1, 300, 500, 560])
async def test_stopped_before_the_first_file_takes_its_place_nothing_has_changed(ground, tree_of, many, at):
    entries = ground.store.log.entries
    plan = await ground.timeline.plan_undo()
    with pytest.raises(UndoStopped):
        await ground.timeline.carry_out(plan, pace=PaceStopping(at))
    assert (tree_of(ground.root), ground.store.log.entries) == (many[1], entries)
    await ground.timeline.carry_out(plan)
    assert tree_of(ground.root) == many[0]


async def test_stopped_later_it_is_done_to_its_end(ground, tree_of, many):
    class StoppedLate(Pace):
        def step(self):
            if self.is_final:
                self.stop()
            super().step()

    await ground.timeline.carry_out(await ground.timeline.plan_undo(), pace=StoppedLate())
    assert tree_of(ground.root) == many[0]


async def test_cancelled_it_lets_go_of_the_files_before_anybody_else_works_with_them(ground, tree_of, many):
    reached, go_on = threading.Event(), threading.Event()

    class Waiting(Pace):
        def step(self):
            if self.done == 400:
                reached.set()
                assert go_on.wait(60)
            super().step()

    plan = await ground.timeline.plan_undo()
    doing = asyncio.ensure_future(ground.timeline.carry_out(plan, pace=Waiting()))
    await asyncio.to_thread(reached.wait, 60)
    doing.cancel()
    await asyncio.sleep(0)
    assert ground.undoing.hook.busy.locked()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await doing
    assert not ground.undoing.hook.busy.locked()
    assert tree_of(ground.root) == many[1]


async def test_a_file_that_is_saved_meanwhile_stays_and_is_named(ground, tree_of, many):
    mine = ground.root / "d1" / "f1.txt"

    class Saving(Pace):
        """A person saves the file when all lies ready."""

        is_over = False

        def step(self):
            super().step()
            if self.is_final and not Saving.is_over:
                Saving.is_over = True
                mine.write_text("mine\n")

    plan = await ground.timeline.plan_undo()
    said = await ground.timeline.carry_out(plan, pace=Saving())
    assert f"{mine} was changed meanwhile" in said
    assert mine.read_text() == "mine\n"
    assert {**tree_of(ground.root), "d1/f1.txt": ""} == {**many[0], "d1/f1.txt": ""}
