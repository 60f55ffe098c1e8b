"""What an edit made of a file, and how closely its old text fitted."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class MatchLevel(StrEnum):
    """What had to be overlooked to find the old text."""

    EXACT = "exact"
    TYPOGRAPHY = "typographic characters"
    TRAILING_BLANKS = "trailing blanks"
    INDENTATION = "indentation"
    TABS = "tabs and spaces"
    BLANK_LINES = "blank lines around it"
    LINE_NUMBERS = "line numbers"


@dataclass(frozen=True, slots=True, kw_only=True)
class EditMatch:
    """The file after an edit; ``lines`` are first and last line (1-based, in the old file) of each place it changed."""

    content: bytes
    level: MatchLevel
    lines: tuple[tuple[int, int], ...]
