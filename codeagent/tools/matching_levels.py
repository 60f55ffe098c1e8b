"""The levels at which an old text is looked for, from the exact text to what can safely be overlooked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from codeagent.tools import matching_advice as advice
from codeagent.tools.matching_document import BLANKS, Call, Change, Document, indentation, numbered_lines, split_lines
from codeagent.tools.matching_indents import Shift, TabWidth, find_shift, find_tab_width
from codeagent.tools.matching_places import (
    LinePlace,
    TextHits,
    exact_hits,
    first_worded_line,
    lines_but_for_indentation,
    lines_but_for_trailing_blanks,
    moves_first_line,
    typographic_hits,
)
from codeagent.tools.matching_result import MatchLevel
from codeagent.tools.matching_writing import replace_lines, replace_text


def find_change(document: Document, call: Call) -> Change:
    """The one change that the call asks for; raises ``NoMatch``, ``ManyMatches`` or ``EditRefused``."""
    exact = exact_hits(document, call)
    if change := _only_hit(document, call, exact, MatchLevel.EXACT):
        return change
    if call.old.isspace():
        raise advice.not_found(document, call)
    typographic = typographic_hits(document, call)
    old_lines, new_lines = split_lines(call.old), split_lines(call.new)
    if exact.unsure:
        # The text is there, deeper than it was sent: only whole lines and one shift for all of them make it certain.
        if call.old[0] not in BLANKS:
            raise advice.depth_unclear(document, exact.unsure)
        places = sorted({*exact.starts, *typographic.starts})
        if len(places) > 1:
            raise advice.ambiguous(document, places, MatchLevel.INDENTATION)
        if change := _indented(document, call, old_lines, new_lines):
            return change
        raise advice.depth_unclear(document, exact.unsure)
    if change := _only_hit(document, call, typographic, MatchLevel.TYPOGRAPHY):
        return change
    if typographic.unsure:
        raise advice.depth_unclear(document, typographic.unsure)
    change = _whole_lines(document, call, old_lines, new_lines) or _without_blank_lines(document, call)
    if change := change or _numbered(document, call):
        return change
    raise advice.not_found(document, call)


def _only_hit(document: Document, call: Call, hits: TextHits, level: MatchLevel) -> Change | None:
    if not hits.sure:
        return None
    start, end = hits.sure[0]
    # Of lines sent with their whole indentation, the place that has just this one is meant, not one that lies deeper.
    is_whole_line = call.old[0] in BLANKS and (start == 0 or document.text[start - 1] == "\n")
    is_certain = is_whole_line and level is MatchLevel.EXACT and bool(call.new)
    rivals = [at for at, _ in hits.sure] if is_certain else hits.starts
    if len(rivals) > 1:
        raise advice.ambiguous(document, rivals, level)
    return replace_text(document, start, end, call, level)


def _whole_lines(document: Document, call: Call, old_lines: Sequence[str], new_lines: Sequence[str]) -> Change | None:
    places = lines_but_for_trailing_blanks(document, old_lines)
    _refuse_several(document, places, MatchLevel.TRAILING_BLANKS)
    if not places:
        return _indented(document, call, old_lines, new_lines)
    brings_indentation = not new_lines or new_lines[0][:1] in ("", *BLANKS)
    if places[0].column and (brings_indentation or moves_first_line(old_lines, new_lines)):
        raise advice.depth_differs(document, places[0])
    return replace_lines(document, places[0], call, old_lines, new_lines, new_lines, MatchLevel.TRAILING_BLANKS)


def _indented(document: Document, call: Call, old_lines: Sequence[str], new_lines: Sequence[str]) -> Change | None:
    places = lines_but_for_indentation(document, old_lines)
    _refuse_several(document, places, MatchLevel.INDENTATION)
    if not places:
        return None
    place = places[0]
    file_lines = document.lines[place.first : place.first + place.count]
    fit: Shift | TabWidth
    if shift := find_shift(old_lines, file_lines):
        old_first, new_first = first_worded_line(old_lines), first_worded_line(new_lines)
        if old_first and new_first and indentation(old_first) != indentation(new_first):
            raise advice.depth_differs(document, place)
        level, fit = MatchLevel.INDENTATION, shift
    elif width := find_tab_width(old_lines, file_lines):
        level, fit = MatchLevel.TABS, width
    else:
        raise advice.indentation_disagrees(document, place, old_lines)
    fitted: list[str] = []
    for line in new_lines:
        if (fitting := fit.fit(line)) is None:
            raise advice.new_line_does_not_fit(document, place, fit, line)
        fitted.append(fitting)
    return replace_lines(document, place, call, old_lines, new_lines, fitted, level)


def _without_blank_lines(document: Document, call: Call) -> Change | None:
    """The same again without blank lines around the old text, and without as many around the new one."""
    old_lines, new_lines = split_lines(call.old), split_lines(call.new)
    for end in (0, -1):
        while old_lines and not old_lines[end].strip(BLANKS):
            old_lines.pop(end)
            if new_lines and not new_lines[end].strip(BLANKS):
                new_lines.pop(end)
    if len(old_lines) == len(split_lines(call.old)):
        return None
    change = _whole_lines(document, call, old_lines, new_lines)
    if change and change.level is MatchLevel.TRAILING_BLANKS:
        return replace(change, level=MatchLevel.BLANK_LINES)
    return change


def _numbered(document: Document, call: Call) -> Change | None:
    """The old text copied together with the line numbers that the read tool shows."""
    numbered = numbered_lines(call.old)
    if numbered is None:
        return None
    numbers, old_lines = numbered
    places = [place for place in lines_but_for_trailing_blanks(document, old_lines) if not place.column]
    if not any(line.strip() for line in old_lines) or not places:
        return None
    _refuse_several(document, places, MatchLevel.LINE_NUMBERS)
    first = places[0].first + 1
    if numbers != list(range(first, first + len(numbers))):
        raise advice.numbers_disagree(numbers, first)
    new_lines = split_lines(call.new)
    stripped = [numbered_lines(line) for line in new_lines]
    if any(stripped):
        if not all(stripped):
            raise advice.partly_numbered(places[0])
        new_lines = [found[1][0] for found in stripped if found]
    return replace_lines(document, places[0], call, old_lines, new_lines, new_lines, MatchLevel.LINE_NUMBERS)


def _refuse_several(document: Document, places: Sequence[LinePlace], level: MatchLevel) -> None:
    if len(places) > 1:
        raise advice.ambiguous(document, [document.starts[place.first] for place in places], level)
