"""Copies a text to the person's clipboard, and says how much that was; what the same key does where nothing is."""

from __future__ import annotations

import os

from textual.app import App
from textual.widgets import Input, TextArea

from codeagent.core.first_words import AGAIN_QUITS
from codeagent.core.text import counted
from codeagent.tui.keys import KeyPress
from codeagent.tui.later import give_to_tmux
from codeagent.tui.widgets.answer_text import Sentence
from codeagent.tui.widgets.prompt import Prompt
from codeagent.tui.widgets.status import StatusLine

REMARK_SECONDS = 3.0
_QUIT_SECONDS = 2.0


def _copy(app: App[str], text: str) -> None:
    """Asks the terminal; tmux, which passes that on only where it was told to, is given the text by itself as well."""
    app.copy_to_clipboard(text)
    if os.environ.get("TMUX"):
        app.run_worker(give_to_tmux(text), group="clipboard", exit_on_error=False)


def copy_text(app: App[str], status: StatusLine, text: str, otherwise: str = "") -> None:
    """Copies, or says ``otherwise`` when there is nothing to copy."""
    if text:
        _copy(app, text)
        lines = text.count("\n") + 1
        status.remark("copied" if lines == 1 else f"copied {counted(lines, 'line')}", REMARK_SECONDS)
    elif otherwise:
        status.remark(otherwise, REMARK_SECONDS)


def copy_link(app: App[str], status: StatusLine, address: str) -> None:
    """Copies an address and shows it whole: where it leads is for the person to look at first."""
    _copy(app, address)
    status.remark(f"copied {address}", REMARK_SECONDS)


def selected_text(app: App[str], prompt: Prompt) -> str:
    """What is selected with the mouse, or in the field that is typed in; a draft behind a window is out of reach."""
    field = prompt if not _is_elsewhere(app) else app.focused
    in_field = field.selected_text if isinstance(field, TextArea) else ""
    return app.screen.get_selected_text() or in_field


async def leave_or_clear(app: App[str], prompt: Prompt) -> bool:
    """Clears the line that is typed in, else does what Escape does in a field or window; False if nothing is open."""
    if not _is_elsewhere(app):
        was_empty = prompt.is_empty
        prompt.clear_typed()
        return not was_empty
    if isinstance(app.focused, Input | Sentence) and app.focused.value:
        app.focused.value = ""
    elif (found := app.screen.active_bindings.get("escape")) and found.binding.id != "stop":
        await app.run_action(found.binding.action, found.node)
    return True


def _is_elsewhere(app: App[str]) -> bool:
    """Whether a window is open, or a field other than the prompt is typed in."""
    return app.screen.is_modal or (isinstance(app.focused, Input | TextArea) and not isinstance(app.focused, Prompt))


class QuitKey:
    """Remembers for two seconds that it was pressed, and says so in the ``status`` line."""

    def __init__(self, prompt: Prompt, status: StatusLine) -> None:
        self._prompt, self._status = prompt, status
        self._press = KeyPress(within=_QUIT_SECONDS)

    @property
    def is_again(self) -> bool:
        """Whether this press, which is thereby noted, quits; else the status line says that another would."""
        if self._press.is_second:
            return True
        self._status.remark(f"{self._status.keys['copy-or-quit']} {AGAIN_QUITS}", _QUIT_SECONDS)
        return False

    def note_typed(self) -> None:
        """The prompt was changed: with a text in it the person goes on, while the key itself may have cleared it."""
        if not self._prompt.is_empty:
            self.forget()

    def forget(self) -> None:
        """The person went on: the next press is a first one."""
        self._press = KeyPress(within=_QUIT_SECONDS)
        if self._status.status.remark.endswith(AGAIN_QUITS):
            self._status.forget_remark()
