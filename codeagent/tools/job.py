"""The job tool: looks at what a background job has put out, or stops it."""

from __future__ import annotations

import asyncio
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from codeagent.core.approvals import Touch
from codeagent.core.messages import ToolResult
from codeagent.core.protocols import Interruption, Plan, ToolContext
from codeagent.tools.held_back import in_words
from codeagent.tools.output import changed_note, readable, say
from codeagent.tools.plans import FixedPlan, present_or_none
from codeagent.workspace.jobs import Jobs, Look
from codeagent.workspace.paths import PathSandbox
from codeagent.workspace.seen import SeenFiles
from codeagent.workspace.shell_process import Confine

PATIENCE = 10.0
"""Seconds that a look waits for something new, so that a model that waits need not ask again and again."""


class JobArguments(BaseModel):
    """Which job, and what to do with it."""

    model_config = ConfigDict(extra="forbid")
    id: int = Field(ge=1, description="The number of the job")
    action: Literal["output", "stop"]


class JobTool:
    """Output and end of background jobs."""

    name = "job"
    description = (
        "Look at a background job that bash started: `output` gives what it has put out since your last look "
        "(waiting up to 10 s for something new), `stop` ends it with all it started."
    )
    Arguments = JobArguments

    def __init__(self, jobs: Jobs, sandbox: PathSandbox, seen: SeenFiles, confine: Confine | None = None) -> None:
        """``confine`` is what holds the jobs."""
        self._jobs = jobs
        self._sandbox = sandbox
        self._seen = seen
        self._confine = confine

    def label(self, arguments: object) -> str:
        """What is done, and the job."""
        return f"{arguments.action} of job {arguments.id}" if isinstance(arguments, JobArguments) else ""

    def is_concurrency_safe(self, arguments: object) -> bool:
        """It touches no file and waits for nobody."""
        return isinstance(arguments, JobArguments)

    def interruption(self, arguments: object) -> Interruption:
        """A look may be cut short, a stop not."""
        looks = isinstance(arguments, JobArguments) and arguments.action == "output"
        return Interruption.CANCEL if looks else Interruption.BLOCK

    def touches(self, arguments: JobArguments, context: ToolContext) -> tuple[Touch, ...]:
        """Nothing."""
        del arguments, context
        return ()

    async def plan(self, arguments: JobArguments, context: ToolContext) -> Plan:
        """A look or a stop; whether there is such a job turns out when it is carried out."""
        return FixedPlan(carry_out=lambda: self._carry_out(context.call_id, arguments))

    async def _carry_out(self, call_id: str, arguments: JobArguments) -> ToolResult:
        """Does what the plan says; raises CommandProblem for a job that there is not."""
        if arguments.action == "stop":
            await self._jobs.stop(arguments.id)
        look = await self._jobs.look(arguments.id, PATIENCE)
        changed = await asyncio.to_thread(self._seen.changed, present_or_none)
        output = readable(look.output, len(look.output)).removesuffix("\n")
        lines = [output, *_notes(look)]
        if self._confine is not None:
            refused = await asyncio.to_thread(self._confine.refused, output, self._sandbox.root)
            lines += [f"[the sandbox kept it from {in_words(refused)}]"] if refused else []
        if changed:
            lines.append(changed_note(self._sandbox, changed))
        return say(call_id, "\n".join(line for line in lines if line))


def _notes(look: Look) -> list[str]:
    job = look.job
    notes = [f"[{job.name}: {job.ended or 'running'} after {job.seconds:.0f} s; {_news(look)}]"]
    if look.is_cut:
        problem = f"; {look.log_problem}" if look.log_problem else ""
        notes.append(f"[all of its output: read or grep {job.log}{problem}]")
    if job.changed:
        notes.append(f"[changed files: {job.changed}]")
    if job.left:
        notes.append(f"[it left running: {'; '.join(job.left)}]")
    return notes


def _news(look: Look) -> str:
    return "output since your last look is above" if look.output else "no output since your last look"
