"""The colours of a change: code as its language has it, and the words that differ from the line before."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from rich.style import Style

from codeagent.core.diff import DiffLine, FileDiff, LineKind, Spans, line_pairs, word_spans
from codeagent.core.seldom import seldom
from codeagent.tui.later import language_of
from codeagent.tui.themes import Palette
from codeagent.tui.widgets.code_lines import highlight
from codeagent.tui.widgets.diff_layout import shown
from codeagent.tui.widgets.lines import Piece

_FEWEST = 24
"""At least so many lines of one side are read as one text, so that most strings over several lines are within it."""

_LONG_QUOTES = seldom(r"\"{3}|'{3}")
_OPENING = seldom(r"(?:[=(\[{,:+]|\breturn|\byield|^)\s*[rbfu]{0,2}$", re.IGNORECASE)

_SIDES = {LineKind.REMOVED: 0, LineKind.ADDED: 1}


class _Reading(NamedTuple):
    """A hunk as its old and its new text: the places of their lines, and of each place its text and line there."""

    texts: tuple[list[int], list[int]]
    where: list[tuple[int, int]]


class DiffPainter:
    """Works colours out for a stretch of lines at a time, when one of them is looked at or ahead of that."""

    def __init__(self, diff: FileDiff, palette: Palette) -> None:
        self._diff = diff
        self._palette = palette
        self._language = language_of(diff.path)
        self._together = _FEWEST
        self._stretch = lru_cache(maxsize=128)(self._painted)
        self._readings: dict[int, _Reading] = {}
        self._partners: dict[int, dict[int, int]] = {}
        self._words = lru_cache(maxsize=1_024)(word_spans)

    def expect(self, rows: int) -> None:
        """So many rows are looked at together, from the beginning of a hunk: reading more of them would cost more."""
        self._together = max(rows, _FEWEST)

    def line(self, hunk: int, place: int) -> list[Piece]:
        """One line's code."""
        side, at = self._reading(hunk).where[place]
        count = self._together
        return self._stretch(hunk, side, at - at % count, count)[at % count]

    def words(self, hunk: int, place: int) -> Spans:
        """The characters of a line that differ from the line it takes the place of."""
        if hunk not in self._partners:
            self._partners[hunk] = line_pairs(self._diff.hunks[hunk].lines)
        other = self._partners[hunk].get(place)
        if other is None:
            return ()
        lines = self._diff.hunks[hunk].lines
        old, new = min(place, other), max(place, other)
        return self._words(shown(lines[old].text), shown(lines[new].text))[place == new]

    def _reading(self, hunk: int) -> _Reading:
        if hunk not in self._readings:
            self._readings[hunk] = _read(self._diff.hunks[hunk].lines)
        return self._readings[hunk]

    def _painted(self, hunk: int, side: int, start: int, count: int) -> list[list[Piece]]:
        """Old and new lines are each read as one text, so that strings over several lines come out right.

        So do those that began further up, in Python.
        """
        lines = self._diff.hunks[hunk].lines
        places = self._reading(hunk).texts[side][start : start + count]
        code = "\n".join(shown(lines[place].text) for place in places)
        is_at_top = start == 0 and self._diff.hunks[hunk].new_start <= 1
        opened = "" if is_at_top or self._language != "python" else _string_before(code)
        painted = highlight(f"{opened}\n{code}", self._language, self._palette)[1:]
        return painted + [[] for _ in places[len(painted) :]]


def _string_before(code: str) -> str:
    """The quotes of the long string that Python code begins within, as its first such quotes tell; else empty."""
    before = ""
    for line in code.split("\n"):
        found = _LONG_QUOTES().search(line)
        if found is None:
            before = line.strip() or before
            continue
        ahead, behind = line[: found.start()].strip(), line[found.end() :].strip()
        if ahead:
            opens = _OPENING().search(ahead) is not None
        elif behind:
            opens = behind[0] not in ").,;#%]}"
        else:
            opens = before.endswith((":", "(", "=", "[")) if before else code.count(found[0]) % 2 == 0
        return "" if opens or line.count(found[0]) % 2 == 0 else found[0]
    return ""


def _read(lines: Sequence[DiffLine]) -> _Reading:
    """Unchanged lines are read with the changed ones before them, which are near; the first ones with those after."""
    texts: tuple[list[int], list[int]] = ([], [])
    where: list[tuple[int, int]] = []
    side = next((_SIDES[line.kind] for line in lines if line.kind in _SIDES), 0)
    for place, line in enumerate(lines):
        side = _SIDES.get(line.kind, side)
        where.append((side, len(texts[side])))
        for text in texts if line.kind is LineKind.SAME else (texts[side],):
            text.append(place)
    return _Reading(texts, where)


def with_words(
    pieces: list[Piece], spans: Spans, ground: Style, put_on: Callable[[Style, Style], Style]
) -> list[Piece]:
    """The pieces, the characters within the spans put on another ground."""
    if not spans:
        return pieces
    marked: list[Piece] = []
    at = 0
    (first, _), (_, last) = spans[0], spans[-1]
    edges = sorted({edge for span in spans for edge in span})
    for piece in pieces:
        end = at + len(piece.text)
        if end <= first or at >= last:
            marked.append(piece)
            at = end
            continue
        cuts = [at, *(edge for edge in edges if at < edge < end), end]
        for start, stop in pairwise(cuts):
            is_within = any(left <= start < right for left, right in spans)
            style = put_on(piece.style, ground) if is_within else piece.style
            marked.append(Piece(piece.text[start - at : stop - at], style, piece.copied))
        at = end
    return marked
