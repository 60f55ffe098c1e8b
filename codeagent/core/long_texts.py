"""What is asked of every text, answered for megabytes too before anybody notices.

Python lets no other thread go on while one step of it goes through a text, and a key
that is pressed meanwhile waits. So the steps here are few, or short.
"""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass

LONG = 262_144
"""Characters, or bytes, of which something is done on a thread, so that keys are heard meanwhile."""
SLICE = 65_536
"""Characters that are searched in one go."""

_PLAIN = bytes([0x09, 0x0A, *range(0x20, 0x7F)])


def find(text: str, words: str, start: int = 0) -> int:
    """Where ``words``, which are not empty, stand next from ``start`` on; -1 where they do not. As ``str.find``."""
    for at in range(start, len(text), SLICE):
        if (found := text.find(words, at, at + SLICE + len(words) - 1)) >= 0:
            return found
    return -1


def is_long(held: object) -> bool:
    """Whether a long text stands anywhere in a value."""
    match held:
        case str():
            return len(held) > LONG
        case list() | tuple() | dict():
            return any(map(is_long, held.values() if isinstance(held, dict) else held))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType, reportUnknownVariableType] - of whatever
        case _ if is_dataclass(held):
            return any(is_long(getattr(held, one.name)) for one in fields(held))
        case _:
            return False


def json_of(text: str) -> str:
    """The text as JSON has it, characters as they are; a slice at a time."""
    slices = (text[at : at + SLICE] for at in range(0, len(text), SLICE))
    return f'"{"".join([json.dumps(one, ensure_ascii=False)[1:-1] for one in slices])}"'


def is_plain(text: str) -> bool:
    """Whether nothing but printable ASCII, tabs and newlines stand in it."""
    return text.isascii() and not text.encode().translate(None, _PLAIN)


def is_sound(text: str) -> bool:
    """Whether no half of a surrogate pair stands in it, so that it can be encoded."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
