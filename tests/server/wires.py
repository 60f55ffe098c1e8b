"""Ways in which servers and proxies put a sound stream on the line, and ways in which they spoil it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable


def crlf(stream: bytes) -> Iterable[bytes]:
    yield stream.replace(b"\n", b"\r\n")


def returns_alone(stream: bytes) -> Iterable[bytes]:
    yield stream.replace(b"\n", b"\r")


def byte_order_mark(stream: bytes) -> Iterable[bytes]:
    yield b"\xef\xbb\xbf" + stream


def several_lines(stream: bytes) -> Iterable[bytes]:
    """Each payload stands on several lines of one event."""
    yield re.sub(rb"data: \{(.*)\}\n", rb"data: {\ndata: \1\ndata: }\n", stream)


def one_line_end(stream: bytes) -> Iterable[bytes]:
    """No empty lines between events."""
    yield stream.replace(b"\n\n", b"\n")


def byte_by_byte(stream: bytes) -> Iterable[bytes]:
    """Every event, and every character of more than one byte, is cut."""
    return (stream[at : at + 1] for at in range(len(stream)))


def comments(stream: bytes) -> Iterable[bytes]:
    yield b": OPENROUTER PROCESSING\n\n" + stream.replace(b"\n\n", b"\n\n: keep-alive\n\n")


def pings(stream: bytes) -> Iterable[bytes]:
    yield stream.replace(b"\n\n", b'\n\nevent: ping\ndata: {"type": "ping"}\n\n')


def empty_data(stream: bytes) -> Iterable[bytes]:
    yield stream.replace(b"\n\n", b"\n\ndata:\n\n")


def other_fields(stream: bytes) -> Iterable[bytes]:
    yield stream.replace(b"data: ", b"id: 7\nretry: 3000\nunheard-of\ndata:")


def no_last_line_end(stream: bytes) -> Iterable[bytes]:
    yield stream.rstrip(b"\n")


def twice(stream: bytes) -> Iterable[bytes]:
    """After its end, the whole reply comes once more."""
    yield stream
    yield stream


def rubbish_after_the_end(stream: bytes) -> Iterable[bytes]:
    yield stream + b'data: {"type": \n\n<html>'


def cut_json(stream: bytes) -> Iterable[bytes]:
    """An event in the middle is no JSON."""
    events = stream.split(b"\n\n")
    middle = len(events) // 2
    events[middle] = events[middle][: len(events[middle]) // 2]
    yield b"\n\n".join(events)


def error_line(stream: bytes) -> Iterable[bytes]:
    """An error reported as older llama.cpp servers do."""
    events = stream.split(b"\n\n")
    yield b"\n\n".join(events[:4])
    yield b'\n\nerror: {"code": 500, "message": "Failed to process", "type": "server_error"}\n\n'


WIRES: dict[str, Callable[[bytes], Iterable[bytes]]] = {
    wire.__name__: wire
    for wire in (
        crlf,
        returns_alone,
        byte_order_mark,
        several_lines,
        one_line_end,
        byte_by_byte,
        comments,
        pings,
        empty_data,
        other_fields,
        no_last_line_end,
        twice,
        rubbish_after_the_end,
        cut_json,
        error_line,
    )
}
