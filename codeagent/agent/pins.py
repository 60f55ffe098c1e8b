"""What the person pinned: it stays in the conversation word for word when room is made."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace

from codeagent.agent.meter import path_of, tokens_of_text
from codeagent.agent.record import Record
from codeagent.agent.shrinking import shorten
from codeagent.core.context import Pin, PinsChanged
from codeagent.core.errors import CodeagentError
from codeagent.core.events import AgentEvent
from codeagent.core.messages import AssistantMessage, Message, ResultsMessage
from codeagent.core.text import Redactor

_FILE = re.compile(r"@(?P<path>.+?)(?::(?P<first>\d+)(?:-(?P<last>\d+))?)?")
_LONGEST_LABEL = 70
_LATEST = 40

ReadPin = Callable[[Pin], Awaitable[str]]
"""Gives the pinned lines of a file as they are now; raises CodeagentErrors."""


class PinRefused(CodeagentError):
    """Something that cannot be pinned."""


async def read_nothing(pin: Pin) -> str:
    """Stands in where there are no files."""
    raise PinRefused(f"{pin.path} cannot be read here.")


def parse_pin(text: str) -> Pin:
    """The pin that ``@PATH``, ``@PATH:LINE``, ``@PATH:FIRST-LAST`` or any other text means."""
    found = _FILE.fullmatch(text.strip())
    if found is None:
        return Pin(label=_label(text), text=text.strip())
    first = int(found["first"]) if found["first"] else None
    last = int(found["last"]) if found["last"] else first
    if first is not None and last is not None and not 1 <= first <= last:
        raise PinRefused(f"There are no lines {first} to {last}.")
    return Pin(label=text.strip(), path=found["path"], first=first, last=last)


class Pins:
    """The pins of one session, oldest first; every change is told and kept with the session's record."""

    def __init__(self, record: Record, read: ReadPin, pins: Sequence[Pin] = ()) -> None:
        self._record = record
        self._read = read
        self.all = tuple(pins)

    async def add(self, pin: Pin, most_tokens: int) -> None:
        """Pins something; all pins together may have so many tokens. Raises CodeagentErrors."""
        if any(one.label == pin.label for one in self.all):
            raise PinRefused(f"{pin.label} is pinned already.")
        pin = replace(pin, tokens=tokens_of_text(pin.text or await self._read(pin)))
        total = sum(one.tokens for one in self.all) + pin.tokens
        if total > most_tokens:
            raise PinRefused(
                f"Pins may have {most_tokens:,} tokens, a quarter of the window; with this one they have {total:,}.",
                hint="Pin fewer lines (@FILE:10-40), or /unpin something.",
            )
        self._change((*self.all, pin))

    def remove(self, label: str) -> None:
        """Takes a pin away; raises PinRefused when there is none."""
        if all(one.label != label for one in self.all):
            raise PinRefused(f"Nothing called {label} is pinned.", hint="/pin shows what is.")
        self._change(tuple(one for one in self.all if one.label != label))

    async def text(self, kept: Sequence[Message], most_characters: int) -> str:
        """All that is pinned and does not stand in the ``kept`` messages anyway, as text for the model."""
        said = "\n".join(message.text for message in kept if not isinstance(message, ResultsMessage))
        parts: list[str] = []
        for pin in self.all:
            if pin.text and pin.text in said:
                continue
            try:
                text = pin.text or await self._read(pin)
            except CodeagentError as error:
                text = f"[it cannot be read: {error.message}]"
            parts.append(f"<pinned{f' file={pin.label[1:]}' if pin.path else ''}>\n{text}\n</pinned>")
        return shorten("\n".join(parts), most_characters)

    def spared(self, messages: Iterable[Message]) -> frozenset[str]:
        """The calls that are about a pinned file: their results are not taken out."""
        paths = {pin.path for pin in self.all if pin.path}
        return frozenset(
            call.id
            for message in messages
            if paths and isinstance(message, AssistantMessage)
            for call in message.calls
            if path_of(call) in paths
        )

    def _change(self, pins: tuple[Pin, ...]) -> None:
        self.all = pins
        self._record.tell(PinsChanged(pins=pins))


def pins_of(past: Iterable[AgentEvent]) -> tuple[Pin, ...]:
    """The pins that a resumed session had."""
    pins: tuple[Pin, ...] = ()
    for event in past:
        if isinstance(event, PinsChanged):
            pins = event.pins
    return pins


def pinnable(messages: Sequence[Message]) -> tuple[Pin, ...]:
    """The latest messages of the person and the model as pins, newest first."""
    said = [message for message in messages if not isinstance(message, ResultsMessage) and message.text.strip()]
    pins = [
        Pin(label=f"{'agent' if isinstance(one, AssistantMessage) else 'you'}: {_label(one.text)}", text=one.text)
        for one in reversed(said[-_LATEST:])
    ]
    return tuple({pin.label: pin for pin in pins}.values())


def _label(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_LABEL else f"{line[: Redactor().cut(line, _LONGEST_LABEL - 1)]}…"
