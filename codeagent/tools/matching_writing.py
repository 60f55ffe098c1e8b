"""Writes only what differs between the old and the new text, so that everything else keeps the file's own bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from codeagent.core.errors import EditRefused
from codeagent.tools.matching_characters import Composed, compose
from codeagent.tools.matching_document import Call, Change, Document, split_lines
from codeagent.tools.matching_places import LinePlace
from codeagent.tools.matching_result import MatchLevel


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The old line that a new line stands for, if any, and whether it is the same line."""

    old: int | None = None
    is_same: bool = False


def replace_text(document: Document, start: int, end: int, call: Call, level: MatchLevel) -> Change:
    """The change that a hit inside the text makes."""
    found = document.text[start:end]
    is_plain = level is MatchLevel.EXACT
    here = Composed(text=found) if is_plain else compose(found)
    new = Composed(text=call.new) if is_plain else compose(call.new)
    old_text = call.old if is_plain else compose(call.old).text

    head, file_head, new_head = _common_start(here, new, old_text)
    file_tail, new_tail = _common_end(here, new, old_text, head)
    middle = _with_breaks(document, start, end, call, slice(file_head, file_tail), slice(new_head, new_tail))
    raw = document.raw
    replacement = (
        raw[document.to_raw(start) : document.to_raw(start + file_head)]
        + middle
        + raw[document.to_raw(start + file_tail) : document.to_raw(end)]
    )
    return Change(start=start, end=end, replacement=replacement, level=level)


def replace_lines(
    document: Document,
    place: LinePlace,
    call: Call,
    old_lines: Sequence[str],
    new_lines: Sequence[str],
    fitted: Sequence[str],
    level: MatchLevel,
) -> Change:
    """The change that whole lines make; ``fitted`` are the new lines at the file's own depth."""
    start = document.starts[place.first] + place.column
    after = place.first + place.count
    end = min(document.starts[after], len(document.text))
    line_break = document.break_for(start, end) or next(iter(call.given_breaks), "\n")
    breaks = [document.break_at(document.starts[number] - 1) for number in range(place.first + 1, after + 1)]
    texts = document.lines[place.first : after]
    texts[0] = texts[0][place.column :]

    written: list[tuple[str, str]] = []
    for origin, line in zip(line_origins(old_lines, new_lines), fitted, strict=True):
        own_break = breaks[origin.old] if origin.old is not None else ""
        written.append((texts[origin.old] if origin.is_same and origin.old is not None else line, own_break))
    if not written:
        _refuse_unclear_removal(call, f"line {after}", is_at_end=not breaks[-1] and start > 0)
    pieces = [text + (own_break or line_break) for text, own_break in written[:-1]]
    for text, own_break in written[-1:]:
        pieces.append(text + (breaks[-1] and (own_break or breaks[-1])))
    return Change(start=start, end=end, replacement="".join(pieces), level=level)


def line_origins(old_lines: Sequence[str], new_lines: Sequence[str]) -> list[Origin]:
    """For each new line the old line that it is, or that it replaces one for one."""
    head = 0
    while head < min(len(old_lines), len(new_lines)) and old_lines[head] == new_lines[head]:
        head += 1
    tail = 0
    while tail < min(len(old_lines), len(new_lines)) - head and old_lines[-1 - tail] == new_lines[-1 - tail]:
        tail += 1
    old_end = len(old_lines) - tail
    origins = [Origin(old=number, is_same=True) for number in range(head)]
    matcher = SequenceMatcher(None, old_lines[head:old_end], new_lines[head : len(new_lines) - tail])
    for kind, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        is_paired = old_to - old_from == new_to - new_from
        origins += [
            Origin(old=head + old_from + step, is_same=kind == "equal") if is_paired else Origin()
            for step in range(new_to - new_from)
        ]
    origins += [Origin(old=number, is_same=True) for number in range(old_end, len(old_lines))]
    return origins


def _common_start(here: Composed, new: Composed, old: str) -> tuple[int, int, int]:
    """Length of the common start, and where it ends in the file and in the new text; never inside a character."""
    length = 0
    for mine, other in zip(old, new.text, strict=False):
        if mine != other:
            break
        length += 1
    while True:
        in_file, in_new = here.to_source(length), new.to_source(length)
        if in_file is not None and in_new is not None:
            return length, in_file, in_new
        length -= 1


def _common_end(here: Composed, new: Composed, old: str, head: int) -> tuple[int, int]:
    """Where the common end starts in the file and in the new text; it does not reach into the common start."""
    most = min(len(old), len(new.text)) - head
    length = 0
    while length < most and old[-1 - length] == new.text[-1 - length]:
        length += 1
    while True:
        in_file = here.to_source(len(here.text) - length)
        in_new = new.to_source(len(new.text) - length)
        if in_file is not None and in_new is not None:
            return in_file, in_new
        length -= 1


def _with_breaks(document: Document, start: int, end: int, call: Call, old: slice, new: slice) -> str:
    """The part of the new text that is written, with the file's line breaks."""
    text = call.new[new]
    if "\n" not in text:
        return text
    pieces = text.split("\n")
    if document.line_break:
        return text.replace("\n", document.line_break)
    if document.line_break is not None:
        before = call.new.count("\n", 0, new.start)
        breaks = [*call.given_breaks[before : before + len(pieces) - 1], ""]
    else:
        line_break = document.break_for(start, end)
        position = start + old.start
        old_pieces = document.text[position : start + old.stop].split("\n")
        old_breaks: list[str] = []
        for piece in old_pieces[:-1]:
            position += len(piece) + 1
            old_breaks.append(document.break_at(position - 1))
        breaks = [
            old_breaks[origin.old] if origin.old is not None and origin.old < len(old_breaks) else line_break
            for origin in line_origins(old_pieces, pieces)[:-1]
        ] + [""]
    return "".join(piece + line_break for piece, line_break in zip(pieces, breaks, strict=True))


def _refuse_unclear_removal(call: Call, last: str, *, is_at_end: bool) -> None:
    if split_lines(call.old) and not call.old.endswith("\n"):
        raise EditRefused(
            f"Nothing was changed: `old` ends without a line break, so it is not clear whether {last} is to be removed"
            " or to be left empty.",
            hint="End `old` with a line break to remove the lines.",
        )
    if is_at_end:
        raise EditRefused(
            f"Nothing was changed: the lines to remove are the last ones (up to {last}) and the file ends without a"
            " line break, so the break of the line above would have to go as well.",
            hint="Start `old` with the line above, exactly as it is in the file, and keep that line in `new`.",
        )
