"""Long pastes, folded in the prompt to a short mark that stands for the text."""

from __future__ import annotations

import re

LONGEST_OPEN_PASTE = 20
_MARK = re.compile(r"\[pasted text #\d+ · \d+ lines\]")


class FoldedPastes:
    """The pasted texts behind the marks of one prompt."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def fold(self, text: str) -> str:
        """A mark for a paste of more than 20 lines; a shorter one as it is."""
        lines = text.count("\n") + 1
        if lines <= LONGEST_OPEN_PASTE:
            return text
        mark = f"[pasted text #{len(self._texts) + 1} · {lines} lines]"
        self._texts[mark] = text
        return mark

    def unfold(self, text: str) -> str:
        """The text with every mark replaced by what was pasted."""
        return _MARK.sub(lambda found: self._texts.get(found[0], found[0]), text)

    def mark_at(self, line: str, column: int) -> tuple[int, int] | None:
        """Start and end of the mark that the cursor is in or directly behind."""
        for found in _MARK.finditer(line):
            if found.start() < column <= found.end() and found[0] in self._texts:
                return found.span()
        return None
