"""How the program keeps house while a session is open."""

import gc

import pytest

from codeagent.cli.main import _tidy_after_turns
from codeagent.core.events import TurnStarted


@pytest.fixture
def unfrozen():
    gc.unfreeze()
    yield
    gc.unfreeze()


def test_what_the_first_turn_finds_is_never_looked_through_for_garbage(unfrozen):
    told = []
    emit = _tidy_after_turns(told.append)
    emit(TurnStarted(turn=1, text="look"))
    kept = gc.get_freeze_count()
    made_later = [[] for _ in range(1_000)]
    emit(TurnStarted(turn=2, text="again"))
    assert len(told) == 2
    assert kept > len(made_later)
    assert any(one is made_later[0] for one in gc.get_objects())
