"""The lines of a model's stream, and the JSON in them, read without trusting their shape."""

from __future__ import annotations

import json

from codeagent.core.json_types import JsonObject, JsonValue
from codeagent.core.text import storable

_OTHER_FIELDS = (b":", b"event:", b"id:", b"retry:")


class EventLines:
    """Cuts the bytes of server-sent events into the payloads of their ``data`` lines.

    Model services put each payload on one line. Only line feeds end a line, as
    the characters that Python's ``splitlines`` also knows occur inside JSON.
    llama.cpp reports errors in lines of their own, which become payloads too.
    """

    __slots__ = ("_rest", "_unread", "is_stream")

    def __init__(self) -> None:
        self._rest = b""
        self._unread: list[bytes] = []
        self.is_stream = False

    @property
    def text(self) -> bytes:
        """What came before the first payload, such as a web page, without the other fields of events."""
        lines = b"".join(self._unread).split(b"\n")
        return b"\n".join(line for line in lines if not line.startswith(_OTHER_FIELDS)).strip()

    def feed(self, data: bytes) -> list[bytes]:
        """The payloads completed by more bytes of the stream."""
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        payloads = [line[5:].strip() for line in lines if line.startswith(b"data:")]
        payloads += [b'{"error":%b}' % line[6:].strip() for line in lines if line.startswith(b"error:")]
        if payloads:
            self.is_stream = True
        elif not self.is_stream:
            self._unread.append(data)
        return [payload for payload in payloads if payload]

    def finish(self) -> list[bytes]:
        """The payload of a last line that has no line ending."""
        return self.feed(b"\n")


def parse_object(payload: bytes | str) -> JsonObject | None:
    """The JSON object in a payload, or None when it holds anything else."""
    try:
        text = payload if isinstance(payload, str) else payload.decode("utf-8", "replace")
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def to_json(value: JsonValue) -> bytes:
    """The value as compact JSON that is always valid UTF-8: half characters become U+FFFD."""
    return storable(json.dumps(value, ensure_ascii=False, separators=(",", ":"))).encode()


def as_object(value: JsonValue) -> JsonObject:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: JsonValue) -> list[JsonValue]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def as_text(value: JsonValue) -> str:
    """The value if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def as_count(value: JsonValue) -> int:
    """The value as a number of tokens; 0 when it is none."""
    return int(value) if isinstance(value, int | float) and value > 0 else 0
