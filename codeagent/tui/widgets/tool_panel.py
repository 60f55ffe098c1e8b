"""The panel of one tool call: a quiet line when all went well, open by itself when something failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from functools import cached_property

from codeagent.core.approvals import CommandPreview, DiffPreview, Preview, to_keep
from codeagent.core.messages import ChangeDetails, CommandDetails, Outcome, TextBlock, ToolResult
from codeagent.core.patch import as_patch
from codeagent.core.text import clean, counted, show_command, show_invisible
from codeagent.tui.widgets.blocks import INDENT, RIGHT_MARGIN, Kind, grounded, gutter
from codeagent.tui.widgets.inks import Inks
from codeagent.tui.widgets.lines import Line, Piece, one_line, path_within
from codeagent.tui.widgets.panel_lines import (
    TAIL_LINES,
    Toned,
    body_lines,
    counts,
    details_of,
    inked,
    is_cut,
    is_trouble,
    label_of,
    preview_lines,
    seconds_text,
    tail_lines,
    words_of,
)
from codeagent.tui.widgets.stacks import Shifted, Stack

SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
BODY_INDENT = 5
_TAIL_CHARACTERS = 16_000
_BRIEF_LINES = 12
_NAME_CELLS = 5
_OF_ONE_FILE = frozenset({"read", "edit", "write", "ls"})
"""Tools that are named with a path, of which the end says most."""
_WIDEST_HEADING = 120
"""Cells on the widest screen, so that what came of a call stands near what it was."""
_LONGEST_LABEL = 1_000
"""Characters that are looked at for a heading, which is drawn many times a second."""

_TELLS_TIME_AFTER = 1.0


class _Fold(StrEnum):
    """How much of the panel shows; brief is how a failed call opens by itself."""

    CLOSED = "closed"
    BRIEF = "brief"
    OPEN = "open"


class _Stage(StrEnum):
    """How far a call is that has not ended."""

    QUEUED = "queued"
    ASKED = "asked about"
    RUNNING = "running"


class ToolPanel:
    """A call from its start to its end. Times are in seconds of a clock that the transcript reads."""

    kind = Kind.TOOL

    def __init__(
        self, call_id: str, name: str, arguments_json: str, *, started: float = 0.0, is_open: bool = False
    ) -> None:
        """``is_open`` when all of it is to be seen as long as the person does not close it."""
        self.call_id = call_id
        self.is_chosen = self.is_pinned = False
        self._stage = _Stage.QUEUED
        self._name = show_invisible(clean(name))
        self._arguments = arguments_json
        self._label = ""
        self._preview: Preview | None = None
        self._drawn_preview: tuple[int, Inks, Sequence[Line]] | None = None
        self._output = ""
        self._refusal: str | None = None
        self._result: ToolResult | None = None
        self._seconds = 0.0
        self._started = started
        self._now = started
        self._frame: str = SPINNER[0]
        self._fold = self._by_itself = _Fold.OPEN if is_open else _Fold.CLOSED
        self._is_cut = False

    @property
    def has_clock(self) -> bool:
        """Whether something in its heading moves with time."""
        return self._result is None and (self._stage is _Stage.RUNNING or not self._has_waited)

    @property
    def _has_waited(self) -> bool:
        """Whether it waits for so long that it is worth a word."""
        return self._stage is not _Stage.QUEUED or self._now - self._started >= _TELLS_TIME_AFTER

    @property
    def is_open(self) -> bool:
        """Whether more than its heading shows."""
        return self._fold is not _Fold.CLOSED

    @property
    def is_whole(self) -> bool:
        """Whether all that it holds shows."""
        return self._fold is _Fold.OPEN

    @property
    def ends_empty(self) -> bool:
        """An ended call's open panel keeps its distance from the next one."""
        return self.is_open and self._result is not None

    def show_preview(self, preview: Preview, label: str) -> None:
        """What the call would do, and what its object is called."""
        self._preview, self._drawn_preview = to_keep(preview), None
        self._label = label or self._label

    def ask(self) -> None:
        """A person must answer first."""
        self._stage = _Stage.ASKED

    def wait(self, now: float) -> None:
        """It waits for its turn, since the person has answered."""
        self._stage = _Stage.QUEUED
        self._started = self._now = now

    def run(self, now: float, *, frame: str) -> None:
        """It runs from now on; what it waited is not running time."""
        self._stage = _Stage.RUNNING
        self._started = now
        self.tick(now, frame=frame)

    def deny(self, feedback: str) -> None:
        """The person said no: the panel shows their words, not what the model is told."""
        self._refusal = f"You said: {feedback}" if feedback else ""

    def write(self, text: str) -> None:
        """More output; the end of it is kept."""
        self._output = (self._output + text)[-_TAIL_CHARACTERS:]

    def tick(self, now: float, *, frame: str) -> None:
        """Time passes while it runs."""
        self._now = now
        self._frame = frame

    def end(self, result: ToolResult, seconds: float) -> None:
        """The call is over; trouble opens the panel."""
        self._result = result
        if self._refusal is not None and result.outcome is Outcome.DENIED:
            said = (TextBlock(text=self._refusal),) if self._refusal else ()
            self._result = replace(result, blocks=said)
        self._seconds = seconds
        self._output, self._drawn_preview = "", None
        if is_trouble(result) and self._by_itself is _Fold.CLOSED:
            self._by_itself = _Fold.BRIEF
        if self._fold is _Fold.CLOSED:
            self._fold = self._by_itself

    def toggle(self) -> None:
        """Opens the panel, shows all of one that opened by itself and holds more, or closes it."""
        if self._fold is _Fold.BRIEF and self._holds_more():
            self._fold = _Fold.OPEN
        else:
            self._fold = _Fold.CLOSED if self.is_open else _Fold.OPEN
        if not self.is_open:
            self._by_itself = _Fold.CLOSED

    def set_open(self, *, is_open: bool) -> None:
        """Opens or closes it, whatever it was."""
        self._fold = _Fold.OPEN if is_open else _Fold.CLOSED

    def fold_back(self) -> None:
        """Closes it, but for what it shows by itself where the person has not closed that."""
        self._fold = self._by_itself

    def copied(self) -> str:
        """What the panel holds, as plain text: the diff's new lines, the command's output, the lines read."""
        result = self._result
        if result is None:
            return clean(self._output)
        if isinstance(result.details, ChangeDetails):
            return "".join(as_patch(diff) for diff in result.details.diffs)
        return clean(result.text)

    def words(self) -> str:
        """Its heading's words and all it can show below, open or not."""
        label = self._shown_label(whole=True)
        details = "".join(text for text, _ in self._details())
        return f"{self._name} {label}\n{details}\n{words_of(self._preview, self._result, self._output)}"

    def lines(self, width: int, inks: Inks) -> Sequence[Line]:
        """The heading and what shows below it."""
        head = self._heading(min(width, _WIDEST_HEADING), inks)
        room = max(width - BODY_INDENT - RIGHT_MARGIN, 8)
        body: Sequence[Line] = ()
        if self._result is not None:
            if self.is_open:
                most = _BRIEF_LINES if self._fold is _Fold.BRIEF else None
                is_told = self._shown_label(whole=True) in head.text
                body = body_lines(self._name, self._preview, self._result, room, inks, most=most, is_told=is_told)
                self._is_cut = most is not None and is_cut(body)
        elif self.is_open:
            tail = tail_lines(self._output, room, inks, most=4 * TAIL_LINES)
            body = Stack([self._preview_lines(room, inks), tail])
        elif self._output and self._stage is _Stage.RUNNING:
            body = tail_lines(self._output, room, inks)
        after = [Line(whole="")] if self.ends_empty else []
        return Stack([[head], Shifted(body, BODY_INDENT, inks), after]) if body or after else [head]

    def guess(self, width: int) -> int:
        """One row when closed."""
        if not self.is_open or self._result is None:
            return 1 + min(self._output.count("\n"), TAIL_LINES)
        if isinstance(self._result.details, ChangeDetails):
            return 2 + sum(diff.added + diff.removed for diff in self._result.details.diffs)
        rows = self._result.text.count("\n") + 1 + len(self._result.text) // max(width, 1)
        return 2 + (min(rows, _BRIEF_LINES + 1) if self._fold is _Fold.BRIEF else rows)

    def _preview_lines(self, width: int, inks: Inks) -> Sequence[Line]:
        """What the call would do, drawn once: the heading above it changes many times a second."""
        if self._drawn_preview is None or self._drawn_preview[:2] != (width, inks):
            self._drawn_preview = (width, inks, preview_lines(self._preview, width, inks))
        return self._drawn_preview[2]

    def _holds_more(self) -> bool:
        """Whether there is more of an ended call than what it opened with by itself, as it was drawn last."""
        details = self._result.details if self._result is not None else None
        has_changes = isinstance(details, CommandDetails) and bool(details.changes)
        return self._is_cut or has_changes or isinstance(self._preview, DiffPreview)

    def _heading(self, width: int, inks: Inks) -> Line:
        right = inked(self._details(), inks)
        right_cells = Line(pieces=tuple(right)).width
        name = f"{self._name:<{_NAME_CELLS}}  "
        left = (*gutter(inks, is_chosen=self.is_chosen), self._sign(inks), Piece(name, inks.strong))
        room = width - RIGHT_MARGIN - INDENT - 2 - len(name) - right_cells - 2
        text, room = self._shown_label(), max(room, 4)
        text = path_within(text, room) if self._name in _OF_ONE_FILE else text
        label = one_line([Piece(text, inks.text if self._result is None else inks.muted)], room)
        taken = Line(pieces=(*left, *label)).width
        blank = Piece(" " * max(width - RIGHT_MARGIN - taken - right_cells, 2), inks.text, "  ")
        line = Line(pieces=one_line([*left, *label, blank, *right], width))
        return grounded(line, inks) if self.is_chosen else line

    def _sign(self, inks: Inks) -> Piece:
        result = self._result
        if result is None:
            sign, ink = {
                _Stage.QUEUED: ("○", inks.faint),
                _Stage.ASKED: ("●", inks.warning),
                _Stage.RUNNING: (self._frame, inks.accent),
            }[self._stage]
        elif result.outcome in {Outcome.SKIPPED, Outcome.CANCELLED}:
            sign, ink = "–", inks.muted
        elif is_trouble(result):
            sign, ink = "✗", inks.error
        else:
            sign, ink = "✓", inks.success
        return Piece(f"{sign} ", ink, "")

    def _shown_label(self, *, whole: bool = False) -> str:
        """The first line of what it is about; as far as a heading may show it, unless it is to be ``whole``."""
        text = self._label
        if isinstance(self._preview, CommandPreview):
            text = self._preview.command
        elif self._result is not None and isinstance(self._result.details, CommandDetails):
            text = self._result.details.command
        text = (text or self._named_in_arguments).strip(" \t\n")
        first = show_command((text if whole else text[:_LONGEST_LABEL]).partition("\n")[0])
        more = text.count("\n")
        return f"{first}  … +{counted(more, 'line')}" if more else first

    @cached_property
    def _named_in_arguments(self) -> str:
        return label_of(self._arguments)

    def _details(self) -> Toned:
        """The words at the right of the heading."""
        said = self._came_of_it()
        if self.is_pinned:
            said.append(("  kept open" if said else "kept open", "muted"))
        return said

    def _came_of_it(self) -> Toned:
        if self._result is not None:
            return details_of(self._name, self._result, self._seconds)
        if self._stage is _Stage.ASKED:
            return [("waiting for you", "warning")]
        if self._stage is _Stage.QUEUED:
            return [("waits its turn", "muted")] if self._has_waited else []
        elapsed = self._now - self._started
        said: Toned = counts([self._preview.diff]) if isinstance(self._preview, DiffPreview) else []
        if elapsed >= _TELLS_TIME_AFTER:
            said.append((("  " if said else "") + seconds_text(elapsed), "muted"))
        return said
