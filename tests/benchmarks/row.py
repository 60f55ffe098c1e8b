"""One line of a benchmark's table."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What was measured, over several runs; ``bar`` says in words what is to be reached, ``reached`` whether it was."""

    what: str
    median: float
    least: float
    most: float
    unit: str
    bar: str = ""
    reached: bool | None = None


def row(what: str, values: Sequence[float], unit: str, *, bar: str = "", at_most: float | None = None) -> Row:
    """A row from the values of all runs; ``at_most`` is compared with their median."""
    median = statistics.median(values)
    return Row(
        what=what,
        median=median,
        least=min(values),
        most=max(values),
        unit=unit,
        bar=bar,
        reached=None if at_most is None else median <= at_most,
    )
