"""Values that JSON can hold, and how deep they may be nested."""

from __future__ import annotations

from collections.abc import Iterable

from codeagent.core.long_texts import LONG

JsonValue = str | int | float | bool | list["JsonValue"] | dict[str, "JsonValue"] | None
JsonObject = dict[str, JsonValue]

DEEPEST = 100
"""Levels; some servers refuse a request with 128, and what is nested much deeper cannot be written again at all."""


def is_too_deep(value: JsonValue, text: str | bytes) -> bool:
    """Whether a value, read from the text, is nested deeper than can be sent on."""
    level = [value] if _may_be_too_deep(text) else []
    for _ in range(DEEPEST):
        if not level:
            return False  # nearly always at once: this is asked for each piece of each reply
        level = [part for one in level for part in _parts(one) if isinstance(part, list | dict)]
    return bool(level)


def _may_be_too_deep(text: str | bytes) -> bool:
    """Whether as much is opened in it; to count that takes longer in megabytes than to look at what they hold."""
    if len(text) > LONG:
        return True
    opened = text.count("[") + text.count("{") if isinstance(text, str) else text.count(b"[") + text.count(b"{")
    return opened > DEEPEST


def _parts(value: JsonValue) -> Iterable[JsonValue]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
