"""The bash tool: runs a shell command and tells the model how it went."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event

from pydantic import BaseModel, ConfigDict, Field

from codeagent.core.approvals import Access, CommandPreview, ConcernKind, Touch
from codeagent.core.errors import BadArguments, CodeagentError, FileProblem, PathRefused, PlanFixed, StaleFile
from codeagent.core.events import Progress
from codeagent.core.messages import CommandDetails, Outcome, ToolResult, edited_remark
from codeagent.core.output_colours import colours_of
from codeagent.core.protocols import Interruption, Offer, Plan, ToolContext
from codeagent.core.text import secrets_in
from codeagent.tools.git_undo import GitUndoPlan, named, put_back
from codeagent.tools.held_back import HeldBack, as_asked, in_words, once_more, own_refusals, what_would_be_refused
from codeagent.tools.output import changed_note, readable, say
from codeagent.tools.plans import present_or_none
from codeagent.tools.printed import note_printed
from codeagent.workspace.bounds import Refusal
from codeagent.workspace.git_guard import GitChange, GitWatch
from codeagent.workspace.jobs import Jobs
from codeagent.workspace.paths import PathSandbox
from codeagent.workspace.process import Finished, clean_environment, environment_for_reading, run
from codeagent.workspace.seen import SeenFiles
from codeagent.workspace.shell_process import Confine

_log = logging.getLogger(__name__)

DEFAULT_TIMEOUT = 120
LONGEST_TIMEOUT = 600
LONGEST_COMMAND = 131_071  # what Linux passes to a program as one word (MAX_ARG_STRLEN, execve(2))


class BashArguments(BaseModel):
    """Which command, and where."""

    model_config = ConfigDict(extra="forbid")
    command: str = Field(min_length=1, max_length=LONGEST_COMMAND)
    cwd: str | None = Field(default=None, description="Folder to run in; default: the workspace")
    timeout: int | None = Field(
        default=None, ge=1, le=LONGEST_TIMEOUT, description=f"Seconds, default {DEFAULT_TIMEOUT}"
    )
    background: bool = Field(default=False, description="Start it as a job and go on; no default timeout")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shell:
    """What every command of a session shares.

    ``logs`` is the session's folder for long output, ``environment`` what commands
    get, ``is_read_only`` says of a command and its folder that it surely changes nothing.
    """

    sandbox: PathSandbox
    seen: SeenFiles
    logs: Path
    environment: Mapping[str, str]
    is_read_only: Callable[[str, Path], bool]
    confine: Confine | None
    jobs: Jobs
    watch: GitWatch
    warn: Callable[[str], None]
    puts_git_back: Callable[[], bool]
    secrets: tuple[str, ...]
    held_back: HeldBack = field(default_factory=HeldBack)

    def surely_reads(self, command: str, cwd: Path) -> bool:
        """Whether the command changes nothing; when that cannot be said, it does."""
        try:
            return self.is_read_only(command, cwd) is True
        except Exception:  # noqa: BLE001 - a fault of the analysis must not make a command look harmless
            _log.exception("the command analysis failed")
            return False

    def changed_git_meanwhile(self) -> str:
        """What of git's hooks and settings a job changed, in words; put back where nobody can be asked."""
        changes = self.watch.look()
        if not changes:
            return ""
        said = f"it changed {named(changes, self.sandbox.root)}"
        if self.puts_git_back():
            said += f"; {put_back(changes, self.sandbox.root)}"
            self.watch.look_again()
        return said


class BashTool:
    """Runs commands, each in a new shell that starts in the workspace."""

    name = "bash"
    description = (
        "Run a bash command. Each starts anew in the workspace: `cd` and variables do not last. There is no terminal "
        "and no input. Output is cut in the middle after 30,000 characters; the rest is in a log file. "
        "Servers, watchers and long builds belong into the background. "
        "Use read, grep, glob and edit rather than cat, grep, find and sed."
    )
    Arguments = BashArguments
    asks_ahead = True

    def __init__(  # noqa: PLR0913 - what commands need; most are named
        self,
        sandbox: PathSandbox,
        seen: SeenFiles,
        logs: Path,
        is_read_only: Callable[[str, Path], bool],
        environ: Mapping[str, str],
        *,
        jobs: Jobs,
        confine: Confine | None = None,
        keep: Sequence[str] = (),
        known_secrets: Sequence[str] = (),
        warn: Callable[[str], None] = lambda _: None,
        puts_git_back: Callable[[], bool] = lambda: False,
    ) -> None:
        """``environ`` is the program's environment, of which ``keep`` names secrets that commands get.
        Its secrets and ``known_secrets`` are in no log.

        ``jobs`` takes what is to run in the background; ``warn`` tells the person.
        ``puts_git_back``: what a command did to git's hooks and settings is put back without asking.
        """
        self._shell = Shell(
            sandbox=sandbox,
            seen=seen,
            logs=logs,
            environment=clean_environment(environ, keep),
            is_read_only=is_read_only,
            confine=confine,
            jobs=jobs,
            watch=GitWatch(lambda: sandbox.roots),
            warn=warn,
            puts_git_back=puts_git_back,
            secrets=tuple(dict.fromkeys((*secrets_in(environ), *known_secrets))),
        )

    def label(self, arguments: object) -> str:
        """The command."""
        return arguments.command if isinstance(arguments, BashArguments) else ""

    def is_read_only(self, arguments: object) -> bool:
        """What the command analysis says."""
        if not isinstance(arguments, BashArguments):
            return False
        try:
            cwd = _folder(self._shell.sandbox, arguments.cwd)
        except CodeagentError:
            return False
        return self._shell.surely_reads(arguments.command, cwd)

    def interruption(self, arguments: object) -> Interruption:
        """A command that changes nothing may be cancelled."""
        return Interruption.CANCEL if self.is_read_only(arguments) else Interruption.BLOCK

    def timeout(self, arguments: object) -> None:
        """None: the command has a time limit of its own."""
        del arguments

    def touches(self, arguments: BashArguments, context: ToolContext) -> tuple[Touch, ...]:
        """The whole workspace; raises PathRefused for a folder outside."""
        del context
        _folder(self._shell.sandbox, arguments.cwd)
        access = Access.READ if self.is_read_only(arguments) else Access.WRITE
        return (Touch(path=None, access=access, written=arguments.command),)

    async def plan(self, arguments: BashArguments, context: ToolContext) -> Plan:
        """The command as it would run; raises BadArguments and PathRefused."""
        if not arguments.command.strip():
            raise BadArguments("The command is empty; nothing was done.")
        cwd = _folder(self._shell.sandbox, arguments.cwd)
        if not await asyncio.to_thread(cwd.is_dir):
            raise FileProblem(f"{arguments.cwd} is no folder.", hint="Use a folder of the workspace as `cwd`.")
        preview = CommandPreview(
            command=arguments.command,
            cwd=cwd,
            timeout=float(arguments.timeout or (0 if arguments.background else DEFAULT_TIMEOUT)),
            background=arguments.background,
        )
        touches = self.touches(arguments, context)
        return CommandPlan(call_id=context.call_id, preview=preview, touches=touches, shell=self._shell)


def _folder(sandbox: PathSandbox, written: str | None) -> Path:
    """The real folder to run in; raises PathRefused for one outside."""
    touch = sandbox.resolve(written or ".", Access.READ)
    if touch.concern is not None and touch.concern.kind is ConcernKind.OUTSIDE:
        where = "`cwd` must lie in the workspace or in a folder added with --add-dir."
        raise PathRefused(touch.concern.reason, hint=where)
    return touch.path or sandbox.root


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandPlan:
    """One command, ready to run."""

    call_id: str
    preview: CommandPreview
    touches: tuple[Touch, ...]
    shell: Shell
    remark: str = ""
    changed_git: list[GitChange] = field(default_factory=list)
    put_back: list[str] = field(default_factory=list)
    missed: list[Refusal] = field(default_factory=list)
    foreseen: tuple[Path, ...] = ()
    haste: Event = field(default_factory=Event)

    def hurry(self) -> None:
        """Called off a second time: what does not end by itself is ended by force."""
        self.haste.set()

    def offer(self, result: ToolResult) -> Offer | None:
        """To undo what it did to git's hooks and settings; to run it without the sandbox, when it failed of that."""
        changes = tuple(change for change in self.changed_git if change.can_be_undone)
        if changes and not self.put_back:
            return Offer(
                plan=GitUndoPlan(
                    changes=changes, root=self.shell.sandbox.root, result=result, undone=self.shell.watch.look_again
                ),
                what="put back as it was",
            )
        if not self.missed:
            return None
        preview, how = once_more(self.preview, self.missed)
        plan = replace(self, preview=preview, remark=f"[run once more, {how}]", missed=[])
        return Offer(plan=plan, what=f"run once more {how}")

    def foreseeing(self, writes: Sequence[Path], *, opens_services: bool) -> Plan:
        """The command as it has to run to write to ``writes`` and to reach services, which the gate let through."""
        confine = self.shell.confine
        if self.preview.is_once_more:
            return self
        if confine is None:
            return replace(self, foreseen=tuple(writes))
        held_back, let_through = what_would_be_refused(writes, confine, self.shell.sandbox.show)
        preview = replace(self.preview, held_back=held_back, let_through=let_through, opens_services=opens_services)
        return replace(self, preview=preview, foreseen=tuple(writes))

    async def run(self, progress: Progress) -> ToolResult:
        """Runs it, cancelling ends everything it started; or starts it as a job and leaves it running."""
        shell, command, cwd = self.shell, self.preview.command, self.preview.cwd
        if await self.is_stale():
            raise StaleFile(f"{shell.sandbox.show(cwd)} became a link; nothing was run.", hint="Look where it leads.")
        log = await asyncio.to_thread(self._log)
        if self.preview.background:
            return await self._start_job(log)
        is_read_only = shell.surely_reads(command, cwd)
        confine = self._confine()
        guarded = None if is_read_only else await asyncio.to_thread(shell.watch.begin)
        started = time.time()
        finished = await run(
            command,
            cwd=cwd,
            timeout=self.preview.timeout,
            on_output=progress,
            env=environment_for_reading(shell.environment) if is_read_only else shell.environment,
            log=log,
            confine=confine,
            secrets=shell.secrets,
            haste=self.haste,
        )
        output = readable(finished.head_tail, finished.total_bytes)
        refused: tuple[Refusal, ...] = ()
        if confine is not None:
            said = await asyncio.to_thread(confine.refused, output, cwd)
            refused = await asyncio.to_thread(own_refusals, said, command, cwd, started, is_read_only=is_read_only)
            self.missed[:] = shell.held_back.worth_asking(refused, command, cwd, finished.exit_code)
        changed: tuple[Path, ...] = ()
        if is_read_only:
            await asyncio.to_thread(note_printed, shell.sandbox, shell.seen, command, cwd, output, self.call_id)
        else:
            changed = await asyncio.to_thread(shell.seen.changed, present_or_none)
        if guarded is not None:
            goes_on = bool(finished.still_running) or any(job.is_running or job.left for job in shell.jobs.all())
            changes = await asyncio.to_thread(shell.watch.end, guarded, goes_on=goes_on)
            self.changed_git[:] = (change for change in changes if change.path not in self.foreseen)
            if self.changed_git:
                shell.warn(f"A command changed {named(self.changed_git, shell.sandbox.root)}.")
            if self.changed_git and shell.puts_git_back():
                self.put_back[:] = [await asyncio.to_thread(put_back, self.changed_git, shell.sandbox.root)]
                await asyncio.to_thread(shell.watch.look_again)
        return self._result(finished, output, changed, refused)

    async def is_stale(self) -> bool:
        """Whether its folder, or one around it, was exchanged for a link to another place."""
        return await asyncio.to_thread(self.preview.cwd.resolve) != self.preview.cwd

    async def rebuilt(self) -> Plan:
        """The same command where the path of its folder leads now; raises PathRefused for a place outside."""
        cwd = await asyncio.to_thread(_folder, self.shell.sandbox, str(self.preview.cwd))
        return self._anew(cwd=cwd)

    def narrowed(self, hunks: frozenset[int]) -> Plan:
        """Raises PlanFixed: a command runs whole or not at all."""
        raise PlanFixed(f"A command has no hunks to choose ({len(hunks)} chosen).")

    async def edited(self, text: str) -> Plan:
        """The person's own command; raises PlanFixed for an empty one."""
        if not text.strip():
            raise PlanFixed("The command is empty; to run nothing, deny the call.")
        if text == self.preview.command:
            return self
        access = Access.READ if self.shell.surely_reads(text, self.preview.cwd) else Access.WRITE
        touches = (Touch(path=None, access=access, written=text),)
        return replace(self._anew(command=text), touches=touches, remark=edited_remark(text))

    def _anew(self, *, command: str | None = None, cwd: Path | None = None) -> CommandPlan:
        """Another command, or another folder, of which nothing is foreseen yet."""
        held_back = "" if self.foreseen else self.preview.held_back
        command, cwd = command or self.preview.command, cwd or self.preview.cwd
        preview = replace(self.preview, command=command, cwd=cwd, held_back=held_back)
        preview = replace(preview, let_through="", opens_services=False, reaches=())
        return replace(self, preview=preview, foreseen=())

    def _confine(self) -> Confine | None:
        """What holds the command: less where the person was told so and said yes."""
        return None if self.shell.confine is None else as_asked(self.shell.confine, self.preview)

    async def _start_job(self, log: Path) -> ToolResult:
        shell = self.shell
        shell.watch.go_on(await asyncio.to_thread(shell.watch.begin))
        job = await shell.jobs.start(
            self.preview.command,
            cwd=self.preview.cwd,
            env=shell.environment,
            log=log,
            timeout=self.preview.timeout or None,
            confine=self._confine(),
            at_end=shell.changed_git_meanwhile,
            secrets=shell.secrets,
        )
        details = CommandDetails(
            command=job.command, cwd=str(self.preview.cwd), ended=f"{job.name}, in the background", log=str(log)
        )
        how = f'"id": {job.number}, "action": "output" or "stop"'
        lines = [self.remark, f"[started as {job.name}; you will be told when it ends; use job with {how}]"]
        return say(self.call_id, "\n".join(line for line in lines if line), details=details)

    def _log(self) -> Path:
        with suppress(OSError):  # where nothing can be kept the command runs all the same
            self.shell.logs.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self.shell.logs / f"bash-{secrets.token_hex(6)}.log"

    def _result(
        self, finished: Finished, output: str, changed: Sequence[Path], refused: Sequence[Refusal]
    ) -> ToolResult:
        details = CommandDetails(
            command=self.preview.command,
            cwd=str(self.preview.cwd),
            ended=finished.ended,
            exit_code=finished.exit_code,
            seconds=round(finished.seconds, 3),
            log=str(finished.log or ""),
            refused=tuple(map(str, refused)),
            colours=colours_of(finished.head_tail, len(self.remark) + 1 if self.remark else 0),
        )
        lines = [self.remark, output.removesuffix("\n"), *self._notes(finished, changed, refused)]
        text = "\n".join(line for line in lines if line) or "[no output]"
        if finished.timed_out:
            return say(self.call_id, text, details=details, outcome=Outcome.TIMED_OUT, code="TIMEOUT")
        return say(self.call_id, text, details=details)

    def _notes(self, finished: Finished, changed: Sequence[Path], refused: Sequence[Refusal]) -> list[str]:
        notes: list[str] = []
        if finished.timed_out:
            notes.append(
                f"[{finished.ended}; everything it started was ended; at most {LONGEST_TIMEOUT} s are possible]"
            )
        elif finished.exit_code != 0:
            notes.append(f"[{finished.ended}]")
        if finished.is_cut and finished.log is not None:
            problem = f"; {finished.log_problem}" if finished.log_problem else ""
            notes.append(f"[all {finished.total_lines:,} lines: read or grep {finished.log}{problem}]")
        elif finished.is_cut:
            notes.append(f"[the rest was not kept: the log failed, {finished.log_problem}]")
        if finished.still_running:
            more = f"; more output goes to {finished.log}" if finished.log and not finished.is_cut else ""
            notes.append(f"[still running in the background: {'; '.join(finished.still_running)}{more}]")
        if refused:
            notes.append(f"[the sandbox kept it from {in_words(refused)}]")
        if self.changed_git:
            after = "".join(f"; {what}" for what in self.put_back)
            notes.append(f"[it changed {named(self.changed_git, self.shell.sandbox.root)}{after}]")
        if changed:
            notes.append(changed_note(self.shell.sandbox, changed))
        return notes
