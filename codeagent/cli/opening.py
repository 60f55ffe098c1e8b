"""What it takes to open a session for a screen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from codeagent.config.launch import Launch
from codeagent.core.desk import Approver, Desk
from codeagent.core.events import Emit

OpenDesk = Callable[[Launch, Emit, Approver], Awaitable[Desk]]
"""Opens the session of one start; raises ConfigError, JournalError and SessionBusy."""


class Watch(Protocol):
    """Gives the terminal back should the program die without doing so."""

    def tell(self, is_ours: bool) -> None:  # noqa: FBT001 - it is the one thing to tell
        """Whether the terminal is the program's now."""
        ...

    def end(self) -> None:
        """The terminal was given back."""
        ...


def watch_terminal(before: Sequence[object]) -> Watch | None:
    """Begins to watch; ``before`` are the terminal's attributes to go back to. Loaded when the first frame stands."""
    from codeagent.cli.terminal_watch import start_watch

    return start_watch(before)
