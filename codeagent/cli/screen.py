"""Opens the app for one start of the program."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import replace
from functools import partial

from codeagent.cli.first_frame import FirstFrame
from codeagent.cli.options import OpenDesk
from codeagent.cli.terminal_guard import TerminalGuard
from codeagent.config.first_look import FirstLook, first_look
from codeagent.config.launch import Launch
from codeagent.config.notices import notice
from codeagent.config.places import Places
from codeagent.config.terminal_colours import (
    AUTO,
    DARK,
    LIGHT,
    MANY,
    colours_of,
    follows_terminal,
    has_no_colour,
    remembered,
    theme_for,
)
from codeagent.core.archive import OlderSessions
from codeagent.core.desk import Approver, Desk, Opening
from codeagent.core.events import Emit
from codeagent.tui.app import CodeagentApp
from codeagent.tui.looks import Appearance
from codeagent.tui.offers import DEMO, Offers
from codeagent.workspace.private import make_private_folder, open_private

__all__ = ["Offers", "open_app"]

_SWITCH_SECONDS = 0.001
"""So long a thread works on while the one that draws, or the one that reads keys, waits; Python's own 5 ms add up."""


def _keep_nothing(_theme: str) -> None:
    """A theme chosen in the demo holds as long as that."""


def open_app(  # noqa: PLR0913 - all that one start is made of
    launch: Launch,
    looks_from: Places,
    prompt: str,
    open_desk: OpenDesk,
    *,
    older: OlderSessions | None = None,
    offers: Offers | None = None,
    keep_theme: Callable[[str], None] = _keep_nothing,
    keys_in_force: Callable[[Mapping[str, str]], Mapping[str, str]],
    first: FirstFrame | None = None,
) -> int | None:
    """Runs the app until it is closed and returns the exit code; None when the demo is wanted instead.

    Raises what made the app end, when that was a fault of the program.

    ``looks_from`` holds the settings file that says how it looks. When ``older`` is
    given, the person first chooses one of those sessions; ``offers`` is what can
    be done when there is no model; ``keys_in_force`` leaves those of the person's own
    keys that can be used; ``first`` is the instant prompt, where it stands.
    """
    at_end = ExitStack()
    guard = first or TerminalGuard()

    async def connect(emit: Emit, approver: Approver, opening: Opening) -> Desk:
        nonlocal launch
        if opening.base_url:
            launch = _with_model(launch, name=opening.model, openai_base_url=opening.base_url)
        desk = await open_desk(_wanted(launch, opening), emit, approver)
        at_end.callback(desk.close)
        return desk

    look = first_look(looks_from.config_file)
    app = CodeagentApp(
        connect=connect,
        root=launch.root,
        theme=theme_for(look.theme, launch.environ, str(looks_from.background_file)),
        reduced_motion=look.reduced_motion,
        vi=look.vi,
        prompt=prompt,
        keymap=keys_in_force(look.keys),
        theme_folders=[looks_from.themes],
        older=older,
        offers=offers,
        appearance=_appearance(look, launch.environ, looks_from, keep_theme),
        first=first,
    )
    sys.setswitchinterval(_SWITCH_SECONDS)
    with at_end, guard if isinstance(guard, TerminalGuard) else nullcontext():  # the instant prompt has one already
        if isinstance(guard, TerminalGuard):
            guard.begin_watch()
        if guard.watch is not None:
            app.watched_by(guard.watch)
        result = app.run()
    if app.fault is not None:
        raise app.fault
    return None if result == DEMO else app.return_code or 0


def _wanted(launch: Launch, opening: Opening) -> Launch:
    """The start of one session: the first is the one that was asked for on the command line."""
    resume = launch.resume if opening.is_first else opening.resume or None
    forks = opening.forks or (opening.is_first and launch.forks)
    wanted = replace(launch, resume=resume, forks=forks, asks_trust=opening.asks_trust)
    if opening.model and not opening.base_url:
        wanted = _with_model(wanted, name=opening.model)
    return wanted


def _with_model(launch: Launch, **chosen: str) -> Launch:
    """The same start, as if the model had been named on the command line."""
    return replace(launch, flags={**launch.flags, "model": {**launch.flags.get("model", {}), **chosen}})


def _appearance(
    look: FirstLook, environ: Mapping[str, str], places: Places, keep_theme: Callable[[str], None]
) -> Appearance:
    """What the terminal and the settings ask for; a theme chosen in the app becomes a setting."""
    return Appearance(
        follows_terminal=follows_terminal(look.theme, environ),
        suits_terminal=theme_for(AUTO, environ, str(places.background_file)),
        has_256_colours=colours_of(environ) == MANY,
        is_colourless=has_no_colour(environ),
        keep_theme=keep_theme,
        keep_background=partial(_remember_background, places),
        notice=partial(notice, look.notices, environ),
    )


def _remember_background(places: Places, is_dark: bool) -> None:  # noqa: FBT001 - it is the one thing to remember
    """Keeps it for the first picture of the next start; where that fails, the next one asks again."""
    now = DARK if is_dark else LIGHT
    if remembered(str(places.background_file)) == now:
        return
    with suppress(OSError):
        make_private_folder(places.state)
        with open_private(places.background_file, os.O_TRUNC) as file:
            file.write(now)
