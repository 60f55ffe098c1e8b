"""``codeagent sessions replay``: plays a stored session in the app."""

from __future__ import annotations

import math
import os
from datetime import datetime
from pathlib import Path

from codeagent.cli.terminal_guard import TerminalGuard
from codeagent.config.first_look import first_look
from codeagent.config.places import Places
from codeagent.config.terminal_colours import MANY, colours_of, theme_for
from codeagent.core.errors import ConfigError, JournalError
from codeagent.store.beside import Beside
from codeagent.store.journal import folder_beside, read_past
from codeagent.store.records import Record
from codeagent.store.summaries import summary_of
from codeagent.tui.later import in_256
from codeagent.tui.replay import FASTEST, ReplayApp, Told
from codeagent.tui.themes import Themes


def run(path: Path, speed: float, places: Places) -> int:
    """Opens the app on a record; raises ConfigError and JournalError."""
    if not (math.isfinite(speed) and 0 < speed <= FASTEST):
        raise ConfigError(f"--speed takes a number above 0 and up to {FASTEST:g}, not {speed:g}.")
    told = told_by(path)
    look = first_look(places.config_file)
    app = ReplayApp(
        told=told,
        title=summary_of(path).title or path.stem,
        root=Path.cwd(),
        theme=theme_for(look.theme, os.environ, str(places.background_file)),
        themes=Themes([places.themes], in_256) if colours_of(os.environ) == MANY else Themes([places.themes]),
        speed=speed,
        reduced_motion=look.reduced_motion,
    )
    with TerminalGuard() as guard:
        guard.begin_watch()
        if guard.watch is not None:
            app.watched_by(guard.watch)
        app.run()
    if app.fault is not None:
        raise app.fault
    return app.return_code or 0


def told_by(path: Path) -> tuple[Told, ...]:
    """What a record tells, with its times; the record itself is only read. Raises JournalError."""
    try:
        records = read_past(path.read_bytes(), Beside(folder_beside(path))).records
    except OSError as error:
        raise JournalError(f"The session's record {path} cannot be read: {error.strerror}.") from error
    return tuple(Told(at=_seconds(record), event=record.event) for record in records)


def _seconds(record: Record) -> float:
    try:
        return datetime.fromisoformat(record.at).timestamp()
    except ValueError:
        return 0.0
