"""Finds the place that is most like an old text that was not found, and shows how the two differ."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from codeagent.core.text import show_invisible
from codeagent.tools.matching_document import BLANKS, Document, split_lines

_WORD = re.compile(r"\w+|[^\w\s]+")
_MOST_SAME = 200
_MOST_WORDS = 40
_MOST_CANDIDATES = 8
_MOST_COMPARED = 40
_MOST_READ = 4_000
_MARGIN = 3
_LONG_LINE = 300
_SIMILAR = 0.45
_SIMILAR_WITH_A_LINE = 0.25
_SHOWN_WIDTH = 160
_SHOWN_LINES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Closest:
    """The lines most like the old text (1-based); ``others`` are first lines of places that are just as close."""

    first: int
    last: int
    others: tuple[int, ...] = ()


def closest_lines(document: Document, old: str) -> Closest | None:
    """The most similar stretch of as many lines as the old text has, or None if nothing is similar."""
    wanted = _worded(old)
    line_votes = _votes_of_lines(document, wanted)
    votes = line_votes + _votes_of_words(document, wanted) or _votes_of_letters(document, wanted)
    rated = [
        (_likeness(document, first, wanted), first) for first, _ in votes.most_common(_MOST_CANDIDATES) if first >= 0
    ]
    if not rated:
        return None
    best = max(rated)[0]
    first, *others = sorted(place for likeness, place in rated if likeness > best - 0.001)
    if best < (_SIMILAR_WITH_A_LINE if line_votes[first] else _SIMILAR):
        return None
    first, after = _aligned(document, first, wanted)
    others = [place + 1 for place in others if not first <= place < after]
    return Closest(first=first + 1, last=after, others=tuple(others))


def difference(document: Document, old: str, closest: Closest) -> list[str]:
    """A short diff from the old text to the file's lines; blanks are drawn where only they differ."""
    wanted, found = _worded(old), document.lines[closest.first - 1 : closest.last]
    shown: list[str] = []
    for kind, old_from, old_to, from_, to in SequenceMatcher(None, wanted, found).get_opcodes():
        if kind == "equal":
            continue
        minus, plus = wanted[old_from:old_to], found[from_:to]
        draw_blanks = [re.sub(r"\s", "", line) for line in minus] == [re.sub(r"\s", "", line) for line in plus]
        cut = [_cut(*pair) for pair in zip(minus, plus, strict=False)]
        for number in range(max(len(minus), len(plus))):
            old_at, at = cut[number] if number < len(cut) else (slice(0, _SHOWN_WIDTH), slice(0, _SHOWN_WIDTH))
            if number < len(minus):
                shown.append(f"       - {_drawn(minus[number], old_at, blanks=draw_blanks)}")
            if number < len(plus):
                shown.append(f"{closest.first + from_ + number:>6} + {_drawn(plus[number], at, blanks=draw_blanks)}")
        if len(shown) >= _SHOWN_LINES:
            return [*shown[:_SHOWN_LINES], "       (more lines differ)"]
    return shown


def _worded(old: str) -> list[str]:
    """The lines of the old text without blank lines around them."""
    lines = split_lines(old)
    while lines and not lines[0].strip(BLANKS):
        lines.pop(0)
    while lines and not lines[-1].strip(BLANKS):
        lines.pop()
    return lines


def _votes_of_lines(document: Document, wanted: Sequence[str]) -> Counter[int]:
    """Every line that is the same but for blanks votes for the place where the old text would start."""
    places: dict[str, list[int]] = {line.strip(BLANKS): [] for line in wanted if line.strip(BLANKS)}
    for number, line in enumerate(document.lines):
        if (text := line.strip(BLANKS)) in places and len(places[text]) < _MOST_SAME:
            places[text].append(number)
    votes: Counter[int] = Counter()
    for offset, line in enumerate(wanted):
        found = places.get(line.strip(BLANKS), [])
        for number in found:
            votes[number - offset] += 100 * len(line.strip(BLANKS)) // len(found)
    return votes


def _votes_of_words(document: Document, wanted: Sequence[str]) -> Counter[int]:
    """The longest words of the old text vote as well, the more the rarer they are in the file."""
    words: dict[str, int] = {}
    for offset, line in enumerate(wanted):
        for word in _WORD.findall(line[:_LONG_LINE]):
            words.setdefault(word, offset)
    votes: Counter[int] = Counter()
    for word in sorted(words, key=len, reverse=True)[:_MOST_WORDS]:
        found = list(_lines_with(document, word))
        for number in found:
            votes[number - words[word]] += 50 * len(word) // len(found)
    return votes


def _votes_of_letters(document: Document, wanted: Sequence[str]) -> Counter[int]:
    """Lines that share letters, though no word, with the longest line of the old text: another case, a slip."""
    offset, longest = max(enumerate(line.strip(BLANKS) for line in wanted), key=lambda item: len(item[1]))
    votes: Counter[int] = Counter()
    if len(longest) > _LONG_LINE:
        return votes
    matcher = SequenceMatcher(None, "", longest.casefold(), autojunk=False)
    for number, line in enumerate(document.lines[:_MOST_READ]):
        if len(line) <= _LONG_LINE:
            matcher.set_seq1(line.strip(BLANKS).casefold())
            if matcher.real_quick_ratio() > _SIMILAR and (likeness := matcher.quick_ratio()) > _SIMILAR:
                votes[number - offset] = round(100 * likeness)
    return votes


def _lines_with(document: Document, word: str) -> Iterator[int]:
    number = done = 0
    at = document.text.find(word)
    for _ in range(_MOST_SAME):
        if at < 0:
            return
        number += document.text.count("\n", done, at)
        done = at
        yield number
        after = document.text.find("\n", at)
        at = document.text.find(word, after) if after >= 0 else -1


def _aligned(document: Document, first: int, wanted: Sequence[str]) -> tuple[int, int]:
    """First line and line after the last, where lines of the old text are missing, too many or in another order."""
    begin = max(0, first - _MARGIN)
    here = [line.strip(BLANKS) for line in document.lines[begin : first + len(wanted) + _MARGIN]]
    old = [line.strip(BLANKS) for line in wanted]
    blocks = [block for block in SequenceMatcher(None, old, here).get_matching_blocks() if block.size]
    if not blocks:
        return first, min(first + len(wanted), len(document.lines))
    start, after = blocks[0].b - blocks[0].a, blocks[-1].b + len(wanted) - blocks[-1].a
    matched = {block.a + step for block in blocks for step in range(block.size)}
    elsewhere = {line for number, line in enumerate(old) if number not in matched and len(line) >= _MARGIN}
    for number, line in enumerate(here):
        if line in elsewhere:
            start, after = min(start, number), max(after, number + 1)
    return max(0, begin + start), min(begin + after, len(document.lines))


def _likeness(document: Document, first: int, wanted: Sequence[str]) -> float:
    """From 0 to 1: how much of the old text stands there, by length."""
    total = shared = unlike = partly = 0.0
    compared = 0
    for offset, line in enumerate(wanted):
        old = line.strip(BLANKS)
        here = document.lines[first + offset].strip(BLANKS) if first + offset < len(document.lines) else ""
        weight = len(old) + 1
        total += weight
        if old == here:
            shared += weight
        elif compared < _MOST_COMPARED:
            compared += 1
            unlike += weight
            partly += weight * _line_likeness(old, here)
    if unlike:  # what was compared speaks for the rest
        shared += (total - shared) * partly / unlike
    return shared / total


def _line_likeness(old: str, here: str) -> float:
    if len(here) <= _LONG_LINE and len(old) <= _LONG_LINE:
        return SequenceMatcher(None, old, here, autojunk=False).ratio()
    words = Counter(_WORD.findall(old))
    return (words & Counter(_WORD.findall(here))).total() / (words.total() or 1)


def _cut(old: str, here: str) -> tuple[slice, slice]:
    """The parts of two lines to show: all of short ones, else the surroundings of the first difference."""
    if max(len(old), len(here)) <= _SHOWN_WIDTH:
        return slice(0, _SHOWN_WIDTH), slice(0, _SHOWN_WIDTH)
    start = _closest_column(old, here) if len(here) > len(old) else 0
    same = 0
    for mine, other in zip(old, here[start:], strict=False):
        if mine != other:
            break
        same += 1
    before = max(0, same - _SHOWN_WIDTH // 3)
    return slice(before, before + _SHOWN_WIDTH), slice(start + before, start + before + _SHOWN_WIDTH)


def _closest_column(old: str, here: str) -> int:
    """Where in a long line a shorter text would start, by the votes of its words, the rare ones first."""
    votes: Counter[int] = Counter()
    for word in sorted(_WORD.finditer(old), key=lambda found: len(found[0]), reverse=True)[:_MOST_WORDS]:
        weight = 50 * len(word[0]) // max(1, here.count(word[0]))
        at = here.find(word[0])
        for _ in range(_MOST_SAME):
            if at < 0:
                break
            votes[max(0, at - word.start())] += weight
            at = here.find(word[0], at + 1)
    return votes.most_common(1)[0][0] if votes else 0


def _drawn(line: str, part: slice, *, blanks: bool) -> str:
    text = line[part]
    if blanks:
        text = text.replace(" ", "·").replace("\t", "⇥")
    return ("…" if part.start else "") + show_invisible(text) + ("…" if part.stop < len(line) else "")
