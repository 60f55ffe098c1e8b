"""What the command line asked for, as typed values, and what opens a session for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import field
from enum import StrEnum
from pathlib import Path

from codeagent.config.launch import Launch
from codeagent.core.desk import Approver, Desk
from codeagent.core.events import Emit
from codeagent.core.values import value

OpenDesk = Callable[[Launch, Emit, Approver], Awaitable[Desk]]
"""Opens the session of one start for a screen; raises ConfigError, JournalError and SessionBusy."""


class OutputFormat(StrEnum):
    """How a run without a screen tells what happened."""

    TEXT = "text"
    JSON = "json"
    STREAM_JSON = "stream-json"


@value
class Options:
    """What the command line says; ``resume`` is an id, its start, or 'latest', and ``forks`` opens a copy of it."""

    prompt: str = ""
    prints: bool = False
    output_format: OutputFormat = OutputFormat.TEXT
    directory: Path | None = None
    resume: str | None = None
    forks: bool = False
    keeps_session: bool = True
    trusts: bool = False
    tables: dict[str, dict[str, object]] = field(default_factory=dict[str, dict[str, object]])
