"""Builds one session out of the rooms' parts; the only file that picks concrete classes."""

from __future__ import annotations

import asyncio
import platform
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path

from codeagent.agent.bookmarks import Bookmarks
from codeagent.agent.history import restore
from codeagent.agent.instructions import Instructions
from codeagent.agent.limits import Limits
from codeagent.agent.prompt import system_prompt
from codeagent.agent.record import Record
from codeagent.agent.session import Session, before
from codeagent.agent.summaries import Judges
from codeagent.brought import Brought, look_at_project, with_asking, without_asking
from codeagent.config.launch import Launch
from codeagent.config.settings import ModelSettings, Settings
from codeagent.config.sources import LoadedSettings, load_settings
from codeagent.core.approvals import Mode
from codeagent.core.archive import Archive, ExportForm, SessionSummary
from codeagent.core.desk import Approver, Desk, Errand, LocalServer, Workbench
from codeagent.core.errors import CodeagentError
from codeagent.core.events import (
    AgentEvent,
    Emit,
    Level,
    NoticeGiven,
    SessionStarted,
)
from codeagent.core.protocols import Provider, ToolSpec
from codeagent.core.text import Redactor, counted, secrets_in, storable
from codeagent.core.values import value
from codeagent.folders import missing_folders
from codeagent.keeping import Keeping, open_keeping
from codeagent.keys import Keys, find_keys
from codeagent.mode_switch import ModeSwitch
from codeagent.model_list import LastList
from codeagent.model_switch import LastPlace, ModelSwitch
from codeagent.models import LOCAL_KEY, key_for, script_of
from codeagent.open_model import open_model
from codeagent.providers.catalog import Catalog, Effort, ModelName, ProviderKind
from codeagent.renewed_trust import RenewedTrust
from codeagent.soon import Equipped, Needs, Soon
from codeagent.store.journal import Past
from codeagent.store.records import Record as StoredEvent
from codeagent.store.records import Redact
from codeagent.store.sessions import Sessions
from codeagent.tools.prepared import prepared_specs
from codeagent.workspace.locks import LockTable


async def open_desk(launch: Launch, emit: Emit, approver: Approver) -> Desk:
    """Opens a session for a screen, once the person said whether the project's files count.

    Raises NotOpened, NoModel, other ConfigErrors, JournalError and SessionBusy.
    """
    found = await asyncio.to_thread(look_at_project, launch)
    brought = await with_asking(found, approver)
    parts = await asyncio.to_thread(assemble, launch, emit, approver, brought)
    parts.greet()
    times = tuple(record.at for record in parts.keeping.past.records)
    return Desk(conversation=parts.session, workbench=parts.bench, past=parts.past, times=times, close=parts.close)


async def open_headless(launch: Launch, emit: Emit) -> Errand:
    """Opens a session without a person; what would ask is denied. Raises as ``open_desk``."""
    parts = assemble(launch, emit, None, is_soon=True)
    parts.greet()
    if parts.keeping.past.torn is not None:
        emit(parts.keeping.past.torn)
    return Errand(
        conversation=parts.session, workbench=parts.open_bench, settle=parts.settle, close=parts.close, keys=parts.keys
    )


@value
class Parts:
    """One session with all that belongs to it."""

    session: Session
    open_bench: Callable[[], Workbench]
    started: SessionStarted
    notices: tuple[NoticeGiven, ...]
    record: Record
    keeping: Keeping
    soon: Soon
    keys: tuple[str, ...]

    @property
    def bench(self) -> Workbench:
        """What screens need beyond the conversation."""
        return self.open_bench()

    @property
    def past(self) -> tuple[AgentEvent, ...]:
        """What happened in the session before."""
        return self.keeping.past.events

    def greet(self) -> None:
        """Tells that the session is open, and what the person should know about it."""
        self.record.tell(self.started)
        for notice in self.notices:
            self.record.tell(notice)
        if self.soon.is_made:
            self._tell_leftovers()
        if self.past:
            self.session.measure()

    async def settle(self) -> None:
        """Makes what the model's reply may ask for, while that is still being written.

        What cannot be made is told when it is asked for.
        """
        if not self.soon.is_made:
            with suppress(CodeagentError, OSError):
                await self.soon.ready()
                self._tell_leftovers()

    def _tell_leftovers(self) -> None:
        for text in self.soon.made.notices:
            self.record.tell(NoticeGiven(text=text, level=Level.WARNING))

    def close(self) -> None:
        """Ends jobs and what commands left running, and gives the record back."""
        self.soon.close()
        self.keeping.close()


def assemble(
    launch: Launch, emit: Emit, approver: Approver | None, brought: Brought | None = None, *, is_soon: bool = False
) -> Parts:
    """Puts a session together, on a thread where a screen must stay alive; without ``brought`` nobody is asked.

    With ``is_soon`` the first request need not wait for what only its answer can ask for.
    """
    root, brought = launch.root.resolve(), brought or without_asking(look_at_project(launch))
    loaded = load_settings(launch.places, root, launch.environ, launch.flags, project=brought.settings)
    settings = loaded.settings
    switch = make_switch(settings, launch)
    redactor = Redactor((*secrets_in(launch.environ), *(keys := switch.keys.secrets())))
    stored = Sessions(launch.places.sessions, root)
    keeping = open_keeping(launch, stored, lambda one: make_archive(launch, stored, redactor).fork(one), redactor)
    past = keeping.past.events
    chosen = keeping.or_closed(partial(open_model, switch, launch, past))
    listeners: list[Emit] = [emit, keeping.after]
    record, bookmarks = keeping.recorder(_each(listeners)), Bookmarks()
    modes = ModeSwitch(settings.permissions.mode, record.tell)
    needs = Needs(brought, loaded, keeping, approver, record.tell, modes, is_running=lambda: session.is_running)
    soon = Soon(prepared_specs(), partial(_equip, needs))
    if not is_soon or past or _has_rules(settings):
        keeping.or_closed(lambda: soon.made)
    listeners.append(soon.listen)
    session = Session(
        keeping.session_id,
        chosen.provider,
        tools=soon,
        gate=soon,
        locks=LockTable(),
        journal=keeping.journal,
        ledger=switch.catalog,
        emit=_each(listeners),
        system=make_prompt(root, soon.specs(), brought.instructions),
        hooks=(soon, RenewedTrust(root, launch.places.trust_file, record.tell)),
        history=restore(past, bookmarks),
        before_turn=soon.before_turn,
        limits=make_limits(settings),
        news=soon.news,
        judges=Judges(approver=approver, reviews=lambda: modes.get() in {Mode.ASK, Mode.PLAN}),
        before=before(past, bookmarks),
        on_left=keeping.on_left,
        read_pin=soon.read_pin,
        ready=soon.ready,
    )
    keeping.on_left(session.messages)
    return Parts(
        session=session,
        open_bench=cache(lambda: soon.made.bench(session, switch, make_archive(launch, stored, redactor))),
        started=_started(keeping.session_id, switch, modes.get(), root),
        notices=_notices(
            loaded, keeping.past, brought, chosen.notice, " ".join(switch.keys.store.close_file()).strip()
        ),
        record=record,
        keeping=keeping,
        soon=soon,
        keys=keys,
    )


def _has_rules(settings: Settings) -> bool:
    """Whether there are rules that could be wrong, which is said before anything is asked."""
    asked = settings.permissions
    return bool(asked.allow or asked.ask or asked.deny)


def _equip(needs: Needs) -> Equipped:
    from codeagent.equipment import equip

    return equip(needs)


def make_prompt(root: Path, tools: Sequence[ToolSpec], instructions: Sequence[Instructions]) -> str:
    """The system prompt; it stays the same for the whole session."""
    system, names = f"{platform.system()} {platform.machine()}", [spec.name for spec in tools]
    return storable(system_prompt(root=root, platform=system, tools=names, instructions=instructions))


def make_switch(settings: Settings, launch: Launch) -> ModelSwitch:
    """The models that can be chosen, and what makes the client for one."""
    catalog, keys = Catalog(launch.places.models_file), find_keys(launch.environ, launch.places)
    make = partial(make_provider, settings, keys, catalog)
    last_list = LastList(launch.places.listed_models)
    return ModelSwitch(
        catalog, settings.model, keys, last_list, make, _ask_service, _local_servers, effort=settings.model.effort
    )


def _ask_service(settings: ModelSettings, kind: ProviderKind, key: str) -> Sequence[str]:
    from codeagent.model_services import listed_models

    return listed_models(settings, kind, key)


def _local_servers() -> Sequence[LocalServer]:
    from codeagent.providers.local_servers import find_local_servers

    return find_local_servers()


def make_provider(
    settings: Settings,
    keys: Keys,
    catalog: Catalog,
    name: ModelName,
    effort: Effort | None,
    last: LastPlace,
    before: Provider | None,
) -> Provider:
    """The client for a model, or for one of the server in its ``last`` place on this machine, which gets no key.

    Only the SDK that is needed is loaded. ``before`` is the last client of the same model.
    """
    address = last.address
    known = catalog.limits(str(name), timeout=settings.model.first_byte_seconds)
    limits = known.wanted(catalog.possible(str(name), settings.model.max_tokens), effort)
    key = LOCAL_KEY if address else key_for(name, settings.model, keys)
    match name.provider:
        case ProviderKind.ANTHROPIC:
            from codeagent.providers.anthropic import AnthropicProvider

            url = address or settings.model.anthropic_base_url
            return AnthropicProvider(name.name, key.secret, url, limits, key.remedy, before)
        case ProviderKind.OPENAI_CHAT:
            from codeagent.providers.openai_chat import OpenAIChatProvider

            url = address or settings.model.openai_base_url
            return OpenAIChatProvider(name.name, key.secret, url, limits, key.remedy, before)
        case ProviderKind.SCRIPTED:
            from codeagent.providers.scripted import ScriptedProvider

            return ScriptedProvider.from_file(script_of(name), played=last.played)
        case ProviderKind.OPENAI:
            from codeagent.providers.openai import OpenAIProvider

            url = address or settings.model.openai_base_url
            return OpenAIProvider(name.name, key.secret, url, limits, key.remedy, before)


def open_archive(launch: Launch) -> Archive:
    """The stored sessions of a workspace, without opening one."""
    stored = Sessions(launch.places.sessions, launch.root.resolve())
    keys = find_keys(launch.environ, launch.places)
    return make_archive(launch, stored, Redactor((*secrets_in(launch.environ), *keys.secrets())))


def make_archive(launch: Launch, stored: Sessions, redactor: Redactor) -> Archive:
    """The archive over stored sessions; what writes exports is loaded with the first of them."""
    from codeagent.store.archive import SessionArchive

    def write(summary: SessionSummary, told: Sequence[StoredEvent], form: ExportForm, redact: Redact) -> str:
        from codeagent.store.exporting import exported

        return exported(summary, told, form, redact)

    return SessionArchive(stored, redactor.redact, write, launch.places.checkpoints)


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


def _started(session_id: str, switch: ModelSwitch, mode: Mode, root: Path) -> SessionStarted:
    now, model = datetime.now(UTC).isoformat(timespec="seconds"), switch.name
    is_script = model is not None and model.provider is ProviderKind.SCRIPTED
    return SessionStarted(
        session_id=session_id,
        model=f"{model.provider}/{Path(model.name).stem}" if model and is_script else str(model),
        mode=mode,
        cwd=str(root),
        started_at=now,
        effort=switch.effort or "",
        address=switch.address,
    )


def _each(listeners: list[Emit]) -> Emit:
    """Tells all listeners, those that join later too."""

    def tell(event: AgentEvent) -> None:
        for listener in listeners:
            listener(event)

    return tell


def _notices(
    loaded: LoadedSettings, past: Past, brought: Brought, of_model: str, of_keys: str
) -> tuple[NoticeGiven, ...]:
    said = [*loaded.notices, *missing_folders(loaded.settings)]
    if past.damaged:
        lines = f"{counted(past.damaged, 'damaged line')} {'was' if past.damaged == 1 else 'were'}"
        said.append(f"{lines} passed over in the session's record.")
    if past.missing:
        said.append(f"{past.missing:,} large outputs that were kept beside the session's record are gone.")
    said += filter(None, (of_model, of_keys))
    return (*brought.notices, *(NoticeGiven(text=text, level=Level.WARNING) for text in said))
