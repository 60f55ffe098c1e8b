"""The built-in part of the signal module: the module around it would load enum and more before the first picture."""

import _signal  # pyright: ignore[reportMissingImports] - built in, without a stub
import os
from _collections_abc import Callable  # collections.abc would load all of collections


def _number(name: str) -> int:
    return int(getattr(_signal, name))  # pyright: ignore[reportUnknownArgumentType] - as above


SIGTERM, SIGHUP, SIGINT, SIGQUIT = map(_number, ("SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT"))
SIGTSTP, SIGCONT, SIGWINCH, SIGKILL = map(_number, ("SIGTSTP", "SIGCONT", "SIGWINCH", "SIGKILL"))
DEFAULT = _number("SIG_DFL")


def on_signal(number: int, then: Callable[[int, object], None] | object) -> object:
    """Says what happens at a signal, and returns what happened before."""
    return getattr(_signal, "signal")(number, then)  # noqa: B009  # pyright: ignore[reportUnknownArgumentType] - as above


def stop_job() -> bool:
    """Stops the program and all that was started with it, as a terminal does at Ctrl+Z; whether that was done.

    It returns when the job goes on. Where no shell minds it (the program is all that runs in
    its terminal) nothing could ever make it go on, so that the system discards the signal
    (https://pubs.opengroup.org/onlinepubs/9799919799/functions/V2_chap02.html, 2.4.3).
    """
    went_on: list[int] = []
    at_stop = on_signal(SIGTSTP, DEFAULT)
    at_going_on = on_signal(SIGCONT, lambda number, _frame: went_on.append(number))
    os.kill(0, SIGTSTP)
    on_signal(SIGCONT, at_going_on)
    on_signal(SIGTSTP, at_stop)
    return bool(went_on)
