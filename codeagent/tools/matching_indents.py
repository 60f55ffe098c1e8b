"""Moves the new text to the depth that the file has, where the old text was sent with another indentation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from codeagent.tools.matching_document import BLANKS, indentation

_UNITS = (2, 3, 4, 8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """The blanks that every line of the old text lacks, or has too many."""

    blanks: str
    is_outward: bool

    def fit(self, line: str) -> str | None:
        """One line of the new text at the file's depth; None if it can not move there."""
        if not line.strip(BLANKS):
            return line
        if self.is_outward:
            return line.removeprefix(self.blanks) if line.startswith(self.blanks) else None
        has_tab_behind_space = self.blanks.endswith(" ") and line.startswith("\t")
        return None if has_tab_behind_space else self.blanks + line


@dataclass(frozen=True, slots=True, kw_only=True)
class TabWidth:
    """One tab for so many spaces; ``to_tabs`` when the file has the tabs."""

    spaces: int
    to_tabs: bool

    def fit(self, line: str) -> str | None:
        """One line of the new text indented as the file is; None if its indentation is not of that kind."""
        text = line.lstrip(BLANKS)
        blanks = indentation(line)
        if not text:
            return line
        if self.to_tabs and "\t" not in blanks and len(blanks) % self.spaces == 0:
            return "\t" * (len(blanks) // self.spaces) + text
        if not self.to_tabs and " " not in blanks:
            return " " * (len(blanks) * self.spaces) + text
        return None


def find_shift(old_lines: Sequence[str], file_lines: Sequence[str]) -> Shift | None:
    """The one shift that turns the indentation of every old line into that of the file's line, if there is one."""
    shifts = {_shift(indentation(old), indentation(line)) for old, line in _worded(old_lines, file_lines)}
    return shifts.pop() if len(shifts) == 1 else None


def find_tab_width(old_lines: Sequence[str], file_lines: Sequence[str]) -> TabWidth | None:
    """The number of spaces per tab that makes both sides equal; one has to have only tabs, the other only spaces."""
    pairs = [(indentation(old), indentation(line)) for old, line in _worded(old_lines, file_lines)]
    old_blanks = {blank for old, _ in pairs for blank in old}
    file_blanks = {blank for _, line in pairs for blank in line}
    if {frozenset(old_blanks), frozenset(file_blanks)} != {frozenset(" "), frozenset("\t")}:
        return None
    to_tabs = file_blanks == {"\t"}
    for unit in _UNITS:
        if all(len(old) == len(line) * unit if to_tabs else len(old) * unit == len(line) for old, line in pairs):
            return TabWidth(spaces=unit, to_tabs=to_tabs)
    return None


def _worded(old_lines: Sequence[str], file_lines: Sequence[str]) -> list[tuple[str, str]]:
    return [(old, line) for old, line in zip(old_lines, file_lines, strict=True) if old.strip(BLANKS)]


def _shift(old: str, line: str) -> Shift | None:
    if line.endswith(old):
        return Shift(blanks=line.removesuffix(old), is_outward=False)
    if old.endswith(line):
        return Shift(blanks=old.removesuffix(line), is_outward=True)
    return None
