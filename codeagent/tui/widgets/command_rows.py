"""A shell command in rows: broken between words, with each break marked, and every blank of it to be counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len, split_graphemes
from rich.style import Style

from codeagent.tui.widgets.lines import GOES_ON, Cuts, Line, Piece, Pieces, is_all_narrow

WORD_GOES_ON = "↳…"
"""What stands before a row that goes on in midst of a word."""

_BLANK = "·"


def command_rows(pieces: Sequence[Piece], width: int, *, first: Piece, mark: Style) -> list[Line]:
    """One line of a command, of at most ``width`` cells a row; ``first`` (two cells) stands before its first.

    No row is broken within a word that would fit into one. Where several blanks stand
    at a break they are drawn as dots, so that none is lost to the eye; copying gives
    the command as it is.
    """
    text = "".join([piece.text for piece in pieces])
    room = max(width - len(GOES_ON), 1)
    rows: list[Line] = []
    cuts = Cuts(pieces)
    end = 0
    for start, end in _rows(text, room):
        goes_on = Piece(GOES_ON if text[start - 1 : start] == " " else WORD_GOES_ON, mark, "")
        row = _with_dots(cuts, text, (start, end), mark)
        rows.append(Line(pieces=(goes_on if start else first, *row), joint="" if start else "\n"))
    return rows


def _rows(text: str, width: int) -> Iterator[tuple[int, int]]:
    """Where the rows begin and end; together they are the whole text."""
    if is_all_narrow(text):
        yield from _narrow_rows(text, width)
        return
    if cell_len(text) <= width:
        yield 0, len(text)
        return
    edges = _edges(text)
    start = at = 0
    while at < len(edges):
        last = at
        while last < len(edges) and edges[last][1] - (edges[at - 1][1] if at else 0) <= width:
            last += 1
        last = max(last, at + 1)
        end = edges[last - 1][0]
        if last < len(edges):
            blank = text.rfind(" ", start, end) + 1
            if text[start:blank].strip():
                end = blank
        yield start, end
        start = end
        while at < len(edges) and edges[at][0] <= end:
            at += 1


def _narrow_rows(text: str, width: int) -> Iterator[tuple[int, int]]:
    """As above where each character takes one cell."""
    start = 0
    while len(text) - start > width:
        blank = text.rfind(" ", start, start + width) + 1
        end = blank if text[start:blank].strip() else start + width
        yield start, end
        start = end
    if start < len(text) or not text:
        yield start, len(text)


def _edges(text: str) -> Sequence[tuple[int, int]]:
    """Where each character that one sees ends, and how many cells are taken up to there."""
    edges: list[tuple[int, int]] = []
    taken = 0
    for _, last, cells in split_graphemes(text)[0]:
        taken += cells
        edges.append((last, taken))
    return edges


def _with_dots(cuts: Cuts, text: str, span: tuple[int, int], mark: Style) -> Pieces:
    """The row of that span, with the blanks at a break drawn as dots where they are more than one."""
    start, end = span
    row = text[start:end]
    before = len(row) - len(row.lstrip(" ")) if start else 0
    after = len(row) - len(row.rstrip(" ")) if end < len(text) else 0
    if after == 1 and text[end] != " ":
        after = 0  # one blank is what separates words
    inner = cuts.between(start + before, max(end - after, start + before))
    return _dots(before, mark) + inner + _dots(min(after, len(row) - before), mark)


def _dots(blanks: int, mark: Style) -> Pieces:
    return (Piece(_BLANK * blanks, mark, " " * blanks),) if blanks else ()
