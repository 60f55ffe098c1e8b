"""Fields of one line and of several, in which a character is what people see as one: accents, joined emoji and flags.

Characters that cannot be seen are written out in it, such as <U+202E>, and are themselves in its text. What is typed
letter by letter and looks the same is no such mark: the brackets of one are characters that nobody types.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import split_graphemes
from rich.text import Text
from textual.document._document import EditResult
from textual.document._edit import Edit
from textual.widgets import Input, TextArea
from textual.widgets.input import Selection

from codeagent.core.seldom import seldom
from codeagent.core.text import show_invisible

_OPEN, _CLOSE = "\U0010fff0", "\U0010fff1"  # for private use (Unicode, 23.5), drawn as the brackets that they are
_MARK = seldom(f"{_OPEN}U\\+([0-9A-F]{{4,6}}){_CLOSE}")
_BRACKETS = str.maketrans({_OPEN: "<", _CLOSE: ">"})
_FURTHEST = 64
_JOINING = "\u094d\u09cd\u0acd\u0b4d\u0c4d\u0d4d"  # make one of the consonants around them (Unicode, UAX 29, GB9c)
_FLAGS = range(0x1F1E6, 0x1F200)  # regional indicators, which make a flag in pairs (Unicode, UAX 29)


def edge_before(text: str, at: int) -> int:
    """Where the character begins that ends there, or that goes on there."""
    return next((edge for edge in reversed(list(_edges(text, at))) if edge < at), max(at - 1, 0))


def edge_after(text: str, at: int) -> int:
    """Where the character ends that begins there."""
    return next((edge for edge in _edges(text, at) if edge > at), min(at + 1, len(text)))


def edge_at(text: str, at: int) -> int:
    """The place, where no character goes on there; else where that one begins."""
    return at if at >= len(text) or text[at : at + 1].isascii() else edge_before(text, at + 1)


def _edge_from(text: str, at: int) -> int:
    """The place, where no character goes on there; else where that one ends."""
    return at if edge_at(text, at) == at else edge_after(text, at)


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
        first = text[start + begin]
        is_flag = ord(first) in _FLAGS
        is_joined = begin > 0 and text[start + begin - 1] in _JOINING and first.isalpha()
        if not (is_flag and is_half_flag) and not is_joined:
            yield start + begin
        is_half_flag = is_flag and not is_half_flag
    yield min(at + _FURTHEST, len(text))


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


class TextField(TextArea):
    """Textual's field; a step in it is a whole character, and going back is safe whatever it does to the height."""

    _is_going_back = False

    @property
    def whole_text(self) -> str:
        """The text with the characters themselves that are written out here."""
        return read_back(self.text)

    @property
    def selected_text(self) -> str:
        """What is selected, likewise."""
        return read_back(super().selected_text)

    def load_text(self, text: str) -> None:
        """Holds this text and no other, with nothing to take back."""
        super().load_text(write_out(text))

    def edit(self, edit: Edit) -> EditResult:
        """Whatever comes in, typed, pasted or brought back."""
        edit.text = write_out(edit.text)
        return super().edit(edit)

    def get_line(self, line_index: int) -> Text:
        """A line as it is drawn."""
        line = super().get_line(line_index)
        line.plain = drawn(line.plain)
        return line

    def marked_at(self, line: str, column: int) -> tuple[int, int] | None:
        """Start and end of what is one step, though many characters, and has the cursor in it or behind it."""
        return mark_at(line, column)

    def undo(self) -> None:
        """Takes the last edits back."""
        self._is_going_back = True
        super().undo()
        self._is_going_back = False
        self._refresh_size()

    def redo(self) -> None:
        """Does again what was taken back."""
        self._is_going_back = True
        super().redo()
        self._is_going_back = False
        self._refresh_size()

    def _refresh_size(self) -> None:
        """Textual measures before the cursor is where the text still is, and looks for the cursor in doing so."""
        if not self._is_going_back:
            super()._refresh_size()

    # --- a step to the left or right is over a mark at once

    def get_cursor_left_location(self) -> tuple[int, int]:
        """Before the character or the mark to the left; then the end of the line above."""
        row, column = self.cursor_location
        line = self.document.get_line(row)
        if span := self.marked_at(line, column):
            return row, span[0]
        return (row, edge_before(line, column)) if column else super().get_cursor_left_location()

    def get_cursor_right_location(self) -> tuple[int, int]:
        """Behind the character or the mark to the right; then the beginning of the line below."""
        row, column = self.cursor_location
        line = self.document.get_line(row)
        if span := self.marked_at(line, column + 1):
            return row, span[1]
        return (row, edge_after(line, column)) if column < len(line) else super().get_cursor_right_location()

    def clamp_visitable(self, location: tuple[int, int]) -> tuple[int, int]:
        """The nearest place that the cursor can be at: in no character."""
        row, column = super().clamp_visitable(location)
        return row, edge_at(self.document.get_line(row), column)

    def _delete_via_keyboard(self, start: tuple[int, int], end: tuple[int, int]) -> EditResult | None:
        (top, left), (bottom, right) = sorted((start, end))
        first, last = self.document.get_line(top), self.document.get_line(bottom)
        return super()._delete_via_keyboard((top, edge_at(first, left)), (bottom, _edge_from(last, right)))

    def get_cursor_word_left_location(self) -> tuple[int, int]:
        """Where the word or the mark to the left begins."""
        row, column = self.cursor_location
        span = self.marked_at(self.document.get_line(row), column)
        return (row, span[0]) if span else super().get_cursor_word_left_location()

    def get_cursor_word_right_location(self) -> tuple[int, int]:
        """Where the word or the mark to the right ends."""
        row, column = self.cursor_location
        if span := self.marked_at(self.document.get_line(row), column + 1):
            return row, span[1]
        row, column = super().get_cursor_word_right_location()
        return row, _edge_from(self.document.get_line(row), column)

    def action_delete_word_right(self) -> None:
        """Deletes the word or the mark to the right."""
        row, column = self.cursor_location
        span = self.marked_at(self.document.get_line(row), column + 1)
        if span and self.selection.is_empty:
            self.replace("", (row, column), (row, span[1]), maintain_selection_offset=False)
        else:
            super().action_delete_word_right()


class LineField(Input):
    """Textual's field; the cursor is never in a character."""

    @property
    def whole_text(self) -> str:
        """The text with the characters themselves that are written out here."""
        return read_back(self.value)

    @property
    def selected_text(self) -> str:
        """What is selected, likewise."""
        return read_back(super().selected_text)

    def validate_value(self, value: str) -> str:
        """Whatever comes in, as it is held here."""
        return write_out(value)

    def replace(self, text: str, start: int, end: int) -> None:
        """Puts a text in the place of another."""
        super().replace(write_out(text), start, end)

    @property
    def _value(self) -> Text:
        text = super()._value
        text.plain = drawn(text.plain)
        return text

    def validate_selection(self, selection: Selection) -> Selection:
        """The nearest one with whole characters."""
        start, end = super().validate_selection(selection)
        return Selection(edge_at(self.value, start), edge_at(self.value, end))

    @property
    def _before(self) -> int:
        """Where the character or the mark to the left begins."""
        span = mark_at(self.value, self.cursor_position)
        return span[0] if span else edge_before(self.value, self.cursor_position)

    @property
    def _behind(self) -> int:
        """Where the character or the mark to the right ends."""
        span = mark_at(self.value, self.cursor_position + 1)
        return span[1] if span else edge_after(self.value, self.cursor_position)

    def action_delete_left(self) -> None:
        """Deletes what is selected, else the character to the left."""
        if self.selection.is_empty:
            self.delete(self._before, self.cursor_position)
        else:
            self.delete_selection()

    def action_delete_right(self) -> None:
        """Deletes what is selected, else the character to the right."""
        if self.selection.is_empty:
            self.delete(self.cursor_position, self._behind)
        else:
            self.delete_selection()

    def action_cursor_left(self, select: bool = False) -> None:  # noqa: FBT001, FBT002 - Textual's signature
        """Before the character to the left, or what is selected."""
        self._step(self._before, select=select)

    def action_cursor_right(self, select: bool = False) -> None:  # noqa: FBT001, FBT002 - Textual's signature
        """Behind the character to the right, or what is selected."""
        self._step(self._behind, select=select)

    def _step(self, to: int, *, select: bool) -> None:
        start, end = self.selection
        if select:
            self.selection = Selection(start, to)
        elif start == end:
            self.cursor_position = to
        else:
            self.cursor_position = min(start, end) if to < end else max(start, end)
