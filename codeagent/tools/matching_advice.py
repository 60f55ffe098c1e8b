"""What a refused edit tells the model: why nothing was changed, where the closest text is, what to send instead."""

from __future__ import annotations

from collections.abc import Sequence

from codeagent.core.errors import EditRefused, ManyMatches, NoMatch
from codeagent.core.text import show_invisible
from codeagent.tools.matching_closest import closest_lines, difference
from codeagent.tools.matching_clues import already_there, clue, is_like_something_shown
from codeagent.tools.matching_document import BLANKS, Call, Change, Document, indentation, split_lines
from codeagent.tools.matching_indents import Shift, TabWidth, find_shift
from codeagent.tools.matching_places import MOST_HITS, LinePlace, lines_but_for_indentation
from codeagent.tools.matching_result import MatchLevel

_SHOWN_PLACES = 5
_SHOWN_LINES = 6
_OWN_INDENTATION = "Send `old` and `new` as whole lines with exactly the indentation that the file has."


def ambiguous(document: Document, starts: Sequence[int], level: MatchLevel) -> ManyMatches:
    """The old text fits several places, which start at these positions."""
    many = f"at least {MOST_HITS}" if len(starts) >= MOST_HITS else str(len(starts))
    but_for = "" if level is MatchLevel.EXACT else f" if {level.value} are overlooked"
    if level is MatchLevel.INDENTATION:
        but_for = " if indentation is overlooked"
    numbers = [document.line_number(start) for start in starts[:_SHOWN_PLACES]]
    hint = "Add surrounding lines to `old`, exactly as in the file, until it fits one place only"
    if level is MatchLevel.EXACT:
        hint += ", or set `replace_all` to change every one"
    else:
        hint += "; `replace_all` changes only exact hits"
    return ManyMatches(
        f"Nothing was changed: `old` fits {many} places{but_for}, on {_lines(numbers, len(starts))}.", hint=hint + "."
    )


def same_text(document: Document, call: Call) -> EditRefused:
    """The old text and the new text are equal."""
    at = document.text.find(call.old) if call.old else -1
    where = f" (it stands on line {document.line_number(at)})" if at >= 0 else ""
    return EditRefused(
        f"Nothing was changed: `old` and `new` are the same text{where}, so there is nothing to do.",
        hint="Send in `new` what the text is to become.",
    )


def empty_old() -> EditRefused:
    """An empty old text for a file that has content."""
    return EditRefused(
        "Nothing was changed: an empty `old` is for a new or empty file, and this file has content.",
        hint="Send the text to replace in `old`, or use the write tool to replace the whole file.",
    )


def reads_like_this(lines: Sequence[tuple[int, int]]) -> EditRefused:
    """The result would be the file as it is."""
    where = f" on {_range(*lines[0])}" if lines else ""
    return EditRefused(
        f"Nothing was changed: the file already reads like this{where}.", hint="Read the file again before going on."
    )


def overlapping(document: Document, first: int, second: int, later: Change) -> EditRefused:
    """Two edits of one call, counted from 1, want the same text."""
    return EditRefused(
        f"Nothing was changed: edits {first} and {second} overlap on line {document.line_number(later.start)}.",
        hint="Join them into one edit.",
    )


def depth_unclear(document: Document, hits: Sequence[tuple[int, int]]) -> EditRefused:
    """The old text begins inside the indentation of a line, so the depth of further lines is unknown."""
    numbers = [document.line_number(start) for start, _ in hits[:_SHOWN_PLACES]]
    return EditRefused(
        f"Nothing was changed: `old` begins inside the indentation of {_lines(numbers, len(hits))} of the file, so it"
        " is not clear how deep the lines of `new` belong.",
        hint=_OWN_INDENTATION,
    )


def depth_differs(document: Document, place: LinePlace) -> EditRefused:
    """The old and the new text start at different depths and neither is certain."""
    last = place.first + place.count
    return EditRefused(
        f"Nothing was changed: `old` fits {_range(place.first + 1, last)} but for its indentation, and `new` starts at"
        " another depth than `old`, so it is not clear how deep it belongs. The file has:\n"
        + "\n".join(_numbered(document, place.first, min(last, place.first + _SHOWN_LINES))),
        hint=_OWN_INDENTATION,
    )


def indentation_disagrees(document: Document, place: LinePlace, old_lines: Sequence[str]) -> EditRefused:
    """The lines are there, but not all of them are indented more, or less, by the same."""
    last = place.first + place.count
    file_lines = document.lines[place.first : last]
    pairs = [pair for pair in zip(range(place.count), old_lines, file_lines, strict=True) if pair[2].strip(BLANKS)]
    shift = find_shift([pairs[0][1]], [pairs[0][2]])
    odd = [(number, old, line) for number, old, line in pairs if shift is None or find_shift([old], [line]) != shift]
    shown = [
        f"line {place.first + number + 1}: the file has {_blanks(line)}, `old` has {_blanks(old)}"
        for number, old, line in (pairs[:1] + odd if shift else odd)[:_SHOWN_LINES]
    ]
    return EditRefused(
        f"Nothing was changed: `old` fits {_range(place.first + 1, last)} but for its indentation, and its lines do not"
        " agree about the difference:\n" + "\n".join(shown),
        hint=_OWN_INDENTATION,
    )


def numbers_disagree(numbers: Sequence[int], first: int) -> EditRefused:
    """The line numbers in the old text are not those of the lines it fits."""
    return EditRefused(
        f"Nothing was changed: `old` starts with line numbers from {numbers[0]} on, but this text stands on"
        f" {_range(first, first + len(numbers) - 1)}.",
        hint="Read the file again and send the plain text, without line numbers.",
    )


def partly_numbered(place: LinePlace) -> EditRefused:
    """Some lines of the new text have line numbers and some do not."""
    return EditRefused(
        f"Nothing was changed: without line numbers `old` fits {_range(place.first + 1, place.first + place.count)},"
        " but only some lines of `new` start with a number.",
        hint="Send the plain text, without line numbers.",
    )


def new_line_does_not_fit(document: Document, place: LinePlace, fit: Shift | TabWidth, line: str) -> EditRefused:
    """A line of the new text can not be brought to the file's indentation."""
    if isinstance(fit, TabWidth):
        how = f"with {'a tab' if fit.to_tabs else f'{fit.spaces} spaces'} where `old` has"
        how += f" {fit.spaces} spaces" if fit.to_tabs else " a tab"
    else:
        how = f"{'less' if fit.is_outward else 'more'} than `old`, by {_blanks(fit.blanks)}"
    last = place.first + place.count
    return EditRefused(
        f"Nothing was changed: the file indents {_range(place.first + 1, last)} {how}, and a line of `new` does not fit"
        f" that, it has {_blanks(line)}: {show_invisible(line.strip(BLANKS)[:80])}\nThe file has:\n"
        + "\n".join(_numbered(document, place.first, min(last, place.first + _SHOWN_LINES))),
        hint=_OWN_INDENTATION,
    )


def nothing_to_replace(document: Document, call: Call) -> NoMatch:
    """No exact hit for ``replace_all``."""
    places = [] if call.old.isspace() else lines_but_for_indentation(document, split_lines(call.old))
    if not places:
        return not_found(document, call)
    numbers = [place.first + 1 for place in places[:_SHOWN_PLACES]]
    return NoMatch(
        "Nothing was changed: `replace_all` changes only exact hits and there is none; but for indentation and trailing"
        f" blanks `old` fits {_lines(numbers, len(places))}.",
        hint="Send `old` exactly as it is in the file.",
    )


def not_found(document: Document, call: Call) -> NoMatch:
    """The old text is nowhere; says what may have happened to it and what is closest."""
    reason = "Nothing was changed: `old` is not in the file."
    if call.old.isspace():
        return NoMatch(reason, hint="White space is only matched exactly: include the text around it in `old`.")
    if found := clue(document, call):
        return NoMatch(f"{reason} {found.text}", hint=found.hint)
    if done := already_there(document, call):
        reason += f" {done}"
    if shown := is_like_something_shown(call.old):
        reason += f" {shown}"
    closest = closest_lines(document, call.old)
    if closest is None:
        return NoMatch(
            f"{reason} Nothing in the file is similar.",
            hint="Read the file, or look for the text with grep, and send `old` exactly as it is there.",
        )
    others = f" (as close: {_lines(closest.others, len(closest.others))})" if closest.others else ""
    return NoMatch(
        f"{reason} Closest: {_range(closest.first, closest.last)}{others}; - is `old`, + is the file:\n"
        + "\n".join(difference(document, call.old, closest)),
        hint="Send `old` exactly as it is in the file; read these lines again if in doubt.",
    )


def _lines(numbers: Sequence[int], count: int) -> str:
    """Line numbers as in "lines 1, 3 and 5"."""
    numbers = list(dict.fromkeys(numbers))
    words = [str(number) for number in numbers[:_SHOWN_PLACES]]
    if count > len(numbers) and len(numbers) >= _SHOWN_PLACES:
        return f"lines {', '.join(words)} and others"
    if len(words) == 1:
        return f"line {words[0]}"
    return f"lines {', '.join(words[:-1])} and {words[-1]}"


def _range(first: int, last: int) -> str:
    return f"line {first}" if first >= last else f"lines {first}-{last}"


def _numbered(document: Document, first: int, last: int) -> list[str]:
    return [f"{number + 1:>6}  {show_invisible(document.lines[number][:200])}" for number in range(first, last)]


def _blanks(line: str) -> str:
    blanks = indentation(line)
    tabs, spaces = blanks.count("\t"), blanks.count(" ")
    parts = [f"{n} {word}{'s' * (n > 1)}" for n, word in ((tabs, "tab"), (spaces, "space")) if n]
    return " and ".join(parts) or "no indentation"
