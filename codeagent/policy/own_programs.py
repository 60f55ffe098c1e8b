"""Is a program that a command names by its name alone one of the workspace's own, which anybody may have written?"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from codeagent.core.programs import named_by_path

_BUILT_IN = frozenset(
    {"[", "[[", ":", "true", "false", "echo", "printf", "pwd", "cd", "test", "type", "command", "time", "read", "exit"}
    | {"return", "break", "continue", "for"}
)


def own_program(name: str, roots: Sequence[Path]) -> str:
    """Why the program ``name`` may be one of the workspace's own, or an empty string."""
    if not name or "/" in name or name in _BUILT_IN:
        return ""
    path = os.environ.get("PATH", os.defpath)
    if not all(entry.startswith("/") for entry in path.split(os.pathsep)):
        return f"where {name} lies depends on the folder: PATH names one that is not absolute"
    found = named_by_path(name, path)
    if found is None:
        return ""
    real = Path(found).resolve()
    return f"{name} is a program of the workspace: {found}" if any(real.is_relative_to(root) for root in roots) else ""
