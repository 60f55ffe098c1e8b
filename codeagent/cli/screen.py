"""Opens the app for one start of the program."""

from __future__ import annotations

from dataclasses import replace

from codeagent.cli.opening import OpenDesk
from codeagent.cli.terminal_guard import guarded_terminal
from codeagent.config.first_look import first_look
from codeagent.config.launch import Launch
from codeagent.config.places import Places
from codeagent.core.desk import Approver, Desk, Opening
from codeagent.core.events import Emit
from codeagent.tui.app import CodeagentApp
from codeagent.tui.screens.welcome import DEMO, Offers
from codeagent.tui.session_commands import OlderSessions

__all__ = ["Offers", "open_app"]


def open_app(
    launch: Launch,
    looks_from: Places,
    prompt: str,
    open_desk: OpenDesk,
    older: OlderSessions | None = None,
    offers: Offers | None = None,
) -> int | None:
    """Runs the app until it is closed and returns the exit code; None when the demo is wanted instead.

    ``looks_from`` holds the settings file that says how it looks. When ``older`` is
    given, the person first chooses one of those sessions; ``offers`` is what can
    be done when there is no model.
    """
    opened: list[Desk] = []

    async def connect(emit: Emit, approver: Approver, opening: Opening) -> Desk:
        nonlocal launch
        if opening.base_url:
            launch = _with_model(launch, name=opening.model, openai_base_url=opening.base_url)
        wanted = launch if opening.is_first else replace(launch, resume=opening.resume or None)
        if opening.model and not opening.base_url:
            wanted = _with_model(wanted, name=opening.model)
        desk = await open_desk(wanted, emit, approver)
        opened.append(desk)
        return desk

    look = first_look(looks_from.config_file)
    app = CodeagentApp(
        connect=connect,
        root=launch.root,
        theme=look.theme,
        reduced_motion=look.reduced_motion,
        vi=look.vi,
        prompt=prompt,
        keymap=look.keys,
        theme_folders=[looks_from.themes],
        older=older,
        offers=offers,
    )
    try:
        with guarded_terminal():
            result = app.run()
    finally:
        for desk in opened:
            desk.close()
    return None if result == DEMO else app.return_code or 0


def _with_model(launch: Launch, **chosen: str) -> Launch:
    """The same start, as if the model had been named on the command line."""
    return replace(launch, flags={**launch.flags, "model": {**launch.flags.get("model", {}), **chosen}})
