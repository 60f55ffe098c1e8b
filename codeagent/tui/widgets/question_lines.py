"""What an approval question shows, as lines: the whole command or change, warnings, and why it is asked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import assert_never

from rich.style import Style

from codeagent.core.approvals import (
    Access,
    ApprovalRequest,
    CommandPreview,
    Decision,
    DiffPreview,
    Hold,
    NoPreview,
    ProjectPreview,
    RuleOffer,
    TextPreview,
)
from codeagent.core.text import count_gaps, show_command, show_invisible
from codeagent.core.values import value
from codeagent.tui.themes import Palette
from codeagent.tui.widgets.answer_keys import Choice
from codeagent.tui.widgets.code_lines import highlight
from codeagent.tui.widgets.command_rows import command_code, command_rows
from codeagent.tui.widgets.diff_lines import DiffLines, render_diff
from codeagent.tui.widgets.header import from_home
from codeagent.tui.widgets.inks import inks_of
from codeagent.tui.widgets.lines import EMPTY, Cut, Line, Piece, one_line, wrap
from codeagent.tui.widgets.project_lines import project_lines
from codeagent.tui.widgets.stacks import Stack

_INDENT = 6
"""Below the verdict on a part of a command, so many cells in, stands the reason."""

_OF_SHORT = 3
"""Where rows are few, one of so many is for warnings."""

_WRITTEN_OUT = re.compile(r"((?:<U\+[0-9A-F]{4,6}>|<\d+ (?:blanks|empty lines)>)+)")
_MOST_COLOURED = 20_000
"""Characters of a command that colours are worth waiting for."""


@value
class QuestionLines:
    """The lines of a question; ``hunk_starts`` are the indexes of the lines where a diff's hunks begin.

    ``is_turned`` says that its warnings stand behind what they are about.
    """

    lines: Sequence[Line]
    hunk_starts: tuple[int, ...] = ()
    diff: DiffLines | None = None
    is_turned: bool = False


def question_lines(
    request: ApprovalRequest,
    width: int,
    palette: Palette,
    *,
    diff: DiffLines | None = None,
    rows: int = 0,
) -> QuestionLines:
    """The question itself: warnings first, then exactly what would happen.

    ``diff`` is the change as it was drawn, when it is one. Where a command does not begin within ``rows``, the first
    warnings stand above it in a line each, and all of them behind it; 0 is no limit.
    """
    top = list(_warnings(request, width, palette))
    preview = request.preview
    match preview:
        case DiffPreview():
            diff = render_diff(preview.diff, width, palette) if diff is None else diff
            starts = tuple(start + len(top) for start in diff.hunk_starts)
            return QuestionLines(lines=Stack([top, diff]), hunk_starts=starts, diff=diff)
        case CommandPreview():
            command = asked_command_lines(request, preview, width, palette)
            rest = [EMPTY, *_circumstances(request, preview, width, palette)]
            if is_turned := 0 < rows <= len(top):
                rest += [EMPTY, *top[:-1]]
                top = _in_short(request, width, palette, max(rows // _OF_SHORT, 1)) if rows > 1 else []
            return QuestionLines(lines=[*top, *command, *rest], is_turned=is_turned)
        case NoPreview():
            return QuestionLines(lines=[*top, *_touched(request, width, palette)])
        case TextPreview():
            return QuestionLines(lines=[*top, *_text(preview.text, width, inks_of(palette).text)])
        case ProjectPreview():
            return QuestionLines(lines=[*top, *project_lines(preview, width, palette)])
        case _:
            assert_never(preview)


def asked_command_lines(
    request: ApprovalRequest, preview: CommandPreview, width: int, palette: Palette
) -> Sequence[Line]:
    """The command of a question in colours; the names of those that would destroy something stand out."""
    warned = tuple(" ".join(part.words[:2]) for part in request.verdict.parts if part.loses)
    return command_lines(preview.command, width, palette, warned)


@lru_cache(maxsize=2)
def command_lines(command: str, width: int, palette: Palette, warned: tuple[str, ...] = ()) -> Sequence[Line]:
    """A whole command in colours; what cannot be seen is written out, and long blanks are counted.

    The names of those commands in it that begin like one of ``warned`` stand out.
    """
    inks = inks_of(palette)
    shown = show_command(count_gaps(command))
    code = command_code(shown, palette, warned) if len(shown) <= _MOST_COLOURED else highlight(shown, "", palette)
    if "\n".join("".join(piece.text for piece in row) for row in code) != shown.expandtabs(4):
        code = [[Piece(row, inks.text)] for row in shown.split("\n")]
    lines: list[Line] = []
    for row in code:
        first = Piece("  " if lines else "$ ", inks.faint)
        lines += command_rows(_stressed(row, inks.warning), width, first=first, mark=inks.faint)
    return lines


def verdict_lines(request: ApprovalRequest, width: int, palette: Palette) -> list[Line]:
    """Why the question is asked: the whole verdict, each part of the command with its own, then what is warned of."""
    inks, verdict = inks_of(palette), request.verdict
    reasons = [part.because.rstrip(".").lower() for part in verdict.parts if part.decision is not Decision.ALLOW]
    whole = verdict.because.rstrip(".").lower()
    if whole in reasons and len(set(reasons)) > 1:  # each stands below its part
        whole = ""
    lines = _text(verdict.because or "No rule allows it.", width, inks.text) if whole or not reasons else []
    if verdict.is_opaque:
        lines += _text("What it would run cannot be told beforehand, so it is asked each time.", width, inks.warning)
    for part in verdict.parts:
        style = {Decision.ALLOW: inks.success, Decision.ASK: inks.warning, Decision.DENY: inks.error}[part.decision]
        lines += [EMPTY] if lines else []
        words = Piece(show_command(part.shown), inks.text)
        rows = command_rows([words], width - _INDENT, first=Piece("", inks.text), mark=inks.faint)
        said = (Piece(f"{part.decision:<{_INDENT}}", style),)
        lines += [row.after((Piece(" " * _INDENT, style),) if at else said) for at, row in enumerate(rows)]
        if part.because.rstrip(".").lower() != whole:  # else it stands above already
            lines += _text(part.because, width, inks.muted, indent=_INDENT)
    if verdict.remedy:
        lines += [EMPTY, *_text(f"Not asked when started with: {verdict.remedy}", width, inks.muted)]
    if warned := list(_warnings(request, width, palette)):
        lines += [EMPTY, *warned[:-1]]
    return lines


def key_lines(choices: Sequence[Choice], width: int, palette: Palette) -> list[Line]:
    """All keys of the question in full words, where there was no room for them below it."""
    inks = inks_of(palette)
    pairs = [[Piece(choice.key, inks.accent), Piece(f" {choice.words}", inks.muted)] for choice in choices]
    return [EMPTY, *_rows_of(pairs, width, Piece(" · ", inks.muted))]


def offer_lines(offers: Sequence[RuleOffer], width: int, palette: Palette) -> list[Line]:
    """The exact rules that would be stored, and what else each would let through."""
    inks = inks_of(palette)
    word = "this rule" if len(offers) == 1 else f"these {len(offers):,} rules"
    lines = _text(f"Approves, and stores {word}:", width, inks.muted)
    for offer in offers:
        lines += [EMPTY, *_text(offer.rule, width, inks.accent, indent=2)]
        lines += _text(offer.covers, width, inks.text, indent=2)
    where = "Project and always are kept in grants.json in codeagent's own folder, outside the project."
    return [*lines, EMPTY, *_text(where, width, inks.muted)]


def _said(request: ApprovalRequest) -> list[str]:
    said: list[str] = [*request.warnings, *(touch.concern.reason for touch in request.touches if touch.concern)]
    if isinstance(request.preview, DiffPreview):
        said += [*request.preview.notes]
    return [show_invisible(warning) for warning in dict.fromkeys(said)]


def _in_short(request: ApprovalRequest, width: int, palette: Palette, most: int) -> list[Line]:
    """The first warnings, at most so many, each as far as it fits into a line, and how many more there are."""
    style = inks_of(palette).warning
    said = _said(request)
    more = f" + {len(said) - most:,} more" if len(said) > most else ""
    ends = ["" for _ in said[: most - 1]] + [more]
    return [
        Line(pieces=(*one_line([Piece(f"! {warning}", style)], width - len(end)), Piece(end, style)))
        for warning, end in zip(said, ends, strict=False)
    ]


def _warnings(request: ApprovalRequest, width: int, palette: Palette) -> Iterator[Line]:
    inks = inks_of(palette)
    said = _said(request)
    for warning in said:
        yield from wrap(
            [Piece(warning, inks.warning)],
            width,
            first=(Piece("! ", inks.warning),),
            rest=(Piece("  ", inks.warning),),
        )
    if said:
        yield EMPTY


def _circumstances(request: ApprovalRequest, preview: CommandPreview, width: int, palette: Palette) -> Iterator[Line]:
    inks = inks_of(palette)
    if preview.background:
        limit = "in the background" + (
            f", at most {preview.timeout:g} s" if preview.timeout else " until it is stopped"
        )
    else:
        limit = f"stops after {preview.timeout:g} s"
    held = "runs without the sandbox" if preview.held_back else request.hold.value
    if request.hold is not Hold.NONE and preview.reaches:
        held += f", but may use {' and '.join(preview.reaches)}"
    elif request.hold is not Hold.NONE and preview.opens_services:
        held += ", but may use other programs"
    place = show_invisible(from_home(preview.cwd))
    facts = [Piece(f"in {place}", inks.muted), Piece(limit, inks.muted)]
    facts.append(Piece(held, inks.muted if request.hold is Hold.WHOLE else inks.warning))
    yield from _together(facts, width, Piece(" · ", inks.muted))
    writes = [touch.written for touch in request.touches if touch.access is Access.WRITE and touch.path is not None]
    if writes:
        yield from _text(f"writes {', '.join(writes)}", width, inks.muted)


def _together(facts: Sequence[Piece], width: int, between: Piece) -> Iterator[Line]:
    """As many facts in a line as fit; one that is too long for a line of its own goes on below."""
    yield from _rows_of([[fact] for fact in facts], width, between)


def _rows_of(facts: Sequence[list[Piece]], width: int, between: Piece) -> Iterator[Line]:
    row: list[Piece] = []
    for fact in facts:
        longer = [*row, between, *fact] if row else fact
        if row and Line(pieces=tuple(longer)).width > width:
            yield from wrap(row, width, cut=Cut.ANYWHERE)
            longer = fact
        row = longer
    yield from wrap(row, width, cut=Cut.ANYWHERE)


def _touched(request: ApprovalRequest, width: int, palette: Palette) -> Iterator[Line]:
    inks = inks_of(palette)
    for touch in request.touches:
        real = from_home(touch.path) if touch.path is not None else "the whole workspace"
        yield from wrap(
            [Piece(f"{touch.access:<6}", inks.muted), Piece(show_command(real), inks.text)], width, cut=Cut.ANYWHERE
        )
        if touch.written and touch.path is not None and Path(touch.written) != touch.path:
            yield from _text(f"written as {touch.written}", width, inks.muted, indent=6)


def _text(text: str, width: int, style: Style, *, indent: int = 0) -> list[Line]:
    return wrap([Piece(show_invisible(text), style)], width, first=(Piece(" " * indent, style),))


def _stressed(row: list[Piece], style: Style) -> list[Piece]:
    """What was written out stands out from the command's own characters."""
    pieces: list[Piece] = []
    for piece in row:
        if "<" not in piece.text:
            pieces.append(piece)
            continue
        for at, text in enumerate(_WRITTEN_OUT.split(piece.text)):  # every other part is what stood between
            if text:
                pieces.append(Piece(text, style if at % 2 else piece.style, piece.copied, piece.link))
    return pieces
