"""Files as the session changes them: with the real tools, locks and gate, and a person who works on them as well."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from codeagent.agent.limits import Limits
from codeagent.core.approvals import Answer, ApprovalRequest, Approve, Deny, Hold, Mode
from codeagent.core.events import AgentEvent, ToolPreviewed
from codeagent.core.messages import ToolCall
from codeagent.policy.gate import ToolGate
from codeagent.policy.rules import RuleSet
from codeagent.tools.edit import EditTool
from codeagent.tools.read import ReadTool
from codeagent.tools.write import WriteTool
from codeagent.workspace.paths import PathSandbox
from codeagent.workspace.seen import SeenFiles
from tests.agent.stage import Model, Stage, call, reply

OLD = "one = 1\ntwo = 2\n"
LONGER_THAN_A_LOOK = 30.0


@dataclass
class Editor:
    """A person who does something to the file at the first question, and approves.

    ``waits``: the answer does not come before the question was asked again.
    """

    act: Callable[[], object]
    waits: bool
    says: Answer = field(default_factory=Approve)
    questions: list[ApprovalRequest] = field(default_factory=list)

    async def ask(self, request: ApprovalRequest) -> Answer:
        self.questions.append(request)
        if len(self.questions) == 1:
            self.act()
            if self.waits:
                await asyncio.sleep(LONGER_THAN_A_LOOK)
        return self.says if len(self.questions) > 1 else Approve()


def set_up(root: Path, model: Model, mode: Mode, approver: Editor | None = None, limits: Limits | None = None) -> Stage:
    sandbox, seen = PathSandbox(root, home=root.parent), SeenFiles()
    rules = RuleSet.parse()
    events: list[AgentEvent] = []
    gate = ToolGate(sandbox, rules, approver, events.append, lambda: mode, hold=Hold.NONE)
    tools = (ReadTool(sandbox, seen), WriteTool(sandbox, seen), EditTool(sandbox, seen))
    stage = Stage(model, *tools, gate=gate, **({"limits": limits} if limits else {}))
    stage.events = events
    return stage


@pytest.fixture
def root(tmp_path) -> Path:
    (tmp_path / "work" / "sub").mkdir(parents=True)
    return (tmp_path / "work").resolve()


@pytest.fixture
def file(root) -> Path:
    path = root / "sub" / "a.py"
    path.write_text(OLD)
    return path


READ = call("r", "read", path="sub/a.py")
CHANGES = {
    "edit": call("c", "edit", path="sub/a.py", old="two = 2", new="two = 3"),
    "write": call("c", "write", path="sub/a.py", content="all = new\n"),
}
each_change = pytest.mark.parametrize("change", [*CHANGES])
each_moment = pytest.mark.parametrize("waits", [True, False], ids=["while it is asked", "just before the answer"])


# --- several calls of one reply ------------------------------------------------------------------


async def test_two_edits_of_one_file_in_one_reply_follow_each_other(root, file):
    edits = [
        call("e1", "edit", path="sub/a.py", old="one = 1", new="one = 1\nhalf = 0.5"),
        call("e2", "edit", path="sub/a.py", old="half = 0.5\ntwo = 2", new="half = 0.5\ntwo = 2.0"),
    ]
    stage = set_up(root, Model(reply("", READ), reply("", *edits)), Mode.EDITS)

    await stage.send()

    assert [stage.results()[one].outcome for one in ("e1", "e2")] == ["ok", "ok"]
    assert file.read_text() == "one = 1\nhalf = 0.5\ntwo = 2.0\n"


async def test_a_link_and_its_target_are_one_file(root, file):
    (root / "link.py").symlink_to("sub/a.py")
    edits = [
        call("e1", "edit", path="link.py", old="one = 1", new="one = 10"),
        call("e2", "edit", path="sub/a.py", old="one = 10", new="one = 100"),
    ]
    stage = set_up(root, Model(reply("", READ), reply("", *edits)), Mode.EDITS)

    await stage.send()

    assert file.read_text() == OLD.replace("one = 1", "one = 100")
    assert (root / "link.py").readlink() == Path("sub/a.py")


@pytest.mark.parametrize("parallel", [1, 8])
async def test_two_hundred_calls_over_twenty_files_end_as_if_they_came_one_after_the_other(root, parallel):
    chance = random.Random(parallel)
    texts = {f"f{number}.txt": "".join(f"{number} line {line}\n" for line in range(8)) for number in range(20)}
    for name, text in texts.items():
        (root / name).write_text(text)
    first = [call(f"first {name}", "read", path=name) for name in texts]
    calls: list[ToolCall] = []
    read: dict[str, str] = {}
    for number in range(200):
        name = chance.choice([*texts])
        one, after = next_call(chance, f"c{number}", name, texts[name])
        calls.append(one)
        if one.name == "read":
            read[one.id] = texts[name]
        texts[name] = after
    stage = set_up(root, Model(reply("", *first), reply("", *calls)), Mode.EDITS, limits=Limits(parallel=parallel))

    await stage.send()

    results = stage.results()
    assert [results[one.id].text for one in calls if results[one.id].outcome != "ok"] == []
    assert {path.name: path.read_text() for path in root.glob("*.txt")} == texts
    assert {
        one: "".join(f"{row.partition('→')[2]}\n" for row in results[one].text.splitlines()) for one in read
    } == read
    assert len(read) > 20


def next_call(chance: random.Random, call_id: str, name: str, text: str) -> tuple[ToolCall, str]:
    """A call, and what the file holds after it when calls run one after the other."""
    lines = text.splitlines()
    match chance.choice(["read", "write", "edit", "edit", "edits"]):
        case "read":
            return call(call_id, "read", path=name), text
        case "write":
            return call(call_id, "write", path=name, content=f"{text}{call_id}\n"), f"{text}{call_id}\n"
        case "edit":
            at = chance.randrange(len(lines))
            old, new = lines[at], f"{lines[at]}, {call_id}"
            lines[at : at + 1] = [new, f"and {call_id}"]
            return call(call_id, "edit", path=name, old=f"{old}\n", new=f"{new}\nand {call_id}\n"), joined(lines)
        case _:
            edits = [{"old": f"{lines[at]}\n", "new": f"{lines[at]}; {call_id}\n"} for at in (0, -1)]
            lines[0], lines[-1] = f"{lines[0]}; {call_id}", f"{lines[-1]}; {call_id}"
            return call(call_id, "edit", path=name, edits=edits), joined(lines)


def joined(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


# --- a person at the same file -------------------------------------------------------------------


def save(file: Path) -> None:
    """As an editor does: a new file in the place of the old one."""
    draft = file.with_name("draft")
    draft.write_text(OLD + "mine = 1\n")
    draft.replace(file)


def save_unnoticed(file: Path) -> None:
    """Same size, same time."""
    state = file.stat()
    file.write_text(OLD.replace("one = 1", "one = 9"))
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert (file.stat().st_size, file.stat().st_mtime_ns) == (state.st_size, state.st_mtime_ns)


@each_moment
@pytest.mark.parametrize("act", [save, save_unnoticed])
async def test_a_save_during_the_question_about_an_edit_is_kept_and_asked_about_again(root, file, act, waits):
    person = Editor(lambda: act(file), waits)
    stage = set_up(root, Model(reply("", READ), reply("", CHANGES["edit"])), Mode.ASK, person)

    await stage.send()

    assert (len(person.questions), stage.results()["c"].outcome) == (2, "ok")
    saved = OLD + "mine = 1\n" if act is save else OLD.replace("one = 1", "one = 9")
    assert file.read_text() == saved.replace("two = 2", "two = 3")
    assert len(stage.of(ToolPreviewed)) >= 2
    assert "Somebody else changed the file" in stage.results()["c"].text


@each_moment
@pytest.mark.parametrize("act", [save, save_unnoticed])
async def test_a_save_during_the_question_about_a_rewrite_is_kept_and_the_model_told(root, file, act, waits):
    person = Editor(lambda: act(file), waits)
    stage = set_up(root, Model(reply("", READ), reply("", CHANGES["write"])), Mode.ASK, person)

    await stage.send()

    assert (len(person.questions), stage.results()["c"].code) == (1, "STALE")
    assert file.read_text() == (OLD + "mine = 1\n" if act is save else OLD.replace("one = 1", "one = 9"))


@each_moment
@each_change
async def test_a_touched_file_is_no_other_file(root, file, change, waits):
    def touch() -> None:
        os.utime(file, (1, 1))

    person = Patient(touch) if waits else Editor(touch, waits=False)
    stage = set_up(root, Model(reply("", READ), reply("", CHANGES[change])), Mode.ASK, person)

    await stage.send()

    assert (len(person.questions), stage.results()["c"].outcome) == (1, "ok")


@dataclass
class Patient(Editor):
    """Answers late, though nothing was asked again."""

    waits: bool = False

    async def ask(self, request: ApprovalRequest) -> Answer:
        answer = await Editor.ask(self, request)
        await asyncio.sleep(0.7)
        return answer


@each_moment
@each_change
async def test_a_deleted_file_does_not_come_back_unasked(root, file, change, waits):
    person = Editor(file.unlink, waits, says=Deny())
    stage = set_up(root, Model(reply("", READ), reply("", CHANGES[change])), Mode.ASK, person)

    await stage.send()

    assert stage.results()["c"].outcome in {"failed", "denied"}
    assert not file.exists()


@each_moment
@each_change
async def test_a_link_in_the_place_of_the_file_is_not_written_through(root, file, change, waits):
    elsewhere = root.parent / "elsewhere.py"
    elsewhere.write_text(OLD)

    def swap() -> None:
        file.unlink()
        file.symlink_to(elsewhere)

    person = Editor(swap, waits)
    stage = set_up(root, Model(reply("", READ), reply("", CHANGES[change])), Mode.ASK, person)

    await stage.send()

    assert stage.results()["c"].outcome == "failed"
    assert (file.readlink(), elsewhere.read_text()) == (elsewhere, OLD)


@each_moment
@each_change
async def test_a_renamed_folder_keeps_its_files_as_they_are(root, file, change, waits):
    person = Editor(lambda: file.parent.rename(root / "moved"), waits, says=Deny())
    stage = set_up(root, Model(reply("", READ), reply("", CHANGES[change])), Mode.ASK, person)

    await stage.send()

    assert stage.results()["c"].outcome in {"failed", "denied"}
    assert (root / "moved" / "a.py").read_text() == OLD
    assert not file.parent.exists()


@each_change
async def test_a_file_saved_between_two_calls_is_stale_where_nobody_is_asked(root, file, change):
    async def save_and_go_on(request):
        save(file)
        async for event in Model(reply("", CHANGES[change])).stream(request):
            yield event

    stage = set_up(root, Model(reply("", READ), save_and_go_on), Mode.EDITS)

    await stage.send()

    assert stage.results()["c"].code == "STALE"
    assert file.read_text() == OLD + "mine = 1\n"


async def test_a_yes_while_the_file_is_gone_for_a_moment_is_asked_about_again(root, file):
    def go_and_come_back():
        aside = file.rename(root / "aside")
        asyncio.get_running_loop().call_later(0.5, aside.rename, file)

    person = Editor(go_and_come_back, waits=False)
    stage = set_up(root, Model(reply("", READ), reply("", CHANGES["edit"])), Mode.ASK, person)

    await stage.send()

    assert len(person.questions) == 2
    assert file.read_text() == OLD.replace("two = 2", "two = 3")


# --- names -----------------------------------------------------------------------------------------


async def test_a_name_that_is_no_text_goes_from_the_model_s_words_to_the_file(root):
    name = os.fsdecode(b"caf\xe9.txt")
    (root / name).write_text(OLD)
    calls = [
        call("r", "read", path=name),
        call("e", "edit", path=name, old="one = 1", new="one = 7"),
        call("w", "write", path=name, content="all = new\n"),
    ]
    stage = set_up(root, Model(*(reply("", one) for one in calls)), Mode.EDITS)

    await stage.send()

    assert [result.outcome for result in stage.results().values()] == ["ok", "ok", "ok"]
    assert (root / name).read_text() == "all = new\n"
