from __future__ import annotations

import asyncio

import pytest

from codeagent.agent.limits import Limits
from codeagent.core.approvals import Access, Approve, Touch
from codeagent.core.events import ApprovalAsked, ToolEnded, ToolPreviewed, ToolProgressed, ToolRunning, ToolStarted
from codeagent.core.messages import Outcome
from tests.agent.stage import FreeProbe, Model, Person, Probe, Read, Stage, Write, call, reply


class Counter:
    """How many calls ran at once."""

    def __init__(self) -> None:
        self.now = 0
        self.most = 0

    async def act(self, say, progress):
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.03)
        self.now -= 1
        return "done"


def many(name: str, count: int):
    return reply("", *(call(f"c{number}", name, say=str(number)) for number in range(count)))


async def test_calls_are_announced_in_order_before_any_of_them_ends():
    counter = Counter()
    stage = Stage(Model(many("p", 6)), FreeProbe("p", counter.act))
    await stage.send()
    assert [event.call_id for event in stage.of(ToolStarted)] == [f"c{number}" for number in range(6)]
    last_start = max(stage.events.index(event) for event in stage.of(ToolStarted))
    assert last_start < min(stage.events.index(event) for event in stage.of(ToolEnded))


@pytest.mark.parametrize(("parallel", "most"), [(4, 4), (2, 2)])
async def test_no_more_calls_run_at_once_than_the_limit_allows(parallel, most):
    counter = Counter()
    stage = Stage(Model(many("p", 10)), FreeProbe("p", counter.act), limits=Limits(parallel=parallel))
    await stage.send()
    assert counter.most == most


async def test_a_tool_that_says_nothing_about_itself_runs_alone():
    counter = Counter()
    await Stage(Model(many("p", 4)), Probe("p", counter.act)).send()
    assert counter.most == 1


@pytest.mark.parametrize("answer", [False, None, "yes", 1])
async def test_only_a_true_true_lets_calls_run_side_by_side(answer):
    class Doubtful(Probe):
        def is_concurrency_safe(self, arguments):
            return answer

        def is_read_only(self, arguments):
            return True

    counter = Counter()
    await Stage(Model(many("p", 3)), Doubtful("p", counter.act)).send()
    assert counter.most == 1


async def test_a_classifier_that_raises_means_alone(caplog):
    class Broken(Probe):
        def is_read_only(self, arguments):
            raise ValueError("hm")

        def interruption(self, arguments):
            raise ValueError("hm")

    counter = Counter()
    stage = Stage(Model(many("p", 3)), Broken("p", counter.act))
    await stage.send()
    assert counter.most == 1
    assert {result.outcome for result in stage.results().values()} == {Outcome.OK}


async def test_read_only_calls_share():
    class Looking(Probe):
        def touches(self, arguments, context):
            return (Touch(path=None, access=Access.READ),)

        def is_read_only(self, arguments):
            return True

    counter = Counter()
    await Stage(Model(many("p", 4)), Looking("p", counter.act)).send()
    assert counter.most == 4


async def test_a_read_after_a_write_of_the_same_file_sees_what_was_written(tmp_path):
    calls = (call("c1", "write", path="a", content="new"), call("c2", "read", path="a"))
    stage = Stage(Model(reply("", *calls)), Write(tmp_path, seconds=0.1), Read(tmp_path))
    await stage.send()
    assert stage.results()["c2"].text == "new"


async def test_a_read_never_waits_for_the_question_about_another_file(tmp_path):
    (tmp_path / "b").write_text("B")
    person = Person()
    calls = (call("c1", "write", path="a", content="x"), call("c2", "read", path="b"))
    stage = Stage(Model(reply("", *calls)), Write(tmp_path), Read(tmp_path), gate=person)
    turn = asyncio.ensure_future(stage.send())
    await stage.until(lambda event: isinstance(event, ToolEnded) and event.result.call_id == "c2")
    assert "c1" not in stage.results()
    await person.answer(Approve())
    await turn


async def test_a_call_that_waits_for_another_is_not_running_before_that_one_ended(tmp_path):
    calls = (call("c1", "write", path="a", content="new"), call("c2", "read", path="a"))
    stage = Stage(Model(reply("", *calls)), Write(tmp_path, seconds=0.1), Read(tmp_path))
    await stage.send()
    told = [event for event in stage.events if isinstance(event, (ToolRunning, ToolEnded))]
    assert [type(event) for event in told] == [ToolRunning, ToolEnded, ToolRunning, ToolEnded]
    assert [event.call_id for event in stage.of(ToolRunning)] == ["c1", "c2"]


async def test_no_more_calls_are_said_to_run_than_do():
    async def act(say, progress):
        await asyncio.sleep(0.03)
        progress("nearly done")

    stage = Stage(Model(many("p", 6)), FreeProbe("p", act), limits=Limits(parallel=2))
    await stage.send()
    running = most = 0
    for event in stage.events:
        running += isinstance(event, ToolRunning) - isinstance(event, ToolProgressed)
        most = max(most, running)
    assert most == 2


async def test_a_question_takes_no_running_place(tmp_path):
    person = Person()
    (tmp_path / "z").write_text("Z")
    writes = tuple(call(f"w{number}", "write", path=f"f{number}", content="x") for number in range(3))
    stage = Stage(
        Model(reply("", *writes, call("r", "read", path="z"))),
        Write(tmp_path),
        Read(tmp_path),
        gate=person,
        limits=Limits(parallel=1),
    )
    turn = asyncio.ensure_future(stage.send())
    await stage.until(lambda event: isinstance(event, ToolEnded) and event.result.call_id == "r")
    await stage.until(lambda event: len(stage.of(ApprovalAsked)) == len(writes))
    assert stage.results().keys() == {"r"}
    for _ in writes:
        await person.answer(Approve())
    await turn


async def test_a_second_write_of_a_file_is_planned_on_what_the_first_left(tmp_path):
    calls = (call("c1", "write", path="a", content="one\n"), call("c2", "write", path="a", content="two\n"))
    stage = Stage(Model(reply("", *calls)), Write(tmp_path))
    await stage.send()
    assert (tmp_path / "a").read_text() == "two\n"
    assert "one" in str(stage.of(ToolPreviewed)[1].preview.diff)


async def test_while_many_calls_begin_whatever_else_waits_gets_its_turn():
    stage = Stage(Model(many("p", 100)), FreeProbe("p", Counter().act))
    begun, most = 0, 0

    def count(event):
        nonlocal begun
        begun += isinstance(event, ToolStarted)

    async def look_in():
        nonlocal begun, most
        while True:
            most, begun = max(most, begun), 0
            await asyncio.sleep(0)

    stage.listeners.append(count)
    async with asyncio.TaskGroup() as group:
        looking = group.create_task(look_in())
        await stage.send()
        looking.cancel()
    assert len(stage.of(ToolStarted)) == 100
    assert 0 < most <= 2


async def test_a_name_in_another_case_is_the_tools_own_to_everybody_that_is_asked():
    stage = Stage(Model(reply("", call("c1", "functions.P", say="x")), reply("Done.")), FreeProbe("p", Counter().act))
    await stage.send()
    assert [event.name for event in stage.of(ToolStarted)] == ["p"]
    assert stage.session.messages[1].calls[0].name == "p"
    assert stage.results()["c1"].outcome is Outcome.OK
