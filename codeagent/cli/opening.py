"""What it takes to open a session for a screen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from codeagent.config.launch import Launch
from codeagent.core.desk import Approver, Desk
from codeagent.core.events import Emit

OpenDesk = Callable[[Launch, Emit, Approver], Awaitable[Desk]]
"""Opens the session of one start; raises ConfigError, JournalError and SessionBusy."""
