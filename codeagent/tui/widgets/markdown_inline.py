"""Words of the model's Markdown: emphasis, code, links and images as styled pieces."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rich.style import Style

from codeagent.core.seldom import seldom
from codeagent.tui.later import MarkdownToken
from codeagent.tui.widgets.inks import Inks
from codeagent.tui.widgets.lines import Piece, presentable

_ADDRESS = seldom(r"(?:https?://|mailto:)[^\s<>\"'`]+[^\s<>\"'`.,;:!?)\]}]")
_CLICKABLE = seldom(r"(?:https?|mailto):", re.IGNORECASE)
_STYLES = {"em": Style(italic=True), "strong": Style(bold=True), "s": Style(strike=True)}


def inline_pieces(tokens: Sequence[MarkdownToken], inks: Inks, base: Style) -> list[Piece]:
    """The children of an inline token; a line break in the source ends a line.

    A link that shows another text than its address is followed by the address,
    so that nobody is led astray. What was written as ``&#13;`` and the like is seen only here.
    """
    pieces: list[Piece] = []
    styles = [base]
    address, shown = "", ""
    for token in tokens:
        if token.type == "link_open":
            address, shown = str(token.attrs.get("href", "")), ""
            styles.append(styles[-1] + inks.link)
        elif token.type == "link_close":
            styles.pop()
            if address.removeprefix("mailto:") != shown:
                pieces.append(Piece(f" ({address})", inks.muted, link=_clickable(address)))
            address = ""
        elif token.type.endswith("_open"):
            styles.append(styles[-1] + _STYLES.get(token.tag, inks.text))
        elif token.type.endswith("_close"):
            styles.pop()
        else:
            shown += token.content
            pieces += _leaf(token, inks, styles[-1], address)
    return [piece if piece.text.isprintable() else piece._replace(text=presentable(piece.text)) for piece in pieces]


def _leaf(token: MarkdownToken, inks: Inks, style: Style, address: str) -> Iterator[Piece]:
    link = _clickable(address)
    match token.type:
        case "code_inline":
            yield Piece(token.content, style + inks.code, link=link)
        case "softbreak" | "hardbreak":
            yield Piece("\n", style)
        case "image":
            source = str(token.attrs.get("src", ""))
            yield Piece(f"[image: {token.content or source}]", style + inks.muted, link=_clickable(source))
        case _ if address:
            yield Piece(token.content, style, link=link)
        case _:
            yield from _with_addresses(token.content, inks, style)


def _with_addresses(text: str, inks: Inks, style: Style) -> Iterator[Piece]:
    """Plain text, the web addresses in it made clickable."""
    if "://" not in text and "mailto:" not in text:
        yield Piece(text, style)
        return
    at = 0
    for found in _ADDRESS().finditer(text):
        if found.start() > at:
            yield Piece(text[at : found.start()], style)
        yield Piece(found[0], style + inks.link, link=found[0])
        at = found.end()
    if at < len(text):
        yield Piece(text[at:], style)


def _clickable(address: str) -> str:
    return address if _CLICKABLE().match(address) else ""
