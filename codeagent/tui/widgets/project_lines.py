"""What a project brings along, as lines: first which files there are and what each would do, then what they say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codeagent.core.approvals import ProjectEntry, ProjectPreview
from codeagent.core.text import count_gaps, show_invisible
from codeagent.tui.themes import Palette
from codeagent.tui.widgets.inks import Inks, inks_of
from codeagent.tui.widgets.lines import EMPTY, TAB, Cut, Line, Piece, wrap

_NEW = "These files came with the project. None of them has an effect yet."
_AGAIN = "They are not what you trusted before. None of them has an effect now."
_LEAST, _MOST = 12, 36
_GAP = 2
_NARROW = 60


def project_lines(preview: ProjectPreview, width: int, palette: Palette) -> Sequence[Line]:
    """The list of files and below it their texts, whole."""
    inks = inks_of(palette)
    is_again = bool(preview.gone) or any(entry.change for entry in preview.entries)
    lines = [*wrap([Piece(_AGAIN if is_again else _NEW, inks.muted)], width), EMPTY]
    lines += _list(preview, width, inks)
    for entry in preview.entries:
        if entry.text.strip():
            lines += [EMPTY, *_text(entry, width, inks)]
    return lines


def _list(preview: ProjectPreview, width: int, inks: Inks) -> Iterator[Line]:
    names = [show_invisible(entry.name) for entry in preview.entries]
    gone = [show_invisible(name) for name in preview.gone]
    longest = max(map(len, (*names, *gone)), default=0)
    column = min(max(longest, _LEAST), _MOST, width // 2) + _GAP
    for name, entry in zip(names, preview.entries, strict=True):
        about = [Piece(show_invisible(entry.effect), inks.text)]
        if entry.change:
            about.append(Piece(f" · {entry.change}", inks.warning))
        yield from _row(name, about, column, width, inks)
        for note in entry.notes:
            before = (Piece(" " * (column if width >= _NARROW else _GAP), inks.text),)
            yield from wrap([Piece(show_invisible(note), inks.muted)], width, first=before)
    for name in gone:
        yield from _row(name, [Piece("gone", inks.warning)], column, width, inks)


def _row(name: str, about: list[Piece], column: int, width: int, inks: Inks) -> Iterator[Line]:
    """A name and what is said of it beside it, or below it where the name is too long."""
    blank = (Piece(" " * column, inks.text),)
    if len(name) + _GAP <= column:
        yield from wrap(about, width, first=(Piece(f"{name:<{column}}", inks.accent),), rest=blank)
        return
    yield from wrap([Piece(name, inks.accent)], width, cut=Cut.ANYWHERE)
    yield from wrap(about, width, first=blank)


def _text(entry: ProjectEntry, width: int, inks: Inks) -> Iterator[Line]:
    name = show_invisible(entry.name)
    shown = name if len(name) <= width - 4 else f"…{name[-(width - 5) :]}"
    yield Line(pieces=(Piece(f"{shown} ", inks.strong), Piece("─" * max(width - len(shown) - 2, 0), inks.rule)))
    text = count_gaps(show_invisible(entry.text.strip("\n")).replace("\t", TAB))
    yield from wrap([Piece(text, inks.text)], width)
