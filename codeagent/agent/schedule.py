"""What runs side by side: the calls of one reply, started in order, each waiting only for what it must."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from codeagent.agent.phases import Halt, Phase
from codeagent.agent.shrinking import shorten
from codeagent.agent.tool_call import CallRun, Workshop
from codeagent.core.messages import Outcome, ToolCall, ToolResult

_LONGEST_REASON = 1_000


class Schedule:
    """Runs the calls of one reply at a time.

    A call waits for every earlier one that touches the same things and never for a
    later one; waiting for a lock or a person keeps nobody from running.
    """

    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop
        self._runs: tuple[CallRun, ...] = ()

    async def run(self, calls: Sequence[ToolCall], halt: Halt | None) -> tuple[ToolResult, ...]:
        """The results in call order, when all have ended; with a ``halt`` in force already, none starts."""
        self._runs = tuple(CallRun(call, self._workshop) for call in calls)
        if halt is not None:
            self.halt(halt)
        await self._workshop.ready()
        self._workshop.breaker.begin_step()
        async with asyncio.TaskGroup() as group:
            for run in self._runs:
                group.create_task(run.run())
                await asyncio.sleep(0)  # a key that was pressed meanwhile is heard
        return self.results

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """The results there are of the newest step, in call order."""
        return tuple(run.result for run in self._runs if run.result is not None)

    @property
    def denials(self) -> tuple[str, ...]:
        """Which calls of the newest step were denied, and why."""
        ended = ((run.title, run.result) for run in self._runs)
        return tuple(
            f"{title}: {shorten(one.text, _LONGEST_REASON)}"
            for title, one in ended
            if one and one.outcome is Outcome.DENIED
        )

    def halt(self, why: Halt) -> None:
        """Asks the running calls to make way; those that must not be disturbed end by themselves."""
        for run in self._runs:
            run.halt(why)

    def stop_call(self, call_id: str) -> None:
        """Ends one call of the newest step, when it is under way."""
        for run in self._runs:
            if run.call.id == call_id and run.phase is not Phase.OVER:
                run.halt(Halt.CALL_STOPPED)

    def waits_for(self) -> str:
        """In words, what the end of this step waits for; empty when no call is under way."""
        open_runs = [run for run in self._runs if run.phase is not Phase.OVER and not run.is_leaving]
        asked = [run for run in open_runs if run.phase is Phase.DECIDING]
        first = (asked or open_runs)[:1]
        return "".join(f"your answer to {run.title}" if asked else run.title for run in first)
