"""The transcript of a session: turns are loaded from its record, leave it when taken back, and return."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from codeagent.core.events import AgentEvent, ConversationRestored, ConversationRewound, TurnStarted
from codeagent.tui.themes import Palette
from codeagent.tui.widgets.blocks import NoteBlock, ThinkingBlock
from codeagent.tui.widgets.column import Place
from codeagent.tui.widgets.compaction_block import CompactionBlock
from codeagent.tui.widgets.finding import hits, pattern_of
from codeagent.tui.widgets.past import past_parts
from codeagent.tui.widgets.times import seconds_of
from codeagent.tui.widgets.tool_panel import ToolPanel
from codeagent.tui.widgets.transcript import Transcript
from codeagent.tui.widgets.turn_places import TurnPlaces, last_kind


class SessionTranscript(Transcript):
    """What a resumed session shows is what it showed while it went on."""

    def __init__(self, palette: Palette, *, reduced_motion: bool = False) -> None:
        super().__init__(palette, reduced_motion=reduced_motion)
        self._turns = TurnPlaces()

    def begin_turn(self, turn: int, text: str) -> None:
        """A turn begins with the person's words."""
        self._turns.begin(turn, self._append_said(text))

    def rewind(self, turn: int, note: str) -> None:
        """The conversation goes on from before a turn: what came since leaves, and a note says so."""
        self._end_reply()
        self._moved(self._turns.take_out(turn, self.column))
        self._append(NoteBlock(note))

    def restore(self, note: str) -> None:
        """What the last rewind took out is there again."""
        self._end_reply()
        self._moved(self._turns.put_back(self.column))
        self._append(NoteBlock(note))

    def load(self, events: Iterable[AgentEvent], times: Sequence[str] = ()) -> None:
        """Shows a session that was stored; drawn only where it is looked at, so that long ones open at once.

        ``times`` are when the events happened.
        """
        self._end_reply()
        for begun, found in past_parts(events):
            match begun:
                case TurnStarted(turn=turn):
                    self._turns.begin(turn, len(self.column))
                case ConversationRewound(turn=turn):
                    self._moved(self._turns.take_out(turn, self.column))
                case ConversationRestored():
                    self._moved(self._turns.put_back(self.column))
                case None:
                    pass
            for number, block in found:
                index = self._append(block, seconds_of(times[number]) if number < len(times) else 0)
                self._turns.shown(number, index)
                if isinstance(block, ToolPanel | ThinkingBlock | CompactionBlock):
                    self._foldables.append(index)

    def look_at(self, event: int, words: str) -> None:
        """Goes to where a loaded event is shown, counted from 0, and marks the words there."""
        self.flush()
        places = [index for index in self._turns.places(event) if self.column.block(index) is not None]
        pattern = pattern_of(words)
        for index in places if words else ():
            block = self._foldable(index)
            if block is not None and pattern.search(block.words()):
                block.set_open(is_open=True)
                self._redraw(index)
            if found := hits(self.column.lines(index), pattern):
                first, last = found[0]
                self._bring_line_into_view(Place(index, *first))
                self.mark(Place(index, *first), Place(index, *last))
                return
        if places:
            self._bring_into_view(places[0])

    def start_over(self) -> None:
        """Forgets everything: another session is shown."""
        self._turns = TurnPlaces()
        super().start_over()

    def _moved(self, first: int | None) -> None:
        """Blocks from ``first`` on were taken out or put back."""
        if first is None:
            return
        if self._chosen is not None and self._chosen >= first:
            self._chosen = None
        self._last = last_kind(self.column)
        self._mark_dirty(first)
        self._wake()
