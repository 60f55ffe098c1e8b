"""What all models behind a service have in common: asked in the form the service takes, read while they answer."""

from __future__ import annotations

import asyncio
import math
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from time import monotonic
from typing import Generic, Protocol, Self, TypeVar

import httpx2

from codeagent.core.errors import ProviderError, ProviderRejected, ProviderUnavailable
from codeagent.core.long_texts import LONG, is_long
from codeagent.core.messages import AssistantMessage, Message, Usage
from codeagent.core.protocols import ModelEvent, ModelRequest, NoticePiece, Provider, ReplyFinished, UsagePiece
from codeagent.core.values import value
from codeagent.providers.catalog import Limits
from codeagent.providers.connection import Patience, read_payloads, read_to_end
from codeagent.providers.error_bodies import ToolsRefused, quoted
from codeagent.providers.failures import Service, Unanswered
from codeagent.providers.history import EncodedHistory
from codeagent.providers.joined import JoinedMessages, Mark
from codeagent.providers.left_out import LeftOut, Taken, without_own
from codeagent.providers.pieces import SIGN_OF_LIFE, Display
from codeagent.providers.sse import is_text
from codeagent.providers.tally import believable, output_limit_in

_MANY_MESSAGES = 64
_FAULT = 500  # llama.cpp answers so to what a model's chat template does not take
_MOST_SECONDS = 0.003
"""For so long payloads are taken before others have their turn: a key needs several of those on its way."""


class Connection(Protocol):
    """The way to a service, through its SDK."""

    @property
    def service(self) -> Service:
        """How failures speak of it."""
        ...

    async def post(self, path: str, body: bytes) -> httpx2.Response:
        """Sends a ready request; returns the open response, or raises a ProviderError."""
        ...

    async def aclose(self) -> None:
        """Closes the connections that are kept for the next request."""
        ...


class Form(Protocol):
    """How a model wants to be asked; models differ, and tell when it was wrong."""

    @property
    def effort(self) -> str | None:
        """How hard it is asked to think; None where that is left to it."""
        ...

    def corrected(self, refusal: str) -> Self:
        """The form that answers the refusal; the same when that is about something else."""
        ...


class StreamedReply(Protocol):
    """A reply that grows with each payload; ``display`` holds what the screen has not been told yet."""

    @property
    def display(self) -> Display:
        """What to show now."""
        ...

    @property
    def usage(self) -> Usage:
        """What the service has counted so far."""
        ...

    @property
    def is_over(self) -> bool:
        """Whether nothing more comes."""
        ...

    @property
    def is_finished(self) -> bool:
        """Whether what may still come is no part of the message."""
        ...

    def take(self, payload: bytes) -> None:
        """Adds one payload; raises a ProviderError when it is an error."""
        ...

    def message(self) -> AssistantMessage:
        """The whole reply; raises ProviderUnavailable when the stream ended before it was whole."""
        ...


FormT = TypeVar("FormT", bound=Form)


class Encoder:
    """Encodes histories one after the other, long ones in a thread.

    A thread cannot be stopped: when its caller is, the next one waits for it, so
    that never two of them work on what is kept between requests.
    """

    def __init__(self, history: EncodedHistory, joined: JoinedMessages) -> None:
        self.history = history
        self._joined = joined
        self._running: asyncio.Future[tuple[bytes, ...]] | None = None

    async def encode(
        self, messages: Sequence[Message], left_out: LeftOut, mark: Mark | None = None
    ) -> tuple[bytes, ...]:
        """The messages of a request, in chunks that only have to be put one after the other.

        ``mark`` sets cache markers on the last of them.
        """
        while self._running is not None and not self._running.done():
            await asyncio.wait({self._running})
        missing = self.history.missing(messages, left_out)
        if missing <= _MANY_MESSAGES and not any(map(is_long, messages[len(messages) - missing :])):
            return self._encode(messages, left_out, mark)
        loop = asyncio.get_running_loop()
        running = self._running = loop.run_in_executor(None, self._encode, messages, left_out, mark)
        return await asyncio.shield(running)

    def _encode(self, messages: Sequence[Message], left_out: LeftOut, mark: Mark | None) -> tuple[bytes, ...]:
        joined = self._joined.join(self.history.encode(messages, left_out), mark)
        self.history.release(self._joined.count)
        return joined


class LiveProvider(ABC, Generic[FormT]):
    """A model behind a service; nothing is connected before the first request."""

    def __init__(
        self,
        model: str,
        path: str,
        connection: Connection,
        encoder: Encoder,
        form: FormT,
        before: Provider | None,
        limits: Limits,
    ) -> None:
        """``model`` is its name in the form that ``--model`` takes, ``path`` where the service takes requests.

        What ``before`` has encoded and learnt is gone on with where it is a client of the same model.
        """
        self._model = model
        self._path = path
        self._connection = connection
        self._encoder = encoder
        self._form = form
        self._limits = limits
        self._most_output: int | None = None
        self._taken = Taken(model)
        self._has_kept = False
        self._effort_news = ""
        if isinstance(before, LiveProvider) and before.model == model:
            self._encoder, self._taken = before.encoder, before.taken
            self._correct(*self._taken.corrections)

    @property
    def model(self) -> str:
        """Its name in the form that ``--model`` takes."""
        return self._model

    @property
    def taken(self) -> Taken:
        """What its service takes, as far as that was learnt."""
        return self._taken

    @property
    def encoder(self) -> Encoder:
        """What encodes the history, and keeps what it has encoded."""
        return self._encoder

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Streams one reply; raises ProviderErrors. Closing the iterator ends the request.

        What the service refuses to be sent is left out, and it is asked once more.
        """
        self._correct(*self._taken.recall(request.messages))
        taken, before, is_accepted = self._taken, self._taken.left_out, False
        taken.begin(request.messages)
        try:
            while True:
                try:
                    async with aclosing(self._stream(request)) as events:
                        async for event in events:
                            if not is_accepted and event != SIGN_OF_LIFE and not isinstance(event, UsagePiece):
                                is_accepted = True
                                for notice in filter(None, self._news(taken.accepted(request.messages, before))):
                                    yield NoticePiece(text=notice)
                            yield event
                except ProviderError as refusal:
                    if (
                        is_accepted
                        or isinstance(refusal, ToolsRefused)
                        or not taken.learns(refusal, request.messages, is_last=request.is_last)
                    ):
                        if (told := taken.at_firewall(refusal, request.messages)) is not None:
                            raise told from refusal
                        raise
                else:
                    return
        finally:
            if not is_accepted:
                taken.left_out = before

    async def _stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        response = await self._ask(request)
        reply = self._reply(request)
        counted, patience, is_sound = reply.usage, Patience(), True
        most_output = self._wanted_output(request)
        try:
            service = self._connection.service
            async with aclosing(read_payloads(response, service, is_taken=lambda: reply.is_finished)) as reads:
                while (payloads := await patience.next_payloads(reads)) is not None:
                    left: Sequence[bytes] | None = payloads
                    while left is not None:
                        portion = await _take(reply, left)
                        left, is_sound = portion.left, is_sound and portion.is_sound
                        patience.note(is_finished=reply.is_finished, has_grown=portion.shown != [SIGN_OF_LIFE])
                        for number, event in enumerate(portion.shown):
                            if number or left:
                                await asyncio.sleep(0)  # a key may have been pressed
                            yield event
                    if reply.usage != counted:
                        counted = reply.usage
                        yield UsagePiece(usage=believable(counted, self._limits.window, most_output))
                    if reply.is_over:
                        await read_to_end(reads)
                        break
        except ProviderUnavailable:
            if not reply.is_finished:
                raise
        finally:
            await response.aclose()
        message = reply.message()
        for event in reply.display.drain():
            await asyncio.sleep(0)
            yield event
        message = message if is_sound else without_own(message)
        usage = believable(message.usage, self._limits.window, most_output)
        yield ReplyFinished(message=replace(message, usage=usage, learnt=self._taken.learnt))

    async def aclose(self) -> None:
        """Closes the connections that are kept for the next request."""
        await self._connection.aclose()

    async def body(self, request: ModelRequest) -> bytes:
        """The request as it is sent."""
        messages = await self._encoder.encode(request.messages, self._taken.left_out, self._mark)
        return self._body(request, messages)

    @property
    def _mark(self) -> Mark | None:
        """What sets cache markers on messages; None where the service has none."""
        return None

    async def _ask(self, request: ModelRequest) -> httpx2.Response:
        """Sends the request, and once more for each thing that the model wants otherwise.

        A connection that was kept since the last request may be of no use any more:
        then it is sent once more at once, on a new one.
        """
        while True:
            has_kept, self._has_kept = self._has_kept, False
            try:
                response = await self._connection.post(self._path, await self.body(request))
                self._has_kept = True
                return response  # noqa: TRY300 - what is kept is known only now
            except Unanswered:
                if not has_kept:
                    raise
            except (ProviderRejected, ProviderUnavailable) as refusal:
                if isinstance(refusal, ProviderUnavailable) and refusal.status != _FAULT:
                    raise
                effort = self._form.effort
                if not self._correct(refusal.said):
                    raise
                if effort and not self._form.effort:
                    self._effort_news = (
                        f"{self.model} is asked without the effort that is set for thinking, as its service"
                        f" refused it{quoted(refusal.said)}"
                    )
                self._taken.note_correction(refusal.said)

    def _news(self, of_history: str) -> tuple[str, str]:
        """What to tell the person once a request went through: of what it holds, and of how hard to think."""
        of_effort, self._effort_news = self._effort_news, ""
        return of_history, of_effort

    def _correct(self, *refusals: str) -> bool:
        """Asks in the form that the refusals want from now on; whether that is another one."""
        before = self._form, self._most_output
        for refusal in refusals:
            if limit := output_limit_in(refusal):
                self._most_output = min(limit, self._most_output or limit)
            self._form = self._form.corrected(refusal)
        return (self._form, self._most_output) != before

    def _output_of(self, request: ModelRequest, usual: int | None = None) -> int | None:
        """The most tokens that the reply may have, None leaves that to the service."""
        wanted, affordable = self._wanted_output(request) or usual, request.affordable
        return (
            min(filter(None, (wanted, affordable, self._most_output)), default=None) if wanted or affordable else None
        )

    def _length(self, key: str, request: ModelRequest, usual: int | None = None) -> tuple[list[bytes], bytes]:
        """The field for the most tokens of a reply, and the end of the request behind its messages.

        Where the money that is left decides, each request has another number: there it stands
        in the end, so that each still begins as the one before.
        """
        most = self._output_of(request, usual)
        field = b'"%b":%d' % (key.encode(), most) if most else b""
        return ([], b"],%b}" % field) if request.affordable else ([field] if field else [], b"]}")

    def _wanted_output(self, request: ModelRequest) -> int | None:
        """The same where money does not matter, held to what a refusal named."""
        wanted = request.max_tokens or self._limits.max_output
        return min(wanted, self._most_output or wanted) if wanted else None

    @abstractmethod
    def _body(self, request: ModelRequest, messages: tuple[bytes, ...]) -> bytes:
        """The request around its encoded messages."""

    @abstractmethod
    def _reply(self, request: ModelRequest, /) -> StreamedReply:
        """A reply that has not begun."""


@value
class _Portion:
    """What some payloads came to: whether they were sound text, what is to be shown, and those that are left."""

    is_sound: bool
    shown: list[ModelEvent]
    left: Sequence[bytes] | None = None


async def _take(reply: StreamedReply, payloads: Sequence[bytes]) -> _Portion:
    """Adds what came, megabytes on a thread, and many small payloads for as long as a key can wait."""
    if sum(map(len, payloads)) > LONG:
        return await asyncio.to_thread(_take_until, reply, payloads, math.inf)
    return _take_until(reply, payloads, monotonic() + _MOST_SECONDS)


def _take_until(reply: StreamedReply, payloads: Sequence[bytes], until: float) -> _Portion:
    """Adds what came, at least one payload; an empty one says nothing, and after the end nothing counts any more."""
    count = 0
    for count, payload in enumerate(payloads, 1):  # noqa: B007 - where it ended
        if reply.is_over:
            break
        if payload != b"null":
            reply.take(payload)
        if monotonic() > until:
            break
    left = payloads[count:] if count < len(payloads) and not reply.is_over else None
    return _Portion(is_sound=all(map(is_text, payloads[:count])), shown=reply.display.drain(), left=left)
