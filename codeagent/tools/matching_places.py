"""Where the old text stands: as a piece of text, or as whole lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from codeagent.tools.matching_characters import compose, fold, is_mark
from codeagent.tools.matching_document import BLANKS, Call, Document, indentation, join_lines, split_lines

MOST_HITS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TextHits:
    """Start and end of each hit; where a hit is unsure, it is not clear how deep the new text has to be indented."""

    sure: tuple[tuple[int, int], ...] = ()
    unsure: tuple[tuple[int, int], ...] = ()

    @property
    def starts(self) -> tuple[int, ...]:
        """Where all hits start, in order."""
        return tuple(sorted(start for start, _ in self.sure + self.unsure))


@dataclass(frozen=True, slots=True, kw_only=True)
class LinePlace:
    """Whole lines of the document, from the 0-based ``first`` on; the first may begin at ``column``."""

    first: int
    count: int
    column: int = 0


def exact_hits(document: Document, call: Call, most: int | None = MOST_HITS) -> TextHits:
    """Every place where the old text stands as it is, overlapping ones too; None as ``most`` finds all."""
    return _sort_out(document, call, ((at, at + len(call.old)) for at in _find(document.text, call.old)), most)


def typographic_hits(document: Document, call: Call) -> TextHits:
    """Every place where the old text stands once typographic characters and split accents are read as plain ones."""
    if document.encoding.has_unknown_bytes or (document.text.isascii() and call.old.isascii()):
        return TextHits()
    composed = compose(document.text)
    wanted = fold(compose(call.old).text)

    def spans() -> Iterator[tuple[int, int]]:
        for at in _find(fold(composed.text), wanted):
            start, end = composed.to_source(at), composed.to_source(at + len(wanted))
            if start is not None and end is not None:
                yield start, end

    return _sort_out(document, call, spans(), MOST_HITS)


def lines_but_for_trailing_blanks(document: Document, old_lines: Sequence[str]) -> list[LinePlace]:
    """Every place where these lines stand, whatever blanks they end with.

    The first of several lines may begin at the first character that is not blank.
    """
    wanted = [line.rstrip(BLANKS) for line in old_lines]
    haystack = join_lines([line.rstrip(BLANKS) for line in document.lines])
    places = [LinePlace(first=first, count=len(wanted)) for first in _find_lines(haystack, wanted)]
    if len(wanted) > 1 and wanted[0] and wanted[0][0] not in BLANKS:
        for at in _find(haystack, join_lines(wanted)[1:]):
            start = haystack.rfind("\n", 0, at) + 1
            before = haystack[start:at]
            if before and not before.strip(BLANKS):
                first = haystack.count("\n", 0, start) - 1
                places.append(LinePlace(first=first, count=len(wanted), column=len(before)))
                if len(places) >= MOST_HITS:
                    break
    return sorted(places, key=lambda place: place.first)


def lines_but_for_indentation(document: Document, old_lines: Sequence[str]) -> list[LinePlace]:
    """Every place where these lines stand, whatever blanks they begin and end with."""
    haystack = join_lines([line.strip(BLANKS) for line in document.lines])
    wanted = [line.strip(BLANKS) for line in old_lines]
    return [LinePlace(first=first, count=len(wanted)) for first in _find_lines(haystack, wanted)]


def first_worded_line(lines: Sequence[str]) -> str | None:
    """The first line that is not blank."""
    return next((line for line in lines if line.strip(BLANKS)), None)


def moves_first_line(old_lines: Sequence[str], new_lines: Sequence[str]) -> bool:
    """Whether the first of several old lines, sent without its indentation, stands further down in the new text."""
    if len(old_lines) < 2 or new_lines[:1] == old_lines[:1]:  # noqa: PLR2004 - one line has none below it
        return False
    return new_lines[1:].count(old_lines[0]) > old_lines[1:].count(old_lines[0])


def _find(text: str, wanted: str) -> Iterator[int]:
    at = text.find(wanted)
    while at >= 0:
        yield at
        at = text.find(wanted, at + 1)


def _find_lines(haystack: str, wanted: Sequence[str]) -> Iterator[int]:
    first = done = 0
    for hits, at in enumerate(_find(haystack, join_lines(wanted))):
        if hits >= MOST_HITS:
            return
        first += haystack.count("\n", done, at)
        done = at
        yield first


def _sort_out(document: Document, call: Call, spans: Iterator[tuple[int, int]], most: int | None) -> TextHits:
    sure: list[tuple[int, int]] = []
    unsure: list[tuple[int, int]] = []
    is_unsure = _depth_question(call)
    for start, end in spans:
        if _cuts_character(document, start, end):
            continue
        (unsure if is_unsure(document, start) else sure).append((start, end))
        if most is not None and len(sure) + len(unsure) >= most:
            break
    return TextHits(sure=tuple(sure), unsure=tuple(unsure))


def _cuts_character(document: Document, start: int, end: int) -> bool:
    """A hit before a combining mark, or behind a byte that may be the first half of a character."""
    text = document.text
    if end < len(text) and text[end] > "\x7f" and text[end - 1] != "\n" and is_mark(text[end]):
        return True
    return document.encoding.has_unknown_bytes and start > 0 and text[start - 1] > "\x7f"


def _depth_question(call: Call) -> Callable[[Document, int], bool]:
    """Tells of a hit's start whether it leaves open how deep the further lines of the new text belong."""
    is_multiline = len(split_lines(call.old)) > 1 or len(split_lines(call.new)) > 1
    starts_blank = call.old[0] in BLANKS
    is_proven = starts_blank and _lines_prove_depth(call)
    removes_lines = not call.new and call.old.endswith("\n")
    moves_first = moves_first_line(split_lines(call.old), split_lines(call.new))

    def is_unsure(document: Document, start: int) -> bool:
        if not (is_multiline or removes_lines) or is_proven or call.old[0] == "\n":
            return False
        if start == 0 or document.text[start - 1] not in BLANKS:
            return False
        before = document.text[document.text.rfind("\n", 0, start) + 1 : start]
        if before.strip(BLANKS):
            return False
        # A new text that brings the line's indentation along would get it twice; whole lines that go without
        # their indentation would leave it to the next line, and a first line that moves down would lose it.
        return starts_blank or removes_lines or moves_first or call.new.startswith(before)

    return is_unsure


def _lines_prove_depth(call: Call) -> bool:
    old_lines = split_lines(call.old)
    new_first = first_worded_line(split_lines(call.new))
    return (
        sum(1 for line in old_lines if line.strip(BLANKS)) > 1
        and bool(old_lines[0].strip(BLANKS))
        and new_first is not None
        and indentation(new_first) == indentation(old_lines[0])
    )
