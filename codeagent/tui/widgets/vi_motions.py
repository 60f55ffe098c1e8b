"""Where vi's motions lead: positions in a text, as its manual defines them."""

from __future__ import annotations

from enum import StrEnum
from unicodedata import category

from codeagent.core.values import value
from codeagent.tui.widgets.text_field import edge_before

_EMOJI_STYLE = "\ufe0f"
_PAIRS = {"(": "()", ")": "()", "b": "()", "[": "[]", "]": "[]", "{": "{}", "}": "{}", "B": "{}", "<": "<>", ">": "<>"}


class Reach(StrEnum):
    """What an operator takes: up to the target, the target too, or whole lines."""

    EXCLUSIVE = "exclusive"
    INCLUSIVE = "inclusive"
    LINES = "lines"


@value
class Target:
    """Where a motion leads, and what an operator would take on the way; ``start`` is for text objects."""

    at: int
    reach: Reach = Reach.EXCLUSIVE
    start: int | None = None


def line_start(text: str, at: int) -> int:
    """The first position of the line."""
    return text.rfind("\n", 0, at) + 1


def line_end(text: str, at: int) -> int:
    """The position behind the last character of the line."""
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def first_letter(text: str, at: int) -> int:
    """The first character of the line that is not blank, else its last one."""
    start, end = line_start(text, at), line_end(text, at)
    indent = len(text[start:end]) - len(text[start:end].lstrip())
    return min(start + indent, max(end - 1, start))


def on_text(text: str, at: int) -> int:
    """The nearest position on a character of the same line, where the cursor may rest between commands."""
    start, end = line_start(text, at), line_end(text, at)
    return min(at, max(edge_before(text, end), start))


def lines_away(text: str, at: int, by: int) -> int | None:
    """The same column so many lines below (or above); as far as there are lines, None when there is none."""
    target, column, moved = at, at - line_start(text, at), 0
    for _ in range(abs(by)):
        edge = line_end(text, target) if by > 0 else line_start(text, target) - 1
        if not (edge < len(text) if by > 0 else edge >= 0):
            break
        target, moved = (edge + 1 if by > 0 else line_start(text, edge)), moved + 1
    if not moved:
        return None
    return min(line_start(text, target) + column, max(line_end(text, target) - 1, line_start(text, target)))


def _kind(character: str, *, is_big: bool) -> int:
    if character.isspace():
        return 0
    is_in_word = is_big or character == "_" or character.isalnum() or _is_mark(character)
    return 1 if is_in_word else 2


def _is_mark(character: str) -> bool:
    """Whether it is an accent or a vowel sign, which belongs to the letter before it."""
    return not character.isascii() and character != _EMOJI_STYLE and category(character).startswith("M")


def _is_empty_line(text: str, at: int) -> bool:
    return line_start(text, at) == at == line_end(text, at)


def next_word(text: str, at: int, count: int, *, is_big: bool, stays_in_line: bool) -> int:
    """Where the next word begins, ``count`` times; an empty line is one.

    For an operator the last step ``stays_in_line``: it ends where the line does.
    """
    for left in range(count - 1, -1, -1):
        stops = stays_in_line and left == 0
        is_last_line = "\n" not in text[at:]
        kind = _kind_at(text, at, is_big=is_big)
        at, is_at_end = _onward(text, at)
        if is_at_end and (is_last_line or stops):
            return at
        while kind and _kind_at(text, at, is_big=is_big) == kind:
            at, is_at_end = _onward(text, at)
            if is_at_end and stops:
                return at
        while at < len(text) and text[at].isspace() and not _is_empty_line(text, at):
            at, is_at_end = _onward(text, at)
            if is_at_end and is_last_line:
                return at
    return at


def _onward(text: str, at: int) -> tuple[int, bool]:
    """One position on, and whether that reaches or passes the end of a line."""
    if at >= len(text):
        return at, True
    return at + 1, text[at] == "\n" or at + 1 == len(text) or text[at + 1] == "\n"


def _kind_at(text: str, at: int, *, is_big: bool) -> int:
    return _kind(text[at], is_big=is_big) if at < len(text) else 0


def word_end(text: str, at: int, *, is_big: bool) -> int:
    """The last character of the word, or of the next one when the cursor is on it already."""
    here = at + 1
    while here < len(text) and text[here].isspace():
        here += 1
    if here >= len(text):
        return max(at, len(text) - 1)
    return run_end(text, here, is_big=is_big)


def run_end(text: str, at: int, *, is_big: bool) -> int:
    """The last character of the word that the cursor is on."""
    kind = _kind(text[at], is_big=is_big)
    while at + 1 < len(text) and _kind(text[at + 1], is_big=is_big) == kind:
        at += 1
    return at


def word_before(text: str, at: int, *, is_big: bool) -> int:
    """Where the word, or the one before it, begins."""
    here = at - 1
    while here > 0 and text[here].isspace() and not _is_empty_line(text, here):
        here -= 1
    if here <= 0 or text[here].isspace():
        return max(here, 0)
    kind = _kind(text[here], is_big=is_big)
    while here > 0 and _kind(text[here - 1], is_big=is_big) == kind:
        here -= 1
    return here


def end_before(text: str, at: int, *, is_big: bool) -> int:
    """The last character of the word before the one that the cursor is on."""
    here = at
    kind = _kind_at(text, here, is_big=is_big)
    while here >= 0 and kind and _kind_at(text, here, is_big=is_big) == kind:
        here -= 1
    while here > 0 and text[here : here + 1].isspace() and not _is_empty_line(text, here):
        here -= 1
    return max(here, 0)


def found(text: str, at: int, how: str, what: str, count: int) -> int | None:
    """Where ``how`` (f, F, t or T) finds a character in the line; None when it does not."""
    start, end = line_start(text, at), line_end(text, at)
    here = at
    for _ in range(count):
        here = text.find(what, here + 1, end) if how in "ft" else text.rfind(what, start, here)
        if here < 0:
            return None
    return here + {"f": 0, "F": 0, "t": -1, "T": 1}[how]


def repeat_find(text: str, at: int, how: str, what: str, count: int) -> int | None:
    """The same search again; one that stops short of its character first steps over it."""
    beside = at + 1 if how == "t" else at - 1
    is_beside = how in "tT" and 0 <= beside < len(text) and text[beside] == what
    return found(text, beside if is_beside else at, how, what, count)


def text_object(text: str, at: int, how: str, what: str) -> Target | None:
    """What ``iw``, ``a"``, ``i(`` and the like take."""
    if what in "wW":
        return _word_object(text, at, is_big=what == "W", is_outer=how == "a")
    if what == "p":
        return _paragraph_object(text, at, is_outer=how == "a")
    span = _quoted(text, at, what) if what in "\"'`" else _bracketed(text, at, what) if what in _PAIRS else None
    if span is None:
        return None
    start, end = span
    if how == "a":
        return Target(start=start, at=end + 1)
    return Target(start=start + 1, at=end)


def _word_object(text: str, at: int, *, is_big: bool, is_outer: bool) -> Target | None:
    start, end = line_start(text, at), line_end(text, at)
    if at >= end:
        return None
    kind = _kind(text[at], is_big=is_big)
    left, right = at, at + 1
    while left > start and _kind(text[left - 1], is_big=is_big) == kind:
        left -= 1
    while right < end and _kind(text[right], is_big=is_big) == kind:
        right += 1
    if is_outer:
        after = right
        while after < end and (_kind(text[after], is_big=is_big) == 0) != (kind == 0):
            after += 1
        while after == right and left > start and kind and text[left - 1].isspace():
            left -= 1
        right = after
    return Target(start=left, at=right)


def _paragraph_object(text: str, at: int, *, is_outer: bool) -> Target:
    """The lines up to the next empty ones; with those behind, or before where there are none."""
    lines = text.split("\n")
    row = text.count("\n", 0, at)
    first, last = _alike(lines, row, row)
    if is_outer and last + 1 < len(lines):
        last = _alike(lines, last + 1, last + 1)[1]
    elif is_outer and first:
        first = _alike(lines, first - 1, first - 1)[0]
    start = sum(len(line) + 1 for line in lines[:first])
    return Target(start=start, at=start + len("\n".join(lines[first : last + 1])), reach=Reach.LINES)


def _alike(lines: list[str], first: int, last: int) -> tuple[int, int]:
    """The neighbouring lines that are empty too, or are not either."""
    is_empty = not lines[first].strip()
    while first > 0 and (not lines[first - 1].strip()) is is_empty:
        first -= 1
    while last + 1 < len(lines) and (not lines[last + 1].strip()) is is_empty:
        last += 1
    return first, last


def paragraph_edge(text: str, at: int, count: int, *, is_back: bool) -> int:
    """The empty line above or below the lines that the cursor is in; the first or last character without one."""
    lines = text.split("\n")
    row, by = text.count("\n", 0, at), -1 if is_back else 1
    for _ in range(count):
        while 0 <= row < len(lines) and not lines[row]:
            row += by
        while 0 <= row < len(lines) and lines[row]:
            row += by
    if row < 0:
        return 0
    return len(text) if row >= len(lines) else sum(len(line) + 1 for line in lines[:row])


def matching_bracket(text: str, at: int) -> int | None:
    """The bracket that belongs to the one under the cursor, or to the next one in the line."""
    here = next((here for here in range(at, line_end(text, at)) if text[here] in "()[]{}"), None)
    if here is None:
        return None
    opening, closing = _PAIRS[text[here]]
    if text[here] == opening:
        return _unmatched(text, range(here, len(text)), closing, opening, here)
    return _unmatched(text, range(here, -1, -1), opening, closing, here)


def _quoted(text: str, at: int, quote: str) -> tuple[int, int] | None:
    start, end = line_start(text, at), line_end(text, at)
    places = [here for here in range(start, end) if text[here] == quote and text[here - 1 : here] != "\\"]
    pairs = zip(places[::2], places[1::2], strict=False)
    return next(((left, right) for left, right in pairs if at <= right), None)


def _bracketed(text: str, at: int, bracket: str) -> tuple[int, int] | None:
    """The brackets around the cursor, else the next ones in the line."""
    opening, closing = _PAIRS[bracket]
    left = _unmatched(text, range(at, -1, -1), opening, closing, at)
    if left is None:
        left = at = text.find(opening, at, line_end(text, at))
    right = _unmatched(text, range(at, len(text)), closing, opening, at)
    return None if left < 0 or right is None else (left, right)


def _unmatched(text: str, places: range, wanted: str, other: str, at: int) -> int | None:
    depth = 0
    for here in places:
        if text[here : here + 1] == wanted:
            if depth == 0:
                return here
            depth -= 1
        elif text[here : here + 1] == other and here != at:
            depth += 1
    return None
