"""Who may touch which file when: fair read and write locks, so that calls side by side never mix up a file."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from codeagent.core.approvals import Access, Touch


class LockTable:
    """The queue of everything that runs or waits.

    Reads of one path share; a write has its path for itself. A folder and what lies
    below it count as one path, and a touch without a path is the whole workspace.
    A reservation waits for every earlier one that conflicts and for no later one, so
    service is first come, first served and nothing can wait in a circle.
    """

    def __init__(self) -> None:
        self._queue: list[FileReservation] = []

    def reserve(self, touches: Sequence[Touch]) -> FileReservation:
        """Takes a place in the queue now.

        Enter the reservation with ``async with`` to wait for its turn; one that is
        never entered must be given back with ``abandon()``.
        """
        claims = tuple({_claim(touch) for touch in touches})
        blockers = (earlier for earlier in self._queue if _conflict(earlier.claims, claims))
        reservation = FileReservation(self, claims, blockers)
        self._queue.append(reservation)
        return reservation

    def release(self, reservation: FileReservation) -> None:
        """Gives a place back, whether it ran, waited or was never entered; twice is harmless."""
        if reservation not in self._queue:
            return
        self._queue.remove(reservation)
        for other in self._queue:
            other.stop_waiting_for(reservation)

    def __len__(self) -> int:
        """How many reservations run or wait."""
        return len(self._queue)


class FileReservation:
    """A place in the queue: entered to wait for the locks, left to give all of them back at once."""

    def __init__(self, table: LockTable, claims: tuple[_Claim, ...], blockers: Iterable[FileReservation]) -> None:
        self.claims = claims
        self._table = table
        self._blockers = set(blockers)
        self._is_free = asyncio.Event()
        if not self._blockers:
            self._is_free.set()

    @property
    def is_waiting(self) -> bool:
        """Whether an earlier reservation still stands in the way."""
        return not self._is_free.is_set()

    def stop_waiting_for(self, other: FileReservation) -> None:
        """Takes note that ``other`` has given its locks back."""
        self._blockers.discard(other)
        if not self._blockers:
            self._is_free.set()

    def abandon(self) -> None:
        """Gives the place back without having been entered; after that, or after leaving, it does nothing."""
        self._table.release(self)

    async def __aenter__(self) -> Self:
        try:
            await self._is_free.wait()
        except asyncio.CancelledError:
            self.abandon()
            raise
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        self.abandon()


@dataclass(frozen=True, slots=True)
class _Claim:
    """One path as its components; no components is the whole workspace."""

    parts: tuple[str, ...]
    is_write: bool


def _claim(touch: Touch) -> _Claim:
    return _Claim(touch.path.parts if touch.path else (), touch.access is Access.WRITE)


def _conflict(some: tuple[_Claim, ...], others: tuple[_Claim, ...]) -> bool:
    return any((one.is_write or two.is_write) and _overlap(one.parts, two.parts) for one in some for two in others)


def _overlap(one: tuple[str, ...], two: tuple[str, ...]) -> bool:
    """Whether one path is the other, or a folder above it."""
    shared = min(len(one), len(two))
    return one[:shared] == two[:shared]
