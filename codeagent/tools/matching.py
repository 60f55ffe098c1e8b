"""Finds the text that an edit replaces, and refuses unless both the place and the result are certain.

The old text is looked for exactly first, then overlooking a little more at each
level (see ``MatchLevel``). The first level that finds anything decides: one place
is changed, several are refused. Nothing here reads or writes files.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from codeagent.core.errors import EditRefused, ManyMatches, NoMatch
from codeagent.tools import matching_advice as advice
from codeagent.tools.matching_document import Call, Change, Document, open_document, read_call
from codeagent.tools.matching_levels import find_change
from codeagent.tools.matching_places import exact_hits
from codeagent.tools.matching_result import EditMatch, MatchLevel
from codeagent.tools.matching_writing import replace_text

__all__ = ["EditMatch", "MatchLevel", "apply_edit", "apply_edits"]

_LOOSENESS = tuple(MatchLevel)


def apply_edit(content: bytes | None, old: str, new: str, *, replace_all: bool = False) -> EditMatch:
    """The file's bytes with ``old`` replaced by ``new``; None as ``content`` means that there is no such file.

    An empty ``old`` gives a new or empty file its content. ``replace_all`` changes
    every exact hit. Raises ``NoMatch``, ``ManyMatches`` or ``EditRefused``, whose
    texts say what to send instead.
    """
    if content is None:
        return _create(old, new)
    document = open_document(content)
    call = read_call(document, old, new)
    return _finish(document, _changes(document, call, replace_all=replace_all))


def apply_edits(content: bytes | None, edits: Sequence[tuple[str, str]]) -> EditMatch:
    """The file's bytes after several edits, all matched against the file as it is now; all of them or none.

    Places may not overlap. Raises what ``apply_edit`` raises; the text says which edit failed, counted from 1.
    """
    if not edits:
        raise EditRefused("Nothing was changed: there are no edits.", hint="Send at least one pair of old and new.")
    if len(edits) == 1:
        return apply_edit(content, *edits[0])
    if content is None:
        raise NoMatch("Nothing was changed: there is no such file.", hint="Create it with the write tool.")
    document = open_document(content)
    changes: list[tuple[Change, int]] = []
    for number, (old, new) in enumerate(edits, start=1):
        try:
            call = read_call(document, old, new)
            found = _changes(document, call, replace_all=False)
            _finish(document, found)
        except (NoMatch, ManyMatches, EditRefused) as problem:
            hint = problem.hint
            if any(old in earlier for _, earlier in edits[: number - 1]):
                hint = (
                    f"All edits are matched against the file as it is now: join this one with the earlier one. {hint}"
                )
            raise type(problem)(f"Edit {number} of {len(edits)}: {problem.message}", hint=hint) from None
        changes += [(change, number) for change in found]
    changes.sort(key=lambda item: (item[0].start, item[0].end))
    for (earlier, one), (later, two) in pairwise(changes):
        if later.start < earlier.end or later.start == earlier.start:
            first, second = sorted((one, two))
            raise advice.overlapping(document, first, second, later)
    return _finish(document, [change for change, _ in changes])


def _create(old: str, new: str) -> EditMatch:
    if old:
        raise NoMatch(
            "Nothing was changed: there is no such file.",
            hint="Check the path (glob finds files by name), or create the file with the write tool.",
        )
    call_on_nothing = read_call(open_document(b""), old, new)
    return EditMatch(content=call_on_nothing.as_sent().encode(), level=MatchLevel.EXACT, lines=())


def _changes(document: Document, call: Call, *, replace_all: bool) -> list[Change]:
    if call.old == call.new:
        raise advice.same_text(document, call)
    if not call.old:
        if document.text:
            raise advice.empty_old()
        return [Change(start=0, end=0, replacement=call.as_sent(), level=MatchLevel.EXACT)]
    if not document.text:
        raise NoMatch(
            "Nothing was changed: the file is empty, `old` can not be in it.",
            hint="Send an empty `old`, or use the write tool.",
        )
    return _every_change(document, call) if replace_all else [find_change(document, call)]


def _every_change(document: Document, call: Call) -> list[Change]:
    document.index()
    hits = exact_hits(document, call, most=None)
    if hits.unsure:
        raise advice.depth_unclear(document, hits.unsure)
    if not hits.sure:
        raise advice.nothing_to_replace(document, call)
    changes: list[Change] = []
    done = 0
    for start, end in hits.sure:
        if start >= done:
            changes.append(replace_text(document, start, end, call, MatchLevel.EXACT))
            done = end
    return changes


def _finish(document: Document, changes: Sequence[Change]) -> EditMatch:
    pieces: list[str] = []
    lines: list[tuple[int, int]] = []
    done = counted = 0
    number = 1
    for change in changes:
        start = document.to_raw(change.start)
        pieces += (document.raw[done:start], change.replacement)
        done = document.to_raw(change.end)
        number += document.text.count("\n", counted, change.start)
        counted = change.start
        if document.text:
            last = document.text.count("\n", change.start, max(change.start, change.end - 1))
            place = (number, number + last)
            if lines[-1:] != [place]:
                lines.append(place)
    pieces.append(document.raw[done:])
    raw = "".join(pieces)
    if raw == document.raw:
        raise advice.reads_like_this(lines)
    level = max((change.level for change in changes), key=_LOOSENESS.index)
    return EditMatch(content=document.encode(raw), level=level, lines=tuple(lines))
