"""What one start of the program was asked for, before any setting was read."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import field
from pathlib import Path

from codeagent.config.places import Places
from codeagent.core.values import value

LATEST, PICK = "latest", "pick"

Tables = Mapping[str, Mapping[str, object]]


@value
class Launch:
    """Where, with which flags, and which session to go on with.

    ``root`` is the workspace, ``flags`` are settings given on the command line,
    ``resume`` is a session's id, the start of one, 'latest', or 'pick': the person chooses.
    With ``forks`` a copy of that session is opened instead of itself.
    ``trusts`` lets the project's files take effect in this run; ``asks_trust`` asks about
    them whatever was answered before. ``answered`` holds, for the length of the run, what
    the person said to a project with certain files, by their fingerprint.
    """

    root: Path
    places: Places
    environ: Mapping[str, str]
    flags: Tables = field(default_factory=dict[str, Mapping[str, object]])
    resume: str | None = None
    forks: bool = False
    keeps_session: bool = True
    trusts: bool = False
    asks_trust: bool = False
    answered: MutableMapping[str, bool] = field(default_factory=dict[str, bool])
