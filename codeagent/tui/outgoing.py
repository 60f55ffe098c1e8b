"""What the person sends, on its way: kept until the session is open, then a turn, steering, a follow-up, a command."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import replace
from functools import partial

from codeagent.core.commands import WAITING, CommandCall
from codeagent.core.desk import Desk
from codeagent.core.errors import CodeagentError, SessionBusy
from codeagent.core.events import Delivery, Level
from codeagent.core.first_words import WAITS_FOR
from codeagent.tui.own_command import OwnCommands
from codeagent.tui.running import Start
from codeagent.tui.screens.main import MainScreen
from codeagent.tui.widgets.queue import Queued

TURN = "turn"
_STOP = "the turn to stop"
_END = "the turn to end"
_COMMAND = "the command to end"


class Outgoing:
    """Sends each message exactly once, in order, or gives it back."""

    def __init__(self, screen: MainScreen, start: Start, on_rest: Callable[[], None]) -> None:
        """``on_rest`` is called when a turn or command is over."""
        self._screen = screen
        self._start = start
        self.own_commands = OwnCommands(screen, start)
        self._on_rest = on_rest
        self._desk: Desk | None = None
        self._kept: list[Queued] = []
        self._commands: dict[str, Callable[[], None]] = {}
        self._is_stopping = False
        self._has_begun = self._is_changing = False
        self._beginning: list[Queued] = []
        self._number = 0
        screen.prompt.calls_back = self.call_back

    def open(self, desk: Desk) -> tuple[Queued, ...]:
        """The session is open: what was typed before there was one, oldest first, to be sent now."""
        is_first, self._desk = self._desk is None, desk
        return self._take_kept() if is_first else ()

    def close(self) -> None:
        """The app is being left: nothing is sent any more, what is kept stays so."""
        self._desk = None

    def send(self, text: str, *, is_later: bool = False) -> None:
        """Runs a shell command of the person's own, or says the text."""
        if self._desk is not None and text.startswith("!") and text[1:].strip():
            self._screen.end_greeting()
            self._screen.transcript.scroll_to_end()
            self.own_commands.start(self._desk.workbench, text[1:].strip(), self._on_rest)
        else:
            self.say(text, is_later=is_later)

    def say(self, text: str, *, is_later: bool = False) -> None:
        """Starts a turn with it; while one runs, says it now or, ``is_later``, when the agent has finished."""
        desk = self._desk
        if desk is None:
            self._keep(text, is_later=is_later)
        elif self._is_stopping or self._is_changing:
            self._keep(text, is_later=is_later, waits_for=_STOP if self._is_stopping else _COMMAND)
        elif not desk.conversation.is_running:
            self._has_begun = True
            self._screen.transcript.scroll_to_end()  # steering leaves the person where they scrolled to
            message = self._queued(text, is_later=is_later)
            self._beginning.append(message)
            self._start(self._run_turn(desk, message), group=TURN)
        else:
            self._queue(desk, text, is_later=is_later)

    def carry_out(
        self,
        call: CommandCall,
        run: Callable[[CommandCall], Coroutine[None, None, None]],
        *,
        shows_end: bool = False,
    ) -> None:
        """Runs a command at once, or keeps it: one that changes the session never meets a turn or another such one.

        ``shows_end`` goes to the transcript's end, where it answers, when it runs at once.
        """
        changes = call.name in WAITING
        if changes and self._is_busy:
            message = self._keep(call.text, is_later=True, waits_for=_COMMAND if self._is_changing else _END)
            self._commands[message.message_id] = partial(self.carry_out, call, run)
        else:
            self._is_changing = self._is_changing or changes
            if shows_end:
                self._screen.transcript.scroll_to_end()
            self._start(self._watch(run(call), changes=changes), group="command")

    async def _watch(self, command: Coroutine[None, None, None], *, changes: bool) -> None:
        try:
            await command
        finally:
            self._is_changing = self._is_changing and not changes
            self._go_on()

    @property
    def _is_busy(self) -> bool:
        is_running = self._desk is None or self._desk.conversation.is_running
        return is_running or self._has_begun or self._is_stopping or self._is_changing

    def _go_on(self) -> None:
        """Something is over: sends again what was kept, some of which may be kept anew."""
        if not self._is_busy:
            for message in self._take_kept():
                if command := self._commands.pop(message.message_id, None):
                    command()
                else:
                    self.say(message.text, is_later=message.delivery is Delivery.FOLLOW_UP)

    def stop(self) -> bool:
        """Stops the person's own shell commands and the turn; False where an open session rested already.

        What no turn has begun with comes back to the prompt.
        """
        self.own_commands.stop()
        has_come_back, desk = self.call_back(), self._desk
        if desk is not None and desk.conversation.is_running:
            self._stop_turn()
            return True
        return has_come_back or desk is None

    def call_back(self) -> bool:
        """Puts what was sent and is with no turn yet back into the prompt, unless there is none."""
        messages = [*(self._take_kept() if self._desk is None else ()), *self._beginning]
        self._beginning.clear()
        if messages:
            self._screen.prompt.give_back_unasked("\n\n".join(message.text for message in messages))
        return bool(messages)

    def _stop_turn(self) -> None:
        """Stops it, a second time by force; what is sent meanwhile goes out as soon as it has ended."""
        status = self._screen.status
        status.show(replace(status.status, is_working=True, is_stopping=True))  # its beginning may not be told yet
        self._screen.approval.stop_listening()
        self._is_stopping = True
        self._start(self._cancel_turn(), group="stop")

    async def _cancel_turn(self) -> None:
        if self._desk is not None:
            await self._desk.conversation.cancel()
        self._is_stopping = False
        self._go_on()

    def take_back(self) -> bool:
        """Puts the last queued message back into the prompt; False when it is on its way already."""
        queue = self._screen.queue_lines
        last = queue.queued[-1]
        if last in self._kept:
            self._kept.remove(last)
            text: str | None = last.text
        elif self._desk is None:
            text = None
        else:
            text = self._desk.conversation.take_back(last.message_id)
        if text is None:
            return False
        if last in queue.queued:
            queue.drop(last.message_id)
            self._screen.prompt.give_back(text)
            self._screen.set_focus(self._screen.prompt)
        return True

    def _take_kept(self) -> tuple[Queued, ...]:
        kept, self._kept = self._kept, []
        for message in kept:
            self._screen.queue_lines.drop(message.message_id)
        return tuple(kept)

    def _keep(self, text: str, *, is_later: bool, waits_for: str = WAITS_FOR) -> Queued:
        message = self._queued(text, is_later=is_later, waits_for=waits_for)
        self._kept.append(message)
        self._screen.queue_lines.add(message)
        return message

    def _queued(self, text: str, *, is_later: bool, waits_for: str = "") -> Queued:
        self._number += 1
        return Queued(
            message_id=f"kept-{self._number}",
            text=text,
            delivery=Delivery.FOLLOW_UP if is_later else Delivery.STEER,
            waits_for=waits_for,
        )

    def _queue(self, desk: Desk, text: str, *, is_later: bool) -> None:
        images = self._screen.prompt.images_in(text)
        if is_later:
            desk.conversation.follow_up(text, images)
        else:
            desk.conversation.steer(text, images)

    async def _run_turn(self, desk: Desk, message: Queued) -> None:
        text = message.text
        try:
            if message in self._beginning:  # else it was called back
                self._beginning.remove(message)
                await desk.conversation.send(text, self._screen.prompt.images_in(text))
        except SessionBusy:
            # another message started a turn a moment ago: this one belongs to it
            self._queue(desk, text, is_later=message.delivery is Delivery.FOLLOW_UP)
        except CodeagentError as error:
            self._screen.transcript.add_note(str(error), Level.ERROR)
            self._screen.prompt.give_back_unasked(text)
        finally:
            self._has_begun = False
        self._on_rest()
        self._go_on()
