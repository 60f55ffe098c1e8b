from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from codeagent.core.approvals import Approve, Decision, Deny, Hold, Mode, Scope, Withdraw
from codeagent.core.errors import ConfigError
from codeagent.core.events import ApprovalAsked, ApprovalSettled
from codeagent.core.messages import ToolCall
from codeagent.core.protocols import Allowed, Denied, ToolContext
from codeagent.policy.gate import ToolGate
from codeagent.policy.judge import Judge
from codeagent.policy.rules import RuleSet
from codeagent.tools.bash import BashTool
from codeagent.tools.edit import EditTool
from codeagent.tools.job import JobTool
from codeagent.tools.read import ReadTool
from codeagent.tools.write import WriteTool
from codeagent.workspace.jobs import Jobs
from codeagent.workspace.paths import PathSandbox
from codeagent.workspace.seen import SeenFiles


class Person:
    """Answers as told, one answer a question; with none left the question stays open."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.requests = []

    async def ask(self, request):
        self.requests.append(request)
        if not self.answers:
            await asyncio.Event().wait()
        return self.answers.pop(0)


class Desk:
    """A workspace with its tools and its gate."""

    def __init__(self, root, person=None, *, mode=Mode.ASK, confined=False, off=False, grants=None, **rules):
        self.root, self.person, self.mode = root, person, mode
        self.events = []
        self.sandbox = PathSandbox(root)
        self.seen = SeenFiles()
        self.jobs = Jobs(lambda _: None)
        self.gate = ToolGate(
            self.sandbox,
            RuleSet.parse(**rules),
            person,
            self.events.append,
            lambda: self.mode,
            hold=Hold.WHOLE if confined else Hold.NONE,
            sandbox_is_off=off,
            grants_file=grants,
        )
        self.tools = {
            tool.name: tool
            for tool in (
                ReadTool(self.sandbox, self.seen),
                WriteTool(self.sandbox, self.seen),
                EditTool(self.sandbox, self.seen),
                BashTool(
                    self.sandbox, self.seen, logs=root, is_read_only=self.gate.is_read_only, environ={}, jobs=self.jobs
                ),
                JobTool(self.jobs, self.sandbox, self.seen),
            )
        }

    async def check(self, name, **arguments):
        tool = self.tools[name]
        call = ToolCall(id="c1", name=name, arguments_json=json.dumps(arguments))
        plan = await tool.plan(tool.Arguments.model_validate(arguments), ToolContext(call_id=call.id))
        return await self.gate.check(call, plan)


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "long.txt").write_text("".join(f"line {number}\n" for number in range(60)))
    return folder


async def test_reading_is_allowed_without_a_question(root):
    desk = Desk(root, Person())
    assert isinstance(await desk.check("read", path="long.txt"), Allowed)
    assert desk.events == []


async def test_a_question_is_told_and_its_answer_too(root):
    desk = Desk(root, Person(Approve()))
    decision = await desk.check("write", path="new.txt", content="x\n")
    assert isinstance(decision, Allowed)
    assert decision.was_asked
    asked, settled = desk.events
    assert isinstance(asked, ApprovalAsked)
    assert settled == ApprovalSettled(call_id="c1", answer=Approve())


async def test_a_command_is_looked_at_once_for_its_question_and_once_for_its_answer(root, monkeypatch):
    looks = []
    examine = Judge.examine

    def counted(judge, command, cwd, around):
        looks.append(around.mode)
        return examine(judge, command, cwd, around)

    monkeypatch.setattr(Judge, "examine", counted)
    assert isinstance(await Desk(root, Person(Approve())).check("bash", command="rm long.txt"), Allowed)
    assert looks.count(Mode.ASK) == 2


async def test_a_no_is_passed_on_with_what_the_person_typed(root):
    desk = Desk(root, Person(Deny(feedback="use b.txt")))
    decision = await desk.check("write", path="new.txt", content="x\n")
    assert isinstance(decision, Denied)
    assert decision.feedback == "use b.txt"


async def test_no_answer_is_not_a_yes(root):
    decision = await Desk(root, Person(Withdraw(reason="The app closed."))).check("bash", command="touch x")
    assert isinstance(decision, Denied)


async def test_a_question_that_is_called_off_is_withdrawn(root):
    desk = Desk(root, Person())
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await desk.check("bash", command="touch x")
    assert isinstance(desk.events[-1], ApprovalSettled)
    assert isinstance(desk.events[-1].answer, Withdraw)


async def test_a_person_who_breaks_leaves_no_question_open(root):
    class Broken:
        async def ask(self, request):
            raise RuntimeError(request.call_id)

    desk = Desk(root, Broken())
    with pytest.raises(RuntimeError):
        await desk.check("bash", command="touch x")
    assert isinstance(desk.events[-1].answer, Withdraw)


async def test_without_a_person_a_denial_names_the_rule_that_would_allow_it(root):
    decision = await Desk(root).check("bash", command="pytest -q 'a b'")
    assert isinstance(decision, Denied)
    assert "--allow 'bash(pytest -q '\\''a b'\\'')'" in decision.reason
    decision = await Desk(root).check("write", path="new.txt", content="x")
    assert "--allow 'write(./new.txt)' or --mode edits" in decision.reason


async def test_the_rule_that_a_denial_names_does_allow_it(root):
    assert isinstance(
        await Desk(root, allow=["bash(pytest -q 'a b')"]).check("bash", command="pytest -q 'a b'"), Allowed
    )
    assert isinstance(await Desk(root, allow=["write(./new.txt)"]).check("write", path="new.txt", content="x"), Allowed)


async def test_without_a_person_what_must_be_asked_each_time_names_no_rule(root):
    (root / ".env").write_text("x")
    decision = await Desk(root, allow=["bash(*)", "read"]).check("bash", command="cat .env")
    assert isinstance(decision, Denied)
    assert "no rule for just this can allow it" in decision.reason


@pytest.mark.parametrize(
    ("mode", "allowed"), [(Mode.ASK, False), (Mode.EDITS, True), (Mode.AUTO, True), (Mode.PLAN, False)]
)
async def test_the_mode_decides_about_changes(root, mode, allowed):
    decision = await Desk(root, mode=mode).check("write", path="new.txt", content="x")
    assert isinstance(decision, Allowed) == allowed


async def test_plan_mode_denies_without_asking(root):
    person = Person(Approve())
    assert isinstance(await Desk(root, person, mode=Mode.PLAN).check("write", path="a", content="x"), Denied)
    assert not person.requests


@pytest.mark.parametrize(
    ("confined", "off", "allowed"), [(True, False, True), (False, True, True), (False, False, False)]
)
async def test_auto_mode_runs_commands_only_confined_or_by_open_choice(root, confined, off, allowed):
    desk = Desk(root, mode=Mode.AUTO, confined=confined, off=off)
    assert isinstance(await desk.check("bash", command="touch x"), Allowed) == allowed


async def test_auto_mode_asks_before_work_is_destroyed_and_says_what_would_be_lost(root):
    (root / "build").mkdir()
    person = Person(Deny())
    await Desk(root, person, mode=Mode.AUTO, confined=True).check("bash", command="rm -rf build && git reset --hard")
    assert person.requests[0].warnings == (
        "build would be deleted with everything below.",
        "Uncommitted changes would be lost.",
        "Nothing is kept before: undo would not bring it back.",
    )
    assert person.requests[0].offers == ()


@pytest.mark.parametrize(
    ("mode", "command", "said"),
    [
        (Mode.ASK, "cat .env", ".env is asked about each time: it may hold secrets."),
        (Mode.ASK, "cat link", "link is outside the workspace: it is {outside}."),
        (Mode.ASK, "cat {outside}", "{outside} is outside the workspace."),
        (Mode.ASK, "git status", "The repository's settings ({config}) name programs that git runs: core.fsmonitor."),
        (Mode.AUTO, "ls && cat .env", ".env is asked about each time: it may hold secrets."),
    ],
)
async def test_what_the_words_of_a_command_do_not_say_is_said_above_it(root, mode, command, said):
    person = Person(Deny())
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("[core]\n\tfsmonitor = ./evil\n")
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    outside = root.parent / "outside.txt"
    outside.write_text("x")
    (root / "link").symlink_to(outside)
    names = {"outside": outside, "config": root / ".git" / "config"}
    await Desk(root, person, mode=mode, confined=True).check("bash", command=command.format(**names))
    assert person.requests[0].warnings == (said.format(**names),)


async def test_auto_mode_says_above_a_command_what_the_sandbox_cannot_hold(root):
    person = Person(Deny())
    await Desk(root, person, mode=Mode.AUTO, confined=True).check("bash", command="docker run x")
    assert "docker" in person.requests[0].warnings[0]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("rm -rf file.txt", "file.txt would be deleted."),
        ("rm -r file.txt other.txt", "file.txt, other.txt would be deleted."),
        ("rm -rf folder", "folder would be deleted with everything below."),
        ("rm -rf file.txt folder", "file.txt would be deleted, and folder with everything below."),
        ("rm -rf *.txt", "*.txt would be deleted."),
        ("rm -rf *", "* would be deleted with everything below."),
        ("rm -rf leads", "leads would be deleted."),
        ('rm -rf "$X"', '"$X" would be deleted with everything below.'),
        ("chmod -R 600 file.txt", "The permissions of file.txt would be changed."),
        ("chmod -R 600 folder", "The permissions of everything below folder would be changed."),
        (
            "chmod -R 600 file.txt folder",
            "The permissions of file.txt and of everything below folder would be changed.",
        ),
    ],
)
async def test_only_folders_are_said_to_go_with_everything_below(root, command, said):
    for name in ("file.txt", "other.txt"):
        (root / name).write_text("x")
    (root / "folder").mkdir()
    (root / "folder" / "inner.txt").write_text("x")
    (root / "leads").symlink_to("folder")
    person = Person(Deny())
    await Desk(root, person).check("bash", command=command)
    assert person.requests[0].warnings[0] == said


@pytest.mark.parametrize(
    ("command", "is_lost"),
    [
        ("rm -rf build", False),
        ("rm -rf build dist/*", False),
        ("rm -rf build && ls", False),
        ("rm -rf long.txt", True),
        ("rm -rf build long.txt", True),
        ("rm -rf link", True),
        ('rm -rf "$BUILD"', True),
        ("rm -rf ~/build", True),
        # By the time it runs something may be there.
        ("mv long.txt build && rm -rf build", True),
        ("mkdir build; rm -rf build", True),
        ("make & rm -rf build", True),
    ],
)
async def test_nothing_is_lost_where_nothing_is_there(root, command, is_lost):
    (root / "link").symlink_to("nowhere")
    person = Person(Deny())
    await Desk(root, person).check("bash", command=command)
    assert bool(person.requests[0].warnings) is is_lost
    assert bool(person.requests[0].verdict.losses) is is_lost


async def test_the_mode_of_the_moment_counts(root):
    desk = Desk(root)
    assert isinstance(await desk.check("write", path="a.txt", content="x"), Denied)
    desk.mode = Mode.EDITS
    assert isinstance(await desk.check("write", path="a.txt", content="x"), Allowed)


async def test_deny_rules_win_over_everything(root):
    desk = Desk(root, Person(), mode=Mode.EDITS, deny=["edit(*.txt)"], allow=["edit(**)"])
    assert isinstance(await desk.check("write", path="a.txt", content="x"), Denied)


async def test_ask_rules_win_over_allow_rules_and_modes(root):
    person = Person(Deny())
    desk = Desk(root, person, mode=Mode.EDITS, ask=["edit(docs/**)"], allow=["edit(**)"])
    await desk.check("write", path="docs/a.md", content="x")
    assert len(person.requests) == 1


async def test_a_session_grant_lets_the_same_command_run_and_no_other(root):
    person = Person(Approve(scope=Scope.SESSION), Deny())
    desk = Desk(root, person)
    await desk.check("bash", command="npm run test")
    assert person.requests[0].offers[0].rule == "bash(npm run test)"
    assert isinstance(await desk.check("bash", command="npm run test"), Allowed)
    assert isinstance(await desk.check("bash", command="npm run test --fix"), Denied)


async def test_each_simple_command_is_offered_its_own_rule(root):
    person = Person(Deny())
    await Desk(root, person).check("bash", command="ls && make check && npm test > out.txt")
    offered = [offer.rule for offer in person.requests[0].offers]
    assert offered == []
    person = Person(Deny())
    await Desk(root, person).check("bash", command="ls && go test && npm test > out.txt")
    offered = [offer.rule for offer in person.requests[0].offers]
    assert offered == ["bash(go test)", "edit(./out.txt)", "bash(npm test)"]


@pytest.mark.parametrize(
    "command",
    [
        "ls src && rm -r ./build",
        "rm x",
        "sudo ls",
        "python x.py",
        "python3.12 -c 1",
        "bash x.sh",
        "find . -exec ls {} +",
        "xargs ls",
        "env ls",
        "curl http://x",
        "echo $(touch x)",
        "FOO=1 npm test",
        "git reset --hard",
        "npm test $X",
        "eval ls",
        "timeout 5 npm test",
        "uv run x",
        "npx x",
        "node x.js",
        "chmod -R 7 .",
    ],
)
async def test_always_is_never_offered_for_what_could_be_anything(root, command):
    person = Person(Approve(scope=Scope.ALWAYS), Deny())
    desk = Desk(root, person)
    await desk.check("bash", command=command)
    assert person.requests[0].offers == ()
    assert desk.gate.stored_rules() == ()


async def test_always_for_a_chain_that_deletes_stores_nothing(root):
    person = Person(Approve(scope=Scope.ALWAYS), Deny())
    desk = Desk(root, person)
    await desk.check("bash", command="ls src && rm -r ./build")
    assert isinstance(await desk.check("bash", command="rm -r ./docs"), Denied)
    assert len(person.requests) == 2


@pytest.mark.parametrize("scope", [Scope.PROJECT, Scope.ALWAYS])
async def test_stored_answers_hold_in_the_next_run(root, tmp_path, scope):
    grants = tmp_path / "state" / "grants.json"
    await Desk(root, Person(Approve(scope=scope)), grants=grants).check("bash", command="npm test")
    assert isinstance(await Desk(root, grants=grants).check("bash", command="npm test"), Allowed)
    assert grants.stat().st_mode & 0o777 == 0o600
    assert grants.parent.stat().st_mode & 0o777 == 0o700


async def test_a_project_answer_does_not_hold_elsewhere(root, tmp_path):
    grants, other = tmp_path / "state" / "grants.json", tmp_path / "other"
    other.mkdir()
    await Desk(root, Person(Approve(scope=Scope.PROJECT)), grants=grants).check("bash", command="npm test")
    assert isinstance(await Desk(other, grants=grants).check("bash", command="npm test"), Denied)


async def test_a_stored_answer_can_be_taken_back(root, tmp_path):
    grants = tmp_path / "state" / "grants.json"
    desk = Desk(root, Person(Approve(scope=Scope.ALWAYS)), grants=grants)
    await desk.check("bash", command="npm test")
    desk.gate.remove_rule(desk.gate.stored_rules()[0])
    assert desk.gate.stored_rules() == ()
    assert isinstance(await Desk(root, grants=grants).check("bash", command="npm test"), Denied)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"always": 3, "projects": []}', '{"always": ["no rule ((", 5]}'])
async def test_a_damaged_store_grants_nothing(root, tmp_path, content):
    grants = tmp_path / "grants.json"
    grants.write_text(content)
    assert isinstance(await Desk(root, grants=grants).check("bash", command="npm test"), Denied)


async def test_only_the_approved_hunks_are_in_the_plan_and_the_model_is_told(root):
    person = Person(Approve(hunks=frozenset({1})))
    desk = Desk(root, person)
    await desk.tools["read"].plan(
        desk.tools["read"].Arguments.model_validate({"path": "long.txt"}), ToolContext(call_id="r")
    )
    desk.seen.shown(root / "long.txt", (root / "long.txt").read_bytes())
    decision = await desk.check(
        "edit", path="long.txt", edits=[{"old": "line 1\n", "new": "A\n"}, {"old": "line 50\n", "new": "B\n"}]
    )
    assert isinstance(decision, Allowed)
    assert decision.note == ""
    result = await decision.plan.run(lambda _: None)
    assert result.text.count("approved 1 of 2 parts") == 1
    assert (result.details.hunks, result.details.hunks_of) == (1, 2)
    text = (root / "long.txt").read_text()
    assert "line 1\n" in text
    assert "B\n" in text


async def test_refusing_every_hunk_is_a_no(root):
    decision = await Desk(root, Person(Approve(hunks=frozenset()))).check("write", path="new.txt", content="x\n")
    assert isinstance(decision, Denied)


async def test_a_changed_command_is_judged_again(root):
    person = Person(Approve(edited="ls"))
    decision = await Desk(root, person).check("bash", command="touch x")
    assert isinstance(decision, Allowed)
    assert decision.plan.preview.command == "ls"
    assert decision.note == ""
    assert decision.was_asked
    told = (await decision.plan.run(lambda _: None)).text
    assert told.startswith("[the person changed the command; this was run: ls]")


async def test_a_changed_command_that_a_rule_denies_does_not_run(root):
    desk = Desk(root, Person(Approve(edited="rm x")), deny=["bash(rm *)"])
    assert isinstance(await desk.check("bash", command="touch x"), Denied)


async def test_a_changed_command_that_still_needs_a_yes_is_shown_once_more(root):
    person = Person(Approve(edited="touch y"), Approve(edited="touch y"))
    decision = await Desk(root, person).check("bash", command="touch x")
    assert isinstance(decision, Allowed)
    assert [request.preview.command for request in person.requests] == ["touch x", "touch y"]


class Hasty(Person):
    """Exchanges files while the first question is open."""

    def __init__(self, exchange, *answers):
        super().__init__(*answers)
        self.exchange = exchange

    async def ask(self, request):
        if not self.requests:
            self.exchange()
        return await super().ask(request)


@pytest.mark.parametrize("target", [".env", "../outside.txt"])
async def test_a_yes_does_not_count_for_a_file_that_became_a_link_during_the_question(root, target):
    (root / ".env").write_text("KEY=1")
    (root / "../outside.txt").write_text("outside")
    (root / "plain.txt").write_text("plain")

    def exchange():
        (root / "plain.txt").unlink()
        (root / "plain.txt").symlink_to(target)

    person = Hasty(exchange, Approve(), Deny())
    assert isinstance(await Desk(root, person).check("bash", command="cat plain.txt; touch new"), Denied)
    first, second = (request.verdict.because for request in person.requests)
    assert "plain.txt" not in first
    assert "plain.txt" in second
    assert "files changed while you were asked" in person.requests[1].warnings[0]


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("bash ./run.sh", "run.sh"),
        ("./run.sh", "run.sh"),
        ("cat run.sh | sh", "run.sh"),
        ("sh < run.sh", "run.sh"),
        ("source run.sh", "run.sh"),
        ("timeout 9 python3 tools/x.py", "tools/x.py"),
        ("cd tools && python3.11 -u x.py", "tools/x.py"),
        ("make test", "Makefile"),
        ("npm test", "package.json"),
    ],
)
async def test_a_yes_does_not_count_for_a_script_that_was_exchanged_during_the_question(root, command, name):
    for file in ("run.sh", "tools/x.py", "Makefile", "package.json"):
        (root / file).parent.mkdir(exist_ok=True)
        (root / file).write_text("echo 1\n")
    (root / "run.sh").chmod(0o755)

    def exchange():
        (root / "other").write_text("echo 2\n")
        (root / "other").replace(root / name)

    person = Hasty(exchange, Approve(), Deny())
    assert isinstance(await Desk(root, person).check("bash", command=command), Denied)
    assert "files changed while you were asked" in person.requests[1].warnings[0]


async def test_a_file_that_the_command_does_not_run_may_change_during_the_question(root):
    (root / "run.sh").write_text("echo 1\n")
    person = Hasty(lambda: (root / "plain.txt").write_text("new"), Approve())
    assert isinstance(await Desk(root, person).check("bash", command="bash run.sh; touch plain"), Allowed)


async def test_a_yes_to_a_file_elsewhere_does_not_count_for_another_one_there(root):
    for name in ("a", "b", "c"):
        (root.parent / name).write_text(name)
    for name in ("a", "b"):
        (root / name).symlink_to(root.parent / name)

    def exchange():
        (root / "b").unlink()
        (root / "b").symlink_to(root.parent / "c")

    person = Hasty(exchange, Approve(), Deny())
    assert isinstance(await Desk(root, person).check("bash", command="cat a b"), Denied)


async def test_no_rule_is_stored_by_a_yes_that_does_not_count(root):
    (root / ".env").write_text("KEY=1")

    def exchange():
        (root / "long.txt").unlink()
        (root / "long.txt").symlink_to(".env")

    desk = Desk(root, Hasty(exchange, Approve(scope=Scope.SESSION), Deny()))
    await desk.check("bash", command="cat long.txt; touch new")
    assert desk.gate.stored_rules() == ()


async def test_a_changed_text_is_what_is_written(root):
    person = Person(Approve(edited="mine\n"), Approve())
    decision = await Desk(root, person).check("write", path="new.txt", content="theirs\n")
    await decision.plan.run(lambda _: None)
    assert (root / "new.txt").read_text() == "mine\n"


async def test_a_person_who_never_stops_changing_is_not_asked_for_ever(root):
    person = Person(*(Approve(edited=f"touch {number}") for number in range(50)))
    assert isinstance(await Desk(root, person).check("bash", command="touch x"), Denied)
    assert len(person.requests) < 10


async def test_feedback_with_a_yes_reaches_the_model(root):
    decision = await Desk(root, Person(Approve(feedback="then run the tests"))).check("bash", command="touch x")
    assert "then run the tests" in decision.note


@pytest.mark.parametrize("character", ["\u202e", "\u200b", "\u00ad", "\u2066"])
async def test_characters_that_cannot_be_seen_are_warned_of(root, character):
    person = Person(Deny(), Deny())
    desk = Desk(root, person, allow=["bash(*)", "edit"], mode=Mode.ASK)
    await desk.check("bash", command=f"rm -rf ./{character}txt.a")
    assert any("cannot be seen" in warning for warning in person.requests[0].warnings)
    assert person.requests[0].preview.command == f"rm -rf ./{character}txt.a"
    await Desk(root, person).check("write", path="a.py", content=f"x = 1{character}\n")
    assert any("cannot be seen" in warning for warning in person.requests[1].warnings)


async def test_a_sensitive_path_is_asked_each_time_and_never_offered(root):
    (root / ".env").write_text("x")
    person = Person(Approve(scope=Scope.SESSION), Deny())
    desk = Desk(root, person, allow=["read", "bash(*)"], mode=Mode.AUTO, confined=True)
    await desk.check("read", path=".env")
    assert isinstance(await desk.check("read", path=".env"), Denied)
    assert all(request.offers == () for request in person.requests)


async def test_a_path_outside_is_asked_and_can_be_granted_for_the_session(root, tmp_path):
    (tmp_path / "notes.txt").write_text("x")
    person = Person(Approve(scope=Scope.SESSION))
    desk = Desk(root, person)
    await desk.check("read", path=str(tmp_path / "notes.txt"))
    assert isinstance(await desk.check("read", path="../notes.txt"), Allowed)
    assert len(person.requests) == 1


def test_judging_asks_nobody(root):
    desk = Desk(root, Person())
    plan_touches = (desk.sandbox.resolve("a.txt", "write"),)
    verdict = desk.gate.judge("write", plan_touches, None, Mode.ASK)
    assert verdict.decision is Decision.ASK
    assert verdict.because == "Changes are asked about in ask mode."
    assert desk.events == []


async def held_back(desk, command="touch /elsewhere/x"):
    """A command that the sandbox kept from something, before the gate again."""
    tool = desk.tools["bash"]
    plan = await tool.plan(tool.Arguments(command=command), ToolContext(call_id="c1"))
    plan = replace(plan, preview=replace(plan.preview, held_back="The sandbox kept it from writing to /elsewhere/x."))
    return await desk.gate.check(ToolCall(id="c1", name="bash", arguments_json="{}"), plan)


@pytest.mark.parametrize("mode", [Mode.ASK, Mode.EDITS, Mode.AUTO])
async def test_leaving_the_sandbox_is_asked_each_time_whatever_mode_and_rules_allow(root, mode):
    person = Person(Approve())
    desk = Desk(root, person, mode=mode, confined=True, allow=["bash(touch *)", "write(/elsewhere/**)"])
    assert isinstance(await held_back(desk), Allowed)
    (request,) = person.requests
    assert request.hold is Hold.NONE
    assert request.offers == ()
    assert any("without the sandbox" in warning for warning in request.warnings)
    assert request.verdict.because == "The sandbox kept it from writing to /elsewhere/x."


async def test_what_is_destroyed_is_said_first_then_what_gets_out_then_where_the_sandbox_stops_it(root):
    person = Person(Deny())
    (root / "build").mkdir()
    command = "rm -rf build && cat .env && ssh host && touch /elsewhere/x"
    await held_back(Desk(root, person, mode=Mode.AUTO, confined=True), command)
    lost = ("build would be deleted", "Nothing is kept before")
    out = (".env is asked about", "ssh acts on another", "/elsewhere/x is outside")
    stopped = ("The sandbox kept it", "It is not certain what this does")
    for start, warning in zip((*lost, *out, *stopped), person.requests[0].warnings, strict=True):
        assert warning.startswith(start)


async def test_a_denied_command_never_leaves_the_sandbox(root):
    desk = Desk(root, Person(Approve()), mode=Mode.AUTO, confined=True, deny=["bash(touch *)"])
    assert isinstance(await held_back(desk), Denied)
    assert desk.person.requests == []


async def test_without_a_person_leaving_the_sandbox_is_denied_naming_the_flag(root):
    denied = await held_back(Desk(root, mode=Mode.AUTO, confined=True))
    assert isinstance(denied, Denied)
    assert "--sandbox off would allow it" in denied.reason


async def test_a_background_command_is_judged_like_any_other(root):
    desk = Desk(root, mode=Mode.ASK)
    assert isinstance(await desk.check("bash", command="touch a", background=True), Denied)
    assert isinstance(await desk.check("bash", command="cat long.txt", background=True), Allowed)
    assert isinstance(await Desk(root, mode=Mode.PLAN).check("bash", command="touch a", background=True), Denied)


async def test_looking_at_a_job_asks_nobody_unless_a_rule_says_so(root):
    assert isinstance(await Desk(root).check("job", id=1, action="output"), Allowed)
    assert isinstance(await Desk(root, deny=["job"]).check("job", id=1, action="stop"), Denied)


@pytest.mark.parametrize("scope", [Scope.SESSION, Scope.PROJECT, Scope.ALWAYS])
async def test_a_rule_that_is_added_holds_at_once_and_until_it_is_removed(root, tmp_path, scope):
    grants = tmp_path / "state" / "grants.json"
    desk = Desk(root, grants=grants)
    assert isinstance(await desk.check("bash", command="npm test"), Denied)
    desk.gate.add_rule(Decision.ALLOW, "bash(npm *)", scope)
    assert isinstance(await desk.check("bash", command="npm test"), Allowed)
    desk.gate.add_rule(Decision.DENY, "bash(npm test)", scope)
    assert isinstance(await desk.check("bash", command="npm test"), Denied)
    assert [str(rule.decision) for rule in desk.gate.stored_rules()] == ["deny", "allow"]
    assert isinstance(await Desk(root, grants=grants).check("bash", command="npm run x"), Allowed) == (
        scope is not Scope.SESSION
    )
    for rule in desk.gate.stored_rules():
        desk.gate.remove_rule(rule)
    assert desk.gate.stored_rules() == ()
    assert isinstance(await Desk(root, grants=grants).check("bash", command="npm run x"), Denied)


async def test_a_rule_on_reading_that_is_added_holds_at_once(root):
    desk = Desk(root)
    (root / "plan.md").write_text("x")
    desk.gate.add_rule(Decision.DENY, "read(plan.md)", Scope.SESSION)
    assert isinstance(await desk.check("bash", command="grep -r x ."), Denied)
    assert desk.gate.rule_against_reading(root / "plan.md") == "read(plan.md)"


@pytest.mark.parametrize("rule", ["", "bash(", "bash()", "fetch(x)", "bash('a)", "no rule"])
async def test_what_is_no_rule_is_not_added(root, tmp_path, rule):
    desk = Desk(root, grants=tmp_path / "grants.json")
    with pytest.raises(ConfigError):
        desk.gate.add_rule(Decision.ALLOW, rule, Scope.ALWAYS)
    assert desk.gate.stored_rules() == ()
    assert not (tmp_path / "grants.json").exists()


async def test_a_rule_of_the_settings_is_removed_there(root):
    desk = Desk(root, deny=["bash(npm *)"])
    with pytest.raises(ConfigError, match="stands in the settings"):
        desk.gate.remove_rule(desk.gate.stored_rules()[0])


@pytest.mark.parametrize("command", ["rm a.py", "python x.py", "sudo ls", "timeout 5 npm test", "curl x"])
async def test_a_question_names_no_rule_that_it_does_not_offer(root, command):
    person = Person(Deny())
    await Desk(root, person).check("bash", command=command)
    assert person.requests[0].offers == ()
    assert person.requests[0].verdict.remedy == ""


@pytest.mark.parametrize("name", ["a\u200bb.txt", "a\u202eb.txt", "p\u0430ge.py", "a\ufeff/b.txt"])
async def test_no_rule_is_offered_for_a_name_that_cannot_be_read(root, name):
    person = Person(Deny())
    decision = await Desk(root, person).check("write", path=name, content="x")
    (request,) = person.requests
    assert (request.offers, request.verdict.remedy) == ((), "")
    assert isinstance(decision, Denied)
    alone = await Desk(root).check("write", path=name, content="x")
    assert "--mode edits would allow it" in alone.reason
    assert "--allow" not in alone.reason


async def test_nor_for_a_link_that_leads_to_such_a_name(root, tmp_path):
    (tmp_path / "a\u200bb.txt").write_text("x")
    (root / "link").symlink_to(tmp_path / "a\u200bb.txt")
    person = Person(Deny(), Deny())
    desk = Desk(root, person)
    await desk.check("bash", command="cat link")
    await desk.check("read", path="link")
    assert [request.offers for request in person.requests] == [(), ()]


async def test_a_name_in_another_language_is_offered_as_any(root):
    person = Person(Deny())
    await Desk(root, person).check("write", path="отчёт.md", content="x")
    assert [offer.rule for offer in person.requests[0].offers] == ["write(./отчёт.md)"]


async def test_a_question_names_the_rules_that_it_offers(root):
    person = Person(Deny())
    await Desk(root, person).check("bash", command="npm test && npm run x")
    request = person.requests[0]
    assert request.verdict.remedy == " ".join(f"--allow '{offer.rule}'" for offer in request.offers)
    assert len(request.offers) == 2
