"""What goes wrong below the stream, in HTTP and on the line: understood, asked for again, or told."""

from __future__ import annotations

import gzip
import socket
import struct
import time
import zlib
from collections.abc import Callable
from contextlib import suppress

import pytest

from codeagent.core.events import RetryScheduled, TurnEnd
from tests.agent.services import PATIENT
from tests.server.replies import Bare, Call, Say, say

Act = Callable[[socket.socket, bytes], None]

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def sized(stream: bytes, more: int = 0, head: bytes = OK) -> bytes:
    """The stream after headers that say how long it is, or so many bytes more."""
    return head + b"Content-Length: %d\r\n\r\n" % (len(stream) + more) + stream


def packed(stream: bytes, coding: bytes = b"gzip") -> bytes:
    return sized(stream, head=OK + b"Content-Encoding: %b\r\n" % coding)


def sends(make: Callable[[bytes], bytes]) -> Act:
    return lambda connection, stream: connection.sendall(make(stream))


def one_byte_at_a_time(connection: socket.socket, stream: bytes) -> None:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for at, byte in enumerate(CHUNKED + chunk(stream) + END):
        connection.sendall(bytes((byte,)))
        if at < 40:
            time.sleep(0.001)


def reset_after(make: Callable[[bytes], bytes]) -> Act:
    def act(connection: socket.socket, stream: bytes) -> None:
        connection.sendall(make(stream))
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()

    return act


def half(stream: bytes) -> bytes:
    return stream[: len(stream) // 2]


UNDERSTOOD: dict[str, Act] = {
    "an exact length": sends(sized),
    "a length that is too long, then the end": sends(lambda stream: sized(stream, 100)),
    "a length that cuts the last line end": sends(lambda stream: sized(stream, -2)),
    "no length and no chunks": sends(lambda stream: OK + b"\r\n" + stream),
    "HTTP/1.0": sends(lambda stream: b"HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + stream),
    "a status without its words": sends(lambda stream: sized(stream, head=b"HTTP/1.1 200\r\n")),
    "100 before it": sends(lambda stream: b"HTTP/1.1 100 Continue\r\n\r\n" + sized(stream)),
    "103 before it, twice": sends(lambda stream: 2 * b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + sized(stream)),
    "200 with the word Created": sends(lambda stream: sized(stream, head=b"HTTP/1.1 201 Created\r\n")),
    "chunks of one byte": sends(lambda stream: CHUNKED + b"".join(chunk(bytes((byte,))) for byte in stream) + END),
    "chunks with extensions": sends(lambda stream: CHUNKED + b'%x;name="x"\r\n%b\r\n' % (len(stream), stream) + END),
    "trailers": sends(lambda stream: CHUNKED + chunk(stream) + b"0\r\nX-Sum: 5\r\nX-More: 6\r\n\r\n"),
    "no last chunk, then the end": sends(lambda stream: CHUNKED + chunk(stream)),
    "no last chunk, then a reset": reset_after(lambda stream: CHUNKED + chunk(stream)),
    "rubbish in the place of the last chunk": sends(lambda stream: CHUNKED + chunk(stream) + b"zz\r\n"),
    "each byte by itself, headers too": one_byte_at_a_time,
    "gzip": sends(lambda stream: packed(gzip.compress(stream))),
    "deflate": sends(lambda stream: packed(zlib.compress(stream), b"deflate")),
    "identity": sends(lambda stream: packed(stream, b"identity")),
    "a coding that nobody knows and that was not used": sends(lambda stream: packed(stream, b"none")),
    "many headers": sends(lambda stream: sized(stream, head=OK + b"".join(b"X-%d: y\r\n" % at for at in range(60)))),
    "a header of other letters": sends(lambda stream: sized(stream, head=OK + "X-Name: Grüße\r\n".encode())),
    "NUL between the events": sends(lambda stream: sized(stream.replace(b"\n\n", b"\n\n\x00\n\n"))),
}  # fmt: skip

AGAIN: dict[str, Act] = {
    "half a chunk, then the end": sends(lambda stream: CHUNKED + chunk(stream)[: len(stream) // 2]),
    "half a chunk, then a reset": reset_after(lambda stream: CHUNKED + chunk(stream)[: len(stream) // 2]),
    "a chunk with a wrong size": sends(lambda stream: CHUNKED + b"5\r\n" + stream),
    "a size that is none": sends(lambda stream: CHUNKED + b"-5\r\n" + stream),
    "a length that is too short": sends(lambda stream: sized(stream, -len(stream) // 2)),
    "a length of nothing": sends(lambda stream: sized(stream, -len(stream))),
    "half of it, then the end": sends(lambda stream: OK + b"\r\n" + half(stream)),
    "half of it, then a reset": reset_after(lambda stream: sized(stream)[: len(stream) // 2]),
    "gzip that is none": sends(packed),
    "gzip that ends early": sends(lambda stream: packed(half(gzip.compress(stream)))),
    "gzip that is damaged": sends(lambda stream: packed(gzip.compress(stream)[:20] + b"\xff" * 200)),
    "half of a status line": sends(lambda _: b"HTTP/1.1 2"),
    "half of the headers": sends(lambda _: OK + b"Content-Le"),
    "another protocol": sends(lambda _: b"SSH-2.0-OpenSSH_9.6\r\n"),
    "bytes": sends(lambda _: b"\x16\x03\x01\x02\x00" * 20),
    "a header without a colon": sends(lambda stream: sized(stream, head=OK + b"nothing\r\n")),
    "two lengths": sends(lambda stream: sized(stream, head=OK + b"Content-Length: 5\r\n")),
    "headers without an end": sends(lambda _: OK + b"X: " + b"y" * 400_000),
    "204": sends(lambda _: b"HTTP/1.1 204 No Content\r\n\r\n"),
}  # fmt: skip

DONE = say("Done.")
WRITTEN = (Say("I write it down, 😀."), Call("note", {"say": "one"}, id="c1"))


@pytest.mark.parametrize("name", UNDERSTOOD)
async def test_it_is_understood(scene, name):
    stage = scene.stage(limits=PATIENT)
    scene.server.reply(Bare(act=UNDERSTOOD[name], parts=WRITTEN), DONE)
    end = await stage.send("Write it down.")
    assert (end.reason, end.text) == (TurnEnd.DONE, "Done.")
    assert stage.of(RetryScheduled) == []
    assert scene.notes == ["one"]
    await scene.is_well(stage)


@pytest.mark.parametrize("name", AGAIN)
async def test_it_is_asked_for_again(scene, name):
    stage = scene.stage(limits=PATIENT)
    scene.server.reply(Bare(act=AGAIN[name], parts=WRITTEN), say("", *WRITTEN[1:]), DONE)
    end = await stage.send("Write it down.")
    assert (end.reason, end.text) == (TurnEnd.DONE, "Done.")
    [retry] = stage.of(RetryScheduled)
    assert len(retry.reason) < 250
    assert not any(word in retry.reason for word in ("Errno", "Error", "b'", "\\x", "<"))
    assert scene.notes == ["one"]
    await scene.is_well(stage)


@pytest.mark.parametrize(
    "location", [b"/v1/messages", b"/v1/responses", b"http://127.0.0.1:9/v1", b"", b"\xff", b"http://"]
)
async def test_a_redirect_is_not_followed_wherever_it_leads(scene, location):
    head = b"HTTP/1.1 307 Temporary Redirect\r\nLocation: %b\r\nContent-Length: 0\r\n\r\n" % location
    stage = scene.stage()
    scene.server.reply(Bare(act=sends(lambda _: head)))
    end = await stage.send()
    assert end.reason is TurnEnd.ERROR
    assert stage.of(RetryScheduled) == []
    assert len(scene.server.requests) == 1
    assert len(end.text.splitlines()) <= 2
    await scene.is_well(stage)


async def test_a_connection_that_closes_between_two_requests_is_made_anew_without_a_word(scene):
    """The reply says that the connection stays, and then it does not."""
    stage = scene.stage()
    keeps = sends(lambda stream: sized(stream, head=OK + b"Connection: keep-alive\r\n"))
    scene.server.reply(*(Bare(act=keeps, parts=(Say(f"{number}"),)) for number in range(3)))
    for number in range(3):
        assert (await stage.send()).text == f"{number}"
    assert stage.of(RetryScheduled) == []
    await scene.is_well(stage)


async def test_what_is_left_on_a_kept_connection_costs_the_next_request_no_word(scene):
    stage = scene.stage()
    scene.server.reply(
        Bare(act=sends(lambda stream: sized(stream) + b"\n\nrubbish\n\n"), parts=(Say("first"),), stays=True),
        *(say("second"), say("second")),
    )
    assert (await stage.send()).text == "first"
    assert (await stage.send()).text == "second"
    assert stage.of(RetryScheduled) == []
    assert scene.server.refusals == []


def endless(connection: socket.socket, _stream: bytes) -> None:
    """A refusal that goes on for as long as somebody listens."""
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n")
    with suppress(OSError):
        while True:
            connection.sendall(chunk(b"The model is asleep. " * 1_000))


def bomb(connection: socket.socket, _stream: bytes) -> None:
    """A refusal of a few kilobytes that is fifty megabytes when it is unpacked."""
    body = gzip.compress(b"The model is asleep. " + b" " * 50_000_000)
    connection.sendall(sized(body, head=b"HTTP/1.1 400 Bad Request\r\nContent-Encoding: gzip\r\n"))


@pytest.mark.parametrize("act", [endless, bomb])
async def test_a_refusal_without_end_is_told_by_its_beginning(scene, act):
    stage = scene.stage()
    scene.server.reply(Bare(act=act))
    end = await stage.send()
    assert end.reason is TurnEnd.ERROR
    assert "The model is asleep." in end.text
    assert len(end.text) < 1_000
    await scene.is_well(stage)
