"""Finding words in the transcript, wherever they are wrapped and whether or not they are folded away."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from codeagent.tui.widgets.column import Column, Place
from codeagent.tui.widgets.lines import Line

Stretch = tuple[Place, Place]


def blocks_with(column: Column, words: str, start: int, step: int) -> Iterator[int]:
    """The blocks that hold the words, upper and lower case alike, from ``start`` in steps of 1 or -1, once round."""
    pattern = _pattern(words)
    for distance in range(len(column) + 1):
        index = (start + step * distance) % len(column)
        block = column.block(index)
        if block is not None and pattern.search(block.words()):
            yield index


def stretches(column: Column, words: str, index: int) -> list[Stretch]:
    """Where the words are drawn in a block, top to bottom; nothing where Markdown's signs lie between them."""
    text, places = _flow(column.lines(index))
    found = [(places[hit.start()], places[hit.end() - 1]) for hit in _pattern(words).finditer(text)]
    return [(Place(index, first[0], first[1]), Place(index, last[0], last[1] + 1)) for first, last in found]


def _pattern(words: str) -> re.Pattern[str]:
    return re.compile(re.escape(words), re.IGNORECASE)


def _flow(lines: Sequence[Line]) -> tuple[str, list[tuple[int, int]]]:
    """The text without gutters and wraps, and for each of its characters the line and the character drawn there."""
    parts: list[str] = []
    places: list[tuple[int, int]] = []
    for number, line in enumerate(lines):
        parts.append(line.joint)
        places += [(number, 0)] * len(line.joint)
        at = 0
        for piece in line.pieces:
            if piece.copied is None:
                parts.append(piece.text)
                places += [(number, at + offset) for offset in range(len(piece.text))]
            at += len(piece.text)
    return "".join(parts), places
