"""Builds one session out of the rooms' parts; the only file that picks concrete classes."""

from __future__ import annotations

import asyncio
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from codeagent.agent.bookmarks import Bookmarks
from codeagent.agent.compaction import Judges
from codeagent.agent.history import restore
from codeagent.agent.instructions import Instructions
from codeagent.agent.limits import Limits
from codeagent.agent.prompt import system_prompt
from codeagent.agent.record import Record
from codeagent.agent.session import Session, before
from codeagent.brought import Brought, look_at_project, with_asking, without_asking
from codeagent.checks import missing_folders, write_folders
from codeagent.config.launch import Launch
from codeagent.config.settings import Settings
from codeagent.config.sources import LoadedSettings, load_settings
from codeagent.core.approvals import Mode
from codeagent.core.archive import ExportForm, SessionSummary
from codeagent.core.desk import Approver, Desk
from codeagent.core.events import (
    AgentEvent,
    Emit,
    Level,
    NoticeGiven,
    SessionStarted,
)
from codeagent.core.protocols import Cover, Provider
from codeagent.core.text import Redactor, secrets_in, storable
from codeagent.job_reports import news_for_model, tell_person
from codeagent.keeping import Keeping, open_keeping
from codeagent.keys import Keys, find_keys
from codeagent.model_list import LastList
from codeagent.model_switch import ModelSwitch
from codeagent.models import key_for, script_of
from codeagent.open_model import open_model
from codeagent.pinned_files import read_pinned
from codeagent.policy.gate import ToolGate
from codeagent.policy.rules import RuleSet
from codeagent.providers.catalog import Catalog, Effort, ModelName, ProviderKind
from codeagent.renewed_trust import RenewedTrust
from codeagent.store.archive import SessionArchive
from codeagent.store.journal import Past
from codeagent.store.prompts import Prompts
from codeagent.store.records import Record as StoredEvent
from codeagent.store.records import Redact
from codeagent.store.sessions import Sessions
from codeagent.store.undoing import Undoing, open_undoing
from codeagent.toolbox import make_tools
from codeagent.tools.registry import Registry
from codeagent.workbench import Bench, Held, ModeSwitch
from codeagent.workspace import confine, process_tree
from codeagent.workspace.earlier_runs import clean_up
from codeagent.workspace.jobs import Jobs
from codeagent.workspace.locks import LockTable
from codeagent.workspace.paths import PathSandbox


async def open_desk(launch: Launch, emit: Emit, approver: Approver) -> Desk:
    """Opens a session for a screen, once the person said whether the project's files count.

    Raises NotOpened, NoModel, other ConfigErrors, JournalError and SessionBusy.
    """
    found = await asyncio.to_thread(look_at_project, launch)
    brought = await with_asking(found, approver)
    parts = await asyncio.to_thread(assemble, launch, emit, approver, brought)
    parts.greet()
    return parts.desk()


async def open_headless(launch: Launch, emit: Emit) -> Desk:
    """Opens a session without a person; what would ask is denied. Raises as ``open_desk``."""
    parts = assemble(launch, emit, None)
    parts.greet()
    if parts.keeping.past.torn is not None:
        emit(parts.keeping.past.torn)
    return parts.desk()


def build_session(launch: Launch, *, emit: Emit, approver: Approver | None = None) -> Session:
    """A session that is driven by its methods and tells everything through ``emit``; raises as ``open_desk``."""
    return assemble(launch, emit, approver).session


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """One session with all that belongs to it."""

    session: Session
    bench: Bench
    started: SessionStarted
    notices: tuple[NoticeGiven, ...]
    undoing: Undoing
    record: Record
    keeping: Keeping
    jobs: Jobs

    @property
    def past(self) -> tuple[AgentEvent, ...]:
        """What happened in the session before."""
        return self.keeping.past.events

    def greet(self) -> None:
        """Tells that the session is open, and what the person should know about it."""
        self.record.tell(self.started)
        for notice in self.notices:
            self.record.tell(notice)
        if self.past:
            self.session.measure()

    def desk(self) -> Desk:
        """What a screen works with."""
        times = tuple(record.at for record in self.keeping.past.records)
        return Desk(conversation=self.session, workbench=self.bench, past=self.past, times=times, close=self.close)

    def close(self) -> None:
        """Ends jobs and what commands left running, and gives the record back."""
        self.jobs.close()
        self.undoing.hook.close()
        process_tree.terminate_started()
        self.keeping.close()


def assemble(launch: Launch, emit: Emit, approver: Approver | None, brought: Brought | None = None) -> Parts:
    """Puts a session together, on a thread where a screen must stay alive; without ``brought`` nobody is asked."""
    root, brought = launch.root.resolve(), brought or without_asking(look_at_project(launch))
    loaded = load_settings(launch.places, root, launch.environ, launch.flags, project=brought.settings)
    settings, places = loaded.settings, launch.places
    switch = make_switch(settings, launch)
    asked = settings.permissions
    redactor = Redactor((*secrets_in(launch.environ), *switch.keys.secrets()))
    stored = Sessions(launch.places.sessions, root)
    prompts, archive = make_prompts(launch, stored, redactor), make_archive(launch, stored, redactor)
    keeping = open_keeping(launch, stored, archive, redactor)
    chosen = keeping.or_closed(partial(open_model, switch, launch, keeping.past.events))
    listeners: list[Emit] = [emit, keeping.after]
    record = keeping.recorder(_each(listeners))
    modes = ModeSwitch(mode=asked.mode, emit=record.tell)
    confinement, sandbox = confine_commands(settings, root)
    extra = [Path(folder).expanduser() for folder in asked.add_dirs]
    paths = PathSandbox(root, extra, readable=keeping.readable, protected=places.own, secrets=[places.keys_file])
    undoing = open_undoing(
        keeping.store, keeping.seen, record.tell, paths.show, is_running=lambda: session.is_running, mode=modes.get
    )
    is_held, cover, timeline = confinement is not None, undoing.cover, undoing.timeline
    gate = make_gate(launch, settings, paths, approver, record.tell, modes.get, cover, is_confined=is_held)
    jobs, bookmarks = Jobs(partial(tell_person, emit=record.tell), undoing.hook.keep_changes), Bookmarks()
    tools = tools_of(settings, launch, paths, keeping, gate, jobs, confinement, record.tell)
    listeners.append(undoing.listen)
    session = Session(
        keeping.session_id,
        chosen.provider,
        tools=tools,
        gate=gate,
        locks=LockTable(),
        journal=keeping.journal,
        ledger=switch.catalog,
        emit=_each(listeners),
        system=make_prompt(root, tools, brought.instructions),
        hooks=(undoing.hook, RenewedTrust(root, places.trust_file, record.tell)),
        history=restore(keeping.past.events, bookmarks),
        before_turn=undoing.news,
        limits=make_limits(settings),
        news=partial(news_for_model, jobs),
        judges=Judges(approver=approver, reviews=lambda: modes.get() in {Mode.ASK, Mode.PLAN}),
        before=before(keeping.past.events, bookmarks),
        on_left=keeping.on_left,
        read_pin=partial(read_pinned, paths),
    )
    keeping.on_left(session.messages)
    return Parts(
        session=session,
        bench=Bench(root, settings, brought, session, gate, modes, prompts, archive, jobs, switch, sandbox, timeline),
        started=_started(keeping.session_id, chosen.name, switch.effort or "", modes.get(), root),
        notices=_notices(loaded, keeping.past, root, brought, chosen.notice),
        undoing=undoing.caught_up(keeping.past.events),
        record=record,
        keeping=keeping,
        jobs=jobs,
    )


def make_gate(  # noqa: PLR0913 - all that a decision depends on
    launch: Launch,
    settings: Settings,
    paths: PathSandbox,
    approver: Approver | None,
    tell: Emit,
    mode: Callable[[], Mode],
    cover: Cover,
    *,
    is_confined: bool,
) -> ToolGate:
    """The gate, with the rules of the settings and of earlier answers."""
    asked = settings.permissions
    return ToolGate(
        paths,
        RuleSet.parse(deny=asked.deny, ask=asked.ask, allow=asked.allow),
        approver,
        tell,
        mode,
        is_confined=is_confined,
        sandbox_is_off=settings.sandbox.level == confine.Level.OFF,
        grants_file=launch.places.grants_file,
        cover=cover,
    )


def tools_of(  # noqa: PLR0913, PLR0917 - all that tools work with
    settings: Settings,
    launch: Launch,
    paths: PathSandbox,
    keeping: Keeping,
    gate: ToolGate,
    jobs: Jobs,
    confinement: confine.Confinement | None,
    emit: Emit,
) -> Registry:
    """All that the model can do."""
    return make_tools(
        paths,
        keeping.seen,
        jobs,
        logs=keeping.logs,
        is_read_only=gate.is_read_only,
        environ=launch.environ,
        confinement=confinement,
        keep=settings.sandbox.pass_environment,
        emit=emit,
        puts_git_back=gate.runs_unasked,
        rule_against=gate.rule_against_reading,
    )


def make_prompts(launch: Launch, stored: Sessions, redactor: Redactor) -> Prompts:
    """What was typed in this workspace before; a session that is not kept adds nothing."""
    folder = launch.places.prompts / stored.folder.name
    return Prompts(folder, redactor.redact, keeps=launch.keeps_session)


def make_prompt(root: Path, tools: Registry, instructions: Sequence[Instructions]) -> str:
    """The system prompt; it stays the same for the whole session."""
    system, names = f"{platform.system()} {platform.machine()}", [spec.name for spec in tools.specs()]
    return storable(system_prompt(root=root, platform=system, tools=names, instructions=instructions))


def make_switch(settings: Settings, launch: Launch) -> ModelSwitch:
    """The models that can be chosen, and what makes the client for one."""
    catalog, keys = Catalog(launch.places.models_file), find_keys(launch.environ, launch.places)
    make = partial(make_provider, settings, keys, catalog)
    return ModelSwitch(
        catalog, settings.model, keys, LastList(launch.places.listed_models), make, effort=settings.model.effort
    )


def make_provider(settings: Settings, keys: Keys, catalog: Catalog, name: ModelName, effort: Effort | None) -> Provider:
    """The client for a model; only the SDK that is needed is loaded."""
    known = catalog.limits(str(name), timeout=settings.model.first_byte_seconds)
    limits = known.wanted(settings.model.max_tokens, effort)
    key = key_for(name, settings.model, keys)
    match name.provider:
        case ProviderKind.ANTHROPIC:
            from codeagent.providers.anthropic import AnthropicProvider

            return AnthropicProvider(name.name, key.secret, settings.model.anthropic_base_url, limits, key.remedy)
        case ProviderKind.OPENAI_CHAT:
            from codeagent.providers.openai_chat import OpenAIChatProvider

            return OpenAIChatProvider(name.name, key.secret, settings.model.openai_base_url, limits, key.remedy)
        case ProviderKind.SCRIPTED:
            from codeagent.providers.scripted import ScriptedProvider

            return ScriptedProvider.from_file(script_of(name))
        case ProviderKind.OPENAI:
            from codeagent.providers.openai import OpenAIProvider

            return OpenAIProvider(name.name, key.secret, settings.model.openai_base_url, limits, key.remedy)


def open_archive(launch: Launch) -> SessionArchive:
    """The stored sessions of a workspace, without opening one."""
    stored = Sessions(launch.places.sessions, launch.root.resolve())
    keys = find_keys(launch.environ, launch.places)
    return make_archive(launch, stored, Redactor((*secrets_in(launch.environ), *keys.secrets())))


def make_archive(launch: Launch, stored: Sessions, redactor: Redactor) -> SessionArchive:
    """The archive over stored sessions; what writes exports is loaded with the first of them."""

    def write(summary: SessionSummary, told: Sequence[StoredEvent], form: ExportForm, redact: Redact) -> str:
        from codeagent.store.exporting import exported

        return exported(summary, told, form, redact)

    return SessionArchive(stored, redactor.redact, write, launch.places.checkpoints)


def confine_commands(settings: Settings, root: Path) -> tuple[confine.Confinement | None, Held]:
    """How commands are confined, and what the screen says of it."""
    level = confine.Level(settings.sandbox.level)
    found = confine.find_confinement(level, root, write_folders(settings), has_network=settings.sandbox.network)
    if found is None:
        return None, Held(missing="sandbox off" if level is confine.Level.OFF else "no sandbox here")
    kinds = ["read-only"] if level is confine.Level.READ_ONLY else []
    kinds += [] if settings.sandbox.network else ["offline"]
    return found, Held(word=" ".join(["sandboxed", *kinds]))


def make_limits(settings: Settings) -> Limits:
    """The session's limits as the settings have them."""
    return Limits(
        steps=settings.budget.max_steps,
        max_cost=settings.budget.max_cost,
        first_byte_seconds=settings.model.first_byte_seconds,
        idle_seconds=settings.model.idle_seconds,
        retries=settings.model.retries,
        compact_at=None if settings.context.compact_at == "off" else settings.context.compact_at,
    )


def _started(session_id: str, model: ModelName, effort: str, mode: Mode, root: Path) -> SessionStarted:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    shown = f"{model.provider}/{Path(model.name).stem}" if model.provider is ProviderKind.SCRIPTED else str(model)
    return SessionStarted(session_id=session_id, model=shown, mode=mode, cwd=str(root), started_at=now, effort=effort)


def _each(listeners: list[Emit]) -> Emit:
    """Tells all listeners, those that join later too."""

    def tell(event: AgentEvent) -> None:
        for listener in listeners:
            listener(event)

    return tell


def _notices(
    loaded: LoadedSettings, past: Past, root: Path, brought: Brought, of_model: str
) -> tuple[NoticeGiven, ...]:
    said = [*loaded.notices, *missing_folders(loaded.settings)]
    if past.damaged:
        lines = "1 damaged line was" if past.damaged == 1 else f"{past.damaged} damaged lines were"
        said.append(f"{lines} passed over in the session's record.")
    if past.missing:
        said.append(f"{past.missing} large outputs that were kept beside the session's record are gone.")
    said += clean_up((root, *(Path(folder).expanduser() for folder in loaded.settings.permissions.add_dirs)))
    said += [of_model] if of_model else []
    return (*brought.notices, *(NoticeGiven(text=text, level=Level.WARNING) for text in said))
