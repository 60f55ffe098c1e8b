"""Code in colours, one list of styled pieces a line, and on its own ground; long code is coloured when looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache

from rich.style import Style

from codeagent.core.text import clean
from codeagent.tui.later import CodeToken, code_tokens
from codeagent.tui.themes import Palette, pen
from codeagent.tui.widgets.inks import Inks
from codeagent.tui.widgets.lines import (
    GOES_ON,
    TAB,
    Cut,
    Line,
    Piece,
    between,
    is_all_narrow,
    presentable,
    split_at_newlines,
    wrap,
)
from codeagent.tui.widgets.stacks import LazyLines, Stack

# Beyond these, colours cost more than they are worth: minified files and the like.
_MOST_CHARACTERS = 200_000
_LONGEST_LINE = 4_000
_PLAIN = frozenset({"", "text", "plain", "output", "console"})

WIDEST_GROUND = 116
"""Cells of the ground of code and of tables on the widest screen, which end where panels do; longer code goes on."""

_LONG = 10_000
"""Characters of code that is coloured as a whole; of longer code each part by itself."""
_PART = 100
"""Lines of such a part."""
_LONGEST_COLOURED = 40_000
_MARGIN = " "


def highlight(code: str, language: str, palette: Palette) -> list[list[Piece]]:
    """The lines of a code text as pieces, tabs made into blanks; unknown languages come out plain.

    ``language`` is a name that Pygments knows.
    """
    code = clean(code).expandtabs(len(TAB))
    split = None if language in _PLAIN else code_tokens(language)
    if split is None or len(code) > _MOST_CHARACTERS or max(map(len, code.split("\n"))) > _LONGEST_LINE:
        return split_at_newlines([Piece(code, _styles(palette)[""])])
    pieces: list[Piece] = []
    style_of = _pens(palette)
    for kind, text in split(code):
        style = style_of(kind)
        if pieces and pieces[-1].style is style:
            pieces[-1] = Piece(pieces[-1].text + text, style)
        else:
            pieces.append(Piece(text, style))
    lines = split_at_newlines(pieces)[: code.count("\n") + 1]
    is_faithful = "\n".join("".join(piece.text for piece in line) for line in lines) == code
    return lines if is_faithful else split_at_newlines([Piece(code, _styles(palette)[""])])


def code_style(palette: Palette, role: str) -> Style:
    """How words of a role are drawn: a field of the theme's colours of code, empty for all other code."""
    return _styles(palette)[role]


@lru_cache(maxsize=16)
def _pens(palette: Palette) -> Callable[[CodeToken], Style]:
    """What gives the style of a token; looked up once for a palette, since tokens are very many."""
    styles = _styles(palette)

    @lru_cache(maxsize=512)
    def style_of(kind: CodeToken) -> Style:
        at: CodeToken | None = kind
        while at is not None:
            name = _ROLES.get(str(at))
            if name is not None:
                return styles[name]
            at = at.parent
        return styles[""]

    return style_of


@lru_cache(maxsize=16)
def _styles(palette: Palette) -> dict[str, Style]:
    code = palette.code
    return {
        "": Style(color=pen(palette.text)),
        "keyword": Style(color=pen(code.keyword)),
        "string": Style(color=pen(code.string)),
        "number": Style(color=pen(code.number)),
        "comment": Style(color=pen(code.comment), italic=True),
        "function": Style(color=pen(code.function)),
        "type": Style(color=pen(code.type)),
    }


_ROLES = {
    "Token.Comment": "comment",
    "Token.Comment.Preproc": "keyword",
    "Token.Keyword": "keyword",
    "Token.Keyword.Constant": "number",
    "Token.Keyword.Type": "type",
    "Token.Operator.Word": "keyword",
    "Token.Literal": "string",
    "Token.Literal.String": "string",
    "Token.Literal.String.Escape": "number",
    "Token.Literal.String.Interpol": "number",
    "Token.Literal.Number": "number",
    "Token.Name.Builtin": "type",
    "Token.Name.Class": "type",
    "Token.Name.Exception": "type",
    "Token.Name.Function": "function",
    "Token.Name.Decorator": "function",
    "Token.Name.Tag": "keyword",
    "Token.Name.Attribute": "function",
    "Token.Name.Constant": "number",
}


def code_block_lines(code: str, language: str, width: int, inks: Inks) -> Sequence[Line]:
    """The code, the language named above it, and the end of its ground."""
    code, parts = presentable(code), list[Sequence[Line]]([code_head(language, width, inks)])
    if len(code) <= _LONG:
        parts.append(list(_rows(code, language, width, inks)))
    else:
        lines = code.split("\n")
        groups = ("\n".join(lines[at : at + _PART]) for at in range(0, len(lines), _PART))
        parts += [CodeRows(group, language, width, inks) for group in groups]
    return Stack([*parts, code_end(width, inks)])


def code_head(language: str, width: int, inks: Inks) -> list[Line]:
    """The row above the code, with its language."""
    ground, wide = inks.raised_ground, min(width, WIDEST_GROUND)
    label = _label(language)[: max(wide - 4, 0)]
    blank = Piece(" " * max(wide - len(label) - 1, 0), ground, "")
    pieces = (blank, Piece(label, inks.faint + ground, ""), Piece(_MARGIN, ground, ""))
    return [Line(pieces=pieces, whole="")]


def code_end(width: int, inks: Inks) -> list[Line]:
    """The empty row below the code."""
    return [Line(pieces=(Piece(" " * min(width, WIDEST_GROUND), inks.raised_ground, ""),), whole="")]


class CodeRows(LazyLines):
    """The rows of some lines of code, which are coloured when one of them is looked at."""

    def __init__(self, code: str, language: str, width: int, inks: Inks) -> None:
        code = presentable(code)
        self._of = (code, language, width, inks)
        room = width - 1 - len(_MARGIN)
        self._count = sum(
            1 if len(one) <= room and is_all_narrow(one) else _count(one, width, inks) for one in code.split("\n")
        )

    def __len__(self) -> int:
        return self._count

    @cached_property
    def _lines(self) -> list[Line]:
        return list(_rows(*self._of))

    def line_at(self, row: int) -> Line:
        """The row in its colours."""
        return self._lines[row]


def _rows(code: str, language: str, width: int, inks: Inks) -> Iterator[Line]:
    wide, ground = min(width, WIDEST_GROUND), inks.raised_ground
    name = _label(language)[: max(wide - 4, 0)].lower()
    for pieces in highlight(code, name if len(code) <= _LONGEST_COLOURED else "", inks.palette):
        row = [piece._replace(style=piece.style + ground) for piece in pieces]
        for line in _rows_of(row, width, inks):
            rest = Piece(" " * (max(wide, line.width + 1) - line.width), ground, "")
            yield Line(pieces=(*line.pieces, rest), joint=line.joint)


def _rows_of(row: Sequence[Piece], width: int, inks: Inks) -> list[Line]:
    """A line of code; the rows that it goes on in are marked and indented: none looks like a line of its own."""
    margin = Piece(_MARGIN, inks.raised_ground, "")
    rows = wrap(row, width - 1, first=(margin,), cut=Cut.CODE)
    if len(rows) == 1:
        return rows
    text = "".join([piece.text for piece in row])
    indent = " " * min(len(text) - len(text.lstrip(" ")), (width - 1) // 3)
    end = len(rows[0].text) - len(margin.text) + len(rows[1].joint)
    before = (margin, Piece(f"{indent}{GOES_ON}", inks.faint + inks.raised_ground, ""))
    second, *others = wrap(between(row, end, len(text)), width - 1, first=before, cut=Cut.CODE)
    return [rows[0], Line(pieces=second.pieces, joint=rows[1].joint), *others]


def _count(line: str, width: int, inks: Inks) -> int:
    return len(_rows_of([Piece(line, Style())] if line else [], width, inks))


def _label(language: str) -> str:
    return next(iter(presentable(language).split(maxsplit=1)), "")
