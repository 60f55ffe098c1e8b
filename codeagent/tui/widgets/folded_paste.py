"""Long pastes, folded in the prompt to a short mark that stands for the text."""

from __future__ import annotations

import re
from collections.abc import Iterable

from codeagent.core.text import counted

LONGEST_OPEN_PASTE = 20
LONGEST_OPEN_TEXT = 4_000
_LONGEST_OPENED = 200_000
_MARK = re.compile(r"\[pasted text #\d+ · [\d,]+ (?:lines|characters)\]")
_MARK_AND_NEWLINE = re.compile(rf"({_MARK.pattern})(\n?)")


class FoldedPastes:
    """The pasted texts behind the marks of one prompt."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._earlier: list[str] = []

    def fold(self, text: str) -> str:
        """A mark for a text of more than 20 lines or 4,000 characters; a shorter one as it is."""
        lines = text.count("\n") + 1
        if lines <= LONGEST_OPEN_PASTE and len(text) <= LONGEST_OPEN_TEXT:
            return text
        return self._mark(text)

    @property
    def texts(self) -> tuple[str, ...]:
        """All of them, oldest first."""
        return tuple(self._texts.values())

    def take(self, texts: Iterable[str]) -> None:
        """Texts that were pasted before the program ended last time."""
        for text in texts:
            self._mark(text)

    def know(self, texts: Iterable[str]) -> None:
        """Texts that were pasted in what was sent before the program ended: they get a mark when they come back."""
        self._earlier = sorted({*self._earlier, *texts}, key=len, reverse=True)

    def _mark(self, text: str) -> str:
        lines = text.count("\n") + 1
        size = counted(lines, "line") if lines > LONGEST_OPEN_PASTE else counted(len(text), "character")
        mark = f"[pasted text #{len(self._texts) + 1} · {size}]"
        self._texts[mark] = text
        return mark

    def fold_what_is_too_long(self, text: str) -> str:
        """A mark for a text that is too long to be typed in without a pause, whatever marks it has; else as it is."""
        return text if len(text) <= _LONGEST_OPENED else self.fold(self.unfold(text))

    def unfold(self, text: str) -> str:
        """The text with every mark replaced by what was pasted.

        A newline behind the mark is the one that the pasted text ends with, where it ends with one.
        """

        def pasted(found: re.Match[str]) -> str:
            whole = self._texts.get(found[1], found[1])
            return whole if whole.endswith("\n") else whole + found[2]

        return _MARK_AND_NEWLINE.sub(pasted, text)

    def fold_again(self, text: str, before: str) -> str:
        """The text with the marks that stood in ``before``, in their order, where what they stand for is whole."""
        at = 0
        for found in _MARK.finditer(before):
            whole = self._texts.get(found[0], "")
            place = text.find(whole, at) if whole else -1
            if place >= 0:
                text = self._put_mark(text, found[0], place, place + len(whole))
                at = place + len(found[0])
        return text

    def fold_known(self, text: str) -> str:
        """The text with a mark for each paste that is whole in it, but for what sending takes from its ends."""
        for whole in [one for one in self._earlier if len(one) <= len(text) and one in text]:
            self._earlier.remove(whole)
            if whole not in self._texts.values():
                self._mark(whole)
        for mark, whole in sorted(self._texts.items(), key=lambda one: len(one[1]), reverse=True):
            first, last = whole.lstrip(), whole.rstrip()
            if (place := text.find(whole)) >= 0:
                text = self._put_mark(text, mark, place, place + len(whole))
            elif last and text.endswith(last):
                text = self._put_mark(text, mark, len(text) - len(last), len(text))
            elif first and text.startswith(first):
                text = self._put_mark(text, mark, 0, len(first))
            elif text and text == whole.strip():
                text = mark
        return text

    def _put_mark(self, text: str, mark: str, start: int, end: int) -> str:
        gap = "\n" if self._texts[mark].endswith("\n") and end < len(text) else ""
        return f"{text[:start]}{mark}{gap}{text[end:]}"

    def gap_behind(self, mark: str) -> str:
        """What parts the pasted text from words typed behind it: a newline behind lines, a blank behind one line."""
        return "\n" if "\n" in self._texts.get(mark, "") else " "

    def can_open(self, mark: str) -> bool:
        """Whether the text behind the mark is short enough to be edited in the prompt."""
        return len(self._texts.get(mark, "")) <= _LONGEST_OPENED

    def marks_in(self, line: str) -> list[tuple[int, int]]:
        """Start and end of each mark that stands for a paste."""
        return [found.span() for found in _MARK.finditer(line) if found[0] in self._texts]

    def mark_at(self, line: str, column: int) -> tuple[int, int] | None:
        """Start and end of the mark that the cursor is in or directly behind."""
        return next(((start, end) for start, end in self.marks_in(line) if start < column <= end), None)
