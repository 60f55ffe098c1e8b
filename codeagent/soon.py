"""What a session works with once the model asks for something: made while it answers, not before it is asked."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from codeagent.agent.capabilities import AheadGate
from codeagent.agent.session import Session
from codeagent.brought import Brought
from codeagent.config.settings import Settings
from codeagent.config.sources import LoadedSettings
from codeagent.core.archive import Archive
from codeagent.core.context import Pin
from codeagent.core.desk import Approver, Workbench
from codeagent.core.events import AgentEvent, ConversationRestored, ConversationRewound, Emit, TurnStarted
from codeagent.core.messages import ToolCall, ToolResult
from codeagent.core.protocols import Allowed, AnyTool, Denied, Hook, Plan, ToolBox, ToolSpec
from codeagent.keeping import Keeping
from codeagent.mode_switch import ModeSwitch
from codeagent.model_switch import ModelSwitch

_LASTING = (TurnStarted, ConversationRewound, ConversationRestored)
"""What the equipment has to hear of, however late it is made."""


@dataclass(frozen=True, slots=True)
class Needs:
    """What the equipment is made of; ``is_running`` says whether a turn is under way."""

    brought: Brought
    loaded: LoadedSettings
    keeping: Keeping
    approver: Approver | None
    tell: Emit
    modes: ModeSwitch
    is_running: Callable[[], bool]

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.loaded.settings


class Equipped(Protocol):
    """The tools, the gate before them, and all that belongs to their work."""

    @property
    def tools(self) -> ToolBox:
        """All that the model can do."""
        ...

    @property
    def gate(self) -> AheadGate:
        """What decides each call."""
        ...

    @property
    def hook(self) -> Hook:
        """What keeps that which a call may change."""
        ...

    @property
    def notices(self) -> tuple[str, ...]:
        """What earlier runs had left behind."""
        ...

    def bench(self, session: Session, switch: ModelSwitch, archive: Archive) -> Workbench:
        """What screens need beyond the conversation."""
        ...

    def listen(self, event: AgentEvent) -> None:
        """Learns which turn it is and what it is about."""
        ...

    async def before_turn(self) -> Sequence[str]:
        """What the model should hear right before the person's next message."""
        ...

    def news(self) -> str:
        """What happened meanwhile that the model should know of; empty is nothing."""
        ...

    async def read_pin(self, pin: Pin) -> str:
        """The lines of a pinned file."""
        ...

    def close(self) -> None:
        """Ends what still runs."""
        ...


class Soon:
    """Stands for the equipment until it is there, as tools, gate and hook of a session; ``make`` is slow."""

    def __init__(self, specs: tuple[ToolSpec, ...], make: Callable[[], Equipped]) -> None:
        self._specs = specs
        self._make = make
        self._lock = threading.Lock()
        self._made: Equipped | None = None
        self._held: list[AgentEvent] = []

    @property
    def is_made(self) -> bool:
        """Whether it is there."""
        return self._made is not None

    @property
    def made(self) -> Equipped:
        """The equipment, made now if need be; call it on a thread where that may be the first time."""
        with self._lock:
            if self._made is None:
                self._made = self._make()
        return self._made

    async def ready(self) -> None:
        """Returns when the tools can be used."""
        if self._made is None:
            await asyncio.to_thread(lambda: self.made)
        self._pass_on()

    def listen(self, event: AgentEvent) -> None:
        """Tells the equipment what happens, however late that is made."""
        if self._made is not None or isinstance(event, _LASTING):
            self._held.append(event)
            self._pass_on()

    def _pass_on(self) -> None:
        while self._made is not None and self._held:
            self._made.listen(self._held.pop(0))

    # --- the tools

    def find(self, name: str) -> AnyTool:
        """The tool of that name; raises UnknownTool."""
        return self.made.tools.find(name)

    def specs(self) -> tuple[ToolSpec, ...]:
        """What the model is told about them."""
        return self._specs

    # --- the gate

    async def check(self, call: ToolCall, plan: Plan) -> Allowed | Denied:
        """The gate's decision."""
        return await self.made.gate.check(call, plan)

    async def ask_ahead(self, call: ToolCall, plan: Plan) -> Allowed | Denied | None:
        """A person's answer before the call's turn has come; None when nobody has to be asked by now."""
        return await self.made.gate.ask_ahead(call, plan)

    async def check_again(self, said: Allowed, call: ToolCall, plan: Plan) -> Allowed | Denied:
        """The gate's decision when the turn has come."""
        return await self.made.gate.check_again(said, call, plan)

    # --- the hook

    async def before(self, call: ToolCall, plan: Plan) -> str:
        """A reason to deny the call, or an empty string."""
        return await self.made.hook.before(call, plan)

    async def after(self, call: ToolCall, result: ToolResult) -> ToolResult:
        """The result as it is, or another one in its place."""
        return await self.made.hook.after(call, result)

    async def dropped(self, call: ToolCall) -> str:
        """The run ended without a result; what it did until then, or an empty string."""
        return await self.made.hook.dropped(call)

    # --- between the turns

    async def before_turn(self) -> Sequence[str]:
        """What the model should hear before the next message: nothing can have happened before anything was made."""
        return await self._made.before_turn() if self._made is not None else ()

    def news(self) -> str:
        """What the model should know of, likewise."""
        return self._made.news() if self._made is not None else ""

    async def read_pin(self, pin: Pin) -> str:
        """The lines of a pinned file."""
        await self.ready()
        return await self.made.read_pin(pin)

    def close(self) -> None:
        """Ends what still runs."""
        if self._made is not None:
            self._made.close()
