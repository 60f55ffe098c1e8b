"""The line that says the conversation was compacted; unfolded, it shows the summary that the model goes on from."""

from __future__ import annotations

from collections.abc import Sequence

from codeagent.core.context import HistoryCompacted
from codeagent.core.text import counted
from codeagent.tui.widgets.blocks import INDENT, RIGHT_MARGIN, Kind, ThinkingBlock, grounded, gutter, indented
from codeagent.tui.widgets.heights import guess_rows
from codeagent.tui.widgets.inks import Inks
from codeagent.tui.widgets.lines import Line, Piece, one_line, presentable
from codeagent.tui.widgets.markdown_lines import markdown_lines


class CompactionBlock(ThinkingBlock):
    """One line, and the summary when opened."""

    kind = Kind.NOTE

    def __init__(self, event: HistoryCompacted) -> None:
        super().__init__(event.summary)
        self._heading = heading(event)
        self._summary = presentable(event.summary).strip()

    def lines(self, width: int, inks: Inks) -> Sequence[Line]:
        """The heading, and the summary when open."""
        room = width - INDENT - RIGHT_MARGIN
        hint = "" if self.is_open or not self._summary else f"  {inks.opens} or a click shows the summary"
        hint = "  kept open" if self.is_pinned else hint
        hint = hint if len(self._heading) + len(hint) <= room else ""
        head = [Piece(self._heading, inks.muted), Piece(hint, inks.faint, "")]
        ground = inks.raised_ground if self.is_chosen else None
        line = Line(pieces=(*gutter(inks, is_chosen=self.is_chosen), *one_line(head, room)), fill=ground)
        lines = [grounded(line, inks) if self.is_chosen else line]
        if self.is_open:
            lines += indented(markdown_lines(self._summary, min(room, 100), inks), inks)
        return lines

    def guess(self, width: int) -> int:
        """One row when closed."""
        return 1 + (guess_rows(self._summary, max(width - INDENT - RIGHT_MARGIN, 1)) if self.is_open else 0)

    def words(self) -> str:
        """The heading and the summary."""
        return f"{self._heading}\n{self._summary}"

    def copied(self) -> str:
        """The summary."""
        return self._summary


def heading(event: HistoryCompacted) -> str:
    """What was done, and how much room it made."""
    outputs = len(event.cleared) + len(event.shortened)
    sizes = f"{event.before:,} → {event.after:,} tokens"
    if event.summary:
        what = "Earlier messages were summed up"
    elif outputs:
        what = f"{counted(outputs, 'old output')} {'was' if outputs == 1 else 'were'} taken out"
    elif event.words_to:
        what = "The middle of a long message was taken out"
    else:  # the last count held what no later request has, such as thinking
        return f"Nothing had to be taken out, by a new count: {sizes}"
    return f"{what} to make room: {sizes}"
