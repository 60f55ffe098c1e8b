"""How much is looked at before a command is decided on: an allowance for one line, so that no text takes long."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

A_PROCESS = 2_000
"""What running a program takes, such as git."""


class TooMuch(Exception):
    """More would have to be looked at than is worth waiting for: such a line is asked about."""


class Effort:
    """An allowance that all that looks at one line draws on; one is about as much as looking up a file, or a word."""

    def __init__(self, most: int) -> None:
        self._left = most

    def spend(self, amount: int = 1) -> None:
        """Draws on it; raises TooMuch when it is used up, and from then on each time."""
        self._left -= amount
        if self._left < 0:
            raise TooMuch

    @contextmanager
    def drawn_on(self) -> Generator[None]:
        """Meanwhile ``spend`` draws on this allowance."""
        token = _IN_FORCE.set(self)
        try:
            yield
        finally:
            _IN_FORCE.reset(token)


_IN_FORCE: ContextVar[Effort | None] = ContextVar("effort", default=None)


def spend(amount: int = 1) -> None:
    """Draws on the allowance of the line that is being judged, if there is one; raises TooMuch."""
    effort = _IN_FORCE.get()
    if effort is not None:
        effort.spend(amount)
