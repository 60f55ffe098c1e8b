"""The few settings the first picture needs, read without checking anything else."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

DEFAULT_THEME = "dark"


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstLook:
    """How the first frame is drawn."""

    theme: str = DEFAULT_THEME
    reduced_motion: bool = False


def first_look(config_file: Path) -> FirstLook:
    """The look the person asked for; whatever is wrong in the file is told later, when all of it is checked."""
    try:
        tables: dict[str, object] = tomllib.loads(config_file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return FirstLook()
    theme, reduced_motion = DEFAULT_THEME, False
    match tables.get("ui"):
        case {"theme": str(name)}:
            theme = name
        case _:
            pass
    match tables.get("ui"):
        case {"reduced_motion": True}:
            reduced_motion = True
        case _:
            pass
    return FirstLook(theme=theme, reduced_motion=reduced_motion)
