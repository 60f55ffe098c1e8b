"""Code in colours: one list of styled pieces a line."""

from __future__ import annotations

from functools import lru_cache
from typing import Protocol

from pygments.lexer import Lexer
from pygments.lexers import find_lexer_class_by_name, find_lexer_class_for_filename
from pygments.token import Comment, Keyword, Literal, Name, Number, Operator, String
from pygments.util import ClassNotFound
from rich.style import Style

from codeagent.core.text import clean
from codeagent.tui.themes import Palette, pen
from codeagent.tui.widgets.lines import TAB, Piece, split_at_newlines

# Beyond these, colours cost more than they are worth: minified files and the like.
_MOST_CHARACTERS = 200_000
_LONGEST_LINE = 4_000


class _TokenType(Protocol):
    """Pygments' kind of a token: a tree, by ``parent``."""

    @property
    def parent(self) -> _TokenType | None: ...


@lru_cache(maxsize=256)
def language_of(path: str) -> str:
    """The language of a file by its name, empty when unknown."""
    found = find_lexer_class_for_filename(path.rsplit("/", maxsplit=1)[-1])
    return found.aliases[0] if found is not None and found.aliases else ""


def highlight(code: str, language: str, palette: Palette) -> list[list[Piece]]:
    """The lines of a code text as pieces, tabs made into blanks; unknown languages come out plain.

    ``language`` is a name that Pygments knows.
    """
    code = clean(code).expandtabs(len(TAB))
    lexer = _lexer(language)
    if lexer is None or len(code) > _MOST_CHARACTERS or max(map(len, code.split("\n"))) > _LONGEST_LINE:
        return split_at_newlines([Piece(code, _styles(palette)[""])])
    pieces: list[Piece] = []
    for kind, text in lexer.get_tokens(code):
        style = _style(kind, palette)
        if pieces and pieces[-1].style is style:
            pieces[-1] = Piece(pieces[-1].text + text, style)
        else:
            pieces.append(Piece(text, style))
    lines = split_at_newlines(pieces)[: code.count("\n") + 1]
    is_faithful = "\n".join("".join(piece.text for piece in line) for line in lines) == code
    return lines if is_faithful else split_at_newlines([Piece(code, _styles(palette)[""])])


@lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer | None:
    if not language or language in {"text", "plain", "output", "console"}:
        return None
    try:
        return find_lexer_class_by_name(language)(stripnl=False, ensurenl=True)
    except ClassNotFound:
        return None


@lru_cache(maxsize=2048)
def _style(kind: _TokenType, palette: Palette) -> Style:
    styles = _styles(palette)
    at: _TokenType | None = kind
    while at is not None:
        name = _ROLES.get(at)
        if name is not None:
            return styles[name]
        at = at.parent
    return styles[""]


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


_ROLES: dict[_TokenType, str] = {
    Comment: "comment",
    Comment.Preproc: "keyword",
    Keyword: "keyword",
    Keyword.Constant: "number",
    Keyword.Type: "type",
    Operator.Word: "keyword",
    Literal: "string",
    String: "string",
    String.Escape: "number",
    String.Interpol: "number",
    Number: "number",
    Name.Builtin: "type",
    Name.Class: "type",
    Name.Exception: "type",
    Name.Function: "function",
    Name.Decorator: "function",
    Name.Tag: "keyword",
    Name.Attribute: "function",
    Name.Constant: "number",
}
