"""Reaches the person who looks at another window: what is done stands in the title, and the bell calls when it must."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from codeagent.core.first_words import NAME
from codeagent.core.text import clean, show_invisible

LONG_TURN_SECONDS = 10.0
"""Who turns away during a shorter turn sees its end when looking back."""

_LONGEST_NAME = 40


class WorkState(StrEnum):
    """What the program does, in the words of the title."""

    IDLE = ""
    WORKING = "working"
    WAITING = "waiting for you"


def title_of(root: Path, state: WorkState) -> str:
    """The window title: what is done comes first, since titles are cut at their end."""
    name = " ".join(show_invisible(clean(root.name)).split()) or "/"
    name = name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
    return " · ".join(part for part in (state.value, name, NAME) if part)


def call_text(root: Path, turn_seconds: float | None) -> str:
    """What a notice says, and empty where there is no need for one; without ``turn_seconds`` a question waits."""
    if turn_seconds is None:
        return f"{root.name}: codeagent waits for your answer"
    return f"{root.name}: codeagent has finished" if turn_seconds >= LONG_TURN_SECONDS else ""
