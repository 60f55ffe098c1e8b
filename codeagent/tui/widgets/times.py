"""When something happened, in the empty row above it: nothing moves for it."""

from __future__ import annotations

from datetime import datetime

from codeagent.tui.widgets.inks import Inks
from codeagent.tui.widgets.lines import EMPTY, Line, Piece


def time_line(at: float, width: int, inks: Inks) -> Line:
    """The time ``at`` (seconds since 1970, 0 for unknown) at the right of a row; with the day unless it is today."""
    if not at:
        return EMPTY
    then, now = datetime.fromtimestamp(at).astimezone(), datetime.now().astimezone()
    day = "" if then.date() == now.date() else f"{then:%b} {then.day}  "
    text = f"{day}{then:%H:%M:%S} "
    return Line(pieces=(Piece(f"{text:>{width}}"[-width:], inks.faint, ""),), whole="")


def seconds_of(text: str) -> float:
    """The seconds since 1970 of a time as records have it; 0 for what is none."""
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0
