"""What the model is told of the tools, ready-made: a request needs to know them, not to have them loaded."""

from __future__ import annotations

import json
from pathlib import Path

from codeagent.core.protocols import ToolSpec

FILE = Path(__file__).with_name("specs.json")
"""One object a tool, in the order of their names; a test holds it against the tools themselves."""


def prepared_specs() -> tuple[ToolSpec, ...]:
    """As ``Registry.specs`` of all tools."""
    found: list[dict[str, str]] = json.loads(FILE.read_bytes())
    return tuple(ToolSpec(**one) for one in found)
