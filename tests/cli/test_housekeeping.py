"""How the program keeps house while a session is open."""

import gc
import weakref

import pytest

from codeagent.cli.housekeeping import tidy_after_turns, wake_collector
from codeagent.core.events import TextStreamed, TurnEnd, TurnEnded, TurnStarted

ENDED = TurnEnded(turn=1, reason=TurnEnd.DONE, text="")


class Ring:
    """Refers to itself, as Textual's rows do: garbage that has to be looked for."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def usual_collector():
    """The collector of the tests is as it was afterwards."""
    thresholds = gc.get_threshold()
    gc.unfreeze()
    yield
    gc.unfreeze()
    gc.set_threshold(*thresholds)


def old_garbage() -> weakref.ref[Ring]:
    """Something nobody uses any more, which has grown so old that Python seldom looks at it."""
    ring = Ring()
    gc.collect(0)
    gc.collect(1)
    return weakref.ref(ring)


def grow_old(rounds: int) -> None:
    for _ in range(rounds):
        gc.collect(1)


def test_what_the_first_turn_finds_is_never_looked_through_for_garbage():
    told = []
    emit = tidy_after_turns(told.append)
    emit(TurnStarted(turn=1, text="look"))
    kept = gc.get_freeze_count()
    made_later = [[] for _ in range(1_000)]
    emit(TurnStarted(turn=2, text="again"))
    assert len(told) == 2
    assert kept > len(made_later)
    assert any(one is made_later[0] for one in gc.get_objects())


def test_what_turns_left_behind_is_gone_when_one_has_ended():
    wake_collector()
    emit = tidy_after_turns(lambda _: None)
    emit(TurnStarted(turn=1, text="look"))
    left = old_garbage()
    grow_old(4)
    emit(TextStreamed(text="a"))
    assert left() is not None
    emit(ENDED)
    assert left() is None


def test_after_a_turn_in_which_little_happened_nothing_is_looked_through():
    wake_collector()
    emit = tidy_after_turns(lambda _: None)
    emit(TurnStarted(turn=1, text="look"))
    gc.collect()
    left = old_garbage()
    emit(ENDED)
    assert left() is not None


def test_the_more_a_session_holds_the_more_seldom_all_of_it_is_looked_through():
    wake_collector()
    emit = tidy_after_turns(lambda _: None)
    emit(TurnStarted(turn=1, text="look"))
    held = [[] for _ in range(50_000)]
    grow_old(4)
    emit(ENDED)
    left = old_garbage()
    grow_old(4)
    emit(ENDED)
    assert left() is not None
    grow_old(6)
    emit(ENDED)
    assert left() is None
    assert len(held) == 50_000
