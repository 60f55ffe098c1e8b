"""A Markdown table drawn to fit: columns share the width, long cells wrap, and too many columns become a list."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

from codeagent.core.values import value
from codeagent.tui.widgets.inks import Inks
from codeagent.tui.widgets.lines import Line, Piece, Pieces, wrap

_BETWEEN = "  "
_NARROWEST = 5


@value
class Table:
    """The cells of a table; ``aligned_right`` says it of each column."""

    header: tuple[Pieces, ...]
    rows: tuple[tuple[Pieces, ...], ...]
    aligned_right: tuple[bool, ...]


def table_lines(table: Table, width: int, inks: Inks) -> list[Line]:
    """The table in at most ``width`` cells."""
    columns = len(table.header)
    room = width - len(_BETWEEN) * (columns - 1)
    if room < _NARROWEST * columns:
        return _as_list(table, width, inks)
    widths = _shared(table, room)
    lines = _row(table.header, widths, table.aligned_right, inks)
    rule = "─" * (sum(widths) + len(_BETWEEN) * (columns - 1))
    separator = Line(pieces=(Piece(rule, inks.rule),), whole=_source_of_rule(columns))
    lines.append(separator)
    thin = Line(pieces=(Piece(rule, inks.rule, ""),), whole="")
    rows = [_row(row, widths, table.aligned_right, inks) for row in table.rows]
    is_wrapped = any(len(row) > 1 for row in rows)
    for number, row in enumerate(rows):
        if is_wrapped and number:
            lines.append(thin)
        lines += row
    return lines


def _shared(table: Table, room: int) -> list[int]:
    """The width of each column: what it needs when all fit, else narrow ones keep theirs and wide ones share."""
    needs = [max(1, *map(_cells, column)) for column in zip(table.header, *table.rows, strict=True)]
    widths = list(needs)
    open_columns = list(range(len(needs)))
    left = room
    while open_columns:
        share = left // len(open_columns)
        fitting = [column for column in open_columns if needs[column] <= share]
        if not fitting:
            for place, column in enumerate(open_columns):
                widths[column] = share + (place < left % len(open_columns))
            break
        for column in fitting:
            left -= needs[column]
        open_columns = [column for column in open_columns if column not in fitting]
    return widths


def _row(cells: Sequence[Pieces], widths: Sequence[int], aligned_right: Sequence[bool], inks: Inks) -> list[Line]:
    wrapped = [wrap(cell, width) for cell, width in zip(cells, widths, strict=True)]
    source = "| " + " | ".join("".join(piece.text for piece in cell).replace("\n", " ") for cell in cells) + " |"
    lines: list[Line] = []
    for number in range(max(map(len, wrapped))):
        pieces: list[Piece] = []
        for column, width in enumerate(widths):
            part = wrapped[column][number] if number < len(wrapped[column]) else Line()
            blank = Piece(" " * (width - part.width), inks.text, "")
            pieces += [blank, *part.pieces] if aligned_right[column] else [*part.pieces, blank]
            if column < len(widths) - 1:
                pieces.append(Piece(_BETWEEN, inks.text, " | "))
        kept = tuple(piece for piece in pieces if piece.text)
        lines.append(Line(pieces=kept, joint="" if number else "\n", whole="" if number else source))
    return lines


def _as_list(table: Table, width: int, inks: Inks) -> list[Line]:
    """Each row as lines of «heading: cell»."""
    lines: list[Line] = []
    for number, row in enumerate(table.rows):
        if number:
            lines.append(Line(pieces=(Piece("─" * min(width, 20), inks.rule, ""),), whole=""))
        for heading, cell in zip(table.header, row, strict=True):
            lines += wrap(
                [*heading, Piece(": ", inks.muted), *cell], width, rest=(Piece("  ", inks.text, ""),), first=()
            )
    return lines


def _source_of_rule(columns: int) -> str:
    return "|" + " --- |" * columns


def _cells(cell: Pieces) -> int:
    return max(cell_len(line) for line in "".join(piece.text for piece in cell).split("\n"))
