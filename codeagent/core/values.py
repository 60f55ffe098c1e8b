"""The decorator for values: frozen, keyword-only dataclasses that cost next to nothing to define.

``dataclasses`` compiles six methods for each class, a third of a millisecond;
with a hundred and more classes that is a good part of the time to the first
frame. Values share theirs instead. They are dataclasses for all that looks at
them: ``fields``, ``replace``, ``asdict``, pydantic, type checkers.
"""

from __future__ import annotations

from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields
from typing import TypeVar, dataclass_transform

Class = TypeVar("Class")


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
def value(cls: type[Class]) -> type[Class]:
    """Makes the class a frozen, keyword-only dataclass, compared and hashed by its fields."""
    made = dataclass(init=False, repr=False, eq=False, match_args=False, kw_only=True)(cls)
    known = fields(made)  # pyright: ignore[reportArgumentType] - a dataclass by now
    names = frozenset(one.name for one in known)
    defaults = {one.name: one.default for one in known if one.default is not MISSING}
    factories = {one.name: one.default_factory for one in known if one.default_factory is not MISSING}

    def init(self: object, **given: object) -> None:
        if not given.keys() <= names:
            unknown = ", ".join(sorted(given.keys() - names))
            raise TypeError(f"{cls.__name__} has no field {unknown}")
        held = self.__dict__
        held.update(defaults)
        for name, make in factories.items():
            if name not in given:
                held[name] = make()
        held.update(given)
        if len(held) != len(names):
            missing = ", ".join(sorted(names - held.keys()))
            raise TypeError(f"{cls.__name__} lacks {missing}")

    for name, method in (
        ("__init__", init),
        ("__setattr__", _set),
        ("__delattr__", _delete),
        ("__repr__", _repr),
        ("__eq__", _eq),
        ("__hash__", _hash),
    ):
        setattr(made, name, method)
    return made


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
