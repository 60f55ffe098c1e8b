"""Opens sessions one after the other behind the same screen: the first one, a new one, an older one."""

from __future__ import annotations

import asyncio

from rich.text import Text

from codeagent.core.commands import NotReady
from codeagent.core.desk import Connect, Desk, Opening
from codeagent.core.errors import CodeagentError
from codeagent.core.events import AgentEvent, Emit
from codeagent.core.text import clean
from codeagent.tui.bridge import Bridge


class Wire:
    """Carries one session's events to the screen: held back until it is opened, dropped once it was cut."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._held: list[AgentEvent] | None = []
        self._is_cut = False

    def emit(self, event: AgentEvent) -> None:
        """Takes one event of the session."""
        if self._held is not None:
            self._held.append(event)
        elif not self._is_cut:
            self._emit(event)

    def open(self) -> None:
        """Passes on what was held back, and from now on everything at once."""
        held, self._held = self._held or [], None
        for event in held:
            self.emit(event)

    def cut(self) -> None:
        """The session is no longer the one on the screen."""
        self._held, self._is_cut = None, True


class Door:
    """Knows which session is open; the screen starts from nothing with each one."""

    def __init__(self, connect: Connect, bridge: Bridge) -> None:
        self._connect = connect
        self._bridge = bridge
        self._open: tuple[Desk, Wire] | None = None
        self._is_opening = False

    async def open(self, opening: Opening) -> Desk:
        """Opens a session and shows its past; then the one before is stopped and closed.

        Raises NotOpened, NoModel, other ConfigErrors, JournalError and SessionBusy, and
        NotReady while another one is being opened; then everything is as it was.
        """
        if self._is_opening:
            raise NotReady("A session is being opened.", hint="A question that waits above has to be answered first.")
        wire, self._is_opening = Wire(self._bridge.emit), True
        try:
            desk = await self._connect(wire.emit, self._bridge, opening)
        finally:
            self._is_opening = False
        if self._open is not None:
            before, old_wire = self._open
            if before.conversation.is_running:
                await before.conversation.cancel()
            old_wire.cut()
            await asyncio.to_thread(before.close)
            self._bridge.start_over()
        self._open = (desk, wire)
        wire.open()
        self._bridge.replay(desk.past, desk.times)
        if opening.record is not None:
            self._bridge.look_at(opening.record, opening.words)
        return desk


def last_words(error: CodeagentError, unsent: str) -> Text:
    """Why there is no session, and what was typed and not sent."""
    return Text(f"codeagent: {clean(str(error))}" + (f"\nNot sent:\n{clean(unsent)}" if unsent else ""))
