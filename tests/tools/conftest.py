import asyncio
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from codeagent.core.messages import ToolResult
from codeagent.core.protocols import AnyTool, Plan, ToolContext
from codeagent.tools.bash import BashTool
from codeagent.tools.edit import EditTool
from codeagent.tools.glob import GlobTool
from codeagent.tools.grep import GrepTool
from codeagent.tools.job import JobTool
from codeagent.tools.ls import LsTool
from codeagent.tools.read import ReadTool
from codeagent.tools.registry import Registry
from codeagent.tools.write import WriteTool
from codeagent.workspace.jobs import Jobs
from codeagent.workspace.paths import PathSandbox
from codeagent.workspace.seen import SeenFiles


@dataclass
class Bench:
    """A workspace with every tool."""

    root: Path
    logs: Path
    seen: SeenFiles
    tools: Registry
    jobs: Jobs

    def plan(self, name: str, **arguments) -> Plan:
        async def make() -> Plan:
            tool, parsed = self._parsed(name, arguments)
            return await tool.plan(parsed, ToolContext(call_id="c1"))

        return asyncio.run(make())

    def run(self, name: str, **arguments) -> ToolResult:
        return asyncio.run(self.run_async(name, lambda _: None, **arguments))

    def go(self, plan: Plan) -> ToolResult:
        return asyncio.run(plan.run(lambda _: None))

    async def run_async(self, name: str, progress, **arguments) -> ToolResult:
        tool, parsed = self._parsed(name, arguments)
        plan = await tool.plan(parsed, ToolContext(call_id="c1"))
        return await plan.run(progress)

    def text(self, name: str, **arguments) -> str:
        return self.run(name, **arguments).text

    def put(self, name: str, content: str | bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def known(self, name: str, content: str | bytes) -> Path:
        """A file that the model has read."""
        path = self.put(name, content)
        self.run("read", path=name)
        return path

    def _parsed(self, name: str, arguments: dict[str, object]):
        tool: AnyTool = self.tools.find(name)
        return tool, tool.Arguments.model_validate(arguments)


def bench(root: Path, *, ripgrep: str | None = None) -> Bench:
    home, logs = root / "home", root / "logs"
    work = root / "work"
    for folder in (home, logs, work):
        folder.mkdir(exist_ok=True)
    sandbox, seen = PathSandbox(work, home=home, readable=[logs]), SeenFiles()

    def is_read_only(command: str, cwd: Path) -> bool:
        return command.split(maxsplit=1)[0] in {"cat", "head", "sed", "grep", "sleep"}

    jobs = Jobs(lambda _: None)
    tools = Registry(
        [
            ReadTool(sandbox, seen),
            WriteTool(sandbox, seen),
            EditTool(sandbox, seen),
            BashTool(sandbox, seen, logs, is_read_only, os.environ, jobs=jobs),
            JobTool(jobs, sandbox, seen),
            GrepTool(sandbox, seen, ripgrep),
            GlobTool(sandbox, ripgrep),
            LsTool(sandbox),
        ]
    )
    return Bench(root=work, logs=logs, seen=seen, tools=tools, jobs=jobs)


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Bench]:
    made = bench(tmp_path)
    yield made
    made.jobs.close()


@pytest.fixture(params=["ripgrep", "python"])
def searching(request, tmp_path: Path) -> Bench:
    """Once with ripgrep and once without; both must say the same."""
    made = bench(tmp_path, ripgrep=None if request.param == "ripgrep" else "")
    if request.param == "ripgrep" and not made.tools.find("grep")._ripgrep:
        pytest.skip("no ripgrep here")
    return made
