"""Opens the app for a start of the program, and hands over to the demo when that was chosen."""

from __future__ import annotations

import sys

from codeagent import wiring
from codeagent.config.first_look import first_look
from codeagent.config.launch import Launch
from codeagent.core.protocols import Approver, Desk, Emit
from codeagent.core.text import clean
from codeagent.tui.app import CodeagentApp


def run_screen(launch: Launch, prompt: str) -> int:
    """Runs the app until it is closed and returns the exit code."""

    async def connect(emit: Emit, approver: Approver) -> Desk:
        return await wiring.open_desk(launch, emit, approver)

    look = first_look(launch.places.config_file)
    app = CodeagentApp(
        connect=connect, root=launch.root, theme=look.theme, reduced_motion=look.reduced_motion, prompt=prompt
    )
    result = app.run()
    return app.return_code or 0
