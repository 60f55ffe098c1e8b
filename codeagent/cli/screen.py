"""Opens the app for one start of the program."""

from __future__ import annotations

from codeagent import wiring
from codeagent.config.first_look import first_look
from codeagent.config.launch import Launch
from codeagent.config.places import Places
from codeagent.core.protocols import Approver, Desk, Emit
from codeagent.tui.app import CodeagentApp


def open_app(launch: Launch, looks_from: Places, prompt: str) -> int:
    """Runs the app until it is closed and returns the exit code.

    ``looks_from`` holds the settings file that says how it looks.
    """

    async def connect(emit: Emit, approver: Approver) -> Desk:
        return await wiring.open_desk(launch, emit, approver)

    look = first_look(looks_from.config_file)
    app = CodeagentApp(
        connect=connect, root=launch.root, theme=look.theme, reduced_motion=look.reduced_motion, prompt=prompt
    )
    app.run()
    return app.return_code or 0
