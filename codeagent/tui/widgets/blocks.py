"""What the transcript is made of: the person's words, the model's, its thinking, notes; tool panels are next door.

A block draws itself as lines for a width; a cheap guess of how many stands in
until somebody looks at it.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

from codeagent.core.events import Level
from codeagent.core.text import clean, counted, show_invisible
from codeagent.tui.widgets.code_lines import CodeRows, code_end, code_head
from codeagent.tui.widgets.folded_paste import LONGEST_OPEN_PASTE, LONGEST_OPEN_TEXT
from codeagent.tui.widgets.heights import guess_rows
from codeagent.tui.widgets.inks import Inks
from codeagent.tui.widgets.lines import UNFOLD, Line, Piece, Pieces, one_line, presentable, wrap
from codeagent.tui.widgets.markdown_lines import MOST, MOST_PROSE, beginning, markdown_lines, more_below
from codeagent.tui.widgets.stacks import Indented, LongLines, Stack

INDENT = 3
RIGHT_MARGIN = 1
_FIRST, _LAST = 6, 3
"""Lines of a folded text that are shown of its beginning and its end, where a question often stands."""
_LONGEST_END = 600
"""Characters of either that are shown at most."""
_LONGEST_SUMMARY = 1_000
"""Characters of thinking that are looked at for the one line that stands for it."""


class Kind(StrEnum):
    """The kinds of block; neighbours of some kinds stand closer together than others."""

    PERSON = "person"
    TEXT = "text"
    THINKING = "thinking"
    TOOL = "tool"
    NOTE = "note"


class Block(Protocol):
    """One thing in the transcript."""

    @property
    def kind(self) -> Kind:
        """What it is."""
        ...

    @property
    def ends_empty(self) -> bool:
        """Whether its last row is an empty one, so that less space is needed after it."""
        ...

    def lines(self, width: int, inks: Inks) -> Sequence[Line]:
        """All its rows, ``width`` cells wide."""
        ...

    def guess(self, width: int) -> int:
        """About how many rows that will be."""
        ...

    def words(self) -> str:
        """All that can be found in it, also what is folded away."""
        ...


class Foldable(Block, Protocol):
    """A block that can be chosen, opened and closed; one that is pinned stays open when all are closed."""

    is_chosen: bool
    is_pinned: bool

    @property
    def is_open(self) -> bool:
        """Whether more than its heading shows."""
        ...

    @property
    def is_whole(self) -> bool:
        """Whether all that it holds shows."""
        ...

    def toggle(self) -> None:
        """Opens or closes it."""
        ...

    def set_open(self, *, is_open: bool) -> None:
        """Opens or closes it, whatever it was."""
        ...

    def fold_back(self) -> None:
        """Closes it, but for what it shows by itself where the person has not closed that."""
        ...

    def copied(self) -> str:
        """Its content as plain text."""
        ...


class PersonBlock:
    """What the person said, as they typed it; ``note`` says how it reached the model.

    ``goes_on``: it is the end of something, without a sign before its first row.
    """

    kind = Kind.PERSON
    ends_empty = False

    def __init__(self, text: str, note: str = "", *, goes_on: bool = False) -> None:
        self._said = text
        begun, self._left_out = beginning(text, MOST_PROSE)
        self._text = presentable(begun).rstrip()
        self._note = note
        self._goes_on = goes_on

    def lines(self, width: int, inks: Inks) -> list[Line]:
        """The words behind a chevron, on a ground of their own."""
        ground = inks.surface_ground
        rest = (Piece(" " * INDENT, ground, ""),)
        first = rest if self._goes_on else (Piece(" › ", inks.accent_strong + ground, ""),)
        lines = wrap([Piece(self._text, inks.text + ground)], width - RIGHT_MARGIN, first=first, rest=rest, fill=ground)
        if self._left_out:
            told = more_below(self._left_out, inks, "all of it is sent")
            lines.append(Line(pieces=(*rest, *told.pieces), fill=ground))
        if self._note:
            note = Piece(presentable(self._note), inks.muted + ground, "")
            lines += wrap([note], width - RIGHT_MARGIN, first=rest, fill=ground)
        return lines

    def guess(self, width: int) -> int:
        """Counts the words' rows."""
        return guess_rows(self._text, max(width - INDENT - RIGHT_MARGIN, 1)) + bool(self._note)

    def words(self) -> str:
        """What was typed, and what is said of it."""
        return "\n".join(filter(None, (presentable(self._said).rstrip(), presentable(self._note))))


def said_block(text: str, note: str = "") -> Block:
    """The block for what the person said; ``note`` says how it reached the model."""
    is_long = len(text) > LONGEST_OPEN_TEXT or text.rstrip().count("\n") >= LONGEST_OPEN_PASTE
    return LongMessageBlock(text, note) if is_long else PersonBlock(text, note)


class TextBlock:
    """A piece of the model's Markdown, complete in itself."""

    kind = Kind.TEXT
    ends_empty = False

    def __init__(self, source: str, *, number: int | None = None, more: int = 0) -> None:
        """``more`` characters go on behind the source, of which only the beginning is shown."""
        self._source = source
        self._number = number
        self._more = more

    def lines(self, width: int, inks: Inks) -> Sequence[Line]:
        """The Markdown, indented."""
        room = width - INDENT - RIGHT_MARGIN
        return indented(markdown_lines(self._source, room, inks, number=self._number, more=self._more), inks)

    def guess(self, width: int) -> int:
        """Counts the rows of as much of the source as is shown."""
        return guess_rows(self._source[:MOST], max(width - INDENT - RIGHT_MARGIN, 1))

    def words(self) -> str:
        """The source, what is hidden in it written out."""
        return presentable(self._source)


class LiveCode:
    """A fence that is still being written: finished lines are coloured in groups, when looked at, and then kept.

    What goes on beyond all that is shown of a fence is only counted.
    """

    kind = Kind.TEXT
    ends_empty = False
    _GROUP = 24

    def __init__(self, language: str) -> None:
        self._language = language
        self._code: list[str] = []
        self._partial = ""
        self._line_count = self._left_out = self._more = 0
        self._room = MOST
        self._kept: list[Sequence[Line]] = []
        self._kept_code_lines = 0
        self._kept_for: tuple[int, Inks] | None = None

    @property
    def line_count(self) -> int:
        """Whole lines taken so far."""
        return self._line_count

    def write(self, lines: str, count: int, partial: str) -> None:
        """More whole lines, ``count`` in all from now on, and the beginning of the next one."""
        if count > self._line_count:
            shown, left_out = beginning(lines, self._room) if self._room else ("", len(lines) + 1)
            if self._room:
                self._code += shown.split("\n")
            self._room = 0 if left_out else max(self._room - len(shown.encode("utf-8", "replace")) - 1, 0)
            self._left_out += left_out
            self._line_count = count
        self._partial, more = beginning(partial, self._room) if self._room else ("", len(partial))
        self._more = self._left_out + more

    def lines(self, width: int, inks: Inks) -> Sequence[Line]:
        """The block as it stands."""
        room = width - INDENT - RIGHT_MARGIN
        if self._kept_for != (room, inks):
            head = code_head(self._language, room, inks)
            self._kept, self._kept_code_lines, self._kept_for = list[Sequence[Line]]([head]), 0, (room, inks)
        while len(self._code) - self._kept_code_lines >= self._GROUP:
            group = self._code[self._kept_code_lines : self._kept_code_lines + self._GROUP]
            self._kept.append(CodeRows("\n".join(group), self._language, room, inks))
            self._kept_code_lines += self._GROUP
        last = [*self._code[self._kept_code_lines :], *([self._partial] if self._partial else [])]
        live = [CodeRows("\n".join(last), self._language, room, inks)] if last else []
        told = [more_below(self._more, inks)] if self._more else []
        return indented(Stack([*self._kept, *live, code_end(room, inks), told]), inks)

    def guess(self, width: int) -> int:
        """Counts the code's lines."""
        return len(self._code) + bool(self._partial) + bool(width)

    def words(self) -> str:
        """The code so far."""
        return "\n".join([*self._code, self._partial])


class ThinkingBlock:
    """What the model thought: one dim line, or all of it when opened."""

    kind = Kind.THINKING
    ends_empty = False

    def __init__(self, text: str = "", *, is_live: bool = False) -> None:
        self._parts = [text] if text else []
        self._newest = text[-_LONGEST_SUMMARY:]
        self._copied: str | None = None
        self.is_live = is_live
        self.is_chosen = self.is_pinned = False
        self.is_open = False

    def write(self, text: str) -> None:
        """More of it."""
        self._parts.append(text)
        self._newest = (self._newest + text[-_LONGEST_SUMMARY:])[-_LONGEST_SUMMARY:]
        self._copied = None

    def toggle(self) -> None:
        """Opens or closes it."""
        self.is_open = not self.is_open

    @property
    def is_whole(self) -> bool:
        """Whether all of it shows."""
        return self.is_open

    def set_open(self, *, is_open: bool) -> None:
        """Opens or closes it, whatever it was."""
        self.is_open = is_open

    def fold_back(self) -> None:
        """Closes it."""
        self.is_open = False

    def copied(self) -> str:
        """The thinking as plain text."""
        if self._copied is None:
            self._parts = ["".join(self._parts)]
            self._copied = presentable(self._parts[0]).strip()
        return self._copied

    def _one_line(self) -> str:
        """The line that stands beside the heading: the newest while it is live, else the first."""
        if not self.is_live:
            return self.copied()[:_LONGEST_SUMMARY].partition("\n")[0]
        return presentable(self._newest).strip().rpartition("\n")[2]

    def lines(self, width: int, inks: Inks) -> Sequence[Line]:
        """The heading, and the text when open."""
        room = width - INDENT - RIGHT_MARGIN
        heading = ("Thinking" if self.is_live else "Thought") + ("  kept open" if self.is_pinned else "")
        summary = self._one_line().lstrip("#* ").replace("**", "")
        head = [Piece(f"{heading}  ", inks.muted, ""), Piece("" if self.is_open else summary, inks.thought)]
        ground = inks.raised_ground if self.is_chosen else None
        whole = None if self.is_live else self.copied()
        line = Line(pieces=(*gutter(inks, is_chosen=self.is_chosen), *one_line(head, room)), whole=whole, fill=ground)
        if not self.is_open:
            return [grounded(line, inks) if self.is_chosen else line]
        begun, left_out = beginning(self.copied())
        told = [more_below(left_out, inks, "copying takes them too")] if left_out else []
        body = Stack([LongLines(begun, inks.thought, min(room, 100)), told])
        opened = Line(pieces=line.pieces, whole="", fill=ground)
        return Stack([[grounded(opened, inks) if self.is_chosen else opened], indented(body, inks)])

    def guess(self, width: int) -> int:
        """One row when closed."""
        return 1 + (guess_rows(self.copied(), max(width - INDENT - RIGHT_MARGIN, 1)) if self.is_open else 0)

    def words(self) -> str:
        """The thinking, open or not."""
        return self.copied()


class LongMessageBlock(ThinkingBlock):
    """The beginning and the end of a long message, or all of it when opened."""

    kind = Kind.PERSON

    def __init__(self, text: str, note: str = "") -> None:
        text = text.rstrip()
        super().__init__(text)
        self._whole = PersonBlock(text, note)
        start = len("\n".join(text[:_LONGEST_END].split("\n")[:_FIRST]))
        end = len(text) - len("\n".join(text[-_LONGEST_END:].split("\n")[-_LAST:]))
        self._middle = text[start:end].strip("\n")
        self._begins = PersonBlock(text[:start])
        self._ends = PersonBlock(text[end:], note, goes_on=True)

    def lines(self, width: int, inks: Inks) -> Sequence[Line]:
        """All of it when open; else its ends, and between them what is not shown."""
        if self.is_open:
            return self._with_sign(self._whole.lines(width, inks), inks)
        rows = self._middle.count("\n")
        more = counted(rows + 1, "more line") if rows else counted(len(self._middle), "more character")
        ground = inks.surface_ground
        margin, told = Piece(" " * INDENT, ground, ""), Piece(f"… {more}", inks.muted + ground, "", UNFOLD)
        mark = Line(pieces=(margin, told), whole=presentable(self._middle), fill=ground)
        return self._with_sign([*self._begins.lines(width, inks), mark, *self._ends.lines(width, inks)], inks)

    def _with_sign(self, lines: list[Line], inks: Inks) -> list[Line]:
        """The lines, with a sign at the first one that it is chosen or kept open."""
        first, ground = lines[0], inks.surface_ground
        margin = Piece(" ▌ ", inks.accent + ground, "") if self.is_chosen else first.pieces[0]
        kept = (Piece("  kept open", inks.faint + ground, ""),) if self.is_pinned else ()
        head = Line(pieces=(margin, *first.pieces[1:], *kept), joint=first.joint, whole=first.whole, fill=first.fill)
        return [head, *lines[1:]]

    def guess(self, width: int) -> int:
        """Counts the rows of what shows."""
        return self._whole.guess(width) if self.is_open else self._begins.guess(width) + 1 + self._ends.guess(width)

    def words(self) -> str:
        """What was typed."""
        return self._whole.words()


class NoteBlock:
    """Something the program says: a retry, a checkpoint, a compaction, a failure."""

    kind = Kind.NOTE
    ends_empty = False

    def __init__(self, text: str, level: Level = Level.INFO) -> None:
        self._text = show_invisible(clean(text)).rstrip()
        self._level = level

    def lines(self, width: int, inks: Inks) -> Sequence[Line]:
        """The text behind a sign that tells how much it matters."""
        match self._level:
            case Level.INFO:
                sign, ink, words = "·", inks.faint, inks.muted
            case Level.WARNING:
                sign, ink, words = "!", inks.warning, inks.warning
            case Level.ERROR:
                sign, ink, words = "✗", inks.error, inks.error
        first = (Piece(f" {sign} ", ink, ""),)
        rest = (Piece(" " * INDENT, ink, ""),)
        return wrap([Piece(self._text, words)], width - RIGHT_MARGIN, first=first, rest=rest)

    def guess(self, width: int) -> int:
        """Counts the text's rows."""
        return guess_rows(self._text, max(width - INDENT - RIGHT_MARGIN, 1))

    def words(self) -> str:
        """The text."""
        return self._text


def indented(lines: Sequence[Line], inks: Inks, cells: int = INDENT) -> Sequence[Line]:
    """The lines behind a left margin that is not copied."""
    margin: Pieces = (Piece(" " * cells, inks.text, ""),)
    return Indented(lines, margin)


def gutter(inks: Inks, *, is_chosen: bool) -> Pieces:
    """The left margin of something that can be chosen."""
    return (Piece(" ▌ " if is_chosen else " " * INDENT, inks.accent, ""),)


def grounded(line: Line, inks: Inks) -> Line:
    """The line on the ground of what is chosen."""
    ground = inks.raised_ground
    pieces = tuple(piece._replace(style=piece.style + ground) for piece in line.pieces)
    return Line(pieces=pieces, joint=line.joint, whole=line.whole, fill=ground)
