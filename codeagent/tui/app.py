"""The app: opens the session behind a screen that already stands, and passes on what the person says and wants."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import events, on
from textual.binding import Binding, BindingType
from textual.driver import Driver
from textual.filter import LineFilter

from codeagent.core.archive import OlderSessions
from codeagent.core.commands import (
    CommandCall,
    CommandName,
    CustomCall,
    NoSuchCommand,
    NotReady,
    is_command,
    parse_command,
)
from codeagent.core.desk import Connect, Desk, Opening
from codeagent.core.errors import CodeagentError, ConfigError, NoModel, NothingToUndo, NotOpened
from codeagent.core.events import Delivery, Level
from codeagent.core.keys import KEYS
from codeagent.tui import drafts
from codeagent.tui.attention import WorkState, call_text, title_of
from codeagent.tui.bridge import Bridge
from codeagent.tui.command_rooms import CommandRooms, help_page, list_of_jobs, open_first, welcome
from codeagent.tui.completer import Completer
from codeagent.tui.copying import REMARK_SECONDS, QuitKey, copy_link, copy_text, leave_or_clear, selected_text
from codeagent.tui.custom_commands import CustomCommands
from codeagent.tui.door import Door, last_words
from codeagent.tui.driver import (
    BackgroundTold,
    FirstPicture,
    NoShell,
    TerminalApp,
    be_ready,
    draw_after_keys,
    driver_for,
    show_title,
)
from codeagent.tui.init_request import init_request
from codeagent.tui.keys import KeyPress, teach_alt_enter
from codeagent.tui.looks import USUAL, Appearance, Looks
from codeagent.tui.modes import take_next_mode
from codeagent.tui.offers import Offers
from codeagent.tui.outgoing import Outgoing
from codeagent.tui.prompt_commands import PromptCommands
from codeagent.tui.running import Surveys
from codeagent.tui.screens.main import MainScreen
from codeagent.tui.widgets.approval import ApprovalDialog
from codeagent.tui.widgets.prompt import Prompt
from codeagent.tui.widgets.status import StatusLine
from codeagent.tui.widgets.transcript import Transcript

_NEED_NO_SESSION = {CommandName.HELP, CommandName.THEME, CommandName.EDITOR, CommandName.QUIT}


class CodeagentApp(TerminalApp[str]):
    """The whole screen; it returns "demo" when the person wants the demo instead."""

    CSS = "Input:ansi > .input--cursor { color: ansi_default; background: ansi_default; text-style: reverse; }"
    ENABLE_COMMAND_PALETTE = False  # Textual's own; ours is made from the command table
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(key.keys, key.action.removeprefix("app."), key.what, show=False, priority=True, id=key.name)
        for key in KEYS
        if key.goes_first and key.action.startswith("app.")
    ]

    def __init__(  # noqa: PLR0913 - how it starts and looks; all are named
        self,
        *,
        connect: Connect,
        root: Path,
        theme: str,
        reduced_motion: bool,
        vi: bool = False,
        prompt: str = "",
        keymap: Mapping[str, str] | None = None,
        theme_folders: Sequence[Path] = (),
        older: OlderSessions | None = None,
        offers: Offers | None = None,
        appearance: Appearance = USUAL,
        first: FirstPicture | None = None,
    ) -> None:
        """``prompt`` is sent as soon as that is possible; one of ``older`` is chosen first, when they are given.

        ``first`` stands on the terminal already and gives way to the app's own picture.
        """
        teach_alt_enter()
        super().__init__(driver_class=driver_for(first, asks_background=appearance.follows_terminal, keymap=keymap))
        self._looks = Looks(self, theme, theme_folders, appearance)
        self.set_keymap(dict(keymap or {}))
        self.animation_level = "none"
        self.main = MainScreen(
            root=root, palette=self._looks.palette, reduced_motion=reduced_motion, vi=vi, keymap=self._keymap
        )
        self.main.drawn = lambda: be_ready(self._driver)
        self.bridge = Bridge(self.main)
        self._root, self._notice = root, appearance.notice
        self._door, self._older, self._offers = Door(connect, self.bridge), older, offers or Offers()
        self._rooms = CommandRooms(self, self.main, self._door, self.bridge)
        self._drafts = drafts.Drafts(self, self.main)
        self._custom = CustomCommands(lambda notice: self._say(notice, Level.WARNING))
        self._typing = PromptCommands(self, self.main.prompt, self._custom)
        self._first_prompt = prompt
        self._desk: Desk | None = None
        self._around = Surveys(self.bridge.calls, self.run_worker, self.bridge.show_workspace)
        self._outgoing = Outgoing(self.main, self.run_worker, self._around.look)
        self.main.prompt.on_sent = self._sent
        self.main.on_look = lambda text, pointed: self._looks.look_along(text, pointed, self.use_theme)
        self._interrupt, self._escape = QuitKey(self.main.prompt, self.main.status), KeyPress()

    def get_default_screen(self) -> MainScreen:
        """The main screen stands at once."""
        return self.main

    # --- coming and going

    def on_mount(self) -> None:
        """The first frame stands; now the session is opened."""
        show_title(self._driver, title_of(self._root, WorkState.IDLE))
        if problem := self._looks.problem:
            self._say(problem, Level.WARNING)
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
            asyncio.get_running_loop().add_signal_handler(number, self._end, 128 + number)
        if self._first_prompt:
            self._send(self._first_prompt)
        self.call_after_refresh(self._begin)

    async def _begin(self) -> None:
        await self.main.furnish()
        self.run_worker(self._open, group="open")

    async def _open(self, wanted: Opening | None = None) -> None:
        """Opens the session; what was sent meanwhile goes out first thing."""
        try:
            desk = await open_first(self, self._door, wanted, self._older)
        except NoModel as error:
            self.main.status.show(replace(self.main.status.status, is_connecting=False))
            await self.push_screen(welcome(error, self._offers), self._welcomed)
            return
        except CodeagentError as error:
            if not isinstance(error, NotOpened):  # then the app is being left
                self._give_up(error)
            return
        await self._take_up(desk)

    def _welcomed(self, choice: str | Opening | None) -> None:
        if isinstance(choice, Opening):
            self.run_worker(self._open(choice), group="open")
        else:
            self.exit(choice)

    async def _take_up(self, desk: Desk) -> None:
        self._desk = desk
        bench, status = desk.workbench, self.main.status
        status.show(replace(status.status, is_connecting=False, mode=bench.mode()))
        self.main.header.show(replace(self.main.header.heading, mode=bench.mode()))
        history, draft = await self.main.take_habits(bench)
        await self._custom.connect(bench)
        self._drafts.connect(bench)
        self.main.prompt.connect(Completer(bench, self._custom, self._looks.offered), history, draft)
        for kept in self._outgoing.open(desk):
            self._send(kept.text, is_later=kept.delivery is Delivery.FOLLOW_UP)
        self._around.begin(bench)

    def _give_up(self, error: CodeagentError) -> None:
        """There is no session to work with: leaves, saying why, with what was typed meanwhile."""
        message = last_words(error, self.main.unsent.text)
        self.exit(return_code=2 if isinstance(error, ConfigError) else 1, message=message)

    async def action_quit(self) -> None:
        """Keeps what was typed, denies what is open, stops the turn, and leaves."""
        await self._close()
        if self._desk is not None and self._desk.conversation.is_running:
            await self._desk.conversation.cancel()
        self.exit()

    async def _close(self) -> None:
        self.main.approval.stop_listening()
        self._outgoing.close()
        await self._drafts.keep()
        self.bridge.close()

    def _end(self, code: int) -> None:
        """Told to end from outside: what was typed is kept, nothing open is allowed, and the terminal is given back."""
        self.run_worker(self._leave(code), group="quit", exclusive=True)

    async def _leave(self, code: int) -> None:
        await self._close()
        self.exit(return_code=code)

    def on_unmount(self) -> None:
        """However it ends, no question stays open."""
        self.bridge.close()

    def on_typed_ahead(self) -> None:
        """All keys typed before the app was there are on their way."""
        draw_after_keys(self._driver, self.main.prompt)

    # --- how it looks

    def get_line_filters(self) -> Sequence[LineFilter]:
        """What is done to each line before it is drawn."""
        return self._looks.filters(super().get_line_filters())

    def on_background_told(self, event: BackgroundTold) -> None:
        """The terminal said whether it is dark or light."""
        if name := self._looks.suits_background(is_dark=event.is_dark):
            self.use_theme(name)

    def use_theme(self, name: str) -> None:
        """Draws everything in the colours of that theme."""
        self.main.set_palette(self._looks.use(name))

    # --- what the person types

    async def on_event(self, event: events.Event) -> None:
        """Every key and paste passes here first: none may answer a question by accident."""
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded and await self.main.keeps(event):
            return
        await super().on_event(event)

    def _sent(self, text: str, is_later: bool) -> None:  # noqa: FBT001 - as the prompt calls it
        """Something was sent: a command, a shell command of the person's own, or a message."""
        self._interrupt.forget()
        self._drafts.sent(text)
        self._send(text, is_later=is_later)
        self._drafts.changed()

    @on(Prompt.Edited)
    @on(ApprovalDialog.Typed)
    def keep_typed(self) -> None:
        """Keeps what is typed, and lets a waiting question have the keyboard when the prompt is empty again."""
        self.main.consider_question()
        self._interrupt.note_typed()
        self._drafts.changed(drafts.SECONDS)

    def on_queue_lines_changed(self) -> None:
        """What waits to be said is kept with the draft, so that no crash loses it."""
        self._drafts.changed()

    def _send(self, text: str, *, is_later: bool = False) -> None:
        if is_command(text):
            self._run_typed(text, is_later=is_later)
        else:
            self._outgoing.send(text, is_later=is_later)

    def _say(self, text: str, level: Level = Level.INFO) -> None:
        self.main.end_greeting()
        self.main.transcript.add_note(text, level)

    # --- commands and keys

    def _run_typed(self, text: str, *, is_later: bool) -> None:
        try:
            call = parse_command(text, self._custom.known)
        except NoSuchCommand as error:
            if self._desk is None:
                self._outgoing.say(text, is_later=is_later)  # those of one's own are not known yet
            else:
                self._say(str(self._custom.explained(error, text)), Level.WARNING)
                self.main.transcript.scroll_to_end()
                self.main.prompt.offer_again(text)
            return
        match call:
            case CustomCall():
                self._outgoing.say(call.text, is_later=is_later)
            case CommandCall(name=name) if self._desk is None and name not in _NEED_NO_SESSION:
                self._outgoing.say(text, is_later=is_later)  # its turn comes in the order of what was typed
            case CommandCall():
                self._outgoing.carry_out(call, self._run_command, shows_end=True)

    def action_command(self, name: str, argument: str = "") -> None:
        """Runs a command, as if typed."""
        self._outgoing.carry_out(CommandCall(name=CommandName(name), argument=argument), self._run_command)

    async def _run_command(self, call: CommandCall) -> None:
        try:
            await self._do(call)
        except CodeagentError as error:
            self._say(str(error), Level.INFO if isinstance(error, NotReady | NothingToUndo) else Level.WARNING)

    async def _do(self, call: CommandCall) -> None:
        match call.name:
            case CommandName.HELP:
                await self.push_screen(help_page(self._keymap, self._custom))
            case CommandName.INIT:
                self._outgoing.send(init_request(self.bridge.costs.model))
            case CommandName.THEME:
                if said := await self._looks.choose(call.argument, self.use_theme):
                    self._say(said, Level.WARNING)
            case CommandName.JOBS:
                await self.push_screen(list_of_jobs(self._open_desk, self.bridge.calls, self._outgoing.own_commands))
            case CommandName.COPY:
                copy_text(self, self.main.status, self.bridge.last_answer, "There is no answer to copy yet")
            case CommandName.EDITOR:
                await self._typing.edit()
            case CommandName.QUIT:
                await self.action_quit()
            case _:
                if desk := await self._rooms.run(call, self._open_desk, self._looks.palette):
                    await self._take_up(desk)

    @property
    def _open_desk(self) -> Desk:
        if self._desk is None:
            raise NotReady("The session is still being opened.", hint="Try again in a moment.")
        return self._desk

    def action_all_commands(self) -> None:
        """The command palette."""
        pick = self._typing.pick(partial(self._outgoing.carry_out, run=self._run_command, shows_end=True))
        self.run_worker(pick, group="command")

    @on(Prompt.HelpWanted)
    def action_show_help(self) -> None:
        """All keys and commands."""
        self.action_command(CommandName.HELP)

    def action_stop(self) -> None:
        """Stops the turn and the person's own shell command; open questions close as denied."""
        if self._desk is None and self.main.approval.waiting:
            self.bridge.refuse()  # the question that comes before the session
        elif not self._outgoing.stop() and self.main.is_active and self.main.prompt.is_empty and self._escape.is_second:
            self.action_command(CommandName.REWIND)

    def action_next_mode(self) -> None:
        """The next permission mode."""
        if self._desk is not None:
            take_next_mode(self._desk.workbench)

    def action_interrupt(self) -> None:
        """Copies a selection; else leaves a field, or clears the prompt; else asks, and quits when asked again."""
        self.main.prompt.call_later(self._interrupt_now)  # it goes first, but waits for what was typed before it

    async def _interrupt_now(self) -> None:
        if selected := selected_text(self, self.main.prompt):
            copy_text(self, self.main.status, selected)
            self.screen.clear_selection()
            return
        if not await leave_or_clear(self, self.main.prompt) and self._interrupt.is_again:
            self.run_worker(self.action_quit, group="quit", exclusive=True)

    def action_copy_panel(self) -> None:
        """Copies what the panel pointed at holds."""
        copy_text(self, self.main.status, self.main.transcript.copy_chosen(), "There is no panel to copy")

    def action_take_back(self) -> None:
        """Takes the last queued message back into the prompt, unless it is on its way already."""
        if self.main.queue_lines.queued and not self._outgoing.take_back():
            self.main.status.remark("That one is already on its way", REMARK_SECONDS)

    def action_search_history(self) -> None:
        """Searches what was typed before."""
        self.run_worker(self._typing.search(), group="command")

    @on(Driver.SignalResume)
    def action_redraw(self) -> None:
        """Draws everything anew, over whatever another program wrote there, such as the shell before ``fg``."""
        self.refresh(repaint=True, layout=True)

    # --- what the parts of the screen tell

    def on_approval_dialog_answered(self, event: ApprovalDialog.Answered) -> None:
        """Passes the answer on."""
        self._interrupt.forget()
        self.bridge.settle(event.ticket, event.answer)

    @on(NoShell)
    def show_remark(self, event: NoShell) -> None:
        """Says it in the status line."""
        self.main.status.remark(event.text, REMARK_SECONDS)

    def on_main_screen_person_needed(self, event: MainScreen.PersonNeeded) -> None:
        """Calls a person who looks elsewhere."""
        said = call_text(self._root, event.turn_seconds)
        if said and self._driver is not None and not self.app_focus and not self._typing.is_in_editor:
            self._driver.write(self._notice(said))

    def on_status_line_state_changed(self, event: StatusLine.StateChanged) -> None:
        """The window's title says what is done."""
        show_title(self._driver, title_of(self._root, event.state))

    def on_panel_column_link_clicked(self, event: Transcript.LinkClicked) -> None:
        """Copies the address, nothing is opened."""
        copy_link(self, self.main.status, event.address)

    def on_column_view_new_below(self, event: Transcript.NewBelow) -> None:
        """Says how much came below what the person reads."""
        self.main.status.show(replace(self.main.status.status, below=event.count))
