"""Code in colours: one list of styled pieces a line."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from rich.style import Style

from codeagent.core.text import clean
from codeagent.tui.later import CodeToken, code_tokens
from codeagent.tui.themes import Palette, pen
from codeagent.tui.widgets.lines import TAB, Piece, split_at_newlines

# Beyond these, colours cost more than they are worth: minified files and the like.
_MOST_CHARACTERS = 200_000
_LONGEST_LINE = 4_000
_PLAIN = frozenset({"", "text", "plain", "output", "console"})


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
