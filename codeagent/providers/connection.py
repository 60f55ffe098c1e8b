"""Sending a ready request through a model SDK and reading what streams back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress

import httpx2

from codeagent.core.errors import ProviderRejected, ProviderUnavailable
from codeagent.core.long_texts import LONG
from codeagent.providers.catalog import Limits
from codeagent.providers.failures import Service
from codeagent.providers.sse import EventLines, parse_object

HEADERS = {
    "Content-Type": "application/json",
    "Accept": "text/event-stream",
    "X-Stainless-Raw-Response": "stream",  # asks the SDKs for the open response
}
_WAIT_FOR_END = 0.5
_WAIT_FOR_REST = 5.0
_WAIT_FOR_CONNECTION = 15.0
LONGEST_EVENT = 64_000_000  # bytes; a line without an end would fill the memory
_MOST_OF_A_REFUSAL = 100_000  # bytes on the wire


class _Beginning(httpx2.AsyncByteStream):
    """The first bytes of a body."""

    def __init__(self, body: httpx2.AsyncByteStream) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = _MOST_OF_A_REFUSAL
        async for piece in self._body:
            yield piece[:left]
            left -= len(piece)
            if left <= 0:
                return

    async def aclose(self) -> None:
        await self._body.aclose()


async def _shorten_refusal(response: httpx2.Response) -> None:
    if response.is_error and isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _Beginning(response.stream)


HOOKS: Mapping[str, list[Callable[[httpx2.Response], Awaitable[None]]]] = {"response": [_shorten_refusal]}
"""For a client: the SDKs read what a service says when it refuses to its end, and it may have none."""


def timeouts(limits: Limits) -> httpx2.Timeout:
    """The SDK's limits; the wait for a connection is short, so that a wrong address shows soon."""
    return httpx2.Timeout(limits.timeout, connect=_WAIT_FOR_CONNECTION)


async def read_payloads(
    response: httpx2.Response, service: Service, *, is_taken: Callable[[], bool]
) -> AsyncGenerator[list[bytes]]:
    """The payloads of a stream as they arrive: one list for each read, empty for mere signs of life.

    A server that answers in one piece of JSON gives one payload, of which
    ``is_taken`` tells afterwards whether it was a reply. What the answer calls
    itself does not matter, as gateways get that wrong. Raises ProviderUnavailable
    when the connection breaks off, ProviderRejected when the answer is something
    else, such as a web page, or a line without an end.
    """
    lines = EventLines()
    try:
        async for data in response.aiter_bytes():
            is_long = lines.waiting > LONG and b"\n" in data
            yield await asyncio.to_thread(lines.feed, data) if is_long else lines.feed(data)
            if lines.waiting > LONGEST_EVENT:
                if is_taken():
                    return
                raise ProviderRejected(
                    f"{service.place} sent {lines.waiting // 1_000_000:,} MB without a word of a reply, "
                    "and the connection was closed.",
                    hint=f"Try again, or check the base URL ({service.url_variable}).",
                )
    except httpx2.HTTPError as error:
        raise service.broke_off(error) from error
    yield lines.finish()
    if not lines.is_stream and (text := lines.text):
        if parse_object(text) is not None:
            yield [text]
        if not is_taken():
            content_type = response.headers.get("content-type", "")
            raise service.not_a_stream(content_type, text.decode("utf-8", "replace"))


class Patience:
    """How long a finished reply still waits for what may follow it: its usage, more of its text, its proper end.

    Signs of life do not lengthen the wait.
    """

    def __init__(self) -> None:
        self._until: float | None = None

    async def next_payloads(self, reads: AsyncGenerator[list[bytes]]) -> list[bytes] | None:
        """The next read's payloads; None after the last, or when the wait is over."""
        try:
            async with asyncio.timeout_at(self._until):
                return await anext(reads, None)
        except TimeoutError:
            return None

    def note(self, *, is_finished: bool, has_grown: bool) -> None:
        """What the last read brought; with what finishes a reply, and with each addition, the wait begins anew."""
        if is_finished and (has_grown or self._until is None):
            self._until = asyncio.get_running_loop().time() + _WAIT_FOR_REST


async def read_to_end(reads: AsyncIterator[list[bytes]]) -> None:
    """Takes the end of a finished stream off the connection, so that the next request can use it again."""
    with suppress(TimeoutError, ProviderUnavailable):
        async with asyncio.timeout(_WAIT_FOR_END):
            async for _ in reads:
                pass
