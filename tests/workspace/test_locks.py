"""Locks: reads share, writes do not, nobody overtakes, nothing stays behind."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeagent.core.approvals import Access, Touch
from codeagent.workspace.locks import LockTable


def read(path: str | None) -> Touch:
    return Touch(path=Path(path) if path else None, access=Access.READ)


def write(path: str | None) -> Touch:
    return Touch(path=Path(path) if path else None, access=Access.WRITE)


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


class Run:
    """Calls that are started in order and end when they are told to."""

    def __init__(self) -> None:
        self.table = LockTable()
        self.running: list[str] = []
        self._ends: dict[str, asyncio.Event] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def start(self, group: asyncio.TaskGroup, name: str, *touches: Touch) -> None:
        reservation = self.table.reserve(touches)
        self._ends[name] = asyncio.Event()

        async def call() -> None:
            async with reservation:
                self.running.append(name)
                await self._ends[name].wait()
                self.running.remove(name)

        self._tasks[name] = group.create_task(call())
        await settle()

    async def end(self, *names: str) -> None:
        for name in names:
            self._ends[name].set()
        await settle()

    async def cancel(self, name: str) -> None:
        self._tasks[name].cancel()
        await settle()


async def test_reads_of_one_file_share_and_a_write_waits_for_them():
    run = Run()
    async with asyncio.TaskGroup() as group:
        await run.start(group, "r1", read("/w/a"))
        await run.start(group, "r2", read("/w/a"))
        await run.start(group, "w", write("/w/a"))
        assert run.running == ["r1", "r2"]
        await run.end("r1")
        assert run.running == ["r2"]
        await run.end("r2")
        assert run.running == ["w"]
        await run.end("w")
    assert len(run.table) == 0


async def test_writes_of_different_files_run_side_by_side():
    run = Run()
    async with asyncio.TaskGroup() as group:
        await run.start(group, "a", write("/w/a"))
        await run.start(group, "b", write("/w/b"))
        assert run.running == ["a", "b"]
        await run.end("a", "b")


async def test_a_read_never_overtakes_an_earlier_write_that_waits():
    run = Run()
    async with asyncio.TaskGroup() as group:
        await run.start(group, "r1", read("/w/a"))
        await run.start(group, "w", write("/w/a"))
        await run.start(group, "r2", read("/w/a"))
        assert run.running == ["r1"]
        await run.end("r1")
        assert run.running == ["w"]
        await run.end("w")
        assert run.running == ["r2"]
        await run.end("r2")


async def test_the_whole_workspace_conflicts_with_every_write_and_shares_with_reads():
    run = Run()
    async with asyncio.TaskGroup() as group:
        await run.start(group, "grep", read(None))
        await run.start(group, "read", read("/w/a"))
        await run.start(group, "edit", write("/w/a"))
        assert run.running == ["grep", "read"]
        await run.end("grep", "read")
        await run.start(group, "bash", write(None))
        assert run.running == ["edit"]
        await run.end("edit")
        assert run.running == ["bash"]
        await run.start(group, "later", read("/w/z"))
        assert run.running == ["bash"]
        await run.end("bash", "later")


async def test_a_folder_conflicts_with_what_lies_below_it_but_not_with_a_longer_name():
    run = Run()
    async with asyncio.TaskGroup() as group:
        await run.start(group, "list", read("/w/src"))
        await run.start(group, "below", write("/w/src/a"))
        await run.start(group, "beside", write("/w/src-old"))
        assert run.running == ["list", "beside"]
        await run.end("list", "beside", "below")


async def test_all_paths_of_a_call_are_granted_at_once():
    run = Run()
    async with asyncio.TaskGroup() as group:
        await run.start(group, "a", write("/w/a"))
        await run.start(group, "ab", write("/w/a"), write("/w/b"))
        await run.start(group, "b", write("/w/b"))
        await run.start(group, "c", write("/w/c"))
        assert run.running == ["a", "c"]
        await run.end("a")
        assert run.running == ["c", "ab"]
        await run.end("ab")
        assert run.running == ["c", "b"]
        await run.end("b", "c")


async def test_crossed_paths_do_not_wait_for_each_other_for_ever():
    run = Run()
    async with asyncio.TaskGroup() as group:
        await run.start(group, "one", write("/w/a"), write("/w/b"))
        await run.start(group, "two", write("/w/b"), write("/w/a"))
        await run.end("one", "two")
    assert len(run.table) == 0


async def test_a_call_that_names_a_path_twice_does_not_wait_for_itself():
    async with asyncio.timeout(1), LockTable().reserve([write("/w/a"), read("/w/a"), write(None)]):
        pass


async def test_cancelling_a_waiting_call_lets_the_next_one_through():
    run = Run()
    async with asyncio.TaskGroup() as group:
        await run.start(group, "r", read("/w/a"))
        await run.start(group, "w", write("/w/a"))
        await run.start(group, "r2", read("/w/a"))
        await run.cancel("w")
        assert run.running == ["r", "r2"]
        await run.end("r", "r2")
    assert len(run.table) == 0


async def test_cancelling_a_running_call_gives_its_locks_back():
    run = Run()
    async with asyncio.TaskGroup() as group:
        await run.start(group, "one", write("/w/a"))
        await run.start(group, "two", write("/w/a"))
        await run.cancel("one")
        assert run.running[-1] == "two"
        await run.end("two")
    assert len(run.table) == 0


async def test_an_abandoned_place_holds_nobody_up():
    table = LockTable()
    place = table.reserve([write("/w/a")])
    later = table.reserve([write("/w/a")])
    assert later.is_waiting
    place.abandon()
    place.abandon()
    assert not later.is_waiting
    async with asyncio.timeout(1), later:
        assert len(table) == 1
    assert len(table) == 0


async def test_an_error_inside_gives_the_locks_back():
    table = LockTable()
    with pytest.raises(ValueError, match="inside"):
        async with table.reserve([write("/w/a")]):
            raise ValueError("inside")
    assert len(table) == 0


TOUCHES = st.lists(
    st.builds(
        Touch,
        path=st.sampled_from([None, Path("/w"), Path("/w/a"), Path("/w/b"), Path("/w/b/c")]),
        access=st.sampled_from(Access),
    ),
    max_size=3,
)


@given(calls=st.lists(st.tuples(TOUCHES, st.sampled_from(["run", "abandon", "cancel"])), max_size=12))
@settings(max_examples=200)
def test_whatever_is_asked_for_no_two_conflicting_calls_run_and_all_end(calls):
    def overlaps(one: Touch, two: Touch) -> bool:
        if Access.WRITE not in {one.access, two.access}:
            return False
        if one.path is None or two.path is None:
            return True
        return one.path.is_relative_to(two.path) or two.path.is_relative_to(one.path)

    async def scenario() -> None:
        table = LockTable()
        inside: list[list[Touch]] = []

        async def call(reservation, touches: list[Touch]) -> None:
            async with reservation:
                assert not any(overlaps(one, two) for other in inside for one in other for two in touches)
                inside.append(touches)
                await settle()
                inside.remove(touches)

        async with asyncio.timeout(5), asyncio.TaskGroup() as group:
            for touches, fate in calls:
                reservation = table.reserve(touches)
                if fate == "abandon":
                    reservation.abandon()
                    continue
                task = group.create_task(call(reservation, touches))
                await asyncio.sleep(0)
                if fate == "cancel" and reservation.is_waiting:
                    task.cancel()
        assert len(table) == 0

    asyncio.run(scenario())
