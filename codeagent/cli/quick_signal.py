"""The built-in part of the signal module: the module around it would load enum and more before the first picture."""

import _signal  # pyright: ignore[reportMissingImports] - built in, without a stub
from _collections_abc import Callable  # collections.abc would load all of collections


def _number(name: str) -> int:
    return int(getattr(_signal, name))  # pyright: ignore[reportUnknownArgumentType] - as above


SIGTERM, SIGHUP, SIGINT, SIGQUIT = map(_number, ("SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT"))
SIGTSTP, SIGSTOP, SIGWINCH, SIGKILL = map(_number, ("SIGTSTP", "SIGSTOP", "SIGWINCH", "SIGKILL"))
DEFAULT = _number("SIG_DFL")


def on_signal(number: int, then: Callable[[int, object], None] | object) -> object:
    """Says what happens at a signal, and returns what happened before."""
    return getattr(_signal, "signal")(number, then)  # noqa: B009  # pyright: ignore[reportUnknownArgumentType] - as above
