"""The transcript: everything said and done in a session, in one widget that stays fast however long it gets.

Only rows on the screen are drawn, finished blocks are never touched again, and
what streams in is gathered and drawn a few dozen times a second at most.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from time import monotonic
from typing import ClassVar, Literal

from textual.binding import BindingType
from textual.events import Blur, Click, Focus
from textual.message import Message
from textual.timer import Timer

from codeagent.core.approvals import Preview
from codeagent.core.events import AgentEvent, HistoryCompacted, Level
from codeagent.core.messages import ToolResult
from codeagent.tui import keys
from codeagent.tui.themes import Palette
from codeagent.tui.widgets.blocks import Block, Foldable, Kind, NoteBlock, PersonBlock, ThinkingBlock
from codeagent.tui.widgets.column import Place, gap_between
from codeagent.tui.widgets.column_view import ColumnView
from codeagent.tui.widgets.compaction_block import CompactionBlock
from codeagent.tui.widgets.finding import Stretch, blocks_with, stretches
from codeagent.tui.widgets.live_reply import LiveReply
from codeagent.tui.widgets.panel_lines import UNFOLD
from codeagent.tui.widgets.past import past_blocks
from codeagent.tui.widgets.tool_panel import SPINNER, ToolPanel

FRAMES_PER_SECOND = 25
_SPINS_PER_SECOND = 10
_SHARE_FOR_DRAWING = 0.25


class Transcript(ColumnView, can_focus=True):
    """What the person reads. All methods are cheap and may be called as often as events come.

    It has the keyboard only when the person walked there; a click leaves it at the prompt.
    """

    FOCUS_ON_CLICK = False

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.Place.TRANSCRIPT)]

    @dataclass
    class LinkClicked(Message):
        """The person clicked a web or mail address."""

        address: str

    def __init__(
        self,
        palette: Palette,
        *,
        reduced_motion: bool = False,
        id: str | None = None,  # noqa: A002 - Textual's own name
    ) -> None:
        super().__init__(palette, id=id)
        self._reduced_motion = reduced_motion
        self._reply: LiveReply | None = None
        self._last: Kind | None = None
        self._calls: dict[str, tuple[int, ToolPanel]] = {}
        self._foldables: list[int] = []
        self._chosen: int | None = None
        self._countdown: int | None = None
        self._before_countdown: Kind | None = None
        self._all_open = False
        self._timer: Timer | None = None
        self._not_before = 0.0
        self._spin = -1

    # --- what happens in the session ---------------------------------------------------------

    def add_user(self, text: str, note: str = "") -> None:
        """The person's words; ``note`` says how they reached the model, when it was not at once."""
        self._end_reply()
        self._append(PersonBlock(text, note))

    def stream_text(self, piece: str) -> None:
        """More of the reply."""
        self._live_reply().write(piece)
        self._wake()

    def stream_thinking(self, piece: str) -> None:
        """More of the model's thinking."""
        index = self._live_reply().think(piece)
        if not self._foldables or self._foldables[-1] < index:
            self._foldables.append(index)
        self._touch(index)

    def end_text(self, *, discarded: bool = False) -> None:
        """The reply is over; ``discarded`` takes it out again, since it will be written anew."""
        self._end_reply(discarded=discarded)

    def tool_started(self, call_id: str, name: str, arguments_json: str, *, is_open: bool = False) -> None:
        """A call is taken up; ``is_open`` when all of it is to be seen."""
        self._end_reply()
        panel = ToolPanel(call_id, name, arguments_json, started=monotonic())
        if self._all_open or is_open:
            panel.set_open(is_open=True)
        index = self._append(panel)
        self._foldables.append(index)
        self._calls[call_id] = (index, panel)

    def tool_previewed(self, call_id: str, preview: Preview, label: str) -> None:
        """What a call would do is known."""
        if call_id in self._calls:
            index, panel = self._calls[call_id]
            panel.show_preview(preview, label)
            self._touch(index)

    def tool_waiting(self, call_id: str, waiting: bool) -> None:  # noqa: FBT001 - the one thing it says
        """Whether a call waits for the person."""
        if call_id in self._calls:
            index, panel = self._calls[call_id]
            panel.wait(is_waiting=waiting, now=monotonic())
            self._touch(index)

    def tool_denied(self, call_id: str, feedback: str) -> None:
        """The person said no to a call, and perhaps why."""
        if call_id in self._calls:
            self._calls[call_id][1].deny(feedback)

    def tool_progressed(self, call_id: str, text: str) -> None:
        """A running call put something out."""
        if call_id in self._calls:
            index, panel = self._calls[call_id]
            panel.write(text)
            self._touch(index)

    def tool_ended(self, result: ToolResult, seconds: float) -> None:
        """A call is over; trouble opens its panel."""
        found = self._calls.pop(result.call_id, None)
        if found is not None:
            index, panel = found
            panel.end(result, seconds)
            self._touch(index)

    def add_note(self, text: str, level: Level = Level.INFO) -> None:
        """Something the program says."""
        self._end_reply()
        self._append(NoteBlock(text, level))

    def compacted(self, event: HistoryCompacted) -> None:
        """The history became shorter; the summary can be unfolded."""
        self._end_reply()
        index = self._append(CompactionBlock(event))
        self._foldables.append(index)

    def set_countdown(self, text: str | None) -> None:
        """A note that changes until it is taken away, such as the seconds to the next try; None takes it away."""
        if self._countdown is None:
            if text is not None:
                self._before_countdown = self._last
                self._countdown = self._append(NoteBlock(text, Level.WARNING))
            return
        self._replace(self._countdown, None if text is None else NoteBlock(text, Level.WARNING))
        if text is None:
            if self._countdown == len(self.column) - 1:
                self._last = self._before_countdown
            self._countdown = None

    def load(self, events: Iterable[AgentEvent]) -> None:
        """Shows a session that was stored; drawn only where it is looked at, so that long ones open at once."""
        self._end_reply()
        for block in past_blocks(events):
            index = self._append(block)
            if isinstance(block, ToolPanel | ThinkingBlock):
                self._foldables.append(index)

    def start_over(self) -> None:
        """Forgets everything: another session is shown."""
        self._reply = self._last = self._chosen = self._countdown = self._before_countdown = None
        self._calls, self._foldables = {}, []
        super().start_over()

    # --- opening, choosing, copying ------------------------------------------------------------

    def toggle_all(self) -> None:
        """Opens all panels, or closes them."""
        self._all_open = not self._all_open
        for index in self._foldables:
            if (block := self._foldable(index)) is not None:
                block.set_open(is_open=self._all_open)
                self.column.changed(index)
                self.column.guess(index)
        if self._foldables:
            self._touch(self._foldables[0])
            self.flush()

    def choose(self, which: Literal["previous", "next"]) -> None:
        """Points at the panel before or after the one pointed at; at first, at the last one in view."""
        panels = [index for index in self._foldables if self.column.block(index) is not None]
        if not panels:
            return
        if self._chosen in panels:
            place = min(max(panels.index(self._chosen) + (1 if which == "next" else -1), 0), len(panels) - 1)
        else:
            bottom = self.scroll_offset.y + self.size.height
            place = max(sum(self.column.top(index) < bottom for index in panels) - 1, 0)
        self._point_at(panels[place])
        self._bring_into_view(panels[place])

    def unchoose(self) -> None:
        """Points at no panel."""
        self._point_at(None)

    def toggle_chosen(self) -> None:
        """Opens or closes the panel pointed at."""
        if self._chosen is not None:
            self._toggle(self._chosen)
            self._bring_into_view(self._chosen)

    def copy_chosen(self) -> str:
        """What the panel pointed at holds, as plain text."""
        block = None if self._chosen is None else self._foldable(self._chosen)
        return "" if block is None else block.copied()

    def find(self, words: str, which: Literal["previous", "next"] = "previous") -> bool:
        """Marks the words where they next stand above or below what is marked, and goes there.

        The search begins at the end and goes round; a panel that holds the words folded
        away is opened. False when they stand nowhere.
        """
        self.flush()
        if not words or not len(self.column):
            return False
        here = self.marked[0] if self.marked is not None else Place(len(self.column), 0)
        is_down, has_left = which == "next", False
        for index in blocks_with(self.column, words, min(here.block, len(self.column) - 1), 1 if is_down else -1):
            hits = self._unfolded_hits(words, index)
            if index == here.block and not has_left:
                hits = [hit for hit in hits if (hit[0] > here if is_down else hit[0] < here)]
                has_left = True
            if hits:
                start, end = hits[0 if is_down else -1]
                self._bring_line_into_view(start)
                self.mark(start, end)
                return True
        return False

    def on_focus(self, event: Focus) -> None:
        """Points at a panel once the keyboard is here."""
        del event
        if self._chosen is None:
            self.choose("previous")

    def on_blur(self, event: Blur) -> None:
        """Points at none when the keyboard leaves."""
        del event
        self.unchoose()

    def on_click(self, event: Click) -> None:
        """Follows a link, opens what was clicked on; a second click marks a word, a third a paragraph."""
        if self.has_dragged:
            return
        row, cell = event.y + self.scroll_offset.y, event.x
        piece, found = self.column.line(row).piece_at(cell), self.column.find(row)
        link = "" if piece is None else piece.link
        if found is not None and (link == UNFOLD or (found[1] == 0 and self._foldable(found[0]) is not None)):
            self._toggle(found[0])
        elif link:
            self.post_message(self.LinkClicked(link))
        elif event.chain == 2:  # noqa: PLR2004 - a double click
            self.select_word(event.offset)
        elif event.chain == 3:  # noqa: PLR2004 - a triple click
            self.select_paragraph(event.offset)

    # --- the clock ------------------------------------------------------------

    def on_mount(self) -> None:
        """Starts the clock, which stands still while nothing happens."""
        super().on_mount()
        self._timer = self.set_interval(1 / FRAMES_PER_SECOND, self._tick, pause=True)
        self._wake()

    def flush(self) -> None:
        """Draws what came since the last time; called by the clock, and by tests that do not wait for it."""
        started = monotonic()
        if self._reply is not None:
            self._mark_dirty(self._reply.flush())
        self._spin_on(started)
        first, self._first_dirty = self._first_dirty, None
        if first is not None:
            self._settle()
            self._refresh_from(first)
        taken = monotonic() - started
        self._not_before = started + taken / _SHARE_FOR_DRAWING

    # --- how it is done ---------------------------------------------------------------------------

    def _live_reply(self) -> LiveReply:
        if self._reply is None:
            self._reply = LiveReply(self.column, self._last)
        return self._reply

    def _end_reply(self, *, discarded: bool = False) -> None:
        reply, self._reply = self._reply, None
        if reply is None:
            return
        changed = reply.discard() if discarded else reply.end()
        if not discarded:
            self._last = reply.last_kind
        if changed is not None:
            self._touch(changed)

    def _append(self, block: Block) -> int:
        index = self.column.append(block, gap_between(self._last, block.kind))
        self._last = block.kind
        self._touch(index)
        return index

    def _replace(self, index: int, block: Block | None) -> None:
        self.column.replace(index, block)
        self._touch(index)

    def _foldable(self, index: int) -> Foldable | None:
        block = self.column.block(index)
        return block if isinstance(block, ToolPanel | ThinkingBlock) else None

    def _toggle(self, index: int) -> None:
        if (block := self._foldable(index)) is not None:
            block.toggle()
            self._redraw(index)

    def _point_at(self, index: int | None) -> None:
        for at, is_chosen in ((self._chosen, False), (index, True)):
            if at is not None and (block := self._foldable(at)) is not None:
                block.is_chosen = is_chosen
                self._redraw(at)
        self._chosen = index

    def _redraw(self, index: int) -> None:
        """A block the person acts on changes at once; what is above it does not move."""
        self.column.changed(index)
        self._mark_dirty(index)
        self.flush()

    def _bring_into_view(self, index: int) -> None:
        top = self.column.top(index) + self.column.gap(index)
        bottom = self.column.top(index) + self.column.measure(index)
        view, height = self.scroll_offset.y, self.size.height
        if top < view:
            self.scroll_to(y=max(top - 1, 0))
        elif bottom > view + height:
            self.scroll_to(y=min(bottom - height, top))

    def _unfolded_hits(self, words: str, index: int) -> list[Stretch]:
        """Where the words stand in a block; it is opened when they are folded away in it."""
        hits = stretches(self.column, words, index)
        block = self._foldable(index)
        if not hits and block is not None:
            block.set_open(is_open=True)
            self._redraw(index)
            hits = stretches(self.column, words, index)
        return hits

    def _bring_line_into_view(self, place: Place) -> None:
        row, height = self.column.row(place.block, place.line), self.size.height
        if not 0 <= row - self.scroll_offset.y < height:
            self.scroll_to(y=row - height // 3)

    def _touch(self, index: int) -> None:
        """A block has changed and is to be drawn anew with the next frame."""
        self.column.changed(index)
        self._mark_dirty(index)
        self._wake()

    def _wake(self) -> None:
        if self._timer is not None:
            self._timer.resume()

    def _tick(self) -> None:
        if monotonic() < self._not_before:
            return
        self.flush()
        is_spinning = any(not panel.is_waiting for _, panel in self._calls.values())
        if self._reply is None and not is_spinning and self._timer is not None:
            self._timer.pause()

    def _spin_on(self, now: float) -> None:
        """Moves the spinners and clocks of running calls; without motion only the clocks, once a second."""
        spin = int(now * (1 if self._reduced_motion else _SPINS_PER_SECOND))
        if spin == self._spin:
            return
        self._spin = spin
        frame = "•" if self._reduced_motion else SPINNER[spin % len(SPINNER)]
        for index, panel in self._calls.values():
            if not panel.is_waiting:
                panel.tick(now, frame=frame)
                self.column.changed(index)
                self._mark_dirty(index)
