"""The calls that run now, as the list of running work shows them."""

from __future__ import annotations

import time
from dataclasses import replace

from codeagent.core.events import (
    ApprovalAsked,
    ApprovalSettled,
    ToolEnded,
    ToolPreviewed,
    ToolProgressed,
    ToolRunning,
    ToolStarted,
)
from codeagent.core.values import value

_TAIL = 4_096

CallEvent = ToolStarted | ToolPreviewed | ToolRunning | ToolProgressed | ToolEnded | ApprovalAsked | ApprovalSettled


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
    """Follows the events of calls; one that waits, for the person or for its turn, is not counted as running."""

    def __init__(self) -> None:
        self._calls: dict[str, RunningCall] = {}
        self._number = 0

    def order_of(self, call_id: str) -> int:
        """The number of a call; what is no call, such as a limit that is reached, comes after all of them."""
        call = self._calls.get(call_id)
        return self._number if call is None else call.number

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
