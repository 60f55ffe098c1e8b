"""Stops a model that repeats itself: tools that keep failing rest, identical calls get a reminder."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from codeagent.core.errors import PathRefused, StaleFile, Unread
from codeagent.core.messages import Outcome, ToolCall

OPENS_AT = 3
_GUARDED = frozenset({PathRefused.code, StaleFile.code, Unread.code})
"""A wall that held is no fault of the tool, and what it says is what to do next."""

_LONGEST = 65_536
"""Characters of arguments that are taken apart to be compared."""
_REMINDERS = {
    3: "This is the third identical call in a row. Use what it returned, or change something.",
    5: "This is the fifth identical call in a row; it will not return anything else. Go another way.",
    8: "This is the eighth identical call in a row. Stop repeating it: say what you are missing.",
}


@dataclass(slots=True)
class _Streak:
    """Failures of one tool since its last success; an open one may have one trial call to give.

    ``ways``: how it failed in the step under way.
    """

    failures: int = 0
    ways: set[str] = field(default_factory=set[str])
    has_trial: bool = False
    is_tried: bool = False

    @property
    def is_open(self) -> bool:
        return self.failures >= OPENS_AT


class Breaker:
    """Counts consecutive failures of each tool; at three it is open, and calls of that tool do not run.

    Calls of one step that fail in the same way are one failure: the model had no answer yet to learn from.
    A success closes it. A success of another tool lets one trial call through.
    """

    def __init__(self) -> None:
        self._streaks: dict[str, _Streak] = {}

    def begin_step(self) -> None:
        """The calls of another reply begin."""
        for streak in self._streaks.values():
            streak.ways.clear()

    def admits(self, tool: str) -> bool:
        """Whether a call may run now; uses up the trial call when it is one."""
        streak = self._streaks.get(tool)
        if streak is None or not streak.is_open:
            return True
        if not streak.has_trial:
            return False
        streak.has_trial, streak.is_tried = False, True
        return True

    def learn(self, tool: str, outcome: Outcome, code: str = "", *, was_cut_off: bool = False) -> None:
        """Takes in how an admitted call ended; ``was_cut_off`` says that its time limit ended it from outside.

        ``code`` is the way in which it failed. A denied, cancelled or skipped call says nothing about the tool, nor
        does a command that ran into its own limit, a path out of bounds or a file that was not read before.
        """
        if outcome is Outcome.OK:
            self._succeeded(tool)
            return
        streak = self._streaks.setdefault(tool, _Streak())
        is_fault = outcome in {Outcome.FAILED, Outcome.INTERNAL} and code not in _GUARDED
        if was_cut_off or is_fault:
            streak.failures += code not in streak.ways
            streak.ways.add(code)
        elif streak.is_tried:
            streak.has_trial = True
        streak.is_tried = False

    def reopen(self) -> None:
        """Forgets all failures: the person has said something new."""
        self._streaks.clear()

    def _succeeded(self, tool: str) -> None:
        self._streaks.pop(tool, None)
        for streak in self._streaks.values():
            streak.has_trial = streak.is_open


class Repeats:
    """Notices calls that are made again and again with the same arguments."""

    def __init__(self) -> None:
        self._last = ("", "")
        self._times = 0

    def reminder(self, call: ToolCall) -> str:
        """Takes in the next call; what to tell the model about its repetition, mostly nothing."""
        this = (call.name, _same_form(call.arguments_json))
        self._times = self._times + 1 if this == self._last else 1
        self._last = this
        return _REMINDERS.get(self._times, "")

    def forget(self) -> None:
        """Starts counting anew."""
        self._last, self._times = ("", ""), 0


def _same_form(arguments_json: str) -> str:
    """The same text for arguments that differ only in order or blanks; long ones are the same to the letter."""
    if len(arguments_json) > _LONGEST:
        return arguments_json
    try:
        return json.dumps(json.loads(arguments_json), sort_keys=True)
    except (ValueError, RecursionError):
        return arguments_json
