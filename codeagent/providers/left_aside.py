"""Imports an SDK without a part of it that is never used here; what does use that part loads it at that moment."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

_LOADER = "__loader_aside__"


class _Aside(ModuleType):
    """A package that runs its own code with the first question that it cannot answer without."""

    def __getattr__(self, name: str) -> object:
        is_own = not name.startswith("__") or name == "__all__"  # the others are set by whoever imports it
        loader = self.__dict__.pop(_LOADER, None) if is_own else None
        if loader is None:  # or it asks itself, while it runs, for what is not there yet
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        loader.exec_module(self)
        return getattr(self, name)


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
    """Finds a package and the packages in it; their plain modules load as ever."""

    def __init__(self, package: str) -> None:
        self._package = package

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Where the package is; None for all that is not left aside."""
        if not f"{name}.".startswith(f"{self._package}."):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None and spec.submodule_search_locations is not None:
            spec.loader = _AsideLoader(spec.loader)
        return spec


def import_leaving(aside: str, sdk: str) -> None:
    """Imports ``sdk``, its package ``aside`` left for later; raises ImportError.

    An SDK in which that goes wrong is imported as a whole. Loading is not guarded
    against threads: it is for what a program without faults never asks for.
    """
    finder = _AsideFinder(aside)
    sys.meta_path.insert(0, finder)
    try:
        import_module(sdk)
    except ImportError:
        for name in [name for name in sys.modules if f"{name}.".startswith(f"{sdk}.")]:
            del sys.modules[name]
        sys.meta_path.remove(finder)
        import_module(sdk)
    else:
        sys.meta_path.remove(finder)
