"""The lines of a model's stream, the JSON in them, and the wait in its headers, read without trusting their shape."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from codeagent.core.json_types import JsonObject, JsonValue, is_too_deep
from codeagent.core.text import storable

_OTHER_FIELDS = (b":", b"event:", b"id:", b"retry:")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BEYOND_COUNTING = 2**53
_WHOLE = frozenset({b"{}", b"[]"})  # what a payload that stands on one line begins and ends with


class EventLines:
    """Cuts the bytes of server-sent events into their payloads.

    Model services put each payload on one ``data`` line, which is a payload at
    once; one on several lines is whole with the empty line after it. Lines end
    with CR, LF or both; the other characters that Python's ``splitlines`` knows
    occur inside JSON. llama.cpp reports errors in lines of their own, which become
    payloads too.
    """

    __slots__ = ("_ends_with_return", "_held", "_is_first", "_rest", "_unread", "is_stream", "waiting")

    def __init__(self) -> None:
        self._rest: list[bytes] = []
        self._held: list[bytes] = []
        self._unread: list[bytes] = []
        self._is_first = True
        self._ends_with_return = False
        self.is_stream = False
        self.waiting = 0
        """Bytes that came since the last payload."""

    @property
    def text(self) -> bytes:
        """What came before the first payload, such as a web page, without the other fields of events."""
        lines = b"".join(self._unread).removeprefix(_BYTE_ORDER_MARK).split(b"\n")
        return b"\n".join(line for line in lines if not line.startswith(_OTHER_FIELDS)).strip()

    def feed(self, data: bytes) -> list[bytes]:
        """The payloads completed by more bytes of the stream."""
        data = self._with_line_feeds(data)
        head, end, tail = data.rpartition(b"\n")
        if not end:
            self._rest.append(data)
            lines = []
        else:
            lines = b"".join((*self._rest, head)).split(b"\n")
            self._rest = [tail]
        if self._is_first and lines:
            lines[0], self._is_first = lines[0].removeprefix(_BYTE_ORDER_MARK), False
        payloads = [payload for line in lines for payload in self._payloads(line)]
        if not self.is_stream:
            self._unread.append(data)
        self.waiting = len(tail) if payloads else self.waiting + len(data)
        return [payload for payload in payloads if payload]

    def _with_line_feeds(self, data: bytes) -> bytes:
        """The same with line feeds alone as line ends; CR and LF may come in two reads."""
        if self._ends_with_return and data.startswith(b"\n"):
            data = data[1:]
        self._ends_with_return = data.endswith(b"\r")
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data

    def finish(self) -> list[bytes]:
        """The payload of a last line that has no line ending."""
        return self.feed(b"\n\n")

    def _payloads(self, line: bytes) -> list[bytes]:
        if line.startswith(b"data:"):
            self.is_stream = True
            part = line[5:].strip()
            if self._held or part[:1] + part[-1:] not in _WHOLE:
                self._held.append(part)
                return []
            return [part]
        if line.startswith(b"error:"):
            self.is_stream = True
            return [b'{"error":%b}' % line[6:].strip()]
        if not line and self._held:
            held, self._held = b"\n".join(self._held).strip(), []
            return [held]
        return []


def parse_object(payload: bytes | str) -> JsonObject | None:
    """The JSON object in a payload, or None when it holds anything else."""
    try:
        text = payload if isinstance(payload, str) else payload.decode("utf-8", "replace")
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and not is_too_deep(value, payload) else None


def is_text(payload: bytes) -> bool:
    """Whether the bytes are sound UTF-8; what came broken may say something else than was meant."""
    if payload.isascii():
        return True
    try:
        payload.decode()
    except UnicodeDecodeError:
        return False
    return True


def to_json(value: JsonValue) -> bytes:
    """The value as compact JSON that every service can read.

    Half characters become U+FFFD; numbers that JSON has no word for, which some servers send all the same, null.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError:
        text = json.dumps(_without_odd_numbers(value), ensure_ascii=False, separators=(",", ":"))
    return storable(text).encode()


def _without_odd_numbers(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {key: _without_odd_numbers(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_without_odd_numbers(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def as_object(value: JsonValue) -> JsonObject:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: JsonValue) -> list[JsonValue]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def as_text(value: JsonValue) -> str:
    """The value if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def as_written(value: JsonValue) -> str:
    """A call's arguments as the model wrote them; some servers have parsed them already."""
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


def is_empty(value: JsonValue) -> bool:
    """Whether a field says that there is nothing, as services do with null, empty texts and lists."""
    return value is None or value in ("", [], {})


def as_count(value: JsonValue) -> int:
    """The value as a number of tokens; 0 when it is none, such as one that no number of things can reach."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if 0 < value < _BEYOND_COUNTING else 0


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds the service wants to be left alone, from its headers; None when it does not say.

    ``Retry-After`` is a number of seconds or an HTTP date (RFC 9110, section 10.2.3).
    """
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    written = headers.get("retry-after", "")
    seconds = _number(written)
    if seconds is not None:
        return seconds
    try:
        when = parsedate_to_datetime(written)
    except (ValueError, OverflowError):
        return None
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max(0.0, (when - datetime.now(UTC)).total_seconds())


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None
