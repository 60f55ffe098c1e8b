"""What a confined command could not do is offered again; what it did to git is offered to be undone."""

import asyncio
import os
import socket
import subprocess
import sys
import tempfile
import time

import pytest

from codeagent.core.approvals import Access, Approve, ConcernKind, Hold, Mode
from codeagent.core.errors import StaleFile
from codeagent.core.messages import ToolCall
from codeagent.core.protocols import ToolContext
from codeagent.policy.gate import ToolGate
from codeagent.policy.rules import RuleSet
from codeagent.tools.bash import BashArguments, BashTool
from codeagent.tools.job import JobArguments, JobTool
from codeagent.workspace.jobs import Jobs
from codeagent.workspace.paths import PathSandbox
from codeagent.workspace.seen import SeenFiles
from tests.workspace.confined import KINDS, bounds_in, confinement


class Place:
    def __init__(self, tmp_path, kind, *, unasked=False, **more):
        confined = confinement(kind, bounds_in(tmp_path, **more))
        self.root, self.outside = confined.bounds.root, tmp_path / "outside"
        logs, self.warned = tmp_path / "logs", []
        self.tool = BashTool(
            PathSandbox(self.root),
            SeenFiles(),
            logs,
            lambda command, _: command.startswith("cat"),
            os.environ,
            jobs=Jobs(lambda _: None),
            confine=confined,
            warn=self.warned.append,
            puts_git_back=lambda: unasked,
        )
        self.confined = confined

    def run(self, command):
        """The plan after its run, and what it came to."""
        plan = asyncio.run(self.tool.plan(BashArguments(command=command), ToolContext(call_id="c")))
        return plan, asyncio.run(plan.run(lambda _: None))


@pytest.fixture(params=KINDS)
def place(request, tmp_path):
    return Place(tmp_path, request.param)


@pytest.fixture
def repository(tmp_path):
    place = Place(tmp_path, "landlock")
    subprocess.run(["git", "init", "-q", place.root], check=True)
    return place


def test_several_places_that_the_sandbox_closed_are_one_list(place):
    _, result = place.run("for name in a b c; do touch ../outside/$name; done; false")
    to = "writing to ../outside/"
    assert f"[the sandbox kept it from {to}a, {to}b and {to}c]" in result.text


def test_a_command_that_failed_of_the_sandbox_is_offered_without_it(place):
    plan, result = place.run("echo x > ../outside/new")
    assert "[the sandbox kept it from writing to ../outside/new]" in result.text
    offer = plan.offer(result)
    assert offer.what == "run once more without the sandbox"
    assert offer.plan.preview.held_back == "The sandbox kept it from writing to ../outside/new."
    assert offer.plan.preview.command == "echo x > ../outside/new"
    again = asyncio.run(offer.plan.run(lambda _: None))
    assert again.text == "[run once more, without the sandbox]"
    assert (place.outside / "new").read_text() == "x\n"
    assert offer.plan.offer(again) is None


def test_a_command_that_went_well_in_spite_of_it_says_so_and_offers_nothing(place):
    plan, result = place.run("touch ../outside/new || true")
    assert "[the sandbox kept it from writing to ../outside/new]" in result.text
    assert plan.offer(result) is None


@pytest.mark.parametrize(
    "command",
    [
        "echo x > ../outside/new; true",
        "touch ../outside/new; echo done",
        "mkdir -p ../outside/new/deep | cat",
        "cp /etc/hostname ../outside 2>&1 | tail -3",
        "python3 -c \"open('../outside/new', 'w')\" 2>&1 | tail -1",
        "touch --date=now ../outside/new\ntrue",
        "echo x | tee ../outside/new | cat",
    ],
)
def test_a_refusal_behind_a_good_exit_code_is_offered_as_well(place, command):
    plan, result = place.run(command)
    assert result.details.exit_code == 0
    assert plan.offer(result).what == "run once more without the sandbox"
    asyncio.run(plan.offer(result).plan.run(lambda _: None))
    assert list(place.outside.iterdir())


def test_behind_a_good_exit_code_a_place_is_offered_once(place):
    first, result = place.run("touch ../outside/new; true")
    assert first.offer(result) is not None
    second, again = place.run("touch ../outside/new; true")
    assert "[the sandbox kept it from writing to ../outside/new]" in again.text
    assert second.offer(again) is None
    third, failed = place.run("touch ../outside/new")
    assert third.offer(failed) is not None


class Yes:
    """Says yes, and remembers what was asked."""

    def __init__(self):
        self.requests = []

    async def ask(self, request):
        self.requests.append(request)
        return Approve()


def ask_and_run(place, command, mode=Mode.ASK, person=None, offered=None):
    """A command, or what one ``offered``, through the gate, its run and what that ends in, as a call goes."""
    person = person or Yes()
    gate = ToolGate(
        PathSandbox(place.root), RuleSet(), person, lambda _: None, lambda: mode, hold=Hold.WHOLE, cover=None
    )

    async def call():
        plan = offered or await place.tool.plan(BashArguments(command=command), ToolContext(call_id="c"))
        asked = ToolCall(id="c", name="bash", arguments_json="{}")
        allowed = await gate.check(asked, plan)
        result = await allowed.plan.run(lambda _: None)
        return result, allowed.plan.offer(result)

    result, offer = asyncio.run(call())
    return person.requests, result, offer


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mode", [Mode.ASK, Mode.AUTO])
@pytest.mark.parametrize(
    "command",
    [
        "echo 'exit 0' > .git/hooks/pre-commit",
        "cp hook .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit",
        "touch .git/info/attributes",
        "echo '[a]' >> .git/config; true",
    ],
)
def test_what_is_protected_is_asked_about_once(tmp_path, kind, mode, command):
    place = Place(tmp_path, kind)
    subprocess.run(["git", "init", "-q", place.root], check=True)
    (place.root / ".git/hooks").mkdir(exist_ok=True)
    (place.root / "hook").write_text("exit 0\n")
    before = {path: path.read_bytes() for path in (place.root / ".git").rglob("*") if path.is_file()}
    (request,), result, offer = ask_and_run(place, command, mode)
    after = {path: path.read_bytes() for path in (place.root / ".git").rglob("*") if path.is_file()}
    assert result.details.exit_code == 0
    assert after != before
    assert offer is None
    if kind == "bubblewrap":
        assert any("The sandbox would let it write to git's hooks and settings" in line for line in request.warnings)
        assert request.hold is Hold.WHOLE


def test_git_is_opened_for_this_command_and_nothing_else_is(tmp_path):
    place = Place(tmp_path, "bubblewrap")
    subprocess.run(["git", "init", "-q", place.root], check=True)
    (place.root / "x.py").write_text("open('../outside/new', 'w')")
    _, result, _ = ask_and_run(place, "git remote add origin https://example.org/x; python3 x.py")
    assert "example.org" in (place.root / ".git/config").read_text()
    assert "[the sandbox kept it from writing to ../outside/new]" in result.text
    assert not list(place.outside.iterdir())
    _, after = place.run("git config a.b c")
    assert "[the sandbox kept it from" in after.text


def test_a_write_that_the_sandbox_refuses_is_asked_about_once(place):
    (request,), result, offer = ask_and_run(place, "mkdir -p ../outside/deep && echo x > ../outside/deep/new")
    assert (place.outside / "deep/new").read_text() == "x\n"
    assert offer is None
    assert request.hold is Hold.NONE
    assert request.preview.held_back == (
        f"The sandbox would keep it from writing to {place.outside}/deep and {place.outside}/deep/new."
    )
    assert result.details.exit_code == 0


def test_the_home_folder_is_known_as_well(place):
    class No(Yes):
        async def ask(self, request):
            self.requests.append(request)
            return Approve(edited="touch new" if len(self.requests) == 1 else None)

    for command in ("echo x >> ~/notes.txt", "touch ~/notes.txt", "cp a ~/"):
        (request, _), _, _ = ask_and_run(place, command, person=No())
        assert request.preview.held_back.startswith("The sandbox would keep it from writing to ~/")


def test_what_the_sandbox_lets_through_stays_in_it(place):
    (request,), _, _ = ask_and_run(place, "touch new")
    assert request.hold is Hold.WHOLE
    assert (request.preview.held_back, request.preview.let_through) == ("", "")
    assert (place.root / "new").exists()
    (place.root / "link").symlink_to(place.outside)
    (request,), _, _ = ask_and_run(place, "rm link")
    assert request.hold is Hold.WHOLE


def test_a_command_that_the_person_changed_is_held_as_its_words_want(place):
    class Edits(Yes):
        async def ask(self, request):
            self.requests.append(request)
            return Approve(edited="touch new; touch ../outside/other || true" if len(self.requests) == 1 else None)

    class Inside(Yes):
        async def ask(self, request):
            self.requests.append(request)
            return Approve(edited="touch new" if len(self.requests) == 1 else None)

    (first, second), _, _ = ask_and_run(place, "touch ../outside/new", person=Inside())
    assert (first.hold, second.hold) == (Hold.NONE, Hold.WHOLE)
    assert not list(place.outside.iterdir())
    (first, second), _, _ = ask_and_run(place, "touch new", person=Edits())
    assert (first.hold, second.hold) == (Hold.WHOLE, Hold.NONE)


@pytest.mark.parametrize(
    "command",
    [
        "true; cat old.log",
        "touch new; tail -n 5 *.log",
        "touch new; cat < old.log | head",
        "echo \"see: touch: cannot touch '../outside/new': Permission denied.\"; true",
        "touch new; printf '%s\\n' 'old.log:1:touch: ../outside/new: Permission denied'",
        "python3 -c \"print('2026 touch: cannot touch \\'../outside/new\\': Permission denied')\"",
        "python3 -c \"print('warning: no cache: [Errno 30] Read-only file system: \\'/nosuch/cache\\'')\"",
        "touch ../outside/new || echo never mind",
    ],
)
def test_words_that_only_speak_of_a_refusal_raise_no_question(place, command):
    log = place.root / "old.log"
    log.write_text("touch: cannot touch '../outside/new': Permission denied\n" * 2)
    os.utime(log, (1, 1))
    plan, result = place.run(command)
    assert result.details.exit_code == 0
    assert plan.offer(result) is None


def test_a_refusal_that_is_read_in_a_file_is_not_told_as_the_commands_own(place):
    log = place.root / "old.log"
    log.write_text("touch: cannot touch '../outside/new': Read-only file system\n")
    os.utime(log, (1, 1))
    for command in ("cat old.log", "touch new; cat old.log", "touch new; cat old.log; false"):
        plan, result = place.run(command)
        assert "the sandbox kept it" not in result.text
        assert plan.offer(result) is None


def test_a_command_that_failed_of_something_else_offers_nothing(place):
    plan, result = place.run("false")
    assert plan.offer(result) is None


def test_a_new_hook_is_named_and_offered_to_be_taken_away(repository):
    plan, result = repository.run("mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit")
    assert "[it changed .git/hooks/pre-commit]" in result.text
    offer = plan.offer(result)
    (touch,) = offer.plan.touches
    assert (touch.access, touch.concern.kind) == (Access.WRITE, ConcernKind.SENSITIVE)
    assert [line.text for line in offer.plan.preview.diff.hunks[0].lines if line.kind == "-"][-1] == "evil\n"
    undone = asyncio.run(offer.plan.run(lambda _: None))
    assert undone.text.endswith("[the person had this put back as it was: .git/hooks/pre-commit]")
    assert not (repository.root / ".git/hooks/pre-commit").exists()


def test_settings_and_hooks_are_one_offer(repository):
    before = (repository.root / ".git/config").read_text()
    plan, result = repository.run("git config core.pager ./x; mkdir -p .git/hooks; touch .git/hooks/post-merge")
    assert "[it changed .git/config, .git/hooks/post-merge]" in result.text
    asyncio.run(plan.offer(result).plan.run(lambda _: None))
    assert (repository.root / ".git/config").read_text() == before
    assert not (repository.root / ".git/hooks/post-merge").exists()


def test_a_file_changed_again_meanwhile_is_not_put_back(repository):
    plan, result = repository.run("git config core.pager ./x")
    (repository.root / ".git/config").write_text("[core]\n")
    with pytest.raises(StaleFile):
        asyncio.run(plan.offer(result).plan.run(lambda _: None))
    assert (repository.root / ".git/config").read_text() == "[core]\n"


def test_a_command_that_changed_nothing_of_git_offers_nothing(repository):
    plan, result = repository.run("touch a && git add a")
    assert result.text == "[no output]"
    assert plan.offer(result) is None


def test_what_a_child_left_running_does_to_git_is_seen_by_the_next_command(repository):
    _, first = repository.run("(until [ -e go ]; do sleep 0.05; done; git config core.pager ./x; touch done) & true")
    assert "it changed" not in first.text
    (repository.root / "go").touch()
    while not (repository.root / "done").exists():
        time.sleep(0.05)
    _, second = repository.run("touch a")
    assert "[it changed .git/config]" in second.text
    assert repository.warned == ["A command changed .git/config."]


def wait_for_the_end(jobs):
    while jobs.all()[0].is_running:
        time.sleep(0.02)


async def test_a_job_is_held_as_well_and_a_look_says_what_it_was_kept_from(tmp_path):
    place = Place(tmp_path, "landlock")
    jobs = place.tool._shell.jobs
    arguments = BashArguments(command="echo x > ../outside/new", background=True)
    plan = await place.tool.plan(arguments, ToolContext(call_id="c"))
    await plan.run(lambda _: None)
    tool = JobTool(jobs, PathSandbox(place.root), SeenFiles(), plan.shell.confine)
    await asyncio.to_thread(wait_for_the_end, jobs)
    look = await tool.plan(JobArguments(id=1, action="output"), ToolContext(call_id="c"))
    assert "[the sandbox kept it from writing to ../outside/new]" in (await look.run(lambda _: None)).text
    assert not list(place.outside.iterdir())


ATTACKS = (
    "mv .g* g2; cp -r g2 .git; git config core.fsmonitor ./pwn",
    'python3 -c \'import os, shutil; os.rename(".git", "g2"); shutil.copytree("g2", ".git")\'; echo x > .git/config',
    "mkdir -p evil; cp .git/config evil; git config -f evil/config core.fsmonitor ./pwn; echo ../evil > .git/commondir",
    "printf '[core]\\n\\tfsmonitor = ./pwn\\n' > .git/config.worktree",
    "mkdir -p .git/hooks; echo ./pwn > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
    "git config -f inner/.git/config filter.x.clean ./pwn",
)


def settings_of(place):
    words = ["git", "-C", place.root, "config", "--list", "--show-scope"]
    hooks = sorted(path.name for path in place.root.rglob("hooks/*") if path.suffix != ".sample")
    inner = (place.root / "inner/.git/config").read_text()
    return subprocess.run(words, capture_output=True, check=True).stdout, hooks, inner


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("attack", ATTACKS)
def test_what_was_done_to_git_is_put_back_where_nobody_can_be_asked(tmp_path, kind, attack):
    place = Place(tmp_path, kind, unasked=True)
    for folder in (place.root, place.root / "inner"):
        subprocess.run(["git", "init", "-q", folder], check=True)
    subprocess.run(["git", "-C", place.root, "config", "extensions.worktreeConfig", "true"], check=True)
    before = settings_of(place)
    plan, result = place.run(attack)
    assert settings_of(place) == before
    assert plan.offer(result) is None or plan.offer(result).what == "run once more without the sandbox"


def test_where_nobody_can_be_asked_the_model_is_told_what_was_put_back(tmp_path):
    place = Place(tmp_path, "landlock", unasked=True)
    subprocess.run(["git", "init", "-q", place.root], check=True)
    _, result = place.run("git config core.pager ./x")
    assert "[it changed .git/config; it was put back as it was, as nobody can be asked" in result.text


def test_bubblewrap_keeps_the_git_folder_in_its_place(tmp_path):
    place = Place(tmp_path, "bubblewrap")
    subprocess.run(["git", "init", "-q", place.root], check=True)
    plan, result = place.run("mv .g* g2 || exit 1")
    assert "[the sandbox kept it from writing to .git]" in result.text
    assert not plan.changed_git
    _, result = place.run(
        "touch a && git add a && git -c user.name=a -c user.email=a@b commit -qm a && git log --oneline"
    )
    assert result.text.endswith(" a")


def test_an_exchanged_git_folder_is_offered_to_be_put_back(tmp_path):
    place = Place(tmp_path, "landlock")
    subprocess.run(["git", "init", "-q", place.root], check=True)
    plan, result = place.run("mv .git g2; cp -r g2 .git; git config core.pager ./x")
    assert "[it changed .git]" in result.text
    asyncio.run(plan.offer(result).plan.run(lambda _: None))
    config = (place.root / ".git/config").read_text()
    assert "pager" not in config


def test_what_was_put_back_while_something_goes_on_is_no_change_of_the_next_command(tmp_path):
    place = Place(tmp_path, "landlock", unasked=True)
    subprocess.run(["git", "init", "-q", place.root], check=True)

    async def two():
        for command in ("sleep 3 > /dev/null & git config core.pager ./x", "touch a"):
            plan = await place.tool.plan(BashArguments(command=command), ToolContext(call_id="c"))
            yield (await plan.run(lambda _: None)).text

    async def texts():
        return [text async for text in two()]

    first, second = asyncio.run(texts())
    assert "it was put back" in first
    assert "it changed" not in second
    assert "pager" not in (place.root / ".git/config").read_text()


@pytest.fixture
def docker(tmp_path, monkeypatch):
    """A ``docker`` that says what the real one says when its service does not answer; the socket listens."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin/docker"
    program.write_text(
        f"#!{sys.executable}\nimport os, socket, sys\n"
        "try:\n    socket.socket(socket.AF_UNIX).connect(os.environ['DOCKER_HOST'][7:])\n"
        "except OSError:\n    sys.exit('Cannot connect to the Docker daemon. Is the docker daemon running?')\n"
        "print('built')\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{folder}/d.sock")
        server.listen()
        monkeypatch.setenv("DOCKER_HOST", f"unix://{folder}/d.sock")
        yield


@pytest.mark.parametrize("mode", [Mode.ASK, Mode.AUTO])
def test_a_service_that_a_command_names_is_asked_about_once_and_in_reach(tmp_path, docker, mode):
    place = Place(tmp_path, "bubblewrap")
    (request,), result, offer = ask_and_run(place, "docker build .", mode)
    assert (result.text, offer) == ("built", None)
    assert request.hold is Hold.WHOLE
    assert request.preview.opens_services


def test_looking_at_a_service_needs_no_question(tmp_path, docker):
    requests, result, _ = ask_and_run(Place(tmp_path, "bubblewrap"), "docker ps", Mode.AUTO)
    assert (requests, result.text) == ([], "built")


@pytest.mark.parametrize("command", ["d=dock; $d'er' run x", "./x", "docker ps; ./x"])
def test_a_service_that_code_reaches_for_is_hidden_and_offered(tmp_path, docker, command):
    place = Place(tmp_path, "bubblewrap")
    (place.root / "x").write_text("#!/bin/sh\nd=dock\n${d}er run x\n")
    (place.root / "x").chmod(0o755)
    requests, result, offer = ask_and_run(place, command, Mode.AUTO)
    assert requests == []
    assert "[the sandbox kept it from using Docker]" in result.text
    assert (offer.plan.preview.held_back, offer.plan.preview.reaches) == ("", ("Docker",))
    assert offer.what == "run once more with Docker in reach"
    (request,), again, offer = ask_and_run(place, command, Mode.AUTO, offered=offer.plan)
    assert request.warnings[0].startswith("The sandbox kept it from using Docker. It would run once more")
    assert (request.hold, request.offers, request.verdict.remedy) == (Hold.WHOLE, (), "")
    assert again.text.startswith("[run once more, with Docker in reach]\nbuilt")
    assert offer is None


def test_with_one_service_in_reach_all_else_stays_held(tmp_path, docker, monkeypatch):
    place = Place(tmp_path, "bubblewrap")
    (place.root / "c.py").write_text(
        "import socket, sys\nfor path in sys.argv[1:]: print(socket.socket(socket.AF_UNIX).connect_ex(path))\n"
    )
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as other:
        other.bind(f"{folder}/other.sock")
        other.listen()
        monkeypatch.setenv("NVIM", f"{folder}/other.sock")
        paths = [os.environ["DOCKER_HOST"].removeprefix("unix://"), f"{folder}/other.sock"]
        for opened, reached in (("Docker", paths[0]), (paths[1], paths[1])):
            confined = place.confined.with_opened((opened,))
            words = confined.wrapped([sys.executable, "c.py", *paths], place.root)
            done = subprocess.run(words, capture_output=True, text=True, check=True)
            assert [path for path, code in zip(paths, done.stdout.split(), strict=True) if code == "0"] == [reached]
            assert confined.keeps_from(tmp_path / "outside/new")
            assert confined.keeps_apart is place.confined.keeps_apart


def test_what_failed_for_another_reason_with_the_service_in_reach_is_not_offered_again(tmp_path, docker):
    place = Place(tmp_path, "bubblewrap")
    (place.root / "x").write_text('#!/bin/sh\nd=Docker; echo "Cannot connect to the $d daemon"; exit 1\n')
    (place.root / "x").chmod(0o755)
    _, _, offer = ask_and_run(place, "./x", Mode.AUTO)
    _, result, again = ask_and_run(place, "./x", Mode.AUTO, offered=offer.plan)
    assert again is None
    assert "the sandbox kept it" not in result.text


def test_what_misses_a_service_and_more_is_offered_without_the_sandbox(tmp_path, docker):
    place = Place(tmp_path, "bubblewrap")
    (place.root / "x").write_text("#!/bin/sh\ntouch ../outside/new; d=dock; ${d}er run x\n")
    (place.root / "x").chmod(0o755)
    _, _, offer = ask_and_run(place, "./x", Mode.AUTO)
    assert offer.what == "run once more without the sandbox"
    assert (offer.plan.preview.reaches, offer.plan.preview.held_back[:15]) == ((), "The sandbox kep")


def test_what_is_written_instead_of_a_second_run_has_no_service_in_reach(tmp_path, docker):
    place = Place(tmp_path, "bubblewrap")
    (place.root / "x").write_text("#!/bin/sh\nd=dock\n${d}er run x\n")
    _, _, offer = ask_and_run(place, "sh ./x", Mode.AUTO)
    assert offer.plan.preview.is_once_more
    assert asyncio.run(offer.plan.edited("sh ./x y")).preview.is_once_more == ""


def test_what_the_person_writes_instead_has_no_services_in_reach(tmp_path, docker):
    class Edits(Yes):
        async def ask(self, request):
            self.requests.append(request)
            return Approve(edited="python3 -c pass" if len(self.requests) == 1 else None)

    (first, second), _, _ = ask_and_run(Place(tmp_path, "bubblewrap"), "docker build .", person=Edits())
    assert (first.preview.opens_services, second.preview.opens_services) == (True, False)
