"""Where a long text is cut, so that no part of a key is left that nobody could tell from other letters."""

from __future__ import annotations

from codeagent.core.seldom import seldom
from codeagent.core.text import Redactor

_LONGEST_KEY = 4_096
_REST_OF_KEY = seldom(
    r"(?s:(?:(?!-{5}BEGIN ).){0,16384}?-{5}END [A-Z ]{0,40}KEY-{5})|[^\n]{0,1000}\n"
    r"|\s*(?:[!-~]{0,60}(?i:basic|bearer|token)\s+)?[!-~]{0,4096}"
)


def shortened(text: str, limit: int) -> str:
    """The text up to ``limit`` characters, fewer where a key would be cut in two, as that would hide what it is."""
    return text if len(text) <= limit else text[: Redactor().cut(text[: limit + _LONGEST_KEY], limit)]


def begun_before(text: str, at: int) -> int:
    """Where to begin instead of ``at``, so that a key which stands there is shown from its first character."""
    first = max(0, at - _LONGEST_KEY)
    return first + Redactor().cut(text[first : at + _LONGEST_KEY], at - first)


def without_cut_start(text: str) -> str:
    """A text whose beginning was cut off, without what may be the rest of a key: of a line, a word, or a block."""
    found = _REST_OF_KEY().match(text)
    return text[found.end() :] if found else text
