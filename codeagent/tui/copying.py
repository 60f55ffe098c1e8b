"""Copies a text to the person's clipboard, and says how much that was."""

from __future__ import annotations

import os

from textual.app import App

from codeagent.core.text import counted
from codeagent.tui.later import give_to_tmux
from codeagent.tui.widgets.status import StatusLine

REMARK_SECONDS = 3.0


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
