"""Values are frozen dataclasses for all that looks at them."""

import gc
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, is_dataclass, replace

import pytest
from pydantic import TypeAdapter, ValidationError

from codeagent.core.values import value


@value
class Point:
    """A place."""

    x: int
    y: int = 2
    tags: tuple[str, ...] = field(default_factory=tuple)

    @property
    def total(self) -> int:
        return self.x + self.y


def test_fields_and_defaults_are_taken_by_name():
    assert (Point(x=1).x, Point(x=1).y, Point(x=1, y=5).total) == (1, 2, 6)
    assert Point(x=1, tags=("a",)).tags == ("a",)


@pytest.mark.parametrize("given", [{}, {"y": 1}, {"x": 1, "z": 2}])
def test_a_field_too_few_or_too_many_is_an_error(given):
    with pytest.raises(TypeError, match="Point"):
        Point(**given)


def test_a_field_cannot_be_given_by_place():
    with pytest.raises(TypeError):
        Point(1)


def test_nothing_can_be_changed():
    point = Point(x=1)
    with pytest.raises(FrozenInstanceError):
        point.x = 2
    with pytest.raises(FrozenInstanceError):
        del point.x
    with pytest.raises(FrozenInstanceError):
        point.other = 2
    assert point == Point(x=1)


def test_values_are_compared_and_hashed_by_their_fields():
    assert Point(x=1) == Point(x=1, y=2)
    assert Point(x=1) != Point(x=2)
    assert len({Point(x=1), Point(y=2, x=1), Point(x=2)}) == 2


def test_a_value_of_another_class_is_another_value():
    @value
    class Other:
        x: int
        y: int = 2
        tags: tuple[str, ...] = ()

    assert Point(x=1) != Other(x=1)


def test_a_value_that_builds_on_another_has_the_fields_of_both():
    @value
    class Place(Point):
        name: str = "here"

    class Named(Place):
        pass

    assert Place(x=1, name="a") == Place(x=1, name="a")
    assert [one.name for one in fields(Place)] == ["x", "y", "tags", "name"]
    assert (Named(x=1).name, Named(x=1).tags) == ("here", ())
    assert [one.name for one in fields(Point)] == ["x", "y", "tags"]


def test_it_reads_like_a_dataclass():
    assert "x=1" in repr(Point(x=1))
    assert [one.name for one in fields(Point)] == ["x", "y", "tags"]
    assert is_dataclass(Point)
    assert replace(Point(x=1), y=3) == Point(x=1, y=3)
    assert asdict(Point(x=1)) == {"x": 1, "y": 2, "tags": ()}


def test_pydantic_checks_and_writes_it():
    adapter = TypeAdapter(Point)
    assert adapter.validate_json(adapter.dump_json(Point(x=1, tags=("é",)))) == Point(x=1, tags=("é",))
    with pytest.raises(ValidationError):
        adapter.validate_python({"x": "no number"})


def test_threads_may_make_the_first_one_at_the_same_time():
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            for _ in range(200):

                @value
                class Held:
                    name: str
                    many: list[int] = field(default_factory=list)
                    more: dict[str, int] = field(default_factory=dict)
                    last: tuple[int, ...] = field(default_factory=tuple)

                made = list(threads.map(lambda number, made=Held: made(name=str(number)), range(8)))
                assert [one.many for one in made] == [[]] * 8
    finally:
        sys.setswitchinterval(usual)


def test_it_takes_no_more_memory_than_an_object_that_was_written_by_hand():
    class Written:
        def __init__(self) -> None:
            self.x, self.y, self.tags = 1, 2, ()

    for made in (Written(), Point(x=1), replace(Point(x=1), y=3)):  # none has a dict of its own, half of the memory
        assert [one for one in gc.get_referents(made) if isinstance(one, dict)] == []
    assert {1, 2} <= {one for one in gc.get_referents(Point(x=1)) if isinstance(one, int)}


def test_it_costs_less_to_define_than_a_dataclass():
    def cost(decorate):
        started = time.process_time()
        for _ in range(200):
            decorate(type("Some", (), {"__annotations__": {"a": int, "b": str}}))
        return time.process_time() - started

    ours = min(cost(value) for _ in range(3))
    theirs = min(cost(dataclass(frozen=True, slots=True, kw_only=True)) for _ in range(3))
    assert ours < theirs / 4
