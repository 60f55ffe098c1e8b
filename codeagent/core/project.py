"""What a project brings along that would steer the program: its settings, its instructions, its commands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum

from codeagent.core.values import value


class Brings(StrEnum):
    """What a file of the project is there for."""

    SETTINGS = "settings"
    INSTRUCTIONS = "instructions"
    COMMAND = "command"


@value
class ProjectFile:
    """One such file, read once: what the person is shown is what takes effect.

    ``name`` is relative to the workspace and may begin with ``../``, ``digest`` stands
    for the content. A file with a ``problem`` has no effect.
    """

    name: str
    brings: Brings
    text: str = ""
    digest: str = ""
    problem: str = ""


class Trust(StrEnum):
    """Where a project stands with the person."""

    NOTHING_TO_TRUST = "nothing"
    TRUSTED = "trusted"
    CHANGED = "changed"
    UNTRUSTED = "untrusted"


class FileChange(StrEnum):
    """What happened to a file since the project was trusted."""

    NEW = "new"
    CHANGED = "changed"
    GONE = "gone"


@value
class Standing:
    """Whether a project is trusted, and by file name what is different from when it was last trusted."""

    trust: Trust
    changes: Mapping[str, FileChange] = field(default_factory=dict[str, FileChange])
