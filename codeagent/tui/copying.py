"""Copies a text to the person's clipboard, and says how much that was."""

from __future__ import annotations

from textual.app import App

from codeagent.core.text import counted
from codeagent.tui.widgets.status import StatusLine

REMARK_SECONDS = 3.0


def copy_text(app: App[str], status: StatusLine, text: str, otherwise: str = "") -> None:
    """Copies, or says ``otherwise`` when there is nothing to copy."""
    if text:
        app.copy_to_clipboard(text)
        lines = text.count("\n") + 1
        status.remark("copied" if lines == 1 else f"copied {counted(lines, 'line')}", REMARK_SECONDS)
    elif otherwise:
        status.remark(otherwise, REMARK_SECONDS)


def copy_link(app: App[str], status: StatusLine, address: str) -> None:
    """Copies an address and shows it whole: where it leads is for the person to look at first."""
    app.copy_to_clipboard(address)
    status.remark(f"copied {address}", REMARK_SECONDS)
