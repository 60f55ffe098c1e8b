"""Characters that cannot be seen, in a field: each is written out there, such as <U+202E>, and is itself in the text.

What is typed letter by letter and looks the same is no such mark: the brackets of one are characters that nobody types.
"""

from __future__ import annotations

from codeagent.core.seldom import seldom
from codeagent.core.text import show_invisible

_OPEN, _CLOSE = "\U0010fff0", "\U0010fff1"  # for private use (Unicode, 23.5), drawn as the brackets that they are
_MARK = seldom(f"{_OPEN}U\\+([0-9A-F]{{4,6}}){_CLOSE}")
_BRACKETS = str.maketrans({_OPEN: "<", _CLOSE: ">"})


def write_out(text: str) -> str:
    """The text as a field holds it, with a mark for each character that cannot be seen."""
    return text if text.isascii() else show_invisible(text, _OPEN + _CLOSE)


def read_back(held: str) -> str:
    """The text that a field holds, with the characters themselves."""
    if held.isascii():
        return held
    return drawn(_MARK().sub(lambda found: chr(int(found[1], 16)), held))


def drawn(held: str) -> str:
    """What a field holds as it is seen; a mark that was broken is what is left of it."""
    return held if held.isascii() else held.translate(_BRACKETS)


def written_in(line: str) -> list[tuple[int, int]]:
    """Start and end of each mark in a line that a field holds."""
    return [] if line.isascii() else [found.span() for found in _MARK().finditer(line)]


def mark_at(line: str, column: int) -> tuple[int, int] | None:
    """Start and end of the mark that the cursor is in or directly behind."""
    return next(((start, end) for start, end in written_in(line) if start < column <= end), None)
