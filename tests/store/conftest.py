"""A workspace in which real tools change real files inside the hook, as the loop would do it."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from codeagent.core.approvals import Mode
from codeagent.core.events import AgentEvent, TurnStarted
from codeagent.core.messages import ToolCall, ToolResult
from codeagent.core.protocols import AnyTool, ToolContext
from codeagent.store.change_store import ChangeStore
from codeagent.store.undoing import Undoing, open_undoing
from codeagent.tools.bash import BashArguments, BashTool
from codeagent.tools.edit import EditArguments, EditTool
from codeagent.tools.write import WriteArguments, WriteTool
from codeagent.workspace.jobs import Jobs
from codeagent.workspace.paths import PathSandbox
from codeagent.workspace.seen import SeenFiles


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout


def tree(folder: Path) -> dict[str, object]:
    """Everything below a folder but git's own: contents, modes, links, empty folders too."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if ".git" in name.parts:
            continue
        if path.is_symlink():
            found[str(name)] = str(path.readlink())
        elif path.is_file():
            found[str(name)] = (path.read_bytes(), path.stat().st_mode & 0o7777)
        else:
            found[str(name)] = ("folder", path.stat().st_mode & 0o7777)
    return found


def git_state(folder: Path) -> dict[str, bytes]:
    """Every file of a git directory, byte for byte."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@dataclass
class Ground:
    """A session's undoing over a folder; ``state`` is where it keeps things."""

    root: Path
    state: Path
    session: str = "s1"
    events: list[AgentEvent] = field(default_factory=list)
    count: int = 0
    mode: Mode = Mode.ASK
    own: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        self.seen = SeenFiles()
        self.paths = PathSandbox(self.root)
        self.reopen()

    def reopen(self, session: str | None = None) -> None:
        """As the next start of the program would."""
        self.session = session or self.session
        self.store = ChangeStore(self.root, self.state, self.session, self.own)
        self.undoing: Undoing = open_undoing(
            self.store,
            self.seen,
            self.events.append,
            self.paths.show,
            is_running=lambda: False,
            mode=lambda: self.mode,
        )

    @property
    def timeline(self):
        return self.undoing.timeline

    def turn(self, number: int, text: str = "do it") -> None:
        self.undoing.listen(TurnStarted(turn=number, text=text))

    async def bash(self, command: str) -> ToolResult:
        tool = BashTool(
            self.paths,
            self.seen,
            self.state.parent / "logs",
            lambda command, cwd: False,
            dict(os.environ),
            jobs=Jobs(lambda job: None),
        )
        return await self._run(tool, BashArguments(command=command))

    async def write(self, path: str, content: str) -> ToolResult:
        there = self.root / path
        if there.is_file():
            self.seen.shown(there.resolve(), there.read_bytes())
        return await self._run(WriteTool(self.paths, self.seen), WriteArguments(path=path, content=content))

    async def edit(self, path: str, old: str, new: str) -> ToolResult:
        there = self.root / path
        self.seen.shown(there.resolve(), there.read_bytes())
        return await self._run(EditTool(self.paths, self.seen), EditArguments(path=path, old=old, new=new))

    async def _run(self, tool: AnyTool, arguments: object) -> ToolResult:
        self.count += 1
        call = ToolCall(id=f"call{self.count}", name=tool.name, arguments_json="{}")
        plan = await tool.plan(arguments, ToolContext(call_id=call.id))
        assert await self.undoing.hook.before(call, plan) == ""
        result = await plan.run(lambda text: None)
        return await self.undoing.hook.after(call, result)

    async def undo(self, *, overwrites: bool = False) -> str:
        return await self.timeline.carry_out(await self.timeline.plan_undo(), overwrites=overwrites)

    async def redo(self) -> str:
        return await self.timeline.carry_out(await self.timeline.plan_redo())


@pytest.fixture(autouse=True)
def own_git_config(tmp_path, monkeypatch):
    config = tmp_path / "gitconfig"
    config.write_text(
        "[user]\nname = A\nemail = a@example.com\n[init]\ndefaultBranch = main\n[protocol]\nallow = always\n"
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)


@pytest.fixture
def repository(tmp_path) -> Path:
    root = tmp_path / "work"
    root.mkdir()
    git(root, "init", "-q")
    (root / "a.txt").write_text("one\ntwo\nthree\nfour\nfive\n")
    (root / "sub").mkdir()
    (root / "sub" / "b.txt").write_text("b\n")
    (root / ".gitignore").write_text("ignored*\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    return root


@pytest.fixture
def ground(repository, tmp_path) -> Ground:
    return Ground(repository, tmp_path / "state")


@pytest.fixture
def bare_ground(tmp_path) -> Ground:
    """A folder that is no repository."""
    root = tmp_path / "plain"
    root.mkdir()
    (root / "a.txt").write_text("one\n")
    return Ground(root, tmp_path / "state")


@pytest.fixture
def grounds():
    """Makes one over any folder."""
    return Ground


@pytest.fixture
def run_git():
    return git


@pytest.fixture
def tree_of():
    return tree


@pytest.fixture
def git_state_of():
    return git_state
