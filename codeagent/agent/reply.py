"""One reply of the model: read as it streams, watched for silence, asked for again when the service fails."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace

from codeagent.agent.limits import Limits
from codeagent.agent.record import Record
from codeagent.core.errors import ProviderUnavailable
from codeagent.core.events import (
    CallStreamed,
    Level,
    NoticeGiven,
    ReplyEnded,
    RetryScheduled,
    TextStreamed,
    ThinkingStreamed,
)
from codeagent.core.messages import AssistantMessage, StopReason, Usage
from codeagent.core.protocols import (
    CallPiece,
    ModelEvent,
    ModelRequest,
    NoticePiece,
    Provider,
    ReplyFinished,
    TextPiece,
    ThinkingPiece,
    UsagePiece,
)

_LONGEST_RETRY_AFTER = 300
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400


class Asker:
    """Gets whole replies, one at a time; ``is_shown`` tells listeners of each piece."""

    def __init__(self, record: Record, limits: Limits, *, is_shown: bool = True) -> None:
        self._record = record
        self._limits = limits
        self._is_shown = is_shown
        self._pieces: list[str] = []
        self._counted: AssistantMessage | None = None
        self._lost: list[AssistantMessage] = []

    @property
    def partial(self) -> str:
        """The text so far of the reply being written; empty once it is whole."""
        return "".join(self._pieces)

    def take_lost(self) -> list[AssistantMessage]:
        """Replies that never became whole, each with what the service had counted of it; given once."""
        self._lose()
        lost, self._lost = self._lost, []
        return lost

    def _lose(self) -> None:
        if self._counted is not None:
            self._lost.append(self._counted)
        self._counted = None

    async def ask(self, provider: Provider, request: ModelRequest) -> AssistantMessage:
        """A reply with its end; half a reply is thrown away and asked for anew.

        Raises ProviderError when trying again is no use, or was of no use often enough.
        """
        attempt, retries = 0, self._limits.retries
        while True:
            is_discarded = False
            try:
                return await self._read(provider, replace(request, is_last=attempt >= retries))
            except ProviderUnavailable as error:
                attempt += 1
                retries = min(self._limits.retries, error.most_retries or self._limits.retries)
                if attempt > retries or (error.retry_after or 0) > _LONGEST_RETRY_AFTER:
                    raise _given_up(error, attempt) from error
                is_discarded = True
                pause, reason = self._pause(attempt, error.retry_after), str(error)
            finally:
                if self._is_shown:
                    self._record.tell(ReplyEnded(discarded=is_discarded))
            self._pieces.clear()
            self._record.tell(RetryScheduled(attempt=attempt, attempts=retries, seconds=pause, reason=reason))
            await asyncio.sleep(pause)

    async def _read(self, provider: Provider, request: ModelRequest) -> AssistantMessage:
        self._pieces.clear()
        self._lose()
        stream = provider.stream(request)
        limits, now = self._limits, asyncio.get_running_loop().time
        clock = asyncio.timeout(limits.first_byte_seconds)
        progress = _Progress(max(limits.quiet_seconds, limits.first_byte_seconds), now())
        try:
            async with clock:
                async for event in stream:
                    progress.take(event, now())
                    clock.reschedule(min(now() + limits.idle_seconds, progress.until))
                    if isinstance(event, ReplyFinished):
                        self._pieces.clear()
                        self._counted = None
                        return event.message
                    if isinstance(event, UsagePiece):
                        self._counted = _counted(provider.model, event.usage)
                    elif isinstance(event, NoticePiece):
                        self._record.tell(NoticeGiven(text=event.text, level=Level.WARNING))
                    elif self._is_shown:
                        self._pass_on(event)
        except TimeoutError as error:
            raise progress.gone_silent(now()) from error
        finally:
            if isinstance(stream, AsyncGenerator):
                await stream.aclose()
        raise ProviderUnavailable("The reply broke off before its end.")

    def _pass_on(self, event: TextPiece | ThinkingPiece | CallPiece) -> None:
        match event:
            case TextPiece(text=text):
                self._pieces.append(text)
                if text:
                    self._record.tell(TextStreamed(text=text))
            case ThinkingPiece(text=text):
                if text:
                    self._record.tell(ThinkingStreamed(text=text))
            case CallPiece(name=name, size=size):
                self._record.tell(CallStreamed(name=name, size=size))

    def _pause(self, attempt: int, retry_after: float | None) -> float:
        """Seconds until the next attempt: doubling, spread out by chance, at least what the service asked for."""
        doubled = min(self._limits.retry_seconds * 2 ** (attempt - 1), self._limits.longest_pause)
        spread = doubled * random.uniform(0.75, 1.25)  # noqa: S311 - spreading retries needs no secrecy
        return max(spread, retry_after or 0.0)


@dataclass(slots=True)
class _Progress:
    """Until when a reply must have grown: signs of life alone keep no connection open for ever."""

    seconds: float
    since: float
    last: ModelEvent | None = None

    @property
    def until(self) -> float:
        return self.since + self.seconds

    def take(self, event: ModelEvent, now: float) -> None:
        match event:
            case TextPiece(text="") | ThinkingPiece(text=""):
                return
            case CallPiece() if event == self.last:
                return
            case _:
                self.since, self.last = now, event

    def gone_silent(self, now: float) -> ProviderUnavailable:
        if now < self.until:
            return ProviderUnavailable("The model has gone silent; the connection was closed.")
        text = f"The service sent nothing but signs of life for {_long(self.seconds)}; the connection was closed."
        return ProviderUnavailable(text, most_retries=1)


def _counted(model: str, usage: Usage) -> AssistantMessage:
    """What stands for a reply that is not whole yet, where it has to be paid for."""
    return AssistantMessage(blocks=(), stop=StopReason.CANCELLED, model=model, usage=usage)


def _given_up(error: ProviderUnavailable, attempts: int) -> ProviderUnavailable:
    """The last failure, with how often it was tried and what can be done now."""
    wait = error.retry_after or 0
    hints = [error.hint] if error.hint else []
    if wait > _LONGEST_RETRY_AFTER:
        hints.append(f"It asks to be left alone for {_long(wait)}.")
    elif attempts > 1:
        hints.append(f"It was asked {attempts} times.")
    hints.append("Send the message again later, or choose another model.")
    return ProviderUnavailable(error.message, hint=" ".join(hints), status=error.status, retry_after=error.retry_after)


def _long(seconds: float) -> str:
    """A wait that is too long, in words; what a service makes up beyond a day is told as no more than that."""
    if seconds > _DAY:
        return "more than a day"
    if seconds > 2 * _HOUR:
        return f"{round(seconds / _HOUR)} hours"
    return f"{round(seconds / _MINUTE)} minutes"
