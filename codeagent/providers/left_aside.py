"""Imports an SDK without the parts that are never used here; what does use such a part loads it at that moment.

The SDKs are made from descriptions of whole services: hundreds and thousands of
modules that describe answers, of which a client that sends and reads plain
bytes needs none. They are most of the time and memory that an SDK takes.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, SourceLoader
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

_LOADER = "__loader_aside__"


class _Aside(ModuleType):
    """A package that gives what is asked of it from the module that has it, and runs its own code where it must."""

    def __getattr__(self, name: str) -> object:
        is_own = not name.startswith("__") or name == "__all__"  # the others are set by whoever imports it
        loader: SourceLoader | None = self.__dict__.get(_LOADER) if is_own else None
        if loader is None:  # or it asks itself, while it runs, for what is not there yet
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        if PathFinder.find_spec(f"{self.__name__}.{name}", self.__path__) is not None:
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
    """Makes the package, and leaves its code to the loader that it really has."""

    def __init__(self, real: Loader) -> None:
        self._real = real

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """A package that knows its loader."""
        made = _Aside(spec.name)
        made.__dict__[_LOADER] = self._real
        return made

    def exec_module(self, module: ModuleType) -> None:
        """Nothing yet."""


class _AsideFinder:
    """Finds an SDK's package, and its package ``types`` with the packages in it; plain modules load as ever."""

    def __init__(self, sdk: str) -> None:
        self._sdk = sdk

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Where the package is; None for all that is not left aside."""
        if name != self._sdk and not f"{name}.".startswith(f"{self._sdk}.types."):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None and spec.submodule_search_locations is not None:
            spec.loader = _AsideLoader(spec.loader)
        return spec


def import_only(sdk: str, *wanted: tuple[str, str]) -> None:
    """Imports of ``sdk`` what stands in its modules under these names (module, name), for ``import`` to find there.

    An SDK in which that goes wrong, such as one that is built otherwise, is imported
    as a whole; raises ImportError where there is none. Loading a part later is not
    guarded against threads: it is for what a program without faults never asks for.
    """
    finder = _AsideFinder(sdk)
    sys.meta_path.insert(0, finder)
    try:
        package = import_module(sdk)
        for module, name in wanted:
            setattr(package, name, getattr(import_module(f"{sdk}.{module}"), name))
    except Exception:  # noqa: BLE001 - whatever it is, the whole of it is what its makers tried out
        for name in [name for name in sys.modules if f"{name}.".startswith(f"{sdk}.")]:
            del sys.modules[name]
        sys.meta_path.remove(finder)
        import_module(sdk)
    else:
        sys.meta_path.remove(finder)
