"""Commands of one step: asked about side by side, run one after the other, and only what was said yes to."""

from __future__ import annotations

import asyncio
from collections import defaultdict

import pytest

from codeagent.core.approvals import (
    ApprovalRequest,
    Approve,
    CommandPreview,
    Decision,
    Deny,
    Hold,
    Mode,
    Scope,
    Verdict,
)
from codeagent.core.events import ApprovalAsked, ToolEnded, ToolPreviewed, ToolRunning
from codeagent.core.messages import Outcome
from codeagent.policy.asked import Meaning, Question, Yes
from codeagent.policy.gate import ToolGate
from codeagent.policy.rules import RuleSet
from codeagent.tools.bash import BashTool, CommandPlan
from codeagent.tools.write import WriteTool
from codeagent.workspace.jobs import Jobs
from codeagent.workspace.paths import PathSandbox
from codeagent.workspace.seen import SeenFiles
from tests.agent.stage import Model, Stage, call, reply


class Person:
    """Every question stays open until the test answers it, in whatever order."""

    def __init__(self):
        self.open = {}
        self.opened = asyncio.Condition()

    async def ask(self, request):
        answer = asyncio.get_running_loop().create_future()
        async with self.opened:
            self.open.setdefault(request.call_id, []).append(answer)
            self.opened.notify_all()
        return await answer


class Gate(ToolGate):
    """The real one, which lets a test see when an answer that was given ahead has been taken."""

    async def ask_ahead(self, call, plan):
        said = await super().ask_ahead(call, plan)
        self.taken[call.id].set()
        return said


class Room:
    """A workspace, a person and a model that runs commands there in one step."""

    def __init__(self, root, *calls, mode=Mode.ASK, approver=True, **rules):
        self.root, self.mode = root, mode
        self.person = Person()
        sandbox, seen = PathSandbox(root), SeenFiles()
        gate = Gate(
            sandbox,
            RuleSet.parse(**rules),
            self.person if approver else None,
            self.tell,
            lambda: self.mode,
            hold=Hold.NONE,
        )
        gate.taken = self.taken = defaultdict(asyncio.Event)
        bash = BashTool(
            sandbox,
            seen,
            logs=root,
            is_read_only=gate.is_read_only,
            environ={"PATH": "/usr/bin:/bin"},
            jobs=Jobs(print),
        )
        self.stage = Stage(Model(reply("", *calls)), bash, WriteTool(sandbox, seen), gate=gate)

    def send(self):
        return asyncio.ensure_future(self.stage.send())

    def tell(self, event):
        self.stage.emit(event)

    async def asked(self, *call_ids, times=1):
        async with self.person.opened:
            await self.person.opened.wait_for(lambda: all(self.questions(one) >= times for one in call_ids))

    def questions(self, call_id):
        return len(self.person.open.get(call_id, ()))

    def answer(self, call_id, answer):
        self.person.open[call_id][-1].set_result(answer)

    async def answer_ahead(self, call_id, answer):
        self.answer(call_id, answer)
        await self.taken[call_id].wait()
        for _ in range(50):
            await asyncio.sleep(0)

    @property
    def order(self):
        return [event.call_id for event in self.stage.of(ToolRunning)]


def runs(call_id, command, **more):
    return call(call_id, "bash", command=command, **more)


THREE = (runs("c1", "echo 1 >> out"), runs("c2", "echo 2 >> out"), runs("c3", "echo 3 >> out"))


async def test_all_are_asked_about_at_once_and_run_in_call_order(tmp_path):
    room = Room(tmp_path, *THREE)
    turn = room.send()
    await room.asked("c1", "c2", "c3")
    room.answer("c3", Approve())
    await room.answer_ahead("c2", Approve())
    assert room.order == []
    room.answer("c1", Approve())
    await turn
    assert (tmp_path / "out").read_text() == "1\n2\n3\n"
    assert room.order == ["c1", "c2", "c3"]
    assert [room.questions(one) for one in ("c1", "c2", "c3")] == [1, 1, 1]


async def test_a_no_ends_that_command_at_once_and_no_other(tmp_path):
    room = Room(tmp_path, *THREE)
    turn = room.send()
    await room.asked("c1", "c2", "c3")
    room.answer("c2", Deny(feedback="not that one"))
    await room.stage.until(lambda event: isinstance(event, ToolEnded) and event.result.call_id == "c2")
    room.answer("c1", Approve())
    room.answer("c3", Approve())
    await turn
    assert (tmp_path / "out").read_text() == "1\n3\n"
    assert "not that one" in room.stage.results()["c2"].text


async def test_a_command_and_a_change_of_a_file_are_asked_about_side_by_side(tmp_path):
    room = Room(tmp_path, call("w", "write", path="a.txt", content="new\n"), runs("c", "cat a.txt > out"))
    turn = room.send()
    await room.asked("w", "c")
    room.answer("c", Approve())
    room.answer("w", Approve())
    await turn
    assert (tmp_path / "out").read_text() == "new\n"


async def test_a_script_that_an_earlier_command_changed_is_asked_about_again(tmp_path):
    (tmp_path / "go.sh").write_text("echo harmless\n")
    room = Room(tmp_path, runs("c1", "echo 'echo other > out' > go.sh"), runs("c2", "bash go.sh"))
    turn = room.send()
    await room.asked("c1", "c2")
    room.answer("c2", Approve())
    room.answer("c1", Approve())
    await room.asked("c2", times=2)
    assert not (tmp_path / "out").exists()
    again = room.stage.of(ApprovalAsked)[-1].request
    assert "would do something else by now" in again.warnings[0]
    room.answer("c2", Deny())
    await turn
    assert not (tmp_path / "out").exists()


async def test_a_link_that_an_earlier_command_made_is_asked_about_again(tmp_path):
    (tmp_path / "w").mkdir()
    (tmp_path / "elsewhere").mkdir()
    room = Room(tmp_path / "w", runs("c1", "ln -s ../elsewhere d"), runs("c2", "touch d/x"))
    turn = room.send()
    await room.asked("c1", "c2")
    room.answer("c2", Approve())
    room.answer("c1", Approve())
    await room.asked("c2", times=2)
    room.answer("c2", Deny())
    await turn
    assert not (tmp_path / "elsewhere/x").exists()


EXCHANGED = {
    "another folder by a link": ("rm -r build; ln -s keep build", "rm build/*"),
    "another folder by its name": ("rm -r build; mv keep build", "rm -rf build/d"),
    "a folder behind an option": ("rm -r build; ln -s keep build", "touch --reference=build/d out"),
    "a link in the place of a file": ("rm file; ln -s keep/mine file", "echo more >> file"),
    "a new link": ("ln -s keep new", "rm new/mine"),
    "work that would be lost by now": ("echo mine > file", "git checkout -- file"),
}


@pytest.mark.parametrize(("first", "second"), EXCHANGED.values(), ids=EXCHANGED)
async def test_a_yes_is_none_to_other_places_or_greater_losses(tmp_path, first, second):
    for name in ("build", "build/d", "keep", "keep/d"):
        (tmp_path / name).mkdir()
    for name in ("build/x", "keep/mine", "keep/d/mine", "file"):
        (tmp_path / name).write_text(name)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(tmp_path)]
    for words in (["init", "-q"], ["add", "file"], ["commit", "-qm", "1"]):
        await (await asyncio.create_subprocess_exec(*git, *words)).wait()
    room = Room(tmp_path, runs("c1", first), runs("c2", second))
    turn = room.send()
    await room.asked("c1", "c2")
    await room.answer_ahead("c2", Approve())
    room.answer("c1", Approve())
    await room.asked("c2", times=2)
    room.answer("c2", Deny())
    await turn


EXPECTED = {
    "a folder that comes": ("mkdir build", "cd build && touch x"),
    "a file that comes": ("mkdir -p build && echo 1 >> build/out", "echo 2 >> build/out"),
    "what a folder holds": ("touch keep/new", "mkdir keep/newer"),
    "a file that is read": ("echo 1 > file", "cp file copy"),
}


@pytest.mark.parametrize(("first", "second"), EXPECTED.values(), ids=EXPECTED)
async def test_a_yes_holds_where_earlier_commands_did_what_they_were_for(tmp_path, first, second):
    (tmp_path / "keep").mkdir()
    (tmp_path / "file").touch()
    room = Room(tmp_path, runs("c1", first), runs("c2", second))
    turn = room.send()
    await room.asked("c1", "c2")
    await room.answer_ahead("c2", Approve())
    room.answer("c1", Approve())
    await turn
    assert room.questions("c2") == 1
    assert room.stage.results()["c2"].outcome is Outcome.OK


def test_a_yes_to_more_than_can_be_looked_at_is_none_by_then(tmp_path):
    preview = CommandPreview(command="touch x", cwd=tmp_path, timeout=1)
    verdict = Verdict(decision=Decision.ASK, because="It asks.")
    plan = CommandPlan(call_id="c", preview=preview, touches=(), shell=None)
    request = ApprovalRequest(call_id="c", tool="bash", preview=preview, touches=(), verdict=verdict)
    for led_to, holds in (({}, True), (None, False)):
        meaning = Meaning(verdict=verdict, overlooked=(), files_run=None, led_to=led_to)
        question = Question(request=request, mode=Mode.ASK, meaning=meaning)
        assert Yes(plan=plan, question=question).holds(plan, question) is holds


async def test_a_folder_that_an_earlier_command_makes_is_there_for_the_next(tmp_path):
    room = Room(tmp_path, runs("c1", "mkdir d"), runs("c2", "touch x", cwd="d"))
    turn = room.send()
    await room.asked("c1")
    room.answer("c1", Approve())
    await room.asked("c2")
    room.answer("c2", Approve())
    await turn
    assert (tmp_path / "d/x").exists()


async def test_a_folder_that_became_a_link_meanwhile_is_asked_about_again(tmp_path):
    (tmp_path / "d").mkdir()
    (tmp_path / "e").mkdir()
    room = Room(tmp_path, runs("c1", "rmdir d && ln -s e d"), runs("c2", "touch x", cwd="d"))
    turn = room.send()
    await room.asked("c1", "c2")
    await room.answer_ahead("c2", Approve())
    room.answer("c1", Approve())
    await room.asked("c2", times=2)
    room.answer("c2", Approve())
    await turn
    assert (tmp_path / "e/x").exists()


async def test_a_rule_stored_with_one_answer_does_not_make_the_others_doubtful(tmp_path):
    room = Room(tmp_path, runs("c1", "touch a"), runs("c2", "touch a && mkdir b"))
    turn = room.send()
    await room.asked("c1", "c2")
    room.answer("c1", Approve(scope=Scope.SESSION))
    await room.stage.until(lambda event: isinstance(event, ToolEnded) and event.result.call_id == "c1")
    room.answer("c2", Approve())
    await turn
    assert room.questions("c2") == 1
    assert (tmp_path / "b").is_dir()


async def test_the_mode_in_force_when_its_turn_comes_counts(tmp_path):
    room = Room(tmp_path, *THREE[:2])
    turn = room.send()
    await room.asked("c1", "c2")
    await room.answer_ahead("c2", Approve())
    room.mode = Mode.PLAN
    room.answer("c1", Deny())
    await turn
    assert room.stage.results()["c2"].outcome is Outcome.DENIED
    assert not (tmp_path / "out").exists()


async def test_what_the_person_changed_in_a_command_is_what_runs(tmp_path):
    room = Room(tmp_path, *THREE[:2])
    turn = room.send()
    await room.asked("c1", "c2")
    room.answer("c2", Approve(edited="echo mine >> out"))
    await room.asked("c2", times=2)
    room.answer("c2", Approve())
    room.answer("c1", Approve())
    await turn
    assert (tmp_path / "out").read_text() == "1\nmine\n"


async def test_new_words_skip_what_was_let_run_but_has_not_begun(tmp_path):
    go = tmp_path / "go"
    room = Room(tmp_path, runs("c1", "until [ -e go ]; do sleep 0.01; done; touch over"), *THREE[1:])
    turn = room.send()
    await room.asked("c1", "c2", "c3")
    await room.answer_ahead("c2", Approve())
    room.answer("c1", Approve())
    await room.stage.until(lambda event: isinstance(event, ToolRunning))
    room.stage.session.steer("Something else.")
    go.touch()
    await turn
    assert room.stage.results()["c2"].outcome is Outcome.SKIPPED
    assert room.stage.results()["c3"].outcome is Outcome.SKIPPED
    assert not (tmp_path / "out").exists()


async def test_a_stopped_turn_closes_every_question(tmp_path):
    room = Room(tmp_path, *THREE)
    turn = room.send()
    await room.asked("c1", "c2", "c3")
    room.answer("c2", Approve())
    await room.stage.session.cancel()
    await turn
    assert not (tmp_path / "out").exists()
    assert room.order == []


@pytest.mark.parametrize("mode", [Mode.ASK, Mode.PLAN])
async def test_nobody_is_asked_where_nobody_is_there_or_nothing_has_to_be(tmp_path, mode):
    room = Room(tmp_path, THREE[0], runs("r", "ls"), THREE[1], mode=mode, approver=False)
    await room.send()
    assert room.stage.of(ApprovalAsked) == []
    outcomes = {call_id: result.outcome for call_id, result in room.stage.results().items()}
    assert outcomes == {"c1": Outcome.DENIED, "r": Outcome.OK, "c2": Outcome.DENIED}


async def test_a_command_that_was_changed_ahead_of_its_turn_is_shown_as_it_will_run(tmp_path):
    room = Room(tmp_path, *THREE)
    turn = room.send()
    await room.asked("c1", "c2", "c3")
    room.answer("c2", Approve(edited="echo two >> out"))
    await room.asked("c2", times=2)
    await room.answer_ahead("c2", Approve())
    shown = [event.label for event in room.stage.of(ToolPreviewed) if event.call_id == "c2"]
    assert shown == ["echo 2 >> out", "echo two >> out"]
    room.answer("c1", Approve())
    room.answer("c3", Approve())
    await turn
    assert (tmp_path / "out").read_text() == "1\ntwo\n3\n"


async def test_a_yes_runs_nothing_once_the_mode_is_plan_and_the_result_says_why(tmp_path):
    room = Room(tmp_path, *THREE)
    turn = room.send()
    await room.asked("c1", "c2", "c3")
    await room.answer_ahead("c2", Approve())
    room.mode = Mode.PLAN
    room.answer("c3", Approve())
    room.answer("c1", Approve())
    await turn
    assert room.order == []
    for result in room.stage.results().values():
        assert "Plan mode only reads" in result.text
        assert "a yes to it does not count" in result.text
