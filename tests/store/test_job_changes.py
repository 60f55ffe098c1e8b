"""What a background job changes is told as its doing and can be taken back; what may be the person's is left alone."""

import asyncio
import os

import pytest

from codeagent.core.changes import Standing
from codeagent.core.errors import NothingToUndo
from codeagent.core.events import JobChanged, NoticeGiven
from codeagent.core.messages import ToolCall
from codeagent.core.protocols import ToolContext
from codeagent.job_reports import news_for_model
from codeagent.store.change_store import Pending
from codeagent.tools.bash import BashArguments, BashTool
from codeagent.workspace.jobs import Jobs


class Works:
    """The jobs of a session over a ground; each step of a job waits until the test lets it go on."""

    def __init__(self, ground):
        self.ground = ground
        self.ends = {}
        self.jobs = Jobs(self.tell, ground.undoing.hook.keep_changes)

    def tell(self, job):
        self.ground.undoing.listen(JobChanged(job=job))
        self.ends.setdefault(job.number, asyncio.get_running_loop().create_future())
        if not job.is_running:
            self.ends[job.number].set_result(job)

    async def start(self, command, *, is_read_only=False):
        ground = self.ground
        logs = ground.state.parent / "logs"
        tool = BashTool(ground.paths, ground.seen, logs, lambda *_: is_read_only, dict(os.environ), jobs=self.jobs)
        call = ToolCall(id=f"job{len(self.ends)}", name="bash", arguments_json="{}")
        arguments = BashArguments(command=command, background=True)
        plan = await tool.plan(arguments, ToolContext(call_id=call.id))
        assert await ground.undoing.hook.before(call, plan) == ""
        return await ground.undoing.hook.after(call, await plan.run(lambda text: None))

    def go(self, name):
        """Lets the step that waits for ``name`` go on."""
        os.close(os.open(self.gate(name), os.O_WRONLY))

    def gate(self, name):
        path = self.ground.state.parent / name
        if not path.exists():
            os.mkfifo(path)
        return path

    def until(self, name):
        """The shell words that wait for ``name``."""
        return f": < {self.gate(name)}"

    async def end(self, number=1):
        return await self.ends[number]


@pytest.fixture
async def works(ground):
    works = Works(ground)
    yield works
    works.jobs.close()


async def test_what_a_job_changed_by_its_end_is_told_and_taken_back(ground, works, tree_of):
    before = tree_of(ground.root)
    await works.start(f"{works.until('on')}; echo six >> a.txt; mkdir -p gen/empty; echo new > gen/new.txt")
    works.go("on")
    job = await works.end()
    assert job.changed == "created gen/empty/ folder; a.txt +1; created gen/new.txt +1"
    assert f"changed files: {job.changed}" in news_for_model(works.jobs)
    plan = await ground.timeline.plan_undo()
    assert plan.what.startswith("job 1 (")
    assert plan.conflicts == ()
    await ground.timeline.carry_out(plan)
    assert tree_of(ground.root) == before
    await ground.redo()
    assert (ground.root / "gen" / "new.txt").read_text() == "new\n"


async def test_what_one_of_several_jobs_changed_is_not_said_to_be_the_doing_of_the_first_to_end(ground, works):
    await works.start(works.until("on"))
    steps = ("echo 2 > two.txt", works.until("written"), works.until("off"), "echo 3 >> two.txt")
    await works.start("; ".join((works.until("begin"), *steps)))
    works.go("begin")
    works.go("written")
    works.go("on")
    assert (await works.end()).changed == "created two.txt +1 (by it or by job 2, which ran beside it)"
    works.go("off")
    assert (await works.end(2)).changed == "two.txt +1"


async def test_calls_beside_a_job_keep_their_own_changes(ground, works, tree_of):
    trees = [tree_of(ground.root)]
    await works.start(f"{works.until('on')}; echo job >> sub/b.txt; echo job > job.txt")
    await ground.write("a.txt", "written\n")
    await ground.write("deep/new.txt", "written too\n")
    trees.append(tree_of(ground.root))
    works.go("on")
    assert (await works.end()).changed == "created job.txt +1; sub/b.txt +1"
    await ground.undo()
    assert tree_of(ground.root) == trees[1]
    await ground.undo()
    await ground.undo()
    assert tree_of(ground.root) == trees[0]


async def test_a_job_that_ends_beside_a_command_has_its_changes_in_those_of_the_command(ground, works, tree_of):
    before = tree_of(ground.root)
    await works.start(f"{works.until('on')}; echo job > job.txt; {works.until('off')}")
    result = await ground.bash(f": > {works.gate('on')}; : > {works.gate('off')}; echo own > own.txt")
    assert "own.txt" in {diff.path for diff in result.details.changes}
    await works.end()
    while True:
        try:
            await ground.undo()
        except NothingToUndo:
            break
    assert tree_of(ground.root) == before


async def test_what_changed_while_a_job_runs_on_is_left_alone_unless_the_person_says_so(ground, works, tree_of):
    await works.start(f"{works.until('on')}; echo job > job.txt; {works.until('written')}; {works.until('off')}")
    works.go("on")
    works.go("written")
    (ground.root / "a.txt").write_text("the person's\n")
    await ground.bash("echo own > own.txt")
    plan = await ground.timeline.plan_undo()
    assert plan.what == "bash echo own > own.txt"
    await ground.timeline.carry_out(plan)
    assert not (ground.root / "own.txt").exists()
    plan = await ground.timeline.plan_undo()
    assert {file.path: file.standing for file in plan.files} == {"a.txt": Standing.UNSURE, "job.txt": Standing.UNSURE}
    said = await ground.timeline.carry_out(plan)
    assert "a.txt was left as it is: it may be you who changed it." in said
    assert (ground.root / "a.txt").read_text() == "the person's\n"
    await ground.redo()
    await ground.undo(overwrites=True)
    assert not (ground.root / "job.txt").exists()
    assert (ground.root / "a.txt").read_text().startswith("one\n")
    works.go("off")


async def test_a_rewind_leaves_what_may_be_the_persons(ground, works):
    ground.turn(1)
    await works.start(f"{works.until('on')}; {works.until('off')}")
    works.go("on")
    (ground.root / "a.txt").write_text("the person's\n")
    ground.turn(2)
    await ground.bash("echo own > own.txt")
    await ground.timeline.carry_out(await ground.timeline.plan_rewind(1))
    assert (ground.root / "a.txt").read_text() == "the person's\n"
    assert not (ground.root / "own.txt").exists()
    assert await ground.timeline.changes() == ()
    works.go("off")


async def test_what_a_job_did_until_the_program_ended_is_kept(ground, works, tree_of):
    before = tree_of(ground.root)
    await works.start(f"{works.until('on')}; echo job > job.txt; {works.until('written')}; sleep 600")
    works.go("on")
    works.go("written")
    works.jobs.close()
    ground.undoing.hook.close()
    ground.reopen()
    await ground.undo(overwrites=True)
    assert tree_of(ground.root) == before


async def test_a_job_that_surely_only_reads_is_not_asked_what_it_changed(ground, works):
    await ground.bash("echo x > x.txt")
    (ground.root / "a.txt").write_text("the person's\n")
    await works.start("cat a.txt", is_read_only=True)
    assert (await works.end()).changed == ""
    assert (await ground.timeline.plan_undo()).what == "bash echo x > x.txt"


async def test_a_job_that_changes_nothing_says_nothing(ground, works):
    await works.start("true")
    assert (await works.end()).changed == ""
    with pytest.raises(NothingToUndo):
        await ground.undo()


async def test_what_a_job_did_when_the_program_was_killed_is_offered_at_the_next_start(ground, works, tree_of):
    await works.start(f"{works.until('on')}; echo job > job.txt; {works.until('written')}; sleep 600")
    await ground.write("agents.txt", "the agent's\n")
    before = tree_of(ground.root)
    works.go("on")
    works.go("written")
    works.jobs.close()  # the program is killed: nobody looks
    (ground.root / "a.txt").write_text("the person's\n")
    ground.reopen()
    await ground.undoing.news()
    (notice,) = [event.text for event in ground.events if isinstance(event, NoticeGiven)]
    assert notice.startswith("Job 1 (")
    assert notice.endswith(
        ", cut off when codeagent was killed: 2 files changed since, by it or by you. /undo shows what."
    )
    plan = await ground.timeline.plan_undo()
    assert plan.what == "write agents.txt"
    assert {file.path: file.standing for file in plan.files} == {
        "a.txt": Standing.UNSURE,
        "agents.txt": Standing.CLEAN,
        "job.txt": Standing.UNSURE,
    }
    await ground.timeline.carry_out(plan)
    assert ((ground.root / "a.txt").read_text(), (ground.root / "job.txt").exists()) == ("the person's\n", True)
    await ground.redo()
    await ground.undo(overwrites=True)
    assert tree_of(ground.root) | {"agents.txt": before["agents.txt"]} == before
    ground.reopen()
    await ground.undoing.news()
    assert len([event for event in ground.events if isinstance(event, NoticeGiven)]) == 4  # and undo, redo, undo


@pytest.mark.parametrize("end", ["by itself", "with the session"])
async def test_a_job_that_is_over_is_not_in_question_at_the_next_start(ground, works, end):
    await works.start(f"{works.until('on')}; echo job > job.txt")
    if end == "by itself":
        works.go("on")
        await works.end()
    else:
        works.jobs.close()
        ground.undoing.hook.close()
    count = len(ground.store.log.entries)
    (ground.root / "a.txt").write_text("the person's\n")
    ground.reopen()
    await ground.undoing.news()
    await ground.bash("true")
    assert len(ground.store.log.entries) == count


async def test_killed_in_a_command_beside_a_job_both_can_be_taken_back(ground, works, tree_of):
    before = tree_of(ground.root)
    await works.start(f"{works.until('on')}; echo job > job.txt; {works.until('written')}; sleep 600")
    await ground.bash("echo first > first.txt")
    ground.store.begin(Pending(id="c99", call_id="x", turn=1, what="bash second"))
    (ground.root / "second.txt").write_text("second\n")
    works.go("on")
    works.go("written")
    works.jobs.close()
    ground.reopen()
    assert (await ground.timeline.plan_undo()).what == "bash second"
    while ground.store.log.balance().done:
        await ground.undo(overwrites=True)
    assert tree_of(ground.root) == before


async def test_a_kill_in_the_middle_of_keeping_what_jobs_did_keeps_it_once(ground, works):
    await works.start(f"{works.until('on')}; echo job > job.txt; {works.until('written')}; sleep 600")
    works.go("on")
    works.go("written")
    works.jobs.close()
    place = ground.state / "sessions" / "s1"
    for cut_off_before in ("the log", "the mark"):
        kept = {path.name: path.read_bytes() for path in place.iterdir()}
        times = {path.name: path.stat() for path in place.iterdir()}
        ground.reopen()
        ground.store.settle_all()
        for name, content in kept.items():  # what was not reached yet is as it was; the index had gone on
            if (
                name.endswith(".mark")
                or name == "running-jobs.json"
                or (cut_off_before == "the log" and name == "changes.jsonl")
            ):
                (place / name).unlink(missing_ok=True)
                (place / name).write_bytes(content)
                os.utime(place / name, ns=(times[name].st_atime_ns, times[name].st_mtime_ns))
        if cut_off_before == "the log" and "changes.jsonl" not in kept:
            (place / "changes.jsonl").unlink()
    ground.reopen()
    ground.store.settle_all()
    assert [[change.name for change in entry.changes] for entry in ground.store.log.entries] == [["job.txt"]]
