"""What a session without rules about paths never needs: patterns as git's ignore files have them.

Loaded when the first one is used; the one place of the policy where an import
stands inside a function, so that a session without them neither waits for it
nor keeps it in memory.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from os import PathLike
from typing import Protocol


class IgnorePattern(Protocol):
    """One line of a gitignore file."""

    @property
    def include(self) -> bool | None:
        """Whether it ignores files: not for an exception, None for a remark."""
        ...


class IgnoreSpec(Protocol):
    """Patterns of a gitignore file (see gitignore(5)), the last one that fits decides."""

    @property
    def patterns(self) -> Iterable[IgnorePattern]:
        """One for each line."""
        ...

    def match_file(self, file: str | PathLike[str]) -> bool:
        """Whether a relative path is meant; that of a folder ends with a slash."""
        ...


def ignore_spec(lines: Iterable[str]) -> IgnoreSpec:
    """The patterns of these lines."""
    from pathspec import GitIgnoreSpec

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # on sets such as [a~~], which a later Python may read otherwise
        return GitIgnoreSpec.from_lines(lines)


def names_files(line: str) -> bool:
    """Whether a line is a pattern that some file could fit: neither broken nor a remark, nor an exception."""
    try:
        patterns = ignore_spec([line]).patterns
    except (ValueError, re.error):  # a range such as [z-a]
        return False
    return any(pattern.include for pattern in patterns)
