"""Changes of several files, one below the other: each with its name, what happens to it, and its diff."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from codeagent.core.diff import ChangeKind, FileDiff
from codeagent.core.patch import as_patch
from codeagent.core.text import show_invisible
from codeagent.tui.themes import Palette
from codeagent.tui.widgets.blocks import Kind
from codeagent.tui.widgets.column_view import ColumnView
from codeagent.tui.widgets.diff_lines import render_diff
from codeagent.tui.widgets.inks import Inks
from codeagent.tui.widgets.lines import Line, Piece, path_within, wrap
from codeagent.tui.widgets.stacks import Stack

_VERBS = {ChangeKind.CREATED: "created", ChangeKind.DELETED: "deleted", ChangeKind.CHANGED: "changed"}


def file_lines(diff: FileDiff, width: int, inks: Inks, *, remark: str = "") -> Sequence[Line]:
    """A file's heading and its diff; the ``remark`` is a warning, below the name where there is no room beside it."""
    right = [Piece(f"+{diff.added:,}", inks.added), Piece(f" −{diff.removed:,}", inks.removed)] if diff.hunks else []
    cells = Line(pieces=tuple(right)).width
    verb, path = Piece(f"{_VERBS[diff.change]}  ", inks.muted), show_invisible(diff.path)
    words = Piece(show_invisible(remark), inks.warning)
    room = max(width - cells - 2, 8)
    is_beside = Line(pieces=(verb, Piece(f"{path}  ", inks.strong), words)).width <= room
    name = Piece(path_within(path, max(room - len(verb.text), 8)), inks.strong)
    left = (verb, name, words._replace(text=f"  {words.text}" if remark and is_beside else ""))
    blank = Piece(" " * max(width - Line(pieces=left).width - cells, 2), inks.text, "  ")
    heading = Line(pieces=(*left, blank, *right))
    below = wrap([words], width) if remark and not is_beside else []
    return Stack([[heading, *below], render_diff(diff, width, inks.palette)])


def words_of_change(diff: FileDiff) -> str:
    """What ``file_lines`` draws, as plain text."""
    return f"{_VERBS[diff.change]}  {diff.path}\n{as_patch(diff)}"


def change_lines(diffs: Iterable[FileDiff], width: int, inks: Inks) -> Sequence[Line]:
    """Several files, an empty row before each."""
    parts: list[Sequence[Line]] = []
    for diff in diffs:
        parts += [[Line(whole="")], file_lines(diff, width, inks)]
    return Stack(parts)


class FileBlock:
    """One file's change as a block of a column."""

    kind = Kind.TOOL
    ends_empty = False

    def __init__(self, diff: FileDiff, remark: str = "") -> None:
        self._diff = diff
        self._remark = remark

    def lines(self, width: int, inks: Inks) -> Sequence[Line]:
        """Heading and diff, with a cell between them and the scroll bar."""
        return file_lines(self._diff, width - 1, inks, remark=self._remark)

    def guess(self, width: int) -> int:
        """One row a line of the diff."""
        del width
        return 1 + bool(self._remark) + sum(len(hunk.lines) + 1 for hunk in self._diff.hunks) + len(self._diff.notes)

    def words(self) -> str:
        """The file's name and its changes."""
        return words_of_change(self._diff)


class ChangesView(ColumnView, can_focus=True):
    """All of them, scrolling, from the first on."""

    def __init__(self, palette: Palette, changes: Iterable[tuple[FileDiff, str]]) -> None:
        """``changes`` come with a remark each, which may be empty."""
        super().__init__(palette, id="changes")
        self._follows = False
        for diff, remark in changes:
            self.column.append(FileBlock(diff, remark), 1 if len(self.column) else 0)

    @property
    def rows(self) -> int:
        """How many rows all of them take, at the width they have."""
        return sum(self.column.measure(index) for index in range(len(self.column)))

    def _tell_below(self) -> None:
        """Nothing comes after it was opened."""
