"""What the scripted model server can be told to answer: replies made of parts, and faults."""

from __future__ import annotations

import itertools
import json
import socket
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from tests.server.wires import WIRES

_numbers = itertools.count(1)


def _call_id() -> str:
    return f"call_{next(_numbers):06d}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """What the reply says it cost."""

    input: int = 100
    output: int = 20
    cache_read: int = 0
    cache_write: int = 0


@dataclass(frozen=True, slots=True)
class Say:
    """Text, sent in pieces of ``size`` characters."""

    text: str
    size: int = 12


@dataclass(frozen=True, slots=True)
class Think:
    """Thinking, with the signature that must come back with it."""

    text: str
    signature: str = "c2lnbmVk"
    size: int = 12


@dataclass(frozen=True, slots=True)
class Redacted:
    """Thinking that is sent encrypted (Messages only)."""

    data: str = "ZW5jcnlwdGVk"


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call; ``arguments`` as text is sent as it is, also when it is cut off or no JSON at all."""

    name: str
    arguments: Mapping[str, object] | str = field(default_factory=dict[str, object])
    id: str = field(default_factory=_call_id)
    size: int = 9

    @property
    def json(self) -> str:
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments, ensure_ascii=False)


Part = Say | Think | Redacted | Call


@dataclass(frozen=True, slots=True, kw_only=True)
class Reset:
    """The connection is reset after so many pieces (-1: right after the headers)."""

    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Stall:
    """Silence without an end after so many pieces (-1: right after the headers)."""

    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Truncate:
    """The stream ends cleanly, but without its final events, after so many pieces."""

    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamError:
    """The service reports an error in mid-stream after so many pieces."""

    after: int
    type: str = "overloaded_error"
    message: str = "Overloaded"


Fault = Reset | Stall | Truncate | StreamError

Wire = Callable[[bytes], Iterable[bytes]]
"""How the bytes of a whole stream go over the line: changed, or cut in an odd way (``wires.py`` has many)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One streamed reply.

    ``delay`` is in seconds before its first byte, ``pace`` between two pieces;
    ``stop`` is the service's own word, found out from the parts when it is None,
    and left out when it is empty. ``tokens`` None leaves out the usage. A ``wire``
    rewrites the whole stream; ``content_type`` None leaves that header out.
    """

    parts: tuple[Part, ...]
    stop: str | None = None
    tokens: Tokens | None = field(default_factory=Tokens)
    delay: float = 0.0
    pace: float = 0.0
    fault: Fault | None = None
    wire: Wire | None = None
    content_type: str | None = "text/event-stream; charset=utf-8"

    @property
    def has_calls(self) -> bool:
        return any(isinstance(part, Call) for part in self.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refuse:
    """An HTTP error; ``body`` (sent as it is) wins over an error object made from ``type`` and ``message``."""

    status: int
    type: str = ""
    message: str = "Scripted failure"
    retry_after: str | None = None
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    delay: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RawStream:
    """Bytes sent as they are, one entry after the other: for what only odd servers send.

    With ``stalls``, silence follows them, not the end; ``trailers`` are header lines after the body.
    """

    chunks: tuple[bytes, ...]
    content_type: str | None = "text/event-stream"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    trailers: bytes = b""
    pace: float = 0.0
    stalls: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Bare:
    """What is done with the bare connection, below HTTP; ``act`` gets the whole stream of the ``parts``, to spoil it.

    The connection is closed afterwards, unless it ``stays`` for the next request.
    """

    act: Callable[[socket.socket, bytes], None]
    parts: tuple[Part, ...] = ()
    stays: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Hangup:
    """The connection is closed without an answer; with ``reset`` it is reset."""

    delay: float = 0.0
    reset: bool = False


Answer = Reply | Refuse | RawStream | Hangup | Bare


def say(text: str, *calls: Call, stop: str | None = None, pace: float = 0.0) -> Reply:
    """The everyday reply: some text, then some calls."""
    parts: tuple[Part, ...] = ((Say(text),) if text else ()) + calls
    return Reply(parts=parts, stop=stop, pace=pace)


def data_lines(*payloads: object) -> tuple[bytes, ...]:
    """Server-sent events with these payloads; text is sent as it is, anything else as JSON."""
    texts = (item if isinstance(item, str) else json.dumps(item) for item in payloads)
    return tuple(f"data: {text}\n\n".encode() for text in texts)


def from_script(line: str) -> Answer:
    """One line of a script file.

    The keys are those of a scripted model (``say``, ``calls``, ``delay``) and
    ``think``, ``stop``, ``pace``, ``usage`` (input, output, cache_read,
    cache_write), ``fault`` (reset, stall, truncate, error) with ``after``, ``wire``
    (a name in ``wires.py``), or ``status`` with ``message``, ``type`` and
    ``retry_after``, or ``hangup`` alone.
    """
    step = json.loads(line)
    if "status" in step:
        return Refuse(
            status=step["status"],
            type=step.get("type", ""),
            message=step.get("message", "Scripted failure"),
            retry_after=None if step.get("retry_after") is None else str(step["retry_after"]),
        )
    if step.get("hangup"):
        return Hangup()
    faults: dict[str, type[Reset | Stall | Truncate | StreamError]] = {
        "reset": Reset,
        "stall": Stall,
        "truncate": Truncate,
        "error": StreamError,
    }
    parts: list[Part] = []
    if step.get("think"):
        parts.append(Think(step["think"]))
    if step.get("say"):
        parts.append(Say(step["say"]))
    for call in step.get("calls", ()):
        identity = {"id": call["id"]} if "id" in call else {}
        parts.append(Call(call["name"], call.get("arguments", {}), **identity))
    return Reply(
        parts=tuple(parts),
        stop=step.get("stop"),
        tokens=Tokens(**step.get("usage", {})),
        delay=step.get("delay", 0.0),
        pace=step.get("pace", 0.0),
        fault=faults[step["fault"]](after=step.get("after", 1)) if "fault" in step else None,
        wire=WIRES[step["wire"]] if "wire" in step else None,
    )


def pieces(text: str, size: int) -> list[str]:
    """The text cut into pieces of ``size`` characters."""
    return [text[at : at + size] for at in range(0, len(text), size)]
