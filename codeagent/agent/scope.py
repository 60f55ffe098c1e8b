"""A stretch of work that can be called off from outside, without cancelling the task that does it."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from types import TracebackType
from typing import Self


class CalledOff(Exception):
    """The work inside the scope was called off."""


class Scope:
    """Enter it around the work; ``call_off`` ends the work there, and the scope raises CalledOff.

    The work sees an ordinary CancelledError and may clean up. The task itself is
    not cancelled: what comes after the scope runs undisturbed. A scope is entered once.
    """

    def __init__(self) -> None:
        self._timeout = asyncio.timeout(None)
        self._is_entered = False
        self._is_held = False
        self._is_called_off = False

    @property
    def is_called_off(self) -> bool:
        """Whether somebody wanted the work to end."""
        return self._is_called_off

    def call_off(self) -> None:
        """Ends the work at its next pause; before it began it then never begins. Saying it twice changes nothing."""
        if self._is_called_off:
            return
        self._is_called_off = True
        if self._is_entered and not self._is_held:
            self._timeout.reschedule(asyncio.get_running_loop().time())

    @contextmanager
    def held(self) -> Generator[None, None, None]:
        """Inside, calling off waits for nobody and disturbs nothing: what is done here is done to its end."""
        self._is_held = True
        try:
            yield
        finally:
            self._is_held = False

    async def __aenter__(self) -> Self:
        if self._is_called_off:
            raise CalledOff
        await self._timeout.__aenter__()
        self._is_entered = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_entered = False
        try:
            await self._timeout.__aexit__(kind, error, trace)
        except TimeoutError:
            raise CalledOff from None
