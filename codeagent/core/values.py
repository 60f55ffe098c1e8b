"""The decorator for values: frozen, keyword-only dataclasses that cost next to nothing to define.

``dataclasses`` compiles six methods for each class, a third of a millisecond;
with a hundred and more classes that is a good part of the time to the first
frame. Values share theirs instead, and their fields are looked at when the first
one is made. They are dataclasses for all that looks at them: ``fields``,
``replace``, ``asdict``, pydantic, type checkers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields
from functools import cache
from threading import RLock
from typing import NamedTuple, TypeVar, dataclass_transform

Class = TypeVar("Class")

_one_at_a_time = RLock()
_hold = object.__setattr__  # a value whose __dict__ nobody asks for has none, and takes half the memory


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
def value(cls: type[Class]) -> type[Class]:
    """Makes the class a frozen, keyword-only dataclass, compared and hashed by its fields."""
    for name, shared in _SHARED.items():
        setattr(cls, name, shared)
    return cls


class _Shape(NamedTuple):
    """What a value is made of."""

    names: frozenset[str]
    defaults: Mapping[str, object]
    factories: Mapping[str, Callable[[], object]]


@cache
def _shape(cls: type) -> _Shape:
    known = fields(cls)
    return _Shape(
        names=frozenset(one.name for one in known),
        defaults={one.name: one.default for one in known if one.default is not MISSING},
        factories={one.name: one.default_factory for one in known if one.default_factory is not MISSING},
    )


class _Fields:
    """Stands for what ``dataclasses`` knows of a class, until somebody asks; then that takes its place."""

    def __get__(self, _: object, cls: type) -> object:
        with _one_at_a_time:  # a class that two threads took apart together would have lost its defaults
            if vars(cls).get("__dataclass_fields__", self) is self:
                dataclass(init=False, repr=False, eq=False, match_args=False, kw_only=True)(cls)
            return vars(cls)["__dataclass_fields__"]


def _init(self: object, **given: object) -> None:
    names, defaults, factories = _shape(type(self))
    held = {**defaults, **given}
    for name, make in factories.items():
        if name not in given:
            held[name] = make()
    if held.keys() != names:
        raise TypeError(_mismatch(type(self).__name__, held.keys() - names, names - held.keys()))
    for name, one in held.items():
        _hold(self, name, one)


def _mismatch(name: str, unknown: Collection[str], missing: Collection[str]) -> str:
    if unknown:
        return f"{name} has no field {', '.join(sorted(unknown))}"
    return f"{name} lacks {', '.join(sorted(missing))}"


def _set(self: object, name: str, to: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r} of {type(self).__name__}: {to!r}")


def _delete(self: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r} of {type(self).__name__}")


def _repr(self: object) -> str:
    shown = ", ".join(f"{name}={held!r}" for name, held in self.__dict__.items())
    return f"{type(self).__qualname__}({shown})"


def _eq(self: object, other: object) -> bool:
    return type(self) is type(other) and self.__dict__ == other.__dict__


def _hash(self: object) -> int:
    return hash((type(self), *(self.__dict__[name] for name in sorted(self.__dict__))))


_SHARED: Mapping[str, object] = {
    "__dataclass_fields__": _Fields(),
    "__init__": _init,
    "__setattr__": _set,
    "__delattr__": _delete,
    "__repr__": _repr,
    "__eq__": _eq,
    "__hash__": _hash,
}
