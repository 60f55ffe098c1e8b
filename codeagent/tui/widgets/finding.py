"""Where words stand in drawn lines, wherever those are wrapped; gutters, frames and padding are not searched.

A line that is not copied, but is said of those above it, is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from codeagent.tui.widgets.lines import Line, Piece, presentable

_NEAR = 500
"""Characters on either side of a line that are looked at for what begins or ends there; more for longer words."""

Spot = tuple[int, int]
"""A line, and a character of it."""

Hit = tuple[Spot, Spot]
"""From one spot up to another."""


def pattern_of(words: str) -> re.Pattern[str]:
    """What finds the words as they are drawn, upper and lower case alike; no sign means anything but itself."""
    return re.compile(re.escape(presentable(words)), re.IGNORECASE)


def hits(lines: Sequence[Line], pattern: re.Pattern[str]) -> list[Hit]:
    """All places where the words are drawn, top to bottom; none where Markdown's signs lie between them."""
    return [hit for found in hits_by_paragraph(lines, pattern) for hit in found]


def hits_by_paragraph(lines: Sequence[Line], pattern: re.Pattern[str]) -> Iterator[list[Hit]]:
    """The same, a paragraph at a time, so that long texts can be searched in small steps."""
    start = 0
    while start < len(lines):
        paragraph = _paragraph(lines, start)
        yield _hits(paragraph, start, pattern)
        start += len(paragraph)


def spans(lines: Sequence[Line], number: int, pattern: re.Pattern[str]) -> list[tuple[int, int]]:
    """The characters of one line that belong to a hit; its own paragraph is looked at, of a long one what is near."""
    start, reach = number, max(_NEAR, len(pattern.pattern))
    before = after = 0
    while start and lines[start].joint != "\n" and before < reach:
        start -= 1
        before += len(lines[start].text)
    near = [lines[at] for at in range(start, number + 1)]
    while start + len(near) < len(lines) and (line := lines[start + len(near)]).joint != "\n" and after < reach:
        near.append(line)
        after += len(line.text)
    found: list[tuple[int, int]] = []
    line = lines[number]
    for (first, begin), (last, end) in _hits(near, start, pattern):
        if first <= number <= last:
            from_here = begin if first == number else _margin(line)
            found.append((from_here, end if last == number else len(line.text)))
    return found


def _margin(line: Line) -> int:
    """How many characters of gutters stand before the text."""
    return next((at for at, _ in _sought(line)), len(line.text))


def _sought(line: Line) -> Iterator[tuple[int, Piece]]:
    """What of a line is searched, each with the character that it begins at."""
    is_said_of_others = line.whole is None and not any(piece.copied is None for piece in line.pieces)
    at = 0
    for number, piece in enumerate(line.pieces):
        if piece.copied is None or (is_said_of_others and number):  # the first is a gutter
            yield at, piece
        at += len(piece.text)


def _paragraph(lines: Sequence[Line], start: int) -> list[Line]:
    """The lines that one line of the text was wrapped to."""
    paragraph = [lines[start]]
    while start + len(paragraph) < len(lines) and (line := lines[start + len(paragraph)]).joint != "\n":
        paragraph.append(line)
    return paragraph


def _hits(paragraph: Sequence[Line], start: int, pattern: re.Pattern[str]) -> list[Hit]:
    text, spots = _flow(paragraph, start)
    found = [(spots[hit.start()], spots[hit.end() - 1]) for hit in pattern.finditer(text)]
    return [(first, (last[0], last[1] + 1)) for first, last in found]


def _flow(lines: Sequence[Line], start: int) -> tuple[str, list[Spot]]:
    """The text without gutters and wraps, and for each of its characters the spot where it is drawn."""
    parts: list[str] = []
    spots: list[Spot] = []
    for number, line in enumerate(lines, start):
        parts.append(line.joint)
        spots += [(number, 0)] * len(line.joint)
        for at, piece in _sought(line):
            parts.append(piece.text)
            spots += [(number, at + offset) for offset in range(len(piece.text))]
    return "".join(parts), spots
