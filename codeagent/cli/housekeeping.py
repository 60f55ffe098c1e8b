"""What becomes of memory while a session is open: garbage is looked for when nobody waits, and goes back to the system.

Python looks through everything for garbage whenever much was made, in the middle
of a reply as well, and then the screen stands still. Here what was loaded is
never looked through, and all else mostly between two turns.
"""

from __future__ import annotations

import gc

from codeagent.core.events import AgentEvent, Emit, TurnEnded, TurnStarted
from codeagent.workspace.heap import give_back

_YOUNG, _ROUNDS = 700, 10
"""So many new objects, and rounds of them, make Python look through what is new: its own usual numbers."""

_SELDOM = 60
"""So many of these make it look through all: seldom, as that is done here before."""

_LEAST_ROUNDS = 4
"""Fewer rounds than these leave nothing worth looking for."""


def wake_collector() -> None:
    """Garbage is collected from now on, but never looked for among what was loaded: that pause would be seen.

    By now everything is loaded, the model's SDK too, which takes a fifth longer while garbage is looked for.
    """
    give_back()
    gc.freeze()
    gc.set_threshold(_YOUNG, _ROUNDS, _SELDOM)
    gc.enable()


def tidy_after_turns(emit: Emit) -> Emit:
    """Tells events on; what a turn needed and nobody uses any more is given back when it has ended.

    What the first turn finds, such as a long past that is shown again, is never
    looked through for garbage: that would stop the screen in the middle of a reply.
    """
    is_new, survivors = True, 0

    def tell(event: AgentEvent) -> None:
        nonlocal is_new, survivors
        emit(event)
        if isinstance(event, TurnStarted) and is_new:
            is_new = False
            gc.freeze()
        elif isinstance(event, TurnEnded):
            survivors = _collected(survivors)
            give_back()

    return tell


def _collected(survivors: int) -> int:
    """Looks for garbage if that is due; how many objects were left the last time.

    It is due when as much was made as was left, so that it takes a steady share of
    the time however long the session. Textual's rows refer to themselves: most of
    them become garbage of the kind that has to be looked for.
    """
    rounds = gc.get_count()[2]
    if rounds < _LEAST_ROUNDS or rounds * _ROUNDS * _YOUNG < survivors:
        return survivors
    gc.collect()
    return len(gc.get_objects())
