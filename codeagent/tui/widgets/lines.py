"""Lines of the transcript: what is drawn, and what copying it gives.

Text reaches the screen as lines of styled pieces, wrapped by cells (a wide
character is two). What is only drawn, such as gutters, frames and padding, is
marked as not copied, and a line knows how it hangs together with the one before.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import NamedTuple

from rich.cells import cell_len, split_graphemes
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from codeagent.core.first_words import end_of_path
from codeagent.core.text import clean, show_hidden
from codeagent.core.values import value

TAB = "    "
GOES_ON = "↳ "
"""What stands before a row that a line of code or of a command goes on in."""
UNFOLD = "unfold"
"""The link of a row that a click replaces by what it stands for."""

# Characters that take one cell each and join with nothing: the common case, cut by index.
_SINGLE = re.compile(
    "[\x20-\x7e\xa0-\xac\xae-\u02ff\u0370-\u0482\u2010-\u2027\u2190-\u21ff\u2500-\u25fc\u2800-\u28ff]*"
)
_OPENED = re.compile(r"(?:https?|mailto|file):[!-~]{1,2000}", re.IGNORECASE)
_NO_BLANK = re.compile("[^ ]")
_WIDE = 2
# Chinese and Japanese signs that never begin a line (JIS X 4051), the common ones.
_JOINERS = "\u200d\ufe0f"
_NEVER_FIRST = frozenset("、。，．・：；！？）］｝」』】〉》〕ー々ゝゞぁぃぅぇぉっゃゅょァィゥェォッャュョ")


# In code a row ends before a word, or else behind a sign that separates.
_BEFORE_WORD = re.compile(" (?=[^ ])")
_BEHIND_SIGN = re.compile(r"(?<=[,;:.)\]}>|/&=+-])(?=[^\s,;:.)\]}>|/&=+-])")
_NEARBY = 3
"""In the last third of a row of code a better place to cut it is looked for."""


@lru_cache(maxsize=1_024)
def _linked(style: Style, address: str) -> Style:
    """The style with what terminals that know links open (OSC 8), one for all rows of it; without for anything odd."""
    return style + Style(link=address) if _OPENED.fullmatch(address) else style


class Cut(Enum):
    """Where a text that is too long for a row is cut."""

    WORDS = "between words; the blanks there are swallowed"
    CODE = "before a word or behind a sign when there is one near the end, else anywhere; nothing is swallowed"
    ANYWHERE = "anywhere"


class Piece(NamedTuple):
    """A run of characters in one style; a tuple, since there are very many.

    ``copied`` is what copying gives in its place: None the text itself, empty
    nothing. ``link`` is where a click leads.
    """

    text: str
    style: Style
    copied: str | None = None
    link: str = ""


Pieces = tuple[Piece, ...]


@value
class Line:
    """One row of the screen.

    ``joint`` stands between this line and the one before when both are copied: a
    newline, or what a wrap swallowed. ``whole`` is copied, when given, if the
    line is taken from end to end. ``fill`` carries a background to the right edge.
    """

    pieces: Pieces = ()
    joint: str = "\n"
    whole: str | None = None
    fill: Style | None = None

    @property
    def text(self) -> str:
        """The characters as drawn."""
        return "".join([piece.text for piece in self.pieces])

    @property
    def width(self) -> int:
        """Cells taken, without the fill."""
        return sum([cell_len(piece.text) for piece in self.pieces])

    @property
    def is_drawn_only(self) -> bool:
        """Whether nothing of it can be copied, such as a frame."""
        return self.whole == ""

    def after(self, prefix: Pieces) -> Line:
        """The line with something before it."""
        return Line(pieces=prefix + self.pieces, joint=self.joint, whole=self.whole, fill=self.fill)

    def marked(self, span: tuple[int, int], mark: Style) -> Line:
        """The line with the characters of the span in another style on top."""
        return Line(pieces=_marked(self.pieces, span, mark), joint=self.joint, whole=self.whole, fill=self.fill)

    def strip(self, width: int, *, ground: Style | None = None) -> Strip:
        """The row as Textual draws it; with a ``ground`` it is drawn on that, to the full width.

        Whatever the pieces hold, no control character leaves from here.
        """
        pieces, fill, taken = self.pieces, self.fill, self.width
        if clean(text := self.text) != text:
            pieces = tuple([piece._replace(text=clean(piece.text)) for piece in pieces])
        styles = [piece.style if ground is None else ground + piece.style for piece in pieces]
        segments = [
            Segment(piece.text, _linked(style, piece.link) if piece.link else style)
            for piece, style in zip(pieces, styles, strict=True)
        ]
        if ground is not None:
            fill = ground + fill if fill is not None else ground
        if fill is not None and taken < width:
            segments.append(Segment(" " * (width - taken), fill))
            taken = width
        return Strip(segments, taken)

    def index_at(self, cell: int) -> int:
        """The index of the character drawn at a cell; the length of the text beyond its end."""
        text = self.text
        if _SINGLE.fullmatch(text):
            return min(max(cell, 0), len(text))
        at = 0
        for start, _, cells in split_graphemes(text)[0]:
            at += cells
            if cell < at:
                return start
        return len(text)

    def piece_at(self, cell: int) -> Piece | None:
        """The piece drawn at a cell, if any."""
        for piece in self.pieces:
            cell -= cell_len(piece.text)
            if cell < 0:
                return piece
        return None

    def copied(self, start: int = 0, end: int | None = None) -> str:
        """What copying the characters ``start`` to ``end`` gives."""
        length = len(self.text)
        end = length if end is None else end
        if self.whole is not None and start <= 0 and end >= length:
            return self.whole
        taken: list[str] = []
        at = 0
        for piece in self.pieces:
            first, last = max(start - at, 0), min(end - at, len(piece.text))
            if first < last:
                taken.append(piece.text[first:last] if piece.copied is None else piece.copied)
            at += len(piece.text)
        return "".join(taken)


EMPTY = Line()


def presentable(text: str) -> str:
    """Foreign prose as it may be drawn: no control characters, tabs as blanks, and nothing that hides or reorders.

    Marks that belong to a script or an emoji stay; where each space matters, use ``show_invisible``.
    """
    text = show_hidden(clean(text))
    return text.expandtabs(len(TAB)) if "\t" in text else text


def path_within(path: str, cells: int) -> str:
    """The end of a path that is too long for so many cells, which says more than its beginning."""
    shown, most = path, min(len(path), cells)
    while cell_len(shown) > cells and most > 0:
        shown = end_of_path(path, most)
        most -= 1
    return shown


def one_line(pieces: Iterable[Piece], width: int) -> Pieces:
    """As many cells of the pieces as fit; an ellipsis takes the place of the rest."""
    kept: list[Piece] = []
    left = width
    for piece in pieces:
        cells = cell_len(piece.text)
        if cells <= left:
            kept.append(piece)
            left -= cells
            continue
        kept.append(piece._replace(text=_cut(piece.text, left - 1) + "…") if left > 0 else piece._replace(text=""))
        break
    return tuple(kept)


def wrap(
    pieces: Sequence[Piece],
    width: int,
    *,
    first: Pieces = (),
    rest: Pieces | None = None,
    cut: Cut = Cut.WORDS,
    fill: Style | None = None,
) -> list[Line]:
    """The pieces in lines of at most ``width`` cells, ``first`` and ``rest`` drawn before them.

    A newline in a piece ends a line.
    """
    rest = first if rest is None else rest
    width = max(width - max(sum(cell_len(piece.text) for piece in before) for before in (first, rest)), 1)
    lines: list[Line] = []
    for logical in split_at_newlines(pieces):
        text = "".join([piece.text for piece in logical])
        spans = breaks(text, width, cut)
        if len(spans) == 1:
            lines.append(Line(pieces=(rest if lines else first) + tuple(logical), fill=fill))
            continue
        joints = ["\n", *(text[before[1] : after[0]] for before, after in pairwise(spans))]
        cuts = Cuts(logical)
        for joint, span in zip(joints, spans, strict=True):
            lines.append(Line(pieces=(rest if lines else first) + cuts.between(*span), joint=joint, fill=fill))
    return lines


def split_at_newlines(pieces: Iterable[Piece]) -> list[list[Piece]]:
    """The pieces of each logical line."""
    lines: list[list[Piece]] = [[]]
    for piece in pieces:
        if "\n" not in piece.text:
            if piece.text:
                lines[-1].append(piece)
            continue
        head, *more = piece.text.split("\n")
        if head:
            lines[-1].append(piece._replace(text=head))
        lines.extend([piece._replace(text=part)] if part else [] for part in more)
    return lines


def breaks(text: str, width: int, cut: Cut = Cut.WORDS) -> list[tuple[int, int]]:
    """Where a text without newlines is cut so that each part takes at most ``width`` cells; at least one part."""
    if len(text) <= width // _WIDE:
        return [(0, len(text))]
    is_single = _SINGLE.fullmatch(text) is not None
    if cut is Cut.CODE:
        return list(_single_code_breaks(text, width) if is_single else _cell_code_breaks(text, width))
    if is_single:
        return list(_single_breaks(text, width, by_word=cut is Cut.WORDS))
    return list(_cell_breaks(text, width, by_word=cut is Cut.WORDS))


def count_code_rows(text: str, width: int) -> int:
    """How many lines a text without newlines takes when it is cut as code."""
    length = len(text)
    if length <= 2 * width - width // _NEARBY and _SINGLE.fullmatch(text):
        return 1 + (length > width)  # a first row that is cut early still leaves no more than one for the second
    return len(breaks(text, width, Cut.CODE))


def _single_breaks(text: str, width: int, *, by_word: bool) -> Iterator[tuple[int, int]]:
    start, length = 0, len(text)
    while length - start > width:
        cut = text.rfind(" ", start, start + width + 1) if by_word else -1
        end = start + len(text[start:cut].rstrip(" ")) if cut > start else start
        if end == start:
            yield start, start + width
            start += width
            continue
        yield start, end
        start = length if (behind := _NO_BLANK.search(text, cut)) is None else behind.start()
    if start < length or not length:
        yield start, length


def _cell_breaks(text: str, width: int, *, by_word: bool) -> Iterator[tuple[int, int]]:
    """As above for texts with wide or joined characters; between two wide ones a line may end as well."""
    start = at = 0
    cut: tuple[int, int] | None = None
    was_wide = False
    spans = split_graphemes(text)[0]
    for first, last, cells in spans:
        is_space = text[first:last].rstrip(_JOINERS) == " "
        if cells == _WIDE and was_wide and first > start and text[first] not in _NEVER_FIRST:
            cut = (first, first)
        if at + cells > width and first > start and not (is_space and by_word):
            end, following = cut if by_word and cut is not None else (first, first)
            yield start, end
            start, cut = following, None
            at = cell_len(text[start:first])
        at += cells
        was_wide = cells == _WIDE
        if is_space and text[start:first].strip():
            cut = (start + len(text[start:first].rstrip()), last)
    yield start, len(text) if at <= width else start + len(text[start:].rstrip(" "))


def _single_code_breaks(text: str, width: int) -> Iterator[tuple[int, int]]:
    start, length = 0, len(text)
    while length - start > width:
        low, end = start + width - width // _NEARBY, start + width
        places = [found.end() for found in _BEFORE_WORD.finditer(text, low - 1, end + 1)]
        places = places or [found.start() for found in _BEHIND_SIGN.finditer(text, low, end + 1)]
        place = places[-1] if places and text[start : places[-1]].strip() else end
        yield start, place
        start = place
    yield start, length


def _cell_code_breaks(text: str, width: int) -> Iterator[tuple[int, int]]:
    """As above for texts with wide or joined characters; between two wide ones is as good as before a word."""
    spans = split_graphemes(text)[0]
    start = 0
    while start < len(spans):
        end, taken, low = start, 0, start + 1
        while end < len(spans) and (end == start or taken + spans[end][2] <= width):
            taken += spans[end][2]
            end += 1
            low = end if taken <= width - width // _NEARBY else low
        if end < len(spans) and text[spans[start][0] : spans[low - 1][1]].strip():
            near = range(end, low - 1, -1)
            words = (at for at in near if _begins_word(text, spans, at))
            signs = (at for at in near if _BEHIND_SIGN.match(text, spans[at][0]))
            end = next(words, None) or next(signs, None) or end
        yield spans[start][0], spans[end][0] if end < len(spans) else len(text)
        start = end
    if not spans:
        yield 0, len(text)


def _begins_word(text: str, spans: Sequence[tuple[int, int, int]], at: int) -> bool:
    """Whether a row may end before that character as it does before a word."""
    (first, last, cells), before = spans[at], spans[at - 1]
    if cells == _WIDE == before[2]:
        return text[first] not in _NEVER_FIRST
    return text[before[0] : before[1]] == " " != text[first:last]


def is_all_narrow(text: str) -> bool:
    """Whether each character surely takes one cell and joins with none beside it."""
    return _SINGLE.fullmatch(text) is not None


def between(pieces: Iterable[Piece], start: int, end: int) -> Pieces:
    """The characters ``start`` to ``end`` of the pieces; what a piece copies goes with its first part."""
    kept: list[Piece] = []
    at = 0
    for piece in pieces:
        first, last = max(start - at, 0), min(end - at, len(piece.text))
        if first < last:
            copied = piece.copied if piece.copied is None or first == 0 else ""
            kept.append(Piece(piece.text[first:last], piece.style, copied, piece.link))
        at += len(piece.text)
        if at >= end:
            break
    return tuple(kept)


class Cuts:
    """The pieces of a line that is cut at many places, each found without going through all pieces before it."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._pieces = pieces
        self._ends = list(accumulate(len(piece.text) for piece in pieces))

    def between(self, start: int, end: int) -> Pieces:
        """As the function."""
        first = bisect_right(self._ends, start)
        last = bisect_left(self._ends, end, first) + 1
        before = self._ends[first - 1] if first else 0
        return between(self._pieces[first:last], start - before, end - before)


def _marked(pieces: Pieces, marked: tuple[int, int], mark: Style) -> Pieces:
    start, end = marked
    length = sum(len(piece.text) for piece in pieces)
    within = tuple(piece._replace(style=piece.style + mark) for piece in between(pieces, start, end))
    return between(pieces, 0, start) + within + between(pieces, end, length)


def _cut(text: str, width: int) -> str:
    if width <= 0:
        return ""
    start, end = breaks(text, width, Cut.ANYWHERE)[0]
    return text[start:end]
