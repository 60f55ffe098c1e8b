"""What a session may never need: how an edit finds its place, and the searches' regular expressions.

Loaded when first used, on the thread that uses them; the one place among the
tools where imports stand inside functions, so that a session without edits and
searches neither waits for them nor keeps them in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from codeagent.tools.matching_result import EditMatch


class Found(Protocol):
    """Where a pattern was found."""

    def start(self) -> int:
        """The position in the text, from 0."""
        ...


class SearchPattern(Protocol):
    """A regular expression that can be given a time limit, in seconds."""

    def search(self, string: str, *, concurrent: bool | None = None, timeout: float | None = None) -> Found | None:
        """Where it is found first; raises TimeoutError. ``concurrent`` lets other threads go on meanwhile."""
        ...


def compile_search(pattern: str) -> SearchPattern:
    """The pattern, ``^`` and ``$`` at each line; raises ValueError when it is no regular expression."""
    import regex

    try:
        return regex.compile(pattern, regex.MULTILINE)
    except regex.error as error:
        raise ValueError(str(error)) from None


def apply_edits(content: bytes | None, edits: Sequence[tuple[str, str]], *, replace_all: bool) -> EditMatch:
    """One edit or several, as the functions of ``matching`` make them."""
    from codeagent.tools import matching

    if len(edits) == 1:
        return matching.apply_edit(content, *edits[0], replace_all=replace_all)
    return matching.apply_edits(content, edits)
