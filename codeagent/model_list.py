"""The models that the services listed when they were last asked, so that completion need not ask again."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from codeagent.core.json_types import JsonObject, JsonValue
from codeagent.providers.sse import as_object
from codeagent.workspace.private import change_private, read_private

_MOST = 1_000
_FRESH = 60.0
"""Seconds in which a service need not be asked again."""


@dataclass(frozen=True, slots=True)
class LastList:
    """One small file in the cache; call it on a thread."""

    file: Path

    def read(self) -> tuple[str, ...]:
        """The names, as ``--model`` takes them; none when nothing was listed yet."""
        found = read_private(self.file).get("models")
        names = found if isinstance(found, list) else []
        return tuple(name for name in names if isinstance(name, str))

    def is_due(self, url: str) -> bool:
        """Whether the service at an address was not asked a moment ago."""
        asked = as_object(read_private(self.file).get("asked")).get(url)
        return not _is_fresh(asked)

    def keep(self, names: Sequence[str], *, asked: str = "") -> None:
        """Keeps the names, and when the service at ``asked`` was asked; those that were not reached keep theirs."""

        def change(content: JsonObject) -> None:
            reached = {name.partition("/")[0] for name in names}
            older = [name for name in self.read() if name.partition("/")[0] not in reached]
            kept: list[JsonValue] = [*names, *older]
            content["models"] = kept[:_MOST]
            if asked:
                before = as_object(content.get("asked"))
                content["asked"] = {url: at for url, at in before.items() if _is_fresh(at)} | {asked: time.time()}

        with suppress(OSError):
            change_private(self.file, change)


def _is_fresh(asked: JsonValue) -> bool:
    return isinstance(asked, int | float) and 0 <= time.time() - asked < _FRESH
