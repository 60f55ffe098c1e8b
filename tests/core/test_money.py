from __future__ import annotations

import pytest

from codeagent.core.money import dollars, rounded_up


@pytest.mark.parametrize(
    ("amount", "told"),
    [
        (0.0, "$0.00"),
        (3.456, "$3.46"),
        (0.1, "$0.10"),
        (0.05, "$0.0500"),
        (0.000001, "$0.0000010"),
        (2e-9, "$0.0000000020"),
    ],
)
def test_an_amount_is_never_told_as_nothing(amount, told):
    assert dollars(amount) == told


@pytest.mark.parametrize(("amount", "more"), [(0.1949, 0.2), (0.04561, 0.0457), (0.00000123, 0.0000013), (0.0, 0.0)])
def test_rounding_up_covers_the_amount_and_can_be_told(amount, more):
    assert rounded_up(amount) == pytest.approx(more)
    assert rounded_up(amount) >= amount
