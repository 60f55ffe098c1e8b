"""What a session works with once the model asks for something to be done: tools, gate, undo, jobs, confinement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from codeagent.agent.session import Session
from codeagent.brought import Brought
from codeagent.config.settings import Settings
from codeagent.core.approvals import Hold
from codeagent.core.archive import Archive
from codeagent.core.context import Pin
from codeagent.core.desk import Workbench
from codeagent.core.events import AgentEvent, CallStreamed
from codeagent.core.protocols import Cover, Hook
from codeagent.folders import write_folders
from codeagent.job_reports import news_for_model, tell_person
from codeagent.model_switch import ModelSwitch
from codeagent.pinned_files import read_pinned
from codeagent.policy.gate import ToolGate
from codeagent.policy.trust import UNTIL_MENDED
from codeagent.policy.written_rules import rules_of
from codeagent.soon import Needs
from codeagent.store.change_store import ChangeStore
from codeagent.store.prompts import Prompts
from codeagent.store.retention import clear_old
from codeagent.store.undoing import Undoing, open_undoing
from codeagent.toolbox import make_tools
from codeagent.tools.bash import BashTool
from codeagent.tools.registry import Registry
from codeagent.workbench import Bench, Held
from codeagent.workspace import confine, keeper, process_tree
from codeagent.workspace.earlier_runs import clean_up
from codeagent.workspace.jobs import Jobs
from codeagent.workspace.paths import PathSandbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Equipment:
    """All of it; ``notices`` are what earlier runs had left behind.

    ``is_apart``: commands are kept from signalling other processes.
    """

    needs: Needs
    tools: Registry
    gate: ToolGate
    undoing: Undoing
    jobs: Jobs
    held: Held
    is_apart: bool
    paths: PathSandbox
    notices: tuple[str, ...]

    @property
    def hook(self) -> Hook:
        """What keeps that which a call may change."""
        return self.undoing.hook

    def bench(self, session: Session, switch: ModelSwitch, archive: Archive) -> Workbench:
        """What screens need beyond the conversation."""
        needs, launch = self.needs, self.needs.brought.launch
        return Bench(
            root=launch.root.resolve(),
            settings=needs.settings,
            brought=needs.brought,
            session=session,
            gate=self.gate,
            modes=needs.modes,
            prompts=Prompts(
                launch.places.prompts / needs.keeping.folder, needs.keeping.redact, keeps=launch.keeps_session
            ),
            archive=archive,
            background=self.jobs,
            switch=switch,
            sandbox=self.held,
            timeline=self.undoing.timeline,
        )

    def listen(self, event: AgentEvent) -> None:
        """Learns which turn it is and what it is about, and gets ready for a command while the model writes it."""
        self.undoing.listen(event)
        if isinstance(event, CallStreamed) and event.name == BashTool.name:
            keeper.get_ready(is_apart=self.is_apart)

    async def before_turn(self) -> Sequence[str]:
        """What happened to the files between the turns."""
        return await self.undoing.news()

    def news(self) -> str:
        """The ends of jobs that the model has not heard of."""
        return news_for_model(self.jobs)

    async def read_pin(self, pin: Pin) -> str:
        """The lines of a pinned file; raises PathRefused and FileProblem."""
        return await read_pinned(self.paths, pin)

    def close(self) -> None:
        """Ends jobs and what commands left running."""
        self.jobs.close()
        self.undoing.hook.close()
        process_tree.terminate_started()


def equip(needs: Needs) -> Equipment:
    """Makes it, and cleans up after earlier runs; raises ConfigError for a rule that means nothing."""
    launch, settings, keeping = needs.brought.launch, needs.settings, needs.keeping
    root = launch.root.resolve()
    places = launch.places
    confinement, held = confine_commands(settings, root, places.own)
    extra = [Path(folder).expanduser() for folder in settings.permissions.add_dirs]
    paths = PathSandbox(root, extra, readable=keeping.readable, protected=places.own, secrets=[places.keys_file])
    clear_old(keeping.changes)
    store = ChangeStore(root, keeping.changes, keeping.session_id, (*places.own, places.cache))
    undoing = open_undoing(
        store, keeping.seen, needs.tell, paths.show, is_running=needs.is_running, mode=needs.modes.get
    )
    gate = make_gate(needs, paths, undoing.cover, hold=confine.hold_of(confinement))
    jobs = Jobs(partial(tell_person, emit=needs.tell), undoing.hook.keep_changes)
    return Equipment(
        needs=needs,
        tools=tools_of(needs, paths, gate, jobs, confinement),
        gate=gate,
        undoing=undoing.caught_up(keeping.past.events),
        jobs=jobs,
        held=held,
        is_apart=confinement is not None and confinement.keeps_apart,
        paths=paths,
        notices=(*_unread_rules(gate, needs.brought), *clean_up((root, *extra))),
    )


def _unread_rules(gate: ToolGate, brought: Brought) -> Iterator[str]:
    """What is to be said of rules that cannot be read, and is not yet."""
    yield from (f"{fault} {UNTIL_MENDED}" for fault in gate.faults if fault != brought.fault())


def make_gate(needs: Needs, paths: PathSandbox, cover: Cover, *, hold: Hold) -> ToolGate:
    """The gate, with the rules of the settings and of earlier answers; raises ConfigError for a wrong rule."""
    rules, fault = rules_of(needs.loaded.sources, needs.loaded.project)
    return ToolGate(
        paths,
        rules,
        needs.approver,
        needs.tell,
        needs.modes.get,
        hold=hold,
        sandbox_is_off=needs.settings.sandbox.level == confine.Level.OFF,
        grants_file=needs.brought.launch.places.grants_file,
        cover=cover,
        faults=tuple(filter(None, (needs.brought.fault(), fault))),
    )


def tools_of(
    needs: Needs, paths: PathSandbox, gate: ToolGate, jobs: Jobs, confinement: confine.Confinement | None
) -> Registry:
    """All that the model can do."""
    return make_tools(
        paths,
        needs.keeping.seen,
        jobs,
        logs=needs.keeping.logs,
        is_read_only=gate.is_read_only,
        environ=needs.brought.launch.environ,
        confinement=confinement,
        keep=needs.settings.sandbox.pass_environment,
        secrets=needs.keeping.secrets,
        emit=needs.tell,
        puts_git_back=gate.runs_unasked,
        rule_against=gate.rule_against_reading,
    )


def confine_commands(settings: Settings, root: Path, own: Sequence[Path]) -> tuple[confine.Confinement | None, Held]:
    """How commands are confined, and what the screen says of it."""
    level = confine.Level(settings.sandbox.level)
    found = confine.find_confinement(
        level,
        root,
        write_folders(settings),
        has_network=settings.sandbox.network,
        has_services=settings.sandbox.services,
        own=own,
    )
    hold = confine.hold_of(found)
    if hold is Hold.NONE:
        return found, Held(missing="sandbox off" if level is confine.Level.OFF else "no sandbox here", word=hold)
    if hold is Hold.GAP:
        return found, Held(missing=hold, word=hold)
    kinds = ["read-only"] if level is confine.Level.READ_ONLY else []
    kinds += [] if settings.sandbox.network else ["offline"]
    return found, Held(word=" ".join([hold, *kinds]))
