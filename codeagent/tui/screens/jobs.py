"""The list of what runs: calls of this turn and background jobs, with time, output, and a stop for each."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from codeagent.core.desk import Desk
from codeagent.core.jobs import Job, JobState
from codeagent.core.text import clean, show_invisible
from codeagent.core.values import value
from codeagent.tui.keys import Window
from codeagent.tui.running import RunningCall, RunningCalls
from codeagent.tui.screens.picker import OptionRows
from codeagent.tui.widgets.panel_lines import seconds_text

_REFRESH_SECONDS = 0.5
_TIME_CELLS = 14
_WIDEST, _HIGHEST = 120, 22
_AROUND, _FRAME = 2, 4
_MAIN_ROWS = 6  # the heading, the prompt and their rules, which a window that has room leaves whole
_RULED_ROWS, _LOW = 4, 13  # the same without the prompt, which lower windows stand on
_LOWEST = 8
_MOST_ROWS = 8
_OUTPUT_ROWS, _FEWEST_OUTPUT_ROWS = 9, 2  # with the rule above it
_NOTHING = "Nothing runs: no call, and no job in the background."


@value
class Work:
    """One line of the list; ``stop`` ends it and is None when it has ended, ``is_begun`` tells it from what waits."""

    key: str
    name: str
    what: str
    state: str
    tail: str
    stop: Callable[[], Awaitable[None]] | None = None
    is_begun: bool = True


class JobsScreen(Window[None]):
    """Calls and jobs, with the output of the one the bar stands on; ``x`` stops it, Esc leaves."""

    DEFAULT_CSS = """
    JobsScreen { align: center middle; background: $veil; &:ansi { background: $veil; } }
    JobsScreen > Vertical {
        width: 100%; max-width: 120; height: auto; margin: 1; padding: 0 1;
        background: $surface; border: round $accent;
        border-title-color: $text; border-title-background: $surface;
        border-subtitle-color: $text-muted; border-subtitle-background: $surface;
    }
    JobsScreen OptionList, JobsScreen OptionList:focus {
        border: none; height: auto; max-height: 8; padding: 0; background: $surface; color: $text;
        scrollbar-size-vertical: 1;
        & > .option-list--option-highlighted {
            background: $screen-selection-background; color: $accent; text-style: bold;
        }
    }
    JobsScreen VerticalScroll {
        height: auto; border-top: solid $rule; background: $surface; color: $text-muted; scrollbar-size-vertical: 1;
    }
    JobsScreen.-idle OptionList { display: none; }
    JobsScreen.-idle VerticalScroll { height: auto; border: none; }
    JobsScreen Static { height: auto; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "close", show=False, priority=True),  # at once: what follows is for below
        Binding("ctrl+t", "close", show=False, priority=True, id="jobs"),
        Binding("x,delete", "stop", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("up,k", "move(-1)", show=False),
    ]

    def __init__(self, look: Callable[[], tuple[Work, ...]]) -> None:
        """``look`` says what runs now."""
        super().__init__()
        self._look = look
        self._work: tuple[Work, ...] = ()
        self._chosen = ""
        self._list = OptionRows()
        self._list.can_focus = False
        self._output = Static(markup=False)
        self._scroll = VerticalScroll(self._output)

    def compose(self) -> ComposeResult:
        """The list, and below it the output of one."""
        with Vertical():
            yield self._list
            yield self._scroll

    def on_mount(self) -> None:
        """Shows what runs, and goes on doing so."""
        self._scroll.can_focus = False
        self.action_look()
        self.set_interval(_REFRESH_SECONDS, self.action_look)

    def on_resize(self) -> None:
        """Rows are made for the width, and the window is never higher than the screen."""
        self.action_look()

    def action_look(self) -> None:
        """Looks again; the bar stays on the work it stood on, at first the latest that runs."""
        self._work = self._look()
        keys = [work.key for work in self._work]
        under_way = [number for number, work in enumerate(self._work) if work.stop is not None]
        running = [number for number in under_way if self._work[number].is_begun]
        latest = running[-1] if running else under_way[0] if under_way else len(keys) - 1
        at = keys.index(self._chosen) if self._chosen in keys else latest
        self._list.clear_options()
        self._list.add_options([Option(self._row(work)) for work in self._work])
        self._list.highlighted = at if keys else None
        self._share_rows()
        self._show(at)

    def _share_rows(self) -> None:
        """The list and one output get the same rows whatever is put out: a window that grows cannot be read."""
        height = self.size.height
        low = max(min(height - _RULED_ROWS, _LOW), min(height - _AROUND, _LOWEST))
        most = min(max(height - _MAIN_ROWS, low), _HIGHEST)
        self.query_exactly_one("JobsScreen > Vertical").styles.max_height = most
        rows = max(min(len(self._work), _MOST_ROWS, most - _AROUND), 1)
        left = min(most - _AROUND - rows, _OUTPUT_ROWS)
        self._list.styles.max_height = rows
        self._scroll.display = not self._work or left >= _FEWEST_OUTPUT_ROWS
        self._scroll.styles.height = left if self._work else "auto"
        self._list.keep_in_view()

    def action_move(self, by: int) -> None:
        """Another line, stopping at the ends."""
        if self._work and self._list.highlighted is not None:
            at = min(max(self._list.highlighted + by, 0), len(self._work) - 1)
            self._list.highlighted = at
            self._show(at)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """A click chooses."""
        event.stop()
        self._show(event.option_index)

    def action_stop(self) -> None:
        """Stops what the bar stands on."""
        work = next((work for work in self._work if work.key == self._chosen), None)
        if work is not None and work.stop is not None:
            self.run_worker(self._stop(work.stop), group="stop-work")

    async def _stop(self, stop: Callable[[], Awaitable[None]]) -> None:
        await stop()
        self.action_look()

    def action_close(self) -> None:
        """Leaves."""
        self.dismiss()

    def _show(self, at: int) -> None:
        self.set_class(not self._work, "-idle")
        box = self.query_exactly_one("JobsScreen > Vertical", Vertical)
        is_over = bool(self._work) and all(work.stop is None for work in self._work)
        box.border_title = Content("Ended" if is_over else "Running")
        keys = ("↑ ↓ choose" * (len(self._work) > 1), "x stop" * self._can_stop(at), "esc leave")
        box.border_subtitle = Content(" · ".join(filter(None, keys)))
        if not self._work:
            self._output.update(Content(_NOTHING))
            return
        work = self._work[at]
        self._chosen = work.key
        text = show_invisible(clean(work.tail)).rstrip("\n")
        self._output.update(Content(text or ("No output so far." if work.stop is not None else "No output.")))
        self._scroll.scroll_end(animate=False)

    def _can_stop(self, at: int) -> bool:
        return bool(self._work) and self._work[at].stop is not None

    def _row(self, work: Work) -> Content:
        room = min(self.size.width - _AROUND, _WIDEST) - _FRAME - (len(self._work) > _MOST_ROWS)
        state = Content.styled(f"{show_invisible(work.state):>{_TIME_CELLS}}", "$text-muted")
        name = Content.styled(f"{show_invisible(work.name):<7}", "$text" if work.stop else "$text-muted")
        what = Content(" ".join(show_invisible(work.what).split()))
        left = Content.assemble(name, " ", what).truncate(max(room - state.cell_length - 1, 8), ellipsis=True, pad=True)
        return Content.assemble(left, " ", state)


def running_work(desk: Desk, calls: RunningCalls) -> tuple[Work, ...]:
    """What the agent does: the jobs of the session, then the calls under way."""

    async def stop_call(call_id: str) -> None:
        desk.conversation.stop_call(call_id)

    jobs = tuple(_job_work(job, partial(desk.workbench.stop_job, job.number)) for job in desk.workbench.jobs())
    return jobs + tuple(call_work(call, partial(stop_call, call.call_id)) for call in calls.all())


def call_work(call: RunningCall, stop: Callable[[], Awaitable[None]]) -> Work:
    """A command or another call that is under way."""
    if call.since is not None:
        state = seconds_text(max(time.monotonic() - call.since, 0.1))
    else:
        state = "asks you" if call.is_waiting else "waits its turn"
    return Work(
        key=f"call {call.call_id}",
        name=call.name,
        what=call.label,
        state=state,
        tail=call.tail,
        stop=stop,
        is_begun=call.since is not None,
    )


def _job_work(job: Job, stop: Callable[[], Awaitable[None]]) -> Work:
    if job.is_running:
        state = seconds_text(max(job.seconds, 0.1))
    else:
        state = "stopped" if job.state is JobState.STOPPED else job.ended
    return Work(
        key=job.name,
        name=job.name,
        what=job.command,
        state=state,
        tail=job.tail,
        stop=stop if job.is_running or job.left else None,
    )
