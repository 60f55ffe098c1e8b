"""The model's Markdown as lines: headings, lists, quotes, tables and highlighted code.

Nothing in it is trusted: control characters are taken out first, HTML is shown
as the text it is, and Rich or Textual markup has no meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rich.style import Style

from codeagent.tui.later import MarkdownToken, markdown_parser
from codeagent.tui.widgets.code_lines import WIDEST_GROUND, code_block_lines
from codeagent.tui.widgets.inks import Inks
from codeagent.tui.widgets.lines import EMPTY, Line, Piece, Pieces, between, presentable, wrap
from codeagent.tui.widgets.markdown_inline import inline_pieces
from codeagent.tui.widgets.stacks import LongLines, Stack
from codeagent.tui.widgets.table_lines import Table, table_lines

_WIDEST_PROSE = 100
"""Cells of what is read line by line, and of the rules between it."""

_LONGEST = 40_000
"""Characters of one paragraph, table or list item, and of a summary."""
_MARKS = "\n|*_`[]()<>~-"
_MOST_MARKS = 3_000
"""Signs in one of them that may mean something: each takes up to 0.03 ms, in which no key is heard."""
MOST = 200_000
"""Bytes of UTF-8 that are shown of one of them: the screen is drawn while keys wait, and wide signs take longer."""
MOST_PROSE = 100_000
"""The same of what is no code."""
_FENCES = ("```", "~~~")
_BULLETS = "•◦▪"
_TASK = re.compile(r"\[([ xX])\] ")
_BOXES = {False: "☐ ", True: "✓ "}


def markdown_lines(source: str, width: int, inks: Inks, *, number: int | None = None, more: int = 0) -> Sequence[Line]:
    """The Markdown in lines of at most ``width`` cells; ``number`` replaces that of a leading list item.

    What is too long to be looked through while everything else waits comes out as it was written, and the end of
    what is longer than anybody reads is left out, which is said; ``more`` characters of that are not in the source.
    """
    is_code = source[:_LONGEST].lstrip().startswith(_FENCES)
    begun, left_out = beginning(source, MOST if is_code else MOST_PROSE)
    width = max(width, 8)
    if not is_code and (left_out or not _is_quick(source)):
        lines: Sequence[Line] = LongLines(presentable(begun), inks.text, min(width, _WIDEST_PROSE))
    else:
        lines = _Page(inks=inks, number=number).blocks(markdown_parser()(presentable(begun)), width)
    return Stack([lines, [more_below(left_out + more, inks)]]) if left_out + more else lines


def _is_quick(source: str) -> bool:
    return len(source) <= _LONGEST and sum(map(source.count, _MARKS)) <= _MOST_MARKS


def beginning(text: str, most: int = MOST) -> tuple[str, int]:
    """As much of a text as is shown, ``most`` bytes of UTF-8, and how many characters are left out."""
    if len(text) * 4 <= most or len(encoded := text[: most + 1].encode("utf-8", "replace")) <= most:
        return text, 0
    begun = encoded[:most].decode("utf-8", "ignore")
    return begun, len(text) - len(begun)


def more_below(left_out: int, inks: Inks, remedy: str = "/copy takes them too") -> Line:
    """What is said below the beginning of a text: how many characters are left out, and how to have them."""
    return Line(pieces=(Piece(f"… {left_out:,} more characters: {remedy}", inks.muted, ""),))


class _Page:
    """Turns tokens into lines, from the outside in; each container narrows the width for what it holds."""

    def __init__(self, *, inks: Inks, number: int | None) -> None:
        self._inks = inks
        self._number = number
        self._depth = 0
        self._task: MarkdownToken | None = None

    def blocks(self, tokens: Sequence[MarkdownToken], width: int, *, is_tight: bool = False) -> Sequence[Line]:
        """The blocks of one container, an empty line between them unless it is a tight list item."""
        groups = list(_groups(tokens))
        if len(groups) == 1:
            return self._block(groups[0], width)
        lines: list[Line] = []
        for group in groups:
            drawn = self._block(group, width)
            if (
                lines
                and drawn
                and not (is_tight and group[0].type in {"paragraph_open", "bullet_list_open", "ordered_list_open"})
            ):
                lines.append(EMPTY)
            lines += drawn
        return lines

    def _block(self, group: Sequence[MarkdownToken], width: int) -> Sequence[Line]:
        token, inks = group[0], self._inks
        match token.type:
            case "heading_open":
                lines = self._prose(group[1], width, inks.accent_strong if token.tag in {"h1", "h2"} else inks.strong)
                mark = "#" * int(token.tag[1:]) + " "
                return [Line(pieces=lines[0].pieces, whole=mark + lines[0].copied()), *lines[1:]]
            case "fence" | "code_block":
                return code_block_lines(token.content.removesuffix("\n"), token.info, width, inks)
            case "table_open":
                return table_lines(self._table(group), min(width, WIDEST_GROUND), inks)
            case "hr":
                return [Line(pieces=(Piece("─" * min(width, _WIDEST_PROSE), inks.rule, "---"),))]
            case "bullet_list_open" | "ordered_list_open" | "blockquote_open":
                return self._container(group, width)
            case _:
                inline = next((token for token in group if token.type == "inline"), None)
                return self._prose(inline, width, inks.text) if inline is not None else []

    def _container(self, group: Sequence[MarkdownToken], width: int) -> list[Line]:
        if group[0].type != "blockquote_open":
            return self._items(group, width)
        bar = Piece("▎ ", self._inks.rule, "> ")
        return [_before(line, bar) for line in self.blocks(group[1:-1], width - 2)]

    def _prose(self, inline: MarkdownToken, width: int, style: Style) -> list[Line]:
        pieces = inline_pieces(inline.children or (), self._inks, style)
        if inline is self._task:
            pieces = between(pieces, len("[x] "), sum(len(piece.text) for piece in pieces))
        return wrap(pieces, min(width, _WIDEST_PROSE))

    def _items(self, group: Sequence[MarkdownToken], width: int) -> list[Line]:
        is_ordered = group[0].type == "ordered_list_open"
        number = int(group[0].attrs.get("start", 1))
        if self._number is not None:
            number, self._number = self._number, None
        items = list(_groups(group[1:-1]))
        digits = len(str(number + len(items) - 1))
        is_tight = any(token.type == "paragraph_open" and token.hidden for token in group)
        lines: list[Line] = []
        for place, item in enumerate(items):
            mark = self._mark(item, f"{number + place:>{digits}}. " if is_ordered else "")
            self._depth += not is_ordered
            drawn = self.blocks(item[1:-1], width - len(mark.text), is_tight=is_tight) or [EMPTY]
            self._depth -= not is_ordered
            if lines and not is_tight:
                lines.append(EMPTY)
            blank = Piece(" " * len(mark.text), self._inks.text)
            lines.append(_before(drawn[0], mark))
            lines += [_before(line, blank) if line.pieces else line for line in drawn[1:]]
        return lines

    def _mark(self, item: Sequence[MarkdownToken], number: str) -> Piece:
        """What stands before an item: its number or a bullet; before a task its box, which its text then lacks."""
        inline = next((token for token in item[1:3] if token.type == "inline"), None)
        is_box = inline is not None and bool(_TASK.match(inline.content))  # an escaped bracket begins none
        first = next(iter(inline.children or ()), None) if inline is not None and is_box else None
        found = _TASK.match(first.content) if first is not None and first.type == "text" else None
        if found is None:
            return Piece(number or f"{_BULLETS[min(self._depth, 2)]} ", self._inks.muted, number or "- ")
        self._task, is_done = inline, found[1] != " "
        ink = self._inks.success if is_done else self._inks.muted
        return Piece(number + _BOXES[is_done], ink, (number or "- ") + found[0])

    def _table(self, group: Sequence[MarkdownToken]) -> Table:
        rows: list[list[Pieces]] = []
        right: list[bool] = []
        for place, token in enumerate(group):
            if token.type == "tr_open":
                rows.append([])
            elif token.type in {"th_open", "td_open"}:
                style = self._inks.strong if token.type == "th_open" else self._inks.text
                if token.type == "th_open":
                    right.append("right" in str(token.attrs.get("style", "")))
                rows[-1].append(tuple(inline_pieces(group[place + 1].children or (), self._inks, style)))
        return Table(header=tuple(rows[0]), rows=tuple(tuple(row) for row in rows[1:]), aligned_right=tuple(right))


def _groups(tokens: Sequence[MarkdownToken]) -> Iterator[Sequence[MarkdownToken]]:
    """The tokens of each block, from its opening to its closing."""
    start = depth = 0
    for place, token in enumerate(tokens):
        depth += token.nesting
        if depth == 0:
            yield tokens[start : place + 1]
            start = place + 1


def _before(line: Line, mark: Piece) -> Line:
    """A line inside a container, its bullet, bar or blank drawn first; copied once, not at each wrap."""
    copied = mark.text if mark.copied is None else mark.copied
    if line.joint != "\n":
        mark = mark._replace(copied="")
    whole = copied + line.whole if line.whole else line.whole
    return Line(pieces=(mark, *line.pieces), joint=line.joint, whole=whole, fill=line.fill)
