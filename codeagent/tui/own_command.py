"""Shell commands of the person's own, typed after an exclamation mark."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from itertools import count

from textual.worker import Worker

from codeagent.core.approvals import NoPreview
from codeagent.core.desk import Workbench
from codeagent.core.errors import CodeagentError
from codeagent.core.events import ToolEnded, ToolPreviewed, ToolProgressed, ToolRunning, ToolStarted
from codeagent.core.messages import Outcome, TextBlock, ToolResult
from codeagent.tui.running import RunningCall, RunningCalls, Start
from codeagent.tui.screens.main import MainScreen

_GROUP = "own command"


class OwnCommands:
    """Each is shown as the agent's commands are shown, and is counted and listed while it runs."""

    def __init__(self, screen: MainScreen, start: Start) -> None:
        self._screen = screen
        self._start = start
        self._numbers = count(1)
        self._calls = RunningCalls()
        self._workers: dict[str, Worker[None]] = {}

    def start(self, workbench: Workbench, command: str, on_rest: Callable[[], None]) -> None:
        """Runs one; ``on_rest`` is called when it is over, cancelling its worker stops it."""
        call_id = f"own-{next(self._numbers)}"
        self._workers[call_id] = self._start(self._run(workbench, call_id, command, on_rest), group=_GROUP)

    def stop(self) -> None:
        """Stops all that run."""
        for worker in self._workers.values():
            worker.cancel()

    def running(self) -> Iterable[RunningCall]:
        """Those that run now."""
        return self._calls.all()

    async def stop_one(self, call_id: str) -> None:
        """Stops one of them."""
        self._workers[call_id].cancel()

    async def _run(self, workbench: Workbench, call_id: str, command: str, on_rest: Callable[[], None]) -> None:
        transcript = self._screen.transcript
        transcript.add_user(f"!{command}")
        arguments = json.dumps({"command": command})
        transcript.tool_started(call_id, "bash", arguments, is_open=True)
        transcript.tool_running(call_id)
        self._calls.take(ToolStarted(call_id=call_id, name="!", arguments_json=arguments))
        self._calls.take(ToolPreviewed(call_id=call_id, preview=NoPreview(), label=command))
        self._calls.take(ToolRunning(call_id=call_id))
        self._count()
        started = asyncio.get_running_loop().time()
        result = ToolResult(call_id=call_id, blocks=(TextBlock(text="Stopped."),), outcome=Outcome.CANCELLED)
        try:
            told = await workbench.run_command(command, partial(self._progressed, call_id))
            result = replace(told, call_id=call_id)
        except CodeagentError as error:
            result = ToolResult(call_id=call_id, blocks=(TextBlock(text=str(error)),), outcome=Outcome.FAILED)
        finally:
            seconds = asyncio.get_running_loop().time() - started
            transcript.tool_ended(result, seconds)
            self._calls.take(ToolEnded(result=result, seconds=seconds))
            del self._workers[call_id]
            self._count()
        if result.outcome is not Outcome.CANCELLED:
            on_rest()

    def _progressed(self, call_id: str, text: str) -> None:
        self._screen.transcript.tool_progressed(call_id, text)
        self._calls.take(ToolProgressed(call_id=call_id, text=text))

    def _count(self) -> None:
        status = self._screen.status
        status.show(replace(status.status, own_running=self._calls.count))
