"""What is done with the prompt from outside: the editor, the search through what was typed, the palette of commands."""

from __future__ import annotations

from collections.abc import Callable

from textual.app import SuspendNotSupported

from codeagent.core.commands import CommandCall, CustomCall, NotReady, parse_command
from codeagent.tui.custom_commands import CustomCommands
from codeagent.tui.driver import TerminalApp
from codeagent.tui.editor import EditorFailed, write_in_editor
from codeagent.tui.screens.picker import Item, Picker
from codeagent.tui.widgets.prompt import Prompt


class PromptCommands:
    """Works on the one prompt of the main screen."""

    def __init__(self, app: TerminalApp[str], prompt: Prompt, custom: CustomCommands) -> None:
        self._app = app
        self._prompt = prompt
        self._custom = custom
        self.is_in_editor = False

    async def edit(self) -> None:
        """Writes it in the editor. Nothing is drawn while that has the terminal; the agent works on meanwhile."""
        self.is_in_editor = True
        written: str | EditorFailed
        try:
            with self._app.batch_update(), self._app.suspend():
                try:
                    written = await write_in_editor(self._prompt.full_text, self._app.tell_editor)
                except EditorFailed as error:  # what leaves the block by itself would leave the terminal as it is
                    written = error
        except SuspendNotSupported as error:
            raise NotReady("The editor needs a terminal of its own.") from error
        finally:
            self.is_in_editor = False
        if isinstance(written, EditorFailed):
            raise written
        self._prompt.put_folded(written)

    async def search(self) -> None:
        """Searches what was typed before, newest first."""
        items = [Item(value=text) for text in dict.fromkeys(reversed(self._prompt.typed_before))]
        if text := await self._app.push_screen_wait(Picker("Typed before", items)):
            self._prompt.put(text)

    async def pick(self, begin: Callable[[CommandCall], None]) -> None:
        """Runs a command from the list of all; one of one's own is typed, so that it can be seen and finished."""
        await self._custom.refresh()
        items = [Item(value=f"/{command.name}", detail=command.summary) for command in self._custom.rows]
        if not (chosen := await self._app.push_screen_wait(Picker("Commands", items))):
            return
        match parse_command(chosen, self._custom.known):
            case CommandCall() as call:
                begin(call)
            case CustomCall():
                self._prompt.give_back(f"{chosen} ")
