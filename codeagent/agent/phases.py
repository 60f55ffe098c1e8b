"""How far a call has come, and why it may have to make way."""

from __future__ import annotations

from enum import StrEnum


class Phase(StrEnum):
    """Where a call stands; from ``preparing`` on it has its locks and counts as started."""

    WAITING = "waiting"
    PREPARING = "preparing"
    DECIDING = "deciding"
    RUNNING = "running"
    OVER = "over"


class Halt(StrEnum):
    """Why the calls of a step should make way, in the words the model is told."""

    STOPPED = "the person stopped the turn"
    STEERED = "the person said something new"
    CALL_STOPPED = "the person stopped this call"
