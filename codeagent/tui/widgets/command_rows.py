"""A shell command in colours and rows: broken between words, with each break marked, all its blanks to be counted."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from rich.cells import cell_len, split_graphemes
from rich.style import Style

from codeagent.core.seldom import seldom
from codeagent.tui.themes import Palette
from codeagent.tui.widgets.code_lines import code_style, highlight
from codeagent.tui.widgets.inks import inks_of
from codeagent.tui.widgets.lines import GOES_ON, Cuts, Line, Piece, Pieces, is_all_narrow

WORD_GOES_ON = "↳…"
"""What stands before a row that goes on in midst of a word."""

_BLANK = "·"
_TOKEN = seldom(r"\d*[<>]+&?[^\s|&;()<>]*|[|&;(`]|[^\s|&;()`]+")
_ASSIGNED = seldom(r"[A-Za-z_]\w*=")
_ENDS_COMMAND = frozenset("|&;(`")
_BEFORE_COMMAND = frozenset({"!", "{", "if", "then", "elif", "else", "while", "until", "do"})
_RUNS_OTHERS = frozenset({"sudo", "env", "xargs", "nohup", "exec", "command", "time"})
_BOLD = Style(bold=True)


def command_code(command: str, palette: Palette, warned: Collection[str] = ()) -> list[list[Piece]]:
    """The lines of a command in colours, the names of its commands all in one.

    A command that begins like one of ``warned`` has its name in the colour of warnings.
    """
    rows: list[list[Piece]] = []
    builtin, name, text = (code_style(palette, role) for role in ("type", "function", ""))
    quiet = {code_style(palette, role) for role in ("string", "comment", "keyword")}
    is_begun = True
    for row in highlight(command, "bash", palette):
        pieces = [piece._replace(style=text) if piece.style == builtin else piece for piece in row]
        words = "".join([piece.text for piece in pieces])
        cuts, at, parts = Cuts(pieces), 0, list[Piece]()
        for start, end in _names(words, is_begun=is_begun):
            found = cuts.between(start, end)
            if any(piece.style in quiet for piece in found):
                continue
            is_warned = any(words.startswith(one, start) for one in warned)
            style = inks_of(palette).warning + _BOLD if is_warned else name
            parts += [*cuts.between(at, start), Piece(words[start:end], style)]
            at = end
        rows.append([*parts, *cuts.between(at, len(words))] if words else [])
        is_begun = not words.endswith("\\")
    return rows


def _names(row: str, *, is_begun: bool) -> Iterator[tuple[int, int]]:
    """Where the names of commands may stand in a row; a word that runs another command is one, and so is that."""
    runs_other = False
    for found in _TOKEN().finditer(row):
        word = found[0]
        if word in _ENDS_COMMAND:
            is_begun, runs_other = True, False
        elif not is_begun or word in _BEFORE_COMMAND or _ASSIGNED().match(word) or word[0] in "<>0123456789":
            continue
        elif not (runs_other and word.startswith("-")):
            runs_other = is_begun = word in _RUNS_OTHERS
            if word[0] not in "$'\"#":
                yield found.span()


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
