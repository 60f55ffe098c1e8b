"""The permission modes, in words and one after the other."""

from __future__ import annotations

from codeagent.core.approvals import Mode
from codeagent.core.desk import Workbench

MODE_WORDS: dict[Mode, str] = {
    Mode.ASK: "reads by itself, asks before it changes or runs anything",
    Mode.EDITS: "changes files by itself, asks before it runs commands",
    Mode.AUTO: "changes and runs by itself, inside the sandbox",
    Mode.PLAN: "reads and plans, changes nothing",
}
"""What each permission mode does, in one line."""


def take_next_mode(bench: Workbench) -> None:
    """The mode after the one in force."""
    modes = list(Mode)
    bench.set_mode(modes[(modes.index(bench.mode()) + 1) % len(modes)])
