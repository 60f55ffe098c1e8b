"""Where characters begin and end as people see them: accents, joined emoji and flags are one each."""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import split_graphemes

_FURTHEST = 64
_FLAGS = range(0x1F1E6, 0x1F200)  # regional indicators, which make a flag in pairs (Unicode, UAX 29)


def edge_before(text: str, at: int) -> int:
    """Where the character begins that ends there, or that goes on there."""
    return next((edge for edge in reversed(list(_edges(text, at))) if edge < at), max(at - 1, 0))


def edge_after(text: str, at: int) -> int:
    """Where the character ends that begins there."""
    return next((edge for edge in _edges(text, at) if edge > at), min(at + 1, len(text)))


def _edges(text: str, at: int) -> Iterator[int]:
    """The edges around a place, found from the last letter before it that stands by itself."""
    start = at
    while start > 0 and at - start < _FURTHEST and not text[start - 1].isascii():
        start -= 1
    start = max(start - 1, 0)
    if text[start : at + 2].isascii():
        yield from range(start, min(at + 2, len(text)) + 1)
        return
    is_half_flag = False
    for begin, _, _ in split_graphemes(text[start : at + _FURTHEST])[0]:
        is_flag = ord(text[start + begin]) in _FLAGS
        if not (is_flag and is_half_flag):
            yield start + begin
        is_half_flag = is_flag and not is_half_flag
    yield min(at + _FURTHEST, len(text))
