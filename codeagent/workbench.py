"""What screens need beyond the conversation, made of the rooms' parts."""

from __future__ import annotations

import asyncio
import heapq
import json
import threading
import time
import unicodedata
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from itertools import islice
from pathlib import Path

from codeagent.agent.session import Session
from codeagent.brought import Brought
from codeagent.checks import look_around
from codeagent.config.custom_commands import find_custom_commands
from codeagent.config.places import project_commands
from codeagent.config.settings import Settings
from codeagent.core.approvals import CommandPreview, Decision, Mode, Scope, Verdict
from codeagent.core.archive import Archive, SessionNamed
from codeagent.core.changes import BranchDiff
from codeagent.core.context import ContextPart
from codeagent.core.custom_commands import FoundCommands
from codeagent.core.desk import Check, Glimpse, Habits, KnownTool, ModelChoice, StoredRule, WorkspaceStatus
from codeagent.core.errors import ConfigError
from codeagent.core.events import Progress
from codeagent.core.jobs import Job
from codeagent.core.json_types import JsonObject
from codeagent.core.messages import STOPPED, CommandDetails, Draft, Outcome, TextBlock, ToolResult
from codeagent.core.output_colours import colours_of
from codeagent.core.protocols import ToolSpec
from codeagent.core.text import clean, show_bytes
from codeagent.mode_switch import ModeSwitch
from codeagent.model_switch import ModelSwitch
from codeagent.policy.gate import ToolGate
from codeagent.policy.rule_meaning import rule_meaning
from codeagent.store.difference import diff_of_contents
from codeagent.store.prompts import Prompts
from codeagent.store.timeline import ChangeTimeline
from codeagent.tools.walk import find_ripgrep, list_files
from codeagent.workspace import git, process
from codeagent.workspace.git_branch import branch_changes
from codeagent.workspace.glimpse import glimpse
from codeagent.workspace.jobs import Jobs
from codeagent.workspace.private import change_private, read_private

_MOST_FILES = 200_000
_LIST_SECONDS = 5.0
_OWN_COMMAND_SECONDS = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """How commands are confined, in a word or two; ``missing`` says why not, or not wholly."""

    missing: str = ""
    word: str = "sandboxed"


@dataclass(slots=True)
class Bench:
    """The workbench of one session; ``sandbox`` says how commands are confined."""

    root: Path
    settings: Settings
    brought: Brought
    session: Session
    gate: ToolGate
    modes: ModeSwitch
    prompts: Prompts
    archive: Archive
    background: Jobs
    switch: ModelSwitch
    sandbox: Held
    timeline: ChangeTimeline
    _files: FileIndex = field(init=False)

    def __post_init__(self) -> None:
        self._files = FileIndex(self.root)

    async def status(self) -> WorkspaceStatus:
        """Branch, dirt and sandbox, read now."""
        found = await asyncio.to_thread(git.status, self.root)
        return WorkspaceStatus(
            root=self.root,
            branch=found.branch,
            is_dirty=found.is_dirty,
            sandbox=self.sandbox.missing,
            held=self.sandbox.word,
        )

    def mode(self) -> Mode:
        """The permission mode in force."""
        return self.modes.get()

    def set_mode(self, mode: Mode) -> None:
        """Changes it; told to listeners as ModeChanged."""
        self.modes.set(mode)

    def models(self) -> AsyncGenerator[tuple[ModelChoice, ...]]:
        """The models that are known; then again, with those that the services and servers on this machine list."""
        return self.switch.choices()

    async def set_model(self, name: str) -> None:
        """Another model answers from the next request on; raises ConfigError."""
        await self.switch.change(self.session, name)

    def model(self) -> str:
        """The model that answers, as ``--model`` takes it."""
        return str(self.switch.name or "")

    def effort(self) -> str:
        """How hard it thinks; empty is as it likes."""
        return self.switch.effort or ""

    async def set_effort(self, effort: str) -> None:
        """It thinks so hard from the next request on, empty is as it likes; raises ConfigError."""
        await self.switch.change_effort(self.session, effort)

    async def files(self, query: str, limit: int) -> tuple[str, ...]:
        """Workspace files whose path fits the query, best first, ignored ones left out."""
        return await asyncio.to_thread(self._files.search, query, limit)

    async def glimpse(self, path: str, lines: int) -> Glimpse:
        """The first lines of a workspace file, or why they are not shown."""
        return await asyncio.to_thread(glimpse, self.gate.paths, path, lines)

    def rules(self) -> tuple[StoredRule, ...]:
        """Every permission rule and grant in force."""
        return self.gate.stored_rules()

    async def add_rule(self, decision: Decision, rule: str, scope: Scope) -> None:
        """Puts a rule in force and keeps it as ``scope`` says; raises ConfigError."""
        try:
            await asyncio.to_thread(self.gate.add_rule, decision, rule, scope)
        except OSError as error:
            raise ConfigError(f"The rule could not be kept: {error.strerror}.", hint="Nothing was changed.") from error

    async def remove_rule(self, rule: StoredRule) -> None:
        """Takes a stored rule back; raises ConfigError."""
        try:
            await asyncio.to_thread(self.gate.remove_rule, rule)
        except OSError as error:
            raise ConfigError(f"The rule could not be removed: {error.strerror}.", hint="It still holds.") from error

    def rule_meaning(self, decision: Decision, rule: str) -> str:
        """What a rule would cover, in words; raises ConfigError for one that means nothing."""
        return rule_meaning(rule, decision)

    def explain(self, command: str) -> Verdict:
        """What the gate would say to a shell command now."""
        preview = CommandPreview(command=command, cwd=self.root, timeout=_OWN_COMMAND_SECONDS)
        return self.gate.judge("bash", (), preview, self.mode())

    async def run_command(self, command: str, progress: Progress) -> ToolResult:
        """Runs the person's own shell command; the model sees it with the next message, also when it was cancelled."""
        began, said = time.monotonic(), ""

        def heard(text: str) -> None:
            nonlocal said
            said = (said + text)[-process.MODEL_CHARACTERS :]
            progress(text)

        try:
            finished = await process.run(
                command,
                cwd=self.root,
                timeout=_OWN_COMMAND_SECONDS,
                on_output=heard,
                env=process.clean_environment(self.brought.launch.environ, keep=("*",)),
            )
        except asyncio.CancelledError:
            said, seconds = said.rstrip("\n"), time.monotonic() - began
            ended, code, outcome = STOPPED, None, Outcome.CANCELLED
        else:
            ended, code, said, seconds = finished.ended, finished.exit_code, finished.head_tail, finished.seconds
            outcome = Outcome.TIMED_OUT if finished.timed_out else Outcome.OK
        text = clean(said)
        result = ToolResult(
            call_id="own",
            blocks=(TextBlock(text=f"{text}\n[{ended}]".lstrip("\n")),),
            outcome=outcome,
            details=CommandDetails(
                command=command,
                cwd=str(self.root),
                ended=ended,
                exit_code=code,
                seconds=seconds,
                colours=colours_of(said) if text and not text.startswith("\n") else "",
            ),
        )
        self.session.add_shell_result(command, result)
        await self.session.keep_asides()
        return result

    def jobs(self) -> tuple[Job, ...]:
        """The background jobs of this session, oldest first."""
        return self.background.all()

    async def stop_job(self, number: int) -> None:
        """Ends a job with all it started; raises ToolError when there is none of that number."""
        await self.background.stop(number)

    async def branch_diff(self) -> BranchDiff | None:
        """What the branch changed, whoever did it, committed or not; None where git knows of nothing to compare."""
        return await asyncio.to_thread(_branch_diff, self.root)

    def rename(self, title: str) -> None:
        """Gives this session a title; told as SessionNamed."""
        self.modes.emit(SessionNamed(title=title))

    async def doctor(self) -> tuple[Check, ...]:
        """Looks at terminal, key, model, git, ripgrep and sandbox."""
        environ, keys = self.brought.launch.environ, self.switch.keys
        return await asyncio.to_thread(look_around, self.settings, self.root, environ, keys)

    def tools(self) -> tuple[KnownTool, ...]:
        """What the model can do, as it is told."""
        return tuple(known_tool(spec) for spec in self.session.tools)

    def custom_commands(self) -> FoundCommands:
        """The person's own commands and those of a trusted project, read now; called on a thread."""
        own, theirs = self.brought.launch.places.commands, project_commands(self.root)
        return find_custom_commands(own, theirs, self.brought.may_use_commands)

    async def instructions(self) -> tuple[ContextPart, ...]:
        """The texts of instructions in the system prompt, and what became of their files since."""
        return await asyncio.to_thread(self.brought.context)

    def habits(self) -> Habits:
        """What was chosen with a key before."""
        kept = read_private(self.brought.launch.places.habits_file)
        return Habits(**{one.name: kept.get(one.name) is True for one in fields(Habits)})

    def keep_habits(self, habits: Habits) -> None:
        """Keeps what is chosen now."""
        with suppress(OSError):
            change_private(self.brought.launch.places.habits_file, lambda kept: kept.update(asdict(habits)))

    def history(self) -> tuple[Draft, ...]:
        """What was typed in this workspace before, oldest first, with the long texts that were pasted."""
        return self.prompts.history()

    def remember(self, typed: Draft) -> None:
        """Adds to that history."""
        self.prompts.remember(typed)

    def save_draft(self, draft: Draft) -> None:
        """Keeps an unsent prompt so that a crash does not lose it."""
        self.prompts.save_draft(draft)

    def draft(self) -> Draft:
        """The unsent prompt that was kept."""
        return self.prompts.draft()


def known_tool(spec: ToolSpec) -> KnownTool:
    """A tool as a person reads it."""
    schema: JsonObject = json.loads(spec.schema_json)
    required, properties = schema.get("required"), schema.get("properties")
    needed = required if isinstance(required, list) else []
    names = properties if isinstance(properties, dict) else {}
    arguments = tuple(name if name in needed else f"{name}?" for name in names)
    return KnownTool(name=spec.name, description=spec.description, arguments=arguments)


def _branch_diff(root: Path) -> BranchDiff | None:
    found = branch_changes(root)
    if found is None:
        return None
    files = ((file, diff_of_contents(show_bytes(file.name), file.before, file.after)) for file in found.files)
    diffs = tuple(diff for file, diff in files if file.before != file.after)
    return BranchDiff(origin=found.origin, diffs=diffs, left_out=found.left_out)


class FileIndex:
    """The workspace's files for completion; listed anew when the list is a few seconds old."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lock = threading.Lock()
        self._names: tuple[str, ...] = ()
        self._listed_at = float("-inf")

    def search(self, query: str, limit: int) -> tuple[str, ...]:
        """The paths that hold the query's characters in order; call it on a thread."""
        with self._lock:
            if time.monotonic() - self._listed_at > _LIST_SECONDS:
                listed = list_files(self._root, threading.Event(), find_ripgrep())
                self._names = tuple(islice(listed, _MOST_FILES))
                self._listed_at = time.monotonic()
            names = self._names
        return best_paths(names, query, limit)


def best_paths(names: tuple[str, ...], query: str, limit: int) -> tuple[str, ...]:
    """The paths that fit the query, best first: in the file name before in its folders, early before late.

    Paths that only hold its characters in order count where too few hold it whole.
    """
    wanted = _folded(query)
    if not wanted:
        return names[:limit]
    whole = (name for name in names if wanted in _folded(name))
    best = heapq.nsmallest(limit, ((_place(_folded(name), wanted), len(name), name) for name in whole))
    if len(best) < limit:
        others = ((_gaps(_folded(name), wanted), len(name), name) for name in names if wanted not in _folded(name))
        found = ((gaps, length, name) for gaps, length, name in others if gaps is not None)
        best += heapq.nsmallest(limit - len(best), found)
    return tuple(name for _, _, name in best)


def _folded(text: str) -> str:
    """Without regard to upper case and accents."""
    if text.isascii():
        return text.lower()
    return "".join(one for one in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(one))


def _place(name: str, wanted: str) -> int:
    """Where a path holds the query: 0 where its file name begins, 1 in its file name, 2 in its folders."""
    base = name.rfind("/") + 1
    if name.startswith(wanted, base):
        return 0
    return 1 if wanted in name[base:] else 2


def _gaps(name: str, wanted: str) -> int | None:
    """How many characters lie between those of the query; None when the path does not hold them in order."""
    at = -1
    gaps = 0
    for character in wanted:
        found = name.find(character, at + 1)
        if found < 0:
            return None
        gaps += found - at - 1 if at >= 0 else 0
        at = found
    return gaps
