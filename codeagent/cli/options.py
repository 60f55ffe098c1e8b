"""What the command line asked for, as typed values."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from pathlib import Path

from codeagent.core.values import value


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
