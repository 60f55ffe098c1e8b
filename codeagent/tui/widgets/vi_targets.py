"""What vi's operators take: from the cursor to where a motion leads."""

from __future__ import annotations

from codeagent.core.values import value
from codeagent.tui.widgets.text_field import edge_after, edge_before
from codeagent.tui.widgets.vi_motions import (
    Reach,
    Target,
    end_before,
    first_letter,
    line_end,
    line_start,
    lines_away,
    matching_bracket,
    next_word,
    paragraph_edge,
    run_end,
    word_before,
    word_end,
)


@value
class Span:
    """What an operator takes; the ``cursor`` is where copying alone leaves it."""

    start: int
    end: int
    cursor: int
    is_lines: bool = False


def reached(at: int | None, how: str) -> Target | None:
    """What a search for a character reaches."""
    reach = Reach.INCLUSIVE if how in "ft" else Reach.EXCLUSIVE
    return None if at is None else Target(at=at, reach=reach)


def target_in_line(  # noqa: PLR0911 - one return a motion
    text: str, at: int, motion: str, count: int
) -> Target | None:
    """Where the motions within a line lead."""
    start, end = line_start(text, at), line_end(text, at)
    below = lines_away(text, at, count - 1) if count > 1 else at
    match motion:
        case "h" if at > start:
            return Target(at=max(steps_on(text, at, -count), start))
        case "l" if at < end:
            return Target(at=min(steps_on(text, at, count), end))
        case "0":
            return Target(at=start)
        case "^":
            return Target(at=first_letter(text, at))
        case "$" if below is not None:
            return Target(at=line_end(text, below))
        case "_" if below is not None:
            return Target(at=first_letter(text, below), reach=Reach.LINES)
        case _:
            return None


def steps_on(text: str, at: int, count: int) -> int:
    """So many characters on, or back where it is negative."""
    if abs(count) > len(text):
        return len(text) if count > 0 else 0
    for _ in range(abs(count)):
        at = edge_after(text, at) if count > 0 else edge_before(text, at)
    return at


def line(text: str, number: int | None) -> int:
    """The first letter of a line, counted from 1; of the last when there is no number or no such line."""
    lines = text.split("\n")
    row = len(lines) - 1 if number is None else min(number, len(lines)) - 1
    return first_letter(text, sum(len(one) + 1 for one in lines[:row]))


def word_target(text: str, at: int, motion: str, count: int) -> Target | None:
    """Where the motions over words lead."""
    is_big = motion.isupper()
    match motion.lower():
        case "w":
            return Target(at=next_word(text, at, count, is_big=is_big, stays_in_line=False))
        case "e":
            for _ in range(count):
                at = word_end(text, at, is_big=is_big)
            return Target(at=at, reach=Reach.INCLUSIVE) if text else None
        case _:
            here = at
            for _ in range(count):
                here = word_before(text, here, is_big=is_big)
            return Target(at=here) if here != at else None


def far_target(text: str, at: int, motion: str, count: int) -> Target | None:
    """Where the motions over brackets and paragraphs lead, and those to the end of a word before."""
    match motion:
        case "%":
            there = matching_bracket(text, at)
            return None if there is None else Target(at=there, reach=Reach.INCLUSIVE)
        case "{" | "}":
            return Target(at=paragraph_edge(text, at, count, is_back=motion == "{"))
        case _:
            here = at
            for _ in range(count):
                here = end_before(text, here, is_big=motion == "gE")
            return Target(at=here, reach=Reach.INCLUSIVE) if here != at else None


def word_taken(text: str, at: int, count: int, *, is_big: bool, is_changed: bool) -> Target | None:
    """What an operator takes of words; ``cw`` leaves the blanks behind the last one."""
    if is_changed and text[at : at + 1].strip():
        here = run_end(text, at, is_big=is_big)
        for _ in range(count - 1):
            here = word_end(text, here, is_big=is_big)
        return Target(at=here, reach=Reach.INCLUSIVE)
    here = next_word(text, at, count, is_big=is_big, stays_in_line=True)
    return Target(at=here) if here != at else None


def span_to(text: str, at: int, target: Target) -> Span:
    """From the cursor to a target, as an operator understands it.

    A span that ends before a line's first column leaves that line alone, and one
    that began before all text of its line is then whole lines.
    """
    if target.start is not None:
        is_lines = target.reach is Reach.LINES
        return Span(start=target.start, end=target.at, cursor=target.start, is_lines=is_lines)
    start, end = min(at, target.at), max(at, target.at)
    if target.reach is Reach.LINES:
        return Span(start=line_start(text, start), end=line_end(text, end), is_lines=True, cursor=start)
    if target.reach is Reach.INCLUSIVE:
        return Span(start=start, end=min(edge_after(text, end), line_end(text, end)), cursor=start)
    if end <= start or text[end - 1] != "\n":
        return Span(start=start, end=end, cursor=start)
    is_lines = not text[line_start(text, start) : start].strip()
    return Span(start=line_start(text, start) if is_lines else start, end=end - 1, is_lines=is_lines, cursor=start)
