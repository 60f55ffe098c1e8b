"""The few settings the first picture needs, read without checking anything else."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from codeagent.config.terminal_colours import AUTO
from codeagent.core.json_types import JsonObject
from codeagent.core.values import value


@value
class FirstLook:
    """How the first frame is drawn."""

    theme: str = AUTO
    reduced_motion: bool = False
    notices: str = "auto"
    vi: bool = False
    keys: Mapping[str, str] = field(default_factory=dict[str, str])


def first_look(config_file: Path) -> FirstLook:
    """The look the person asked for; whatever is wrong in the file is told later, when all of it is checked."""
    try:
        tables: JsonObject = tomllib.loads(config_file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return FirstLook()
    ui, keys = _table(tables, "ui"), _table(tables, "keys")
    theme = ui.get("theme")
    return FirstLook(
        theme=theme if isinstance(theme, str) else AUTO,
        notices=str(ui.get("notices", "auto")),
        reduced_motion=ui.get("reduced_motion") is True,
        vi=ui.get("vi") is True,
        keys={name: key for name, key in keys.items() if isinstance(key, str)},
    )


def _table(tables: JsonObject, name: str) -> JsonObject:
    table = tables.get(name)
    return table if isinstance(table, dict) else {}
