"""When something happened: at the right of its first row, or in the empty row above it. No row is added for it."""

from __future__ import annotations

from datetime import datetime

from rich.cells import cell_len

from codeagent.tui.widgets.inks import Inks
from codeagent.tui.widgets.lines import EMPTY, Line, Piece, one_line

_WIDEST = 132
"""On wider screens the times stand here all the same, beside what they belong to."""

_FEWEST = 12
"""So many cells of the words of a row stay at least."""


def time_line(at: float, width: int, inks: Inks) -> Line:
    """The time ``at`` (seconds since 1970, 0 for unknown) at the right of a row; with the day unless it is today."""
    if not at:
        return EMPTY
    width = min(width, _WIDEST)
    return Line(pieces=(Piece(f"{time_text(at):>{width}}"[-width:], inks.faint, ""),), whole="")


def with_time(line: Line, at: float, width: int, inks: Inks, *, may_cut: bool) -> Line | None:
    """The row with the time at its right, where its words leave room; else None.

    ``may_cut``: room may be taken from its widest blank, else from its longest words.
    """
    if not at:
        return line
    text, taken = f"  {time_text(at)}", line.width
    if taken + len(text) <= _WIDEST:
        width = min(width, _WIDEST)
    ink = inks.faint if line.fill is None else line.fill + inks.faint
    excess = taken + len(text) - width
    pieces = list(line.pieces)
    if excess > 0 and not may_cut:
        return None
    if excess > 0:
        widest = max(range(len(pieces)), key=lambda number: _blanks(pieces[number]))
        blank = pieces[widest]
        if _blanks(blank) >= excess + 2:
            pieces[widest] = blank._replace(text=blank.text[excess:])
        elif not _shorten(pieces, excess):
            return None
    else:
        text = f"{text:>{width - taken}}"
    return Line(pieces=(*pieces, Piece(text, ink, "")), joint=line.joint, whole=line.whole, fill=line.fill)


def time_text(at: float) -> str:
    """A time as it is shown, with a blank behind it."""
    then, now = datetime.fromtimestamp(at).astimezone(), datetime.now().astimezone()
    day = "" if then.date() == now.date() else f"{then:%b} {then.day}  "
    return f"{day}{then:%H:%M:%S} "


def _shorten(pieces: list[Piece], excess: int) -> bool:
    """Takes so many cells from the end of the longest words, which an ellipsis tells; False when little would stay."""
    longest = max(range(len(pieces)), key=lambda number: cell_len(pieces[number].text))
    words = pieces[longest]
    kept = cell_len(words.text) - excess
    if kept < _FEWEST:
        return False
    copied = words.text if words.copied is None else words.copied
    pieces[longest : longest + 1] = [piece._replace(copied=copied) for piece in one_line([words], kept)]
    return True


def _blanks(piece: Piece) -> int:
    return 0 if piece.text.strip(" ") else len(piece.text)


def seconds_of(text: str) -> float:
    """The seconds since 1970 of a time as records have it; 0 for what is none."""
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0
