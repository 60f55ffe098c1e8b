"""Amounts of US dollars as people read them."""

from __future__ import annotations

import math

_USUAL, _FINE = 2, 4  # decimals


def dollars(amount: float, rough_from: float = 0.1) -> str:
    """An amount, from ``rough_from`` on in cents; small ones to a hundredth of a cent, smaller ones to two digits."""
    return f"${amount:.{_decimals(amount, rough_from)}f}"


def rounded_up(amount: float) -> float:
    """The next larger amount that ``dollars`` tells exactly."""
    parts = 10 ** _decimals(amount, 0.1)
    return math.ceil(amount * parts) / parts


def _decimals(amount: float, rough_from: float) -> int:
    if amount >= rough_from or amount <= 0:
        return _USUAL
    return max(_FINE, math.ceil(-math.log10(amount)) + 1)
