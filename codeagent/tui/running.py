"""The calls under way, as the list of running work shows them, which may still ask, and what they left to look at."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Protocol

from textual.timer import Timer
from textual.worker import Worker

from codeagent.core.desk import Workbench, WorkspaceStatus
from codeagent.core.events import (
    ApprovalAsked,
    ApprovalSettled,
    ToolEnded,
    ToolPreviewed,
    ToolProgressed,
    ToolRunning,
    ToolStarted,
)
from codeagent.core.messages import ChangeDetails, CommandDetails
from codeagent.core.values import value
from codeagent.tui.screens.main import MainScreen

LONGEST_HOLD = 1.0
"""For so many seconds at most a question waits for an earlier call that has not asked yet."""

_TAIL = 4_096

CallEvent = ToolStarted | ToolPreviewed | ToolRunning | ToolProgressed | ToolEnded | ApprovalAsked | ApprovalSettled


def _nothing() -> None:
    """Nobody wants to know."""


@value
class RunningCall:
    """One call under way; ``since`` is the monotonic time when it began to run, ``tail`` the end of its output.

    ``number`` counts the calls in the order in which the model made them.
    """

    call_id: str
    name: str
    since: float | None = None
    label: str = ""
    tail: str = ""
    is_waiting: bool = False
    is_command: bool = False
    makes_way: bool = False
    number: int = 0


class RunningCalls:
    """Follows the events of calls; one that waits, for the person or for its turn, is not counted as running.

    ``on_change`` is called when one is over that may have changed files or the branch.
    """

    def __init__(self) -> None:
        self.on_change: Callable[[], None] = _nothing
        self._calls: dict[str, RunningCall] = {}
        self._number = 0

    def order_of(self, call_id: str) -> int:
        """The number of a call; what is no call, such as a limit that is reached, comes after all of them."""
        call = self._calls.get(call_id)
        return self._number if call is None else call.number

    def may_ask_before(self, order: int) -> bool:
        """Whether a call made before the one with that number neither runs nor is over."""
        return any(call.since is None for call in self._calls.values() if call.number < order)

    def has_run(self, call_id: str) -> bool:
        """Whether a command began to run."""
        call = self._calls.get(call_id)
        return call is not None and call.is_command and call.since is not None

    @property
    def count(self) -> int:
        """How many run."""
        return sum(call.since is not None for call in self._calls.values())

    @property
    def words_stop_command(self) -> bool:
        """Whether a command runs that new words of the person end."""
        return any(call.since is not None and call.is_command and call.makes_way for call in self._calls.values())

    def all(self) -> tuple[RunningCall, ...]:
        """Every call under way, oldest first."""
        return tuple(self._calls.values())

    def clear(self) -> None:
        """The turn is over: nothing runs."""
        self._calls.clear()

    def take(self, event: CallEvent) -> None:
        """Something happened to a call."""
        match event:
            case ToolStarted(call_id=call_id, name=name):
                self._number += 1
                self._calls[call_id] = RunningCall(call_id=call_id, name=name, number=self._number)
            case ToolEnded(result=result):
                self._calls.pop(result.call_id, None)
                if isinstance(result.details, ChangeDetails | CommandDetails):
                    self.on_change()
            case ToolPreviewed(call_id=call_id, preview=preview, label=label):
                self._change(call_id, label=label, is_command=preview.kind == "command")
            case ToolRunning(call_id=call_id, makes_way=makes_way):
                self._change(call_id, since=time.monotonic(), makes_way=makes_way)
            case ToolProgressed(call_id=call_id, text=text):
                if call_id in self._calls:
                    self._change(call_id, tail=(self._calls[call_id].tail + text)[-_TAIL:])
            case ApprovalAsked(request=request):
                self._change(request.call_id, is_waiting=True, since=None)
            case ApprovalSettled(call_id=call_id):
                self._change(call_id, is_waiting=False)

    def _change(self, call_id: str, **changes: object) -> None:
        if call_id in self._calls:
            self._calls[call_id] = replace(self._calls[call_id], **changes)


class CallOrder:
    """Shows the questions that are held back as soon as no earlier call of the step can ask before them."""

    def __init__(self, screen: MainScreen, calls: RunningCalls, on_shown: Callable[[], None]) -> None:
        """``on_shown`` is called when questions were shown because they had waited long enough."""
        self._screen = screen
        self._calls = calls
        self._on_shown = on_shown
        self._timer: Timer | None = None

    def look(self) -> None:
        """Something happened to a call, or a question came or went."""
        first = self._screen.approval.first_held
        if first is None or not self._calls.may_ask_before(first):
            self._show()
        elif self._timer is None:
            self._timer = self._screen.set_timer(LONGEST_HOLD, self._give_up)

    def _give_up(self) -> None:
        self._show()
        self._on_shown()

    def _show(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        self._screen.approval.show_first()


class Start(Protocol):
    """Starts work that the app owns, in a named group."""

    def __call__(self, work: Coroutine[None, None, None], /, *, group: str) -> Worker[None]:
        """Begins it at the loop's next turn."""
        ...


class StartLater(Protocol):
    """Starts work that is made only when it begins: where the app is being closed, it is not."""

    def __call__(self, work: Callable[[], Coroutine[None, None, None]], /, *, group: str) -> Worker[None]:
        """Begins it at the loop's next turn."""
        ...


class Surveys:
    """Looks at branch and changes after what may have changed them; for all that happens meanwhile once more."""

    def __init__(self, calls: RunningCalls, start: StartLater, show: Callable[[WorkspaceStatus], None]) -> None:
        """Each of the ``calls`` may change something; ``show`` is given what was found."""
        calls.on_change = self.look
        self._start = start
        self._show = show
        self._bench: Workbench | None = None
        self._due = 0

    def begin(self, bench: Workbench) -> None:
        """The workspace is this one from now on."""
        self._bench = bench
        self.look()

    def look(self) -> None:
        """Something was done: what is shown follows soon."""
        self._due += 1
        if self._due == 1:
            self._start(self._look, group="workspace")

    async def _look(self) -> None:
        while due := self._due:
            if self._bench is not None:
                self._show(await self._bench.status())
            self._due -= due
