"""What the first frame does not need: most commands and their screens, each loaded when it is first asked for.

Imports stand inside the functions here, because the first frame is waited for
and a command is not.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from textual.app import App
from textual.screen import Screen

from codeagent.core.archive import OlderSessions
from codeagent.core.commands import CommandCall, CommandName
from codeagent.core.desk import Desk, Opening
from codeagent.core.errors import NoModel
from codeagent.tui.bridge import Bridge
from codeagent.tui.custom_commands import CustomCommands
from codeagent.tui.door import Door
from codeagent.tui.offers import Offers
from codeagent.tui.own_command import OwnCommands
from codeagent.tui.running import RunningCalls
from codeagent.tui.screens.main import MainScreen
from codeagent.tui.themes import Palette

_UNDO = frozenset({CommandName.UNDO, CommandName.REDO, CommandName.REWIND, CommandName.DIFF})
_ARCHIVE = frozenset(
    {
        CommandName.NEW,
        CommandName.TRUST,
        CommandName.RESUME,
        CommandName.FORK,
        CommandName.RENAME,
        CommandName.EXPORT,
    }
)


class CommandRooms:
    """Carries out what needs a session, over the main screen."""

    def __init__(self, app: App[str], main: MainScreen, door: Door, bridge: Bridge) -> None:
        self._app = app
        self._main = main
        self._door = door
        self._bridge = bridge

    async def run(self, call: CommandCall, desk: Desk, palette: Palette) -> Desk | None:
        """One command; the session that is open from now on when it is another one. Raises CodeagentErrors."""
        if call.name in _UNDO:
            from codeagent.tui.undo_commands import UndoCommands

            await UndoCommands(self._app, self._main, desk, palette).run(call)
        elif call.name in _ARCHIVE:
            from codeagent.tui.archive_commands import ArchiveCommands

            return await ArchiveCommands(self._app, self._main, self._door, desk).run(call)
        else:
            from codeagent.tui.session_commands import run_session_command

            await run_session_command(self._app, desk, self._bridge.costs, call)
        return None


async def open_first(app: App[str], door: Door, wanted: Opening | None, older: OlderSessions | None) -> Desk:
    """The session that the app begins with; raises as the door does."""
    from codeagent.tui import archive_commands

    return await archive_commands.open_first(app, door, wanted, older)


def welcome(error: NoModel, offers: Offers) -> Screen[str | Opening | None]:
    """What can be done when there is no model."""
    from codeagent.tui.screens.welcome import WelcomeScreen

    return WelcomeScreen(error, offers)


def help_page(keymap: Mapping[str, str], custom: CustomCommands) -> Screen[None]:
    """All keys and commands."""
    from codeagent.tui.screens.pages import Page, help_text

    return Page("Help", partial(help_text, keymap, custom))


def list_of_jobs(desk: Desk, calls: RunningCalls, own: OwnCommands) -> Screen[None]:
    """All that runs: what the agent does, then the person's own commands."""
    from codeagent.tui.screens.jobs import JobsScreen, call_work, running_work

    return JobsScreen(
        lambda: (
            *running_work(desk, calls),
            *(call_work(call, partial(own.stop_one, call.call_id)) for call in own.running()),
        )
    )
