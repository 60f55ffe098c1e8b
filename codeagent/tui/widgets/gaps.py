"""Long blanks and empty lines written out as a count, so that nothing can hide behind them."""

from __future__ import annotations

import re

_LONG_BLANK = re.compile(r"[ \t]{24,}")
_LONG_GAP = re.compile(r"\n{5,}")


def count_gaps(text: str) -> str:
    """The text with every long run of blanks or empty lines replaced by how long it is."""
    return _LONG_GAP.sub(_counted_gap, _LONG_BLANK.sub(_counted_blank, text))


def _counted_blank(found: re.Match[str]) -> str:
    return f" <{len(found[0]) - 2} blanks> "


def _counted_gap(found: re.Match[str]) -> str:
    return f"\n<{len(found[0]) - 1} empty lines>\n"
