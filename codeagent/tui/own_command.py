"""A shell command of the person's own, typed after an exclamation mark."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from functools import partial
from itertools import count

from codeagent.core.desk import Workbench
from codeagent.core.errors import CodeagentError
from codeagent.core.messages import Outcome, TextBlock, ToolResult
from codeagent.tui.widgets.transcript import Transcript

_numbers = count(1)


async def run_own_command(workbench: Workbench, transcript: Transcript, command: str) -> None:
    """Runs it and shows it as the agent's commands are shown; cancelling stops it."""
    call_id = f"own-{next(_numbers)}"
    transcript.add_user(f"!{command}")
    transcript.tool_started(call_id, "bash", json.dumps({"command": command}), is_open=True)
    transcript.tool_running(call_id)
    started = asyncio.get_running_loop().time()
    result = ToolResult(call_id=call_id, blocks=(TextBlock(text="Stopped."),), outcome=Outcome.CANCELLED)
    try:
        told = await workbench.run_command(command, partial(transcript.tool_progressed, call_id))
        result = replace(told, call_id=call_id)
    except CodeagentError as error:
        result = ToolResult(call_id=call_id, blocks=(TextBlock(text=str(error)),), outcome=Outcome.FAILED)
    finally:
        transcript.tool_ended(result, asyncio.get_running_loop().time() - started)
