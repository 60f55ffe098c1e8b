"""The transcript: everything said and done in a session, in one widget that stays fast however long it gets.

Only rows on the screen are drawn, finished blocks are never touched again, and
what streams in is gathered and drawn a few dozen times a second at most.
"""

from __future__ import annotations

from time import monotonic

from textual.timer import Timer

from codeagent.core.approvals import Preview
from codeagent.core.context import HistoryCompacted
from codeagent.core.events import Level
from codeagent.core.messages import ToolResult
from codeagent.tui.themes import Palette
from codeagent.tui.widgets.blocks import Block, Kind, NoteBlock, said_block
from codeagent.tui.widgets.column import gap_between
from codeagent.tui.widgets.compaction_block import CompactionBlock
from codeagent.tui.widgets.live_reply import LiveReply
from codeagent.tui.widgets.panel_column import PanelColumn
from codeagent.tui.widgets.tool_panel import SPINNER, ToolPanel

FRAMES_PER_SECOND = 24
_MOST_LEFT_OUT = 2
"""So many frames in turn are left out at most because something else was painted."""

_SPINS_PER_SECOND = 10
_SHARE_FOR_DRAWING = 0.25


class Transcript(PanelColumn):
    """What the person reads. All methods are cheap and may be called as often as events come."""

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
        self._countdown: int | None = None
        self._before_countdown: Kind | None = None
        self._timer: Timer | None = None
        self._not_before = 0.0
        self._makes_room, self._left_out = False, 0
        self._spin = -1

    # --- what happens in the session ---------------------------------------------------------

    def add_user(self, text: str, note: str = "") -> None:
        """The person's words; ``note`` says how they reached the model, when it was not at once."""
        self._append_said(text, note)

    def stream_text(self, piece: str) -> None:
        """More of the reply."""
        self._mark_dirty(self._live_reply().write(piece))
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
        panel = ToolPanel(call_id, name, arguments_json, started=monotonic(), is_open=is_open)
        if self._all_open:
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

    def tool_asked(self, call_id: str) -> None:
        """A call waits for the person."""
        if call_id in self._calls:
            index, panel = self._calls[call_id]
            panel.ask()
            self._touch(index)

    def tool_settled(self, call_id: str) -> None:
        """The person has answered: a call waits for its turn."""
        if call_id in self._calls:
            index, panel = self._calls[call_id]
            panel.wait(monotonic())
            self._touch(index)

    def tool_running(self, call_id: str) -> None:
        """A call runs from now on."""
        if call_id in self._calls:
            index, panel = self._calls[call_id]
            panel.run(monotonic(), frame=self._frame)
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

    def start_over(self) -> None:
        """Forgets everything: another session is shown."""
        self._reply = self._last = self._countdown = self._before_countdown = None
        self._calls = {}
        super().start_over()

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
        super().flush()
        taken = monotonic() - started
        self._not_before = started + taken / _SHARE_FOR_DRAWING

    def make_room(self) -> None:
        """Something else is painted now, such as a key: the next frame is left out for it."""
        self._makes_room = True

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

    def _append_said(self, text: str, note: str = "") -> int:
        self._end_reply()
        index = self._append(said_block(text, note))
        if self._foldable(index) is not None:
            self._foldables.append(index)
        return index

    def _append(self, block: Block, at: float | None = None) -> int:
        index = self.column.append(block, gap_between(self._last, block.kind), at)
        self._last = block.kind
        self._touch(index)
        return index

    def _replace(self, index: int, block: Block | None) -> None:
        self.column.replace(index, block)
        self._touch(index)

    def _wake(self) -> None:
        if self._timer is not None:
            self._timer.resume()

    def _tick(self) -> None:
        makes_room, self._makes_room = self._makes_room, False
        if makes_room and self._left_out < _MOST_LEFT_OUT:
            self._left_out += 1
            return
        if monotonic() < self._not_before:
            return
        self._left_out = 0
        self.flush()
        is_spinning = any(panel.has_clock for _, panel in self._calls.values())
        if self._reply is None and not is_spinning and self._timer is not None:
            self._timer.pause()

    def _spin_on(self, now: float) -> None:
        """Moves the spinners and clocks of running calls; without motion only the clocks, once a second."""
        spin = int(now * (1 if self._reduced_motion else _SPINS_PER_SECOND))
        if spin == self._spin:
            return
        self._spin = spin
        for index, panel in self._calls.values():
            if panel.has_clock:
                panel.tick(now, frame=self._frame)
                self.column.changed(index)
                self._mark_dirty(index)

    @property
    def _frame(self) -> str:
        return "•" if self._reduced_motion else SPINNER[max(self._spin, 0) % len(SPINNER)]
