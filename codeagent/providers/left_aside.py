"""Imports an SDK without the parts that are never used here; what does use such a part loads it at that moment.

The SDKs are made from descriptions of whole services: hundreds and thousands of
modules that describe answers, of which a client that sends and reads plain
bytes needs none. They are most of the time and memory that an SDK takes.
A few modules are wanted for one function alone, which is seldom called:
they are loaded with its first call.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.abc import Loader, SourceLoader
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

_LOADER = "__loader_aside__"
_SELDOM, _FINDER = "__seldom_called__", "__finder_aside__"


@dataclass(frozen=True)
class Seldom:
    """A function of an SDK, named by its module there, whose module is loaded with the first call of it.

    A call for whose arguments ``is_idle`` is true would do nothing, and does nothing.
    """

    module: str
    name: str
    is_idle: Callable[..., bool] = lambda *_arguments, **_others: False


class _Aside(ModuleType):
    """A module that gives what is asked of it from where that stands, and runs its own code where it must."""

    def __getattr__(self, name: str) -> object:
        is_own = not name.startswith("__") or name == "__all__"  # the others are set by whoever imports it
        loader: SourceLoader | None = self.__dict__.get(_LOADER) if is_own else None
        if loader is None:  # or it asks itself, while it runs, for what is not there yet
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        if seldom := self.__dict__[_SELDOM].get(name):
            return self._called_later(seldom)
        return self._loaded(loader, name)

    def _called_later(self, seldom: Seldom) -> Callable[..., object]:
        def call(*arguments: object, **others: object) -> object:
            if seldom.is_idle(*arguments, **others):
                return None
            found = self.__dict__.get(seldom.name) or self._loaded(self.__dict__[_LOADER], seldom.name)
            return found(*arguments, **others)

        return call

    def _loaded(self, loader: SourceLoader, name: str) -> Any:
        with self.__dict__[_FINDER]:
            return self._found(loader, name)

    def _found(self, loader: SourceLoader, name: str) -> object:
        if "__path__" in self.__dict__ and PathFinder.find_spec(f"{self.__name__}.{name}", self.__path__) is not None:
            return import_module(f"{self.__name__}.{name}")
        if origin := _origin(loader.get_source(self.__name__) or "", name):
            found = getattr(import_module(origin, self.__name__), name)
            setattr(self, name, found)
            return found
        del self.__dict__[_LOADER]
        loader.exec_module(self)
        return getattr(self, name)


def _origin(source: str, name: str) -> str | None:
    """The module that a package takes a name from only to hand it on: ``from .module import Name as Name``."""
    found = re.search(rf"^from (\.[\w.]+) import (?:\([^)]*|[^\n(]*)\b{name} as {name}\b", source, re.MULTILINE)
    return found[1] if found else None


class _AsideLoader(Loader):
    """Makes the module, and leaves its code to the loader that it really has."""

    def __init__(self, real: Loader, seldom: Mapping[str, Seldom], finder: _AsideFinder) -> None:
        self._real, self._seldom, self._finder = real, seldom, finder

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """A module that knows its loader, and its functions that are seldom called."""
        made = _Aside(spec.name)
        made.__dict__.update({_LOADER: self._real, _SELDOM: self._seldom, _FINDER: self._finder})
        return made

    def exec_module(self, module: ModuleType) -> None:
        """Nothing yet."""


class _AsideFinder:
    """Finds an SDK's package, its package ``types`` with the packages in it, and the modules of ``seldom``.

    Others load as ever. It is asked as long as it is entered.
    """

    def __init__(self, sdk: str, seldom: Sequence[Seldom]) -> None:
        self._sdk = sdk
        self._seldom = {f"{sdk}.{one.module}": {one.name: one} for one in seldom}

    def __enter__(self) -> None:
        sys.meta_path.insert(0, self)

    def __exit__(self, *fault: object) -> None:
        sys.meta_path.remove(self)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Where the package is; None for all that is not left aside."""
        seldom = self._seldom.get(name)
        if name != self._sdk and not f"{name}.".startswith(f"{self._sdk}.types.") and seldom is None:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return spec
        if seldom is not None or spec.submodule_search_locations is not None:
            spec.loader = _AsideLoader(spec.loader, seldom or {}, self)
        return spec


def import_only(sdk: str, *wanted: tuple[str, str], seldom: Sequence[Seldom] = ()) -> None:
    """Imports of ``sdk`` what stands in its modules under these names (module, name), for ``import`` to find there.

    The functions of ``seldom`` are there at once, and what they stand in is loaded when they are called.
    An SDK in which that goes wrong, such as one that is built otherwise, is imported
    as a whole; raises ImportError where there is none. Loading a part later is not
    guarded against threads: it is for what a program without faults never asks for.
    """
    try:
        with _AsideFinder(sdk, seldom):
            package = import_module(sdk)
            for module, name in wanted:
                setattr(package, name, getattr(import_module(f"{sdk}.{module}"), name))
    except Exception:  # noqa: BLE001 - whatever it is, the whole of it is what its makers tried out
        for name in [name for name in sys.modules if f"{name}.".startswith(f"{sdk}.")]:
            del sys.modules[name]
        import_module(sdk)
