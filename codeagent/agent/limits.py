"""How far a session may go by itself: steps, time, money, retries."""

from __future__ import annotations

from codeagent.core.values import value


@value
class Limits:
    """The limits of a session; times are in seconds.

    ``steps`` is model requests a turn, ``parallel`` calls running at once,
    ``tool_seconds`` the time of a call whose tool names none. ``first_byte_seconds``
    and ``idle_seconds`` bound the silence before and within a reply; for
    ``quiet_seconds``, or the first of them where that is longer, a service may send
    signs of life and nothing of the reply. A failed request is made again
    ``retries`` times; the pauses start at ``retry_seconds``, double, and end at
    ``longest_pause``. ``continuations`` says how often in a row the model may go on
    after its output limit. ``max_cost`` is US dollars. At ``compact_at`` of the
    window room is made; None leaves it to the person.
    """

    steps: int = 50
    parallel: int = 4
    tool_seconds: float = 60
    first_byte_seconds: float = 600
    idle_seconds: float = 120
    quiet_seconds: float = 1_800
    retries: int = 6
    retry_seconds: float = 1
    longest_pause: float = 30
    continuations: int = 3
    max_cost: float | None = None
    compact_at: float | None = 0.85
